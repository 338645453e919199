#pragma once
// Parameters that are packed once, and the memory of the numbers that they point to.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/kernel/arena.hpp>

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

} // namespace xloom::inline XLOOM_ABI::detail
