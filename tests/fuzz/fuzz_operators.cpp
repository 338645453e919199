// libFuzzer on the operators.

#include "operators.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    (void)fuzz::try_operator({data, size});
    return 0;
}
