#pragma once
// Weights that are packed once, in the type that computes or in a narrow one, and the memory that they share.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/weight_storage.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/pack_matrix.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The parameters of each direction, with the numbers that they point to, which all copies share. A move is a
/// copy, because a copy is cheap: a moved-from object can be used as before.
template <class Parameters>
class shared_parameters {
    using T = typename Parameters::number;

public:
    /// Calls pack(d, memory), which returns the parameters of direction d, twice for each direction, first
    /// with an arena that only counts.
    template <class Pack>
    shared_parameters(std::size_t D, Pack const& pack)
    {
        assign(D, pack);
    }

    shared_parameters(shared_parameters const&) = default;
    shared_parameters& operator=(shared_parameters const&) = default;

    /// Packs anew, as the constructor does. Allocates nothing if as much memory is needed as before and no
    /// copy shares it.
    template <class Pack>
    void assign(std::size_t D, Pack const& pack)
    {
        kernel::arena<T> memory;
        std::shared_ptr<aligned_vector<T>> numbers;
        std::array<Parameters, 2> all{};
        for (bool const only_counts : {true, false}) { // one call of pack in the program's code
            if (!only_counts) {
                check_fits_in_memory<T>(memory.used());
                numbers = zeros(memory.used() + 1);
                memory = kernel::arena<T>(numbers->data());
            }
            for (std::size_t d = 0; d < D; ++d)
                all[d] = pack(d, memory);
        }
        all_ = all;
        numbers_ = numbers;
    }

    Parameters const& operator[](std::size_t d) const { return all_[d]; }
    std::size_t bytes() const noexcept { return numbers_->size() * sizeof(T); }

private:
    std::shared_ptr<aligned_vector<T>> zeros(std::size_t count) const
    {
        if (numbers_.use_count() != 1 || numbers_->size() != count)
            return std::make_shared<aligned_vector<T>>(count, T(0));
        // What another thread has read through a copy, it read before it destroyed the copy.
        std::atomic_thread_fence(std::memory_order_acquire);
        std::fill(numbers_->begin(), numbers_->end(), T(0));
        return numbers_;
    }

    std::array<Parameters, 2> all_{};
    std::shared_ptr<aligned_vector<T>> numbers_{};
};

/// True if a storage has weights as integers of 8 bits.
constexpr bool is_8_bits(weight_storage storage) noexcept
{
    return storage == weight_storage::int8 || storage == weight_storage::dynamic_int8 ||
           storage == weight_storage::block_sparse_int8;
}

/// True if a storage has weights as they are.
constexpr bool is_exact(weight_storage storage) noexcept
{
    return storage == weight_storage::full || storage == weight_storage::block_sparse;
}

/// True if a type stores a weight as a finite number, or as the infinity or NaN that it is.
inline bool is_stored_as(weight_storage storage, float weight) noexcept
{
    if (is_8_bits(storage))
        return std::isfinite(weight);
    return !std::isfinite(weight) ||
           std::isfinite(storage == weight_storage::float16 ? static_cast<float>(float16(weight))
                                                            : static_cast<float>(bfloat16(weight)));
}

/// Requires that a storage is one of the enumerators.
inline void check_is_storage(std::string_view op, weight_storage storage)
{
    if (static_cast<std::size_t>(storage) < weight_storages.size())
        return;
    std::string names(name_of(weight_storages.front()));
    for (weight_storage const each : std::span(weight_storages).subspan(1))
        names.append(each == weight_storages.back() ? " or " : ", ").append(name_of(each));
    fail<option_error>(
        op, ": storage must be ", names, ", but it is ", static_cast<int>(storage), ". Choose one of them.");
}

/// Requires that a type can store a matrix.
template <class Item>
void check_stored(std::string_view op, weight_storage storage, std::string_view operand,
    tensor_ref<Item const> const& matrix)
{
    if (is_exact(storage) || !matrix.is_given() || element_count(matrix.shape()) == 0)
        return;
    strided_items<Item const> const items{matrix.data(), matrix.block().layout};
    detail::for_each_item(items, [&](Item const& item) {
        if (auto const weight = static_cast<float>(item); !is_stored_as(storage, weight))
            fail<option_error>(op, ": storage ", name_of(storage), " requires ",
                storage == weight_storage::float16 ? "weights whose magnitude rounds to at most 65504"
                : is_8_bits(storage)               ? "finite weights"
                                                   : "weights whose magnitude rounds to at most 3.3895e38",
                ", but one of ", operand, " is ", std::to_string(weight), ". Use weight_storage::full",
                storage == weight_storage::float16 ? " or bfloat16." : ".");
    });
}

/// Returns the projection of an LSTM; of other constants one that is not given.
template <class Constants>
auto projection_of(Constants const& in)
{
    if constexpr (requires { in.projection; })
        return in.projection;
    else
        return std::remove_cvref_t<decltype(in.R)>();
}

/// Requires that a type can store the matrices among the constants of a recurrent operator.
template <class Constants>
void check_storage(std::string_view op, weight_storage storage, Constants const& in)
{
    check_is_storage(op, storage);
    check_stored(op, storage, "W", in.W);
    check_stored(op, storage, "R", in.R);
    check_stored(op, storage, "projection", projection_of(in));
    if constexpr (requires { in.QW; }) {
        check_stored(op, storage, "QW", in.QW);
        check_stored(op, storage, "MW", in.MW);
        check_stored(op, storage, "AW", in.AW);
    }
}

/// Packs weights in the type that computes.
struct full_packing {};

/// Packs weights of float in a storage.
struct stored_packing {
    weight_storage storage;
};

template <class T, class Item>
kernel::stored_matrix<T> pack_matrix(
    full_packing, kernel::matrix_parts<Item> const& from, kernel::arena<T>& memory)
{
    return kernel::pack_matrix(from, memory);
}
template <class Item>
kernel::stored_matrix<float> pack_matrix(
    stored_packing packing, kernel::matrix_parts<Item> const& from, kernel::arena<float>& memory)
{
    return kernel::pack_matrix(from, packing.storage, memory);
}

} // namespace xloom::inline XLOOM_ABI::detail
