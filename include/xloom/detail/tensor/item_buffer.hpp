#pragma once
// Memory for the items of intermediate values.

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A container of items in aligned memory, uninitialised if their type is trivial. Large memory is in huge
/// pages, because each call touches all of it once.
template <class T>
using item_buffer = xt::uvector<T, cache_aligned_allocator<T>>;

} // namespace xloom::inline XLOOM_ABI::detail
