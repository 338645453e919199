#include "libtorch.hpp"

#include <algorithm>

#include <ATen/Functions.h>

namespace bench {

namespace {

template <class Index>
void run(Index const* x, std::size_t count, std::int64_t* counts, at::ScalarType type)
{
    at::Tensor const items = at::from_blob(
        const_cast<Index*>(x), {static_cast<std::int64_t>(count)}, at::TensorOptions().dtype(type));
    at::Tensor const result = at::bincount(items);
    std::copy_n(result.data_ptr<std::int64_t>(), result.numel(), counts);
}

} // namespace

void libtorch_bincount(std::int64_t const* x, std::size_t count, std::int64_t* counts)
{
    run(x, count, counts, at::kLong);
}
void libtorch_bincount(std::int32_t const* x, std::size_t count, std::int64_t* counts)
{
    run(x, count, counts, at::kInt);
}
void libtorch_bincount(std::uint8_t const* x, std::size_t count, std::int64_t* counts)
{
    run(x, count, counts, at::kByte);
}

} // namespace bench
