// Small numbers of elements that are not small.
// clang-format off
// 1: small_float is for float16, bfloat16 and the float8 and float4 types
// 2: small_int is for int4, uint4, int2 and uint2
// clang-format on
#include <xloom/recurrent/storage_types.hpp>

using xloom::element_type;

int main()
{
#if CASE == 0
    static_cast<void>(xloom::small_float<element_type::float16>(1));
    static_cast<void>(xloom::small_int<element_type::int4>(1));
#elif CASE == 1
    static_cast<void>(xloom::small_float<element_type::float_>(1));
#elif CASE == 2
    static_cast<void>(xloom::small_int<element_type::int8>(1));
#endif
}
