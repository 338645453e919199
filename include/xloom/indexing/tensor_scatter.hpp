#pragma once
// The TensorScatter operator: writes an update to a cache along one axis, from a start for each batch entry.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/tensor_scatter.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/scatter.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of tensor_scatter other than cache and update, under ONNX's names; {} omits one.
struct tensor_scatter_inputs {
    lengths_ref write_indices{}; ///< zeros if omitted
};

namespace detail {

/// Requires an update with items of the cache's type.
template <class Cache, class Update>
struct update_of_cache {
    static consteval bool holds()
    {
        constexpr bool is_valid = std::is_same_v<item_t<Update>, item_t<Cache>>;
        static_assert(is_valid, "update must have the element type of the cache; convert it first");
        return is_valid;
    }
};

/// Copies `count` positions of each of two batch entries, along `axis`.
template <class T>
void copy_positions(strided_layout const& from_layout, T const* from, strided_layout const& to_layout, T* to,
    std::size_t axis, std::size_t count)
{
    shape dims = from_layout.dims;
    dims[0] = 1;
    dims[axis] = count;
    kernel::strided_copy(dims, from_layout.strides, to_layout.strides)(from, to);
}

/// Writes the update to the cache. Requires checked operands.
template <class T, class Policy>
void write_update(strided_items<T> const& cache, strided_items<T const> const& update, std::size_t axis,
    lengths_ref const& write_indices, Policy const& policy)
{
    std::size_t const items = element_count(update.layout.dims);
    if (items == 0)
        return;
    std::size_t const B = update.layout.dims[0], length = update.layout.dims[axis],
                      capacity = cache.layout.dims[axis];
    auto const item_at = [axis](auto const& of, std::size_t b, std::size_t position) {
        return of.first + static_cast<std::ptrdiff_t>(b) * of.layout.strides[0] +
               static_cast<std::ptrdiff_t>(position) * of.layout.strides[axis];
    };
    std::size_t const parts = (std::min)(parts_for(policy, items), B);
    policy.for_each(parts, [&](std::size_t part) {
        for (std::size_t b = begin_of_part(part, parts, B); b < begin_of_part(part + 1, parts, B); ++b) {
            std::uint64_t const index =
                write_indices.is_given() ? static_cast<std::uint64_t>(write_indices[b]) : 0;
            std::size_t const start = static_cast<std::size_t>(index % capacity);
            std::size_t const until_end = (std::min)(length, capacity - start);
            copy_positions(update.layout, item_at(update, b, 0), cache.layout, item_at(cache, b, start), axis,
                until_end);
            if (until_end < length)
                copy_positions(update.layout, item_at(update, b, until_end), cache.layout,
                    item_at(cache, b, 0), axis, length - until_end);
        }
    });
}

/// Runs a tensor_scatter in place, in a copy of the cache, or in a cache that is moved in.
template <bool InPlace, class Cache, class Update, class Policy>
auto run_tensor_scatter(std::string_view op, Cache&& cache, Update const& update,
    tensor_scatter_inputs const& inputs, tensor_scatter_options const& options, Policy const& policy)
{
    if constexpr (lazy<bare<Cache>>) {
        return detail::run_tensor_scatter<false>(
            op, detail::to_owned(cache), update, inputs, options, policy);
    } else {
        using T = item_t<Cache>;
        check_rank(op, "past_cache", detail::rank_of(cache));
        auto const evaluated = detail::evaluated_inputs(std::tie(update));
        auto const& update_tensor = std::get<0>(evaluated);
        check_rank(op, "update", detail::rank_of(update_tensor));
        check_rank(op, "write_indices", inputs.write_indices.rank());
        memory_block const memory = detail::memory_of(cache), read = detail::memory_of(update_tensor);
        shape const& dims = memory.layout.dims;
        std::size_t const axis = check_tensor_scatter(op, dims, read.layout.dims, options);
        check_write_indices(
            op, inputs.write_indices, dims[0], read.layout.dims[axis], dims[axis], options.mode);
        auto const write_to = [&](auto& target) {
            strided_items<T const> const from{
                enable_tensor<bare<decltype(update_tensor)>>::data(update_tensor), read.layout};
            detail::write_update<T>(detail::items_in<T>(target), from, axis, inputs.write_indices, policy);
        };
        if constexpr (InPlace || is_moved_in<Cache>) {
            auto const* const indices =
                inputs.write_indices.is_given() ? &inputs.write_indices.block() : nullptr;
            check_written(op, std::array{operand_memory("past_cache", memory)},
                std::array<operand_memory, 2>{{{"update", read}, {"write_indices", indices}}});
            write_to(cache);
            if constexpr (!InPlace)
                return owned_t<Cache>(std::move(cache));
        } else {
            owned_t<Cache> result = detail::copy_of({op, "past_cache"}, cache);
            write_to(result);
            return result;
        }
    }
}

} // namespace detail

/// Copies a cache and writes an update to it along one axis, from a start of its own for each batch entry. A
/// cache that is moved in is not copied: cache = tensor_scatter(std::move(cache), update, {.write_indices =
/// i}).
///
///     present_cache = past_cache
///     for b in range(B):
///         for i in range(update.shape[axis]):
///             at = write_indices[b] + i                          # 0 + i if omitted
///             if circular:  at = at % past_cache.shape[axis]
///             present_cache[b, ..., at, ...] = update[b, ..., i, ...]
///
/// Shapes    past_cache [B, ..., N, ...], update [B, ..., n, ...] with n <= N along the axis and all other
///           dimensions equal; write_indices [B]; the result as past_cache. Any layout.
/// Types     past_cache and update of one type, any; write_indices of any integer type.
/// Options   axis (-2), not the batch axis, so the default requires rank 3. mode (linear).
/// Policy    serial, or one with threads (thread_policy, tbb_policy), among which batch entries are divided.
/// Errors    before the first write, with a cache unchanged even if moved in: shape_error, option_error,
///           index_error (up to four that are negative or, in linear mode, exceed N - n), overlap_error,
///           std::bad_alloc.
/// Cost      the update read and written once; a copy of the cache unless it is moved in.
/// Aliasing  a cache that is moved in must share no memory with update or write_indices.
/// Source    ONNX TensorScatter-24, whose prose takes positions of the axis modulo its length; its pseudo-
///           code does so with the whole index.
/// Example
/// ```cpp
/// xt::xtensor<int, 3> cache = {{{1}, {2}, {3}}, {{4}, {5}, {6}}}; // [B, N, 1]
/// xt::xtensor<int, 3> const update = {{{10}, {20}}, {{30}, {40}}};
/// xt::xtensor<int, 1> const starts = {0, 2};
/// auto const circular = xloom::tensor_scatter_mode::circular;
/// xloom::tensor_scatter(cache, update); // = [[[10], [20], [3]], [[30], [40], [6]]]
/// cache = xloom::tensor_scatter(std::move(cache), update, {.write_indices = starts}, {.mode = circular});
/// cache; // = [[[10], [20], [3]], [[40], [5], [30]]]
/// ```
template <class Cache, class Update, class Options = tensor_scatter_options, class... Env>
auto tensor_scatter(Cache&& past_cache, Update const& update, tensor_scatter_inputs const& inputs = {},
    Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (satisfied<options_and_policy<tensor_scatter_options, Options, Env...>,
                      readable<bare<Cache>>, readable<Update>, update_of_cache<Cache, Update>>())
        return detail::run_tensor_scatter<false>("xloom::tensor_scatter", std::forward<Cache>(past_cache),
            update, inputs, options_of<tensor_scatter_options>(options), policy_of(options, env...));
    else
        return detail::to_owned(past_cache); // a value, so that one mistake gives one error
}

/// Runs TensorScatter in place: the cache is the caller's variable, or a view of one, of any layout.
///
/// Errors    as tensor_scatter, before the first write; overlap_error also if items of the cache share
///           memory.
/// Cost      as tensor_scatter without the copy of the cache. Allocates nothing.
/// Real time on one thread, of items whose assignment is.
/// Aliasing  the cache must share no memory with update or write_indices.
template <class Cache, class Update, class Options = tensor_scatter_options, class... Env>
void tensor_scatter_into(Cache&& past_cache, Update const& update, tensor_scatter_inputs const& inputs = {},
    Options&& options = {}, Env&&... env)
{
    using namespace detail;
    if constexpr (satisfied<options_and_policy<tensor_scatter_options, Options, Env...>,
                      written_tensor<Cache>, readable<Update>, update_of_cache<Cache, Update>>())
        detail::run_tensor_scatter<true>("xloom::tensor_scatter_into", past_cache, update, inputs,
            options_of<tensor_scatter_options>(options), policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
