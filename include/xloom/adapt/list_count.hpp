#pragma once
// What the bodies of operators over lists must return as many of as there are.

#include <cstddef>
#include <string_view>

#include <xloom/core/error.hpp>

namespace xloom::detail {

inline void check_list_count(std::string_view op, std::string_view what, std::size_t returned, std::size_t expected, std::size_t iteration)
{
    if (returned != expected)
        fail<body_error>(op, ": the body must return a list of ", expected, " ", what, ", but it returned ", returned, " at iteration ",
            iteration, ". Return as many in every iteration.");
}

} // namespace xloom::detail
