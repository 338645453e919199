#pragma once
#include <vector>
inline void prefetch(void* line) { __builtin_prefetch(line); }
