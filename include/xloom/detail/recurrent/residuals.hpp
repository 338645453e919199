#pragma once
// The residuals that the forward pass of a recurrent operator keeps for its backward pass.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/core/weight_storage.hpp>
#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The residuals of one forward pass: the lengths and the initial states of the rows, and what the kernel
/// keeps of each step that a row has. Grows like a workspace. Attributes are the kernel's of one direction.
template <class Item, class Attributes>
class residuals_of {
    using T = compute_t<Item>;

public:
    residuals_of() = default;
    residuals_of(residuals_of const&) = default;
    residuals_of(residuals_of&&) = default;
    residuals_of& operator=(residuals_of&&) = default;
    /// Copies `other` first, so that the residuals are unchanged if allocation fails.
    residuals_of& operator=(residuals_of const& other) { return *this = residuals_of(other); }

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return numbers_.capacity() * sizeof(T) +
               (rows_.capacity() + lengths_.capacity() + begins_.capacity()) * sizeof(std::size_t);
    }

    bool is_filled() const noexcept { return is_filled_; }
    recurrent_widths const& widths() const noexcept { return widths_; }
    batch_sizes const& batch() const noexcept { return batch_; }
    xloom::direction direction() const noexcept { return direction_; }
    Attributes const& attributes(std::size_t d) const noexcept { return attributes_[d]; }
    vector_level level() const noexcept { return level_; }

    /// Returns the rows of the batch, sorted by descending length.
    std::vector<std::size_t> const& rows() const noexcept { return rows_; }
    /// Returns the lengths of rows(), in that order.
    std::vector<std::size_t> const& lengths() const noexcept { return lengths_; }
    /// Returns the number of steps of the longest row.
    std::size_t longest() const noexcept { return begins_.empty() ? 0 : begins_.size() - 1; }
    kernel::residual_rows<T const> steps(std::size_t d, std::size_t first, std::size_t stride) const noexcept
    {
        return {numbers_.data() + d * direction_size(), begins_.data(), row_size_, first, stride};
    }
    /// Returns the initial states of every `stride`-th row from `first` on.
    kernel::row_span<T const> initial(std::size_t d, std::size_t first, std::size_t stride) const noexcept
    {
        return {numbers_.data() + d * direction_size() + begins_.back() * row_size_ + first * state_size_,
            stride * state_size_};
    }

    /// Makes room for a forward pass. The residuals are not filled until finish() is called.
    template <class Weights, class Lengths>
    void start(Weights const& weights, batch_sizes const& batch, Lengths const& length_of)
    {
        auto const& parameters = parameters_of(weights, 0);
        start(weights, batch, length_of, residual_size(parameters), initial_size(parameters));
    }
    /// Makes room for a forward pass that keeps rows of row_size numbers, and state_size of the initial
    /// states.
    template <class Weights, class Lengths>
    void start(Weights const& weights, batch_sizes const& batch, Lengths const& length_of,
        std::size_t row_size, std::size_t state_size)
    {
        is_filled_ = false;
        widths_ = weights.sizes();
        batch_ = batch;
        direction_ = weights.direction();
        level_ = weights.level();
        for (std::size_t d = 0; d < widths_.D; ++d)
            attributes_[d] = attributes_of(parameters_of(weights, d));
        row_size_ = row_size;
        state_size_ = state_size;
        sort_by_length(rows_, batch.N, length_of);
        lengths_.clear();
        for (std::size_t const n : rows_)
            lengths_.push_back(length_of(n));
        begins_.assign(1, 0);
        for (std::size_t t = 0, active = batch.N;; ++t) {
            while (active > 0 && lengths_[active - 1] <= t)
                --active;
            if (active == 0)
                break;
            begins_.push_back(begins_.back() + active);
        }
        kernel::arena<T> size;
        for (std::size_t d = 0; d < widths_.D; ++d) {
            size.take(begins_.back(), row_size_);
            size.take(batch.N, state_size_);
        }
        grow(numbers_, size.used());
    }
    void finish(step_rows<Item const> const& X) noexcept
    {
        is_filled_ = true;
        sample_ = sample_of(X);
    }

    /// True if some items of X, up to six of each of 64 rows, have the bits that those of the forward pass
    /// had.
    bool is_of(step_rows<Item const> const& X) const noexcept { return sample_ == sample_of(X); }

    kernel::residual_rows<T> steps_to_write(std::size_t d, std::size_t first, std::size_t stride) noexcept
    {
        return {numbers_.data() + d * direction_size(), begins_.data(), row_size_, first, stride};
    }
    T* initial_to_write(std::size_t d, std::size_t sorted) noexcept
    {
        return numbers_.data() + d * direction_size() + begins_.back() * row_size_ + sorted * state_size_;
    }

private:
    /// Returns a hash of the first and last items of the first, middle and last steps of some rows of X;
    /// of nothing for items that are more than a number.
    std::uint64_t sample_of(step_rows<Item const> const& X) const noexcept
    {
        std::uint64_t hash = 0xcbf29ce484222325; // as FNV-1a
        if constexpr (std::is_trivially_copyable_v<Item> && sizeof(Item) <= sizeof hash) {
            std::size_t const step = rows_.size() / 64 + 1;
            for (std::size_t r = 0; r < rows_.size() && lengths_[r] != 0 && widths_.I != 0; r += step)
                for (std::size_t const t : {std::size_t{0}, lengths_[r] / 2, lengths_[r] - 1}) {
                    auto const [first, item_stride] = X(t, 0, rows_[r]);
                    for (std::size_t const i : {std::size_t{0}, widths_.I - 1}) {
                        std::uint64_t bits = 0;
                        std::memcpy(
                            &bits, first + static_cast<std::ptrdiff_t>(i) * item_stride, sizeof(Item));
                        hash = (hash ^ bits) * 0x100000001b3;
                    }
                }
        }
        return hash;
    }

    std::size_t direction_size() const noexcept
    {
        return begins_.back() * row_size_ + batch_.N * state_size_;
    }

    [[no_unique_address]] vector_level level_{};
    recurrent_widths widths_{};
    batch_sizes batch_{};
    xloom::direction direction_{};
    std::array<Attributes, 2> attributes_{};
    std::size_t row_size_ = 0, state_size_ = 0;
    std::vector<std::size_t> rows_{}, lengths_{}, begins_{};
    aligned_vector<T> numbers_{};
    std::uint64_t sample_ = 0;
    movable_value<bool> is_filled_{};
};

/// Requires weights that are packed for the backward pass, too.
template <class Weights>
void check_trainable(std::string_view op, Weights const& weights)
{
    if (!weights.is_for_training())
        fail<option_error>(op,
            ": weights must be packed for the backward pass, but they are packed for the forward pass only. "
            "Construct them with xloom::for_training.");
}

/// Requires weights for a forward pass that keeps residuals: a backward pass has none of a narrow type.
template <class Weights>
void check_recorded_weights(std::string_view op, Weights const& weights)
{
    if (weights.storage() != weight_storage::full)
        fail<option_error>(op,
            ": weights must be stored as weight_storage::full, as those of the backward "
            "pass are, but their storage is ",
            name_of(weights.storage()), ". Construct them without a storage.");
}

/// Requires residuals of a forward pass with the sizes and attributes of these weights and this batch, and,
/// as a sample of its items shows, with this X.
template <class Item, class Residuals, class Weights>
void check_residuals(std::string_view op, Residuals const& residuals, Weights const& weights,
    batch_sizes const& batch, tensor_ref<Item const> const& X)
{
    check_finished(op, residuals.is_filled());
    recurrent_widths const &kept = residuals.widths(), &sizes = weights.sizes();
    batch_sizes const& kept_batch = residuals.batch();
    if (kept.D != sizes.D || kept.I != sizes.I || kept.H != sizes.H || kept.K != sizes.K ||
        kept.projects != sizes.projects || kept_batch.T != batch.T || kept_batch.N != batch.N)
        fail<shape_error>(op,
            ": residuals must be those of a forward pass of the same sizes, but they have T = ", kept_batch.T,
            ", N = ", kept_batch.N, ", ", describe(kept), ", and the operands T = ", batch.T,
            ", N = ", batch.N, ", ", describe(sizes), ". Run the forward pass with these operands.");
    if (residuals.level() != weights.level())
        fail<option_error>(op,
            ": residuals must be those of weights that are packed at the same level of xloom::dispatch, but "
            "the levels differ. Construct both weights at one level, and run the forward pass.");
    bool is_same = residuals.direction() == weights.direction();
    for (std::size_t d = 0; d < sizes.D; ++d)
        is_same = is_same && residuals.attributes(d) == attributes_of(parameters_of(weights, d));
    if (!is_same)
        fail<option_error>(op,
            ": residuals must be those of a forward pass with the same attributes, but its direction, "
            "activations, clip or another attribute differs. Give both weights the same options.");
    if (!residuals.is_of({X, weights.layout()}))
        fail<option_error>(op, ": residuals must be those of the forward pass of X, but items of X differ "
                               "from those of that pass. "
                               "Run the forward pass with this X.");
}

} // namespace xloom::inline XLOOM_ABI::detail
