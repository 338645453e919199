#pragma once

#include <cstddef>
#include <new>

#include <doctest/doctest.h>

#include "counting_new.hpp"

/// Assigns `other` to `target` with each of the allocations refused in turn, until all are granted. After
/// each std::bad_alloc is_unchanged(target) must be true.
template <class T, class IsUnchanged>
void check_assignment(T& target, T const& other, IsUnchanged const& is_unchanged)
{
    bool is_assigned = false;
    for (std::size_t granted = 0; !is_assigned; ++granted) {
        try {
            refusal const after(granted);
            target = other;
            is_assigned = true;
        } catch (std::bad_alloc const&) {}
        if (!is_assigned)
            CHECK(is_unchanged(target));
        CHECK(granted < 100);
    }
}
