#pragma once
// libtorch as a peer of bincount, where it is installed (libtorch-dev).

#include <cstddef>
#include <cstdint>

namespace bench {

/// Writes the numbers of occurrences of 0, 1, 2 ... in x to counts, which has as many bins as are needed.
/// Index is std::int64_t, std::int32_t or std::uint8_t.
template <class Index>
void libtorch_bincount(Index const* x, std::size_t count, std::int64_t* counts);

} // namespace bench
