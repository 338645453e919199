#include "libtorch.hpp"

#include <algorithm>

#include <ATen/Functions.h>

namespace bench {

template <class Index>
void libtorch_bincount(Index const* x, std::size_t count, std::int64_t* counts)
{
    at::Tensor const items = at::from_blob(const_cast<Index*>(x), {static_cast<std::int64_t>(count)},
        at::TensorOptions().dtype(c10::CppTypeToScalarType<Index>::value));
    at::Tensor const result = at::bincount(items);
    std::copy_n(result.data_ptr<std::int64_t>(), result.numel(), counts);
}

template void libtorch_bincount(std::int64_t const*, std::size_t, std::int64_t*);
template void libtorch_bincount(std::int32_t const*, std::size_t, std::int64_t*);
template void libtorch_bincount(std::uint8_t const*, std::size_t, std::int64_t*);

} // namespace bench
