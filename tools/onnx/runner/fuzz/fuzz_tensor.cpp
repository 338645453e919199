// libFuzzer on the values of tests and on .npy files.

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    runner::try_tensor({reinterpret_cast<char const*>(data), size});
    return 0;
}
