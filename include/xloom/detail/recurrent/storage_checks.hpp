#pragma once
// The requirements of a storage type on weights.

#include <cmath>
#include <string>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/core/weight_storage.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Calls f with each item of a tensor, whose axes from `axis` on begin at `first`.
template <class Item, class F>
void for_each_item(tensor_ref<Item const> const& from, std::size_t axis, Item const* first, F const& f)
{
    if (axis == from.shape().size())
        return f(*first);
    for (std::size_t i = 0; i < from.shape()[axis]; ++i)
        for_each_item(from, axis + 1, first + static_cast<std::ptrdiff_t>(i) * from.step(axis), f);
}

/// True if a type stores a weight as a finite number, or as the infinity or NaN that it is.
inline bool is_stored_as(weight_storage storage, float weight) noexcept
{
    if (storage == weight_storage::int8 || storage == weight_storage::dynamic_int8)
        return std::isfinite(weight);
    return !std::isfinite(weight) ||
           std::isfinite(storage == weight_storage::float16 ? static_cast<float>(float16(weight))
                                                            : static_cast<float>(bfloat16(weight)));
}

/// Requires that a storage is one of the enumerators.
inline void check_is_storage(std::string_view op, weight_storage storage)
{
    if (static_cast<std::size_t>(storage) >= weight_storage_names.size())
        fail<option_error>(op, ": storage must be full, float16, bfloat16, int8 or dynamic_int8, but it is ",
            static_cast<int>(storage), ". Choose one of them.");
}

/// Requires that a type can store a matrix.
template <class Item, class Name>
void check_stored(
    std::string_view op, weight_storage storage, named_ref<tensor_ref<Item const>, Name> const& matrix)
{
    if (storage == weight_storage::full || !matrix.is_given())
        return;
    for_each_item<Item>(matrix, 0, matrix.data(), [&](Item const& item) {
        if (auto const weight = static_cast<float>(item); !is_stored_as(storage, weight))
            fail<option_error>(op, ": storage ", name_of(storage), " requires ",
                storage == weight_storage::float16    ? "weights whose magnitude rounds to at most 65504"
                : storage == weight_storage::bfloat16 ? "weights whose magnitude rounds to at most 3.3895e38"
                                                      : "finite weights",
                ", but one of ", matrix.name, " is ", std::to_string(weight), ". Use weight_storage::full",
                storage == weight_storage::float16 ? " or bfloat16." : ".");
    });
}

/// Requires that a type can store the matrices among the constants of a recurrent operator.
template <class Constants>
void check_storage(std::string_view op, weight_storage storage, Constants const& in)
{
    check_is_storage(op, storage);
    check_stored(op, storage, in.W);
    check_stored(op, storage, in.R);
    if constexpr (requires { in.QW; }) {
        check_stored(op, storage, in.QW);
        check_stored(op, storage, in.MW);
        check_stored(op, storage, in.AW);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
