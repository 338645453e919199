#pragma once
// The library's namespace in translation units without exceptions. Inline functions compiled with and without
// exceptions would share one symbol, of which the linker keeps either; with separate namespaces, each
// translation unit reports errors by the mechanism that it was compiled for.

#ifndef __cpp_exceptions
#define xloom xloom_without_exceptions
#endif

// Kernels use the library's internal types without qualification.
namespace xloom::detail {}
namespace xloom::kernel {
using namespace detail;
}
