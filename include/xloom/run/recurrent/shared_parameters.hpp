#pragma once
// Parameters that are packed once, and the memory of the numbers that they point to.

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <xloom/core/aligned_vector.hpp>
#include <xloom/kernel/arena.hpp>

namespace xloom::detail {

/// The parameters of each direction, with the numbers that they point to: written once, then shared by all
/// copies. A move is a copy, because a copy is cheap: a moved-from object can be used as before.
template <class Parameters>
class shared_parameters {
    using T = typename Parameters::number;

public:
    /// Calls pack(d, memory), which returns the parameters of direction d, twice for each direction, first
    /// with an arena that only counts.
    template <class Pack>
    shared_parameters(std::size_t D, Pack const& pack)
    {
        kernel::arena<T> size;
        for (std::size_t d = 0; d < D; ++d)
            pack(d, size);
        auto numbers = std::make_shared<aligned_vector<T>>(size.used() + 1, T(0));
        kernel::arena<T> memory(numbers->data());
        for (std::size_t d = 0; d < D; ++d)
            all_[d] = pack(d, memory);
        numbers_ = std::move(numbers);
    }

    shared_parameters(shared_parameters const&) = default;
    shared_parameters& operator=(shared_parameters const&) = default;

    Parameters const& operator[](std::size_t d) const { return all_[d]; }
    std::size_t bytes() const noexcept { return numbers_->size() * sizeof(T); }

private:
    std::array<Parameters, 2> all_{};
    std::shared_ptr<aligned_vector<T> const> numbers_;
};

} // namespace xloom::detail
