#pragma once
// The threads that tests give to operators.

#ifdef XLOOM_TEST_TBB

#include <xloom/interop/tbb.hpp>

using threads_policy = xloom::tbb_policy;

#else // where Debian has no oneTBB that a cross compiler can link

#include <xloom/interop/threads.hpp>

using threads_policy = xloom::thread_policy;

#endif
