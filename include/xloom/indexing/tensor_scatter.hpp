#pragma once
// The TensorScatter operator: writes an update to a cache along one axis, from a start for each batch entry.

#include <type_traits>
#include <utility>

#include <xloom/detail/check/tensor_scatter.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/indexed/tensor_scatter_run.hpp>
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
            update, inputs.write_indices, options_of<tensor_scatter_options>(options),
            policy_of(options, env...));
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
        detail::run_tensor_scatter<true>("xloom::tensor_scatter_into", past_cache, update,
            inputs.write_indices, options_of<tensor_scatter_options>(options), policy_of(options, env...));
}

} // namespace xloom::inline XLOOM_ABI
