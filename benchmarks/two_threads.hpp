#pragma once
// The policy of the cases on two threads.

#include <xloom/interop/tbb.hpp>

namespace bench {

inline xloom::tbb_policy const& two_threads()
{
    static xloom::tbb_policy const policy(2);
    return policy;
}

} // namespace bench
