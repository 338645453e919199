#pragma once
// Requirements on types that gathers, or scatters, have in common.

#include <cstddef>
#include <utility>

#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if Data's family has a container for a result of every rank. A family with a static rank is not known
/// to have one.
template <class Data>
inline constexpr bool has_every_rank = expression<Data>;
template <tensor Data>
    requires(!expression<Data>)
inline constexpr bool has_every_rank<Data> = enable_tensor<Data>::rank == dynamic_rank;

/// A callable reduce(old item, update item) that returns the new item.
template <class Reduce, class T>
concept reduces_items =
    requires(Reduce& reduce, T old, T const& update) { static_cast<T>(reduce(std::move(old), update)); };

} // namespace xloom::inline XLOOM_ABI::detail
