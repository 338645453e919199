#pragma once
// The run of tensor_scatter: a copy of positions along one axis for each batch entry.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/tensor_scatter.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/scatter.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
    lengths_ref const& write_indices, tensor_scatter_options const& options, Policy const& policy)
{
    if constexpr (lazy<bare<Cache>>) {
        return detail::run_tensor_scatter<false>(
            op, detail::to_owned(cache), update, write_indices, options, policy);
    } else {
        using T = item_t<Cache>;
        check_rank(op, "past_cache", detail::rank_of(cache));
        auto const evaluated = detail::evaluated_inputs(std::tie(update));
        auto const& update_tensor = std::get<0>(evaluated);
        check_rank(op, "update", detail::rank_of(update_tensor));
        check_rank(op, "write_indices", write_indices.rank());
        memory_block const memory = detail::memory_of(cache), read = detail::memory_of(update_tensor);
        shape const& dims = memory.layout.dims;
        std::size_t const axis = check_tensor_scatter(op, dims, read.layout.dims, options);
        check_write_indices(op, write_indices, dims[0], read.layout.dims[axis], dims[axis], options.mode);
        auto const write_to = [&](auto& target) {
            strided_items<T const> const from{
                enable_tensor<bare<decltype(update_tensor)>>::data(update_tensor), read.layout};
            detail::write_update<T>(detail::items_in<T>(target), from, axis, write_indices, policy);
        };
        if constexpr (InPlace || is_moved_in<Cache>) {
            auto const* const indices = write_indices.is_given() ? &write_indices.block() : nullptr;
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

} // namespace xloom::inline XLOOM_ABI::detail
