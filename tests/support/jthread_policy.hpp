#pragma once
// The policy of tests on several threads.

#include <xloom/interop/threads.hpp>

using jthread_policy = xloom::thread_policy;
