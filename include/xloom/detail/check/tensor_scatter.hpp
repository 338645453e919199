#pragma once
// The requirements of TensorScatter: its axis, the shapes of cache and update, and where the update begins.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI {

/// The place at which tensor_scatter continues past the end of the cache.
enum class tensor_scatter_mode : unsigned char {
    linear,  ///< nowhere: an update that does not fit is an error
    circular ///< at its start
};

/// Options of tensor_scatter.
struct tensor_scatter_options {
    std::int64_t axis = -2; ///< the axis of the cache that is written along, after the batch axis
    tensor_scatter_mode mode = tensor_scatter_mode::linear;
};

namespace detail {

/// Checks the shapes and returns the axis, counted from the front.
///
/// Errors    option_error: the mode. shape_error: an axis that is the batch axis or that the cache does not
///           have; an update that is longer than the cache, or differs along another axis.
constexpr std::size_t check_tensor_scatter(
    std::string_view op, shape const& cache, shape const& update, tensor_scatter_options const& options)
{
    if (options.mode != tensor_scatter_mode::linear && options.mode != tensor_scatter_mode::circular)
        fail<option_error>(op, ": options.mode must be linear or circular, but it is number ",
            static_cast<int>(options.mode), ". Choose one of the two.");
    if (!is_axis(options.axis, cache.size()) || wrap_axis(options.axis, cache.size()) == 0)
        fail<shape_error>(op,
            ": the axis must be one of past_cache after the batch axis, but options.axis is ", options.axis,
            " and past_cache is ", cache, ". Name such an axis.");
    std::size_t const axis = wrap_axis(options.axis, cache.size());
    bool fits = update.size() == cache.size();
    for (std::size_t k = 0; fits && k < cache.size(); ++k)
        fits = k == axis ? update[k] <= cache[k] : update[k] == cache[k];
    if (!fits)
        fail<shape_error>(op,
            ": update must be as long as past_cache along every axis but the written one, and no longer "
            "along "
            "that, but update is ",
            update, " and past_cache is ", cache, " (options.axis ", options.axis, "). Give it that shape.");
    return axis;
}

/// Checks where the updates, `length` long, begin in a cache that is `capacity` long, one for each of B batch
/// entries.
///
/// Errors    shape_error: not one for each batch entry. index_error: some are negative or, in linear
///           mode, too large; in circular mode those above std::int64_t's maximum.
template <class Indices>
void check_write_indices(std::string_view op, Indices const& indices, std::size_t B, std::size_t length,
    std::size_t capacity, tensor_scatter_mode mode)
{
    if (!indices.is_given())
        return;
    if (indices.shape() != shape{B})
        fail<shape_error>(op, ": write_indices must have the shape [B] = [", B, "], but it is ",
            indices.shape(), ". Give one index for each batch entry.");
    auto const is_valid = [&](std::int64_t index) {
        return index >= 0 && (mode == tensor_scatter_mode::circular ||
                                 static_cast<std::uint64_t>(index) <= capacity - length);
    };
    fact_list wrong;
    for (std::size_t b = 0; b < B; ++b)
        if (!is_valid(indices[b]))
            wrong.add("write_indices[", b, "] is ", indices.text(b));
    if (wrong.empty())
        return;
    if (mode == tensor_scatter_mode::circular)
        fail<index_error>(op, ": write_indices must be in [0, ", (std::numeric_limits<std::int64_t>::max)(),
            "], but ", wrong, ". Correct it.");
    fail<index_error>(op, ": in linear mode write_indices must be in [0, ", capacity - length,
        "], so that the update fits, but ", wrong, ". Correct it, or use the circular mode.");
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
