// Items that DLPack has no type for.
// clang-format off
// 1: a tensor of DLPack holds numbers or bool, of storage types only float16 and bfloat16
// 2: a tensor of DLPack holds numbers or bool, of storage types only float16 and bfloat16
// 3: a tensor of DLPack holds numbers or bool, of storage types only float16 and bfloat16
// 4: a tensor of DLPack holds numbers or bool, of storage types only float16 and bfloat16
// clang-format on
#include <string>

#include <xloom/interop/dlpack.hpp>
#include <xloom/recurrent/storage_types.hpp>

int main()
{
    [[maybe_unused]] DLTensor tensor{};
#if CASE == 0
    xloom::to_dlpack(xt::xtensor<xloom::bfloat16, 1>());
    xloom::dlpack_tensor<xloom::float16 const> const x(tensor);
#elif CASE == 1
    xloom::to_dlpack(xt::xtensor<xloom::int4, 1>());
#elif CASE == 2
    xloom::dlpack_tensor<xloom::uint2> const x(tensor);
#elif CASE == 3
    xloom::to_dlpack(xt::xtensor<xloom::float8_e4m3fn, 1>());
#elif CASE == 4
    xloom::to_dlpack(xt::xtensor<std::string, 1>());
#endif
}
