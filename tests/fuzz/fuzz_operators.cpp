// libFuzzer on the operators, at each level of xloom_dispatch that the processor supports.

#include <xloom/detail/core/vector_level.hpp>

#include "operators.hpp"
#include "outcome.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    using namespace xloom::dispatch;
    auto const runs_at = [&](level unit) {
        force_level(unit);
        return fuzz::try_operator({data, size});
    };
    bool const has_run = runs_at(level::sse2);
    for (level const unit :
        {level::avx2, level::avx2_vnni, level::avx512, level::avx512_vnni, level::avx512_bf16})
        if (is_supported(unit))
            fuzz::require(runs_at(unit) == has_run, "a call is refused at one level and not at another");
    return 0;
}
