#pragma once
// libtorch as a peer of bincount, where it is installed (libtorch-dev).

#include <cstddef>
#include <cstdint>

namespace bench {

/// Writes the numbers of occurrences of 0, 1, 2 ... in x to counts, which has as many bins as are needed.
void libtorch_bincount(std::int64_t const* x, std::size_t count, std::int64_t* counts);
void libtorch_bincount(std::int32_t const* x, std::size_t count, std::int64_t* counts);
void libtorch_bincount(std::uint8_t const* x, std::size_t count, std::int64_t* counts);

} // namespace bench
