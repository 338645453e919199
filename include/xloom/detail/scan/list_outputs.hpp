#pragma once
// The scan outputs of operators over lists, whose number is known at run time only.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <xloom/detail/scan/stacked_outputs.hpp>
#include <xloom/detail/scan/step.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True for lists of tensors that own their items.
template <class T>
inline constexpr bool is_output_list = false;
template <tensor Y>
inline constexpr bool is_output_list<std::vector<Y>> = is_self_contained<Y>;

/// Requires that a body returned as many values as expected.
inline void check_list_count(std::string_view op, std::string_view what, std::size_t returned,
    std::size_t expected, std::size_t iteration)
{
    if (returned != expected)
        fail<body_error>(op, ": the body must return a list of ", expected, " ", what, ", but it returned ",
            returned, " at iteration ", iteration, ". Return as many in every iteration.");
}

/// The scan outputs of a list, allocated when the first elements determine the shapes.
template <tensor Y>
class list_outputs {
public:
    using stacked = stacked_t<Y, dynamic_length>;

    list_outputs(std::string_view op, std::size_t count, scan_options const& options)
        : op_(op), options_(options), results_(count)
    {}

    /// Requires as many values as outputs.
    void check_count(std::vector<Y> const& values, std::size_t t) const
    {
        check_list_count(op_, "scan outputs", values.size(), results_.size(), t);
    }

    /// Allocates `length` elements of the shapes of `values`.
    void open(std::vector<Y> const& values, std::size_t length)
    {
        std::vector<shape> dims;
        for (std::size_t k = 0; k < values.size(); ++k)
            dims.push_back(stacked_shape(
                op_, k, output_element_shape(op_, k, values[k]), length, sizeof(item_t<stacked>), options_));
        for (std::size_t k = 0; k < values.size(); ++k) {
            detail::make_shape(results_[k], dims[k]);
            std::size_t const axis = wrap_axis(axis_option(options_.scan_output_axes, k), dims[k].size());
            writers_.emplace_back(enable_tensor<stacked>::data(results_[k]),
                kernel::time_axis(detail::layout_of(results_[k]), axis, length,
                    is_reverse(options_.scan_output_directions, k)));
        }
    }

    /// Makes the outputs those of zero iterations: the dimensions that the type does not fix are 0; a dynamic
    /// rank gives [0].
    void open_empty()
    {
        for (std::size_t k = 0; k < results_.size(); ++k)
            detail::make_shape(results_[k],
                enable_tensor<stacked>::rank == dynamic_rank
                    ? shape{0}
                    : stacked_shape(op_, k, shape_of_type<Y>(), 0, sizeof(item_t<stacked>), options_));
    }

    /// Appends the elements of iteration t. Requires check_count() and open().
    void push(std::vector<Y> const& values, std::size_t t)
    {
        for (std::size_t k = 0; k < values.size(); ++k)
            if (!detail::is_shaped_like(values[k], writers_[k].element_shape()))
                detail::fail_reshaped(op_, "scan_outputs", k, writers_[k].element_shape(),
                    detail::describe_shape(values[k]), t);
        for (std::size_t k = 0; k < values.size(); ++k)
            writers_[k].push(values[k]);
    }

    /// Reallocates the outputs, stacked along axis 0, for `length` elements and keeps the first `kept`.
    void resize(std::size_t length, std::size_t kept)
    {
        for (std::size_t k = 0; k < results_.size(); ++k)
            detail::resize_stacked(op_, k, results_[k], writers_[k], length, kept);
    }

    std::vector<stacked> finish() && { return std::move(results_); }

private:
    std::string_view op_;
    scan_options const& options_;
    std::vector<stacked> results_;
    std::vector<output_writer<item_t<stacked>>> writers_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
