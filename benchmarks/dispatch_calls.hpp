#pragma once
// The calls of bench_dispatch, compiled for several processors.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What a call computes, in float: `kind` names the operator; the sizes that it does not have are 1.
struct dispatch_work {
    std::string kind;
    std::size_t T = 1, N = 1, H = 1;
};

/// A call, and the numbers that it wrote.
struct built_call {
    std::function<void()> run;
    std::function<std::vector<float>()> results;
};

// dispatch_*.cpp, compiled for each x86-64 processor, for this one, and with xloom::dispatch: the recurrent
// operators with products and activations, the scans, and the operators with indices. The first of them
// without SIMD, too.
namespace no_simd {
built_call make_recurrent(dispatch_work const& work);
}
namespace plain {
built_call make_recurrent(dispatch_work const& work);
built_call make_scan(dispatch_work const& work);
built_call make_indexed(dispatch_work const& work);
} // namespace plain
namespace native {
built_call make_recurrent(dispatch_work const& work);
built_call make_scan(dispatch_work const& work);
built_call make_indexed(dispatch_work const& work);
} // namespace native
namespace dispatch {
built_call make_recurrent(dispatch_work const& work);
built_call make_scan(dispatch_work const& work);
built_call make_indexed(dispatch_work const& work);
} // namespace dispatch

} // namespace bench
