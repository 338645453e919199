// Writes the traineddata file of small_language.hpp to standard output: where the fuzzer starts.

#include <cstdio>

#include "small_language.hpp"

int main()
{
    auto const bytes = reader::traineddata_bytes();
    return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}
