#pragma once
// A call of the derivative of GatherND: a scatter of ct to the slices that the gather read.

#include <xloom/detail/check/gather_nd_vjp.hpp>
#include <xloom/detail/indexed/checked_indices.hpp>
#include <xloom/detail/indexed/named_slices.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the options of the scatter that adds ct to the gathered slices.
constexpr scatter_rules scatter_options(gather_nd_vjp_options const& options)
{
    return {.reduction = reduction::add,
        .bounds = options.bounds,
        .accumulate_in_float = options.accumulate_in_float,
        .unique = options.unique,
        .sorted = options.sorted};
}

/// The checked operands of a call, as run_scatter_nd reads them: ct is the updates, and batch axes precede
/// the indexed axes of data.
template <class Ct, class Indices>
class gather_vjp_call : public row_major_updates {
public:
    using index = item_t<Indices>;
    using item = item_t<Ct>;

    gather_vjp_call(std::string_view op, Ct const& ct, shape const& data, Indices const& indices,
        gather_nd_vjp_options const& options)
        : options_(scatter_options(options)),
          data_(data),
          first_(static_cast<std::size_t>(options.batch_dims)),
          last_(first_ + checked_width(op, ct, indices, options)),
          indices_(op, indices, part_of_axes(row_major_strides(named_axes()), first_, last_), first_,
              options.bounds),
          ct_(ct)
    {
        check_named_slices(op, options_, indices_.reader(batch(row_major_strides(named_axes()))),
            named_axes(), indices_.front());
    }

    scatter_rules const& options() const { return options_; }
    item const* updates() const { return ct_.data(); }
    std::size_t slices() const { return element_count(named_axes()); }
    std::size_t slice_size() const { return element_count(shape(data_.begin() + last_, data_.end())); }
    bool is_empty() const { return indices_.count() == 0 || element_count(data_) == 0; }
    std::size_t first_slice_axis() const { return last_; }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the offsets of tuples(steps). The reader must not outlive the tuples.
    kernel::offset_reader reader(kernel::index_tuples<index> const& tuples, strides const& steps) const
    {
        return {tuples, indices_.rule(), batch(steps)};
    }

private:
    std::size_t checked_width(
        std::string_view op, Ct const& ct, Indices const& indices, gather_nd_vjp_options const& options) const
    {
        shape const dims = detail::shape_of(indices);
        check_gather_nd_vjp(op, detail::shape_of(ct), data_, dims, options, sizeof(item));
        return dims.back();
    }

    /// Returns the lengths of the axes that name a slice: batch axes and indexed axes.
    shape named_axes() const { return shape(data_.begin(), data_.begin() + last_); }

    strided_layout part_of_axes(strides const& steps, std::size_t first, std::size_t last) const
    {
        return {shape(data_.begin() + first, data_.begin() + last),
            strides(steps.begin() + first, steps.begin() + last)};
    }

    kernel::position_offsets batch(strides const& steps) const
    {
        strided_layout const axes = part_of_axes(steps, 0, first_);
        return {axes, indices_.count() == 0 ? 1 : indices_.count() / element_count(axes.dims)};
    }

    scatter_rules options_;
    shape data_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
    checked_indices<Indices> indices_;
    row_major_items<Ct> ct_;
};

/// Writes zeros to all items of a tensor.
template <tensor Output>
void fill_with_zeros(Output& output)
{
    using T = item_t<Output>;
    strided_layout const layout = detail::layout_of(output);
    T* const items = enable_tensor<Output>::data(output);
    if (is_row_major(layout))
        std::fill_n(items, element_count(layout.dims), T{});
    else
        kernel::strided_copy(layout.dims, layout.strides, layout.strides)
            .for_each_pair(items, items, [](T const&, T& item) { item = T{}; });
}

/// Writes the derivative by data: the sum of the cotangents of each slice's copies.
template <class Call, tensor Output, class Policy>
void run_gather_vjp(Call const& call, Output& ct_data, Policy const& policy)
{
    using T = item_t<Output>;
    if constexpr (is_small_float<T>)
        if (call.options().accumulate_in_float) {
            auto sums = enable_tensor<xt::xarray<T>>::make(detail::shape_of(ct_data));
            detail::fill_with_zeros(sums);
            detail::run_scatter_nd(call, sums, reduce_add, policy);
            return detail::copy_items(sums, ct_data);
        }
    auto const begin = [&] { detail::fill_with_zeros(ct_data); };
    if (call.is_empty())
        begin();
    else
        detail::run_untracked(call, ct_data, reduce_add, policy, begin);
}

} // namespace xloom::inline XLOOM_ABI::detail
