#pragma once
// How an error leaves the library: thrown or, where the compiler has no exceptions (-fno-exceptions), handed
// to a handler.

#include <xloom/core/exceptions.hpp>

#ifndef __cpp_exceptions

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace xloom {

/// What takes an error where there is nothing to throw. It must end the program: if it returns, std::abort
/// does, and leaving it by longjmp is undefined behaviour, for it skips destructors, those of locks and
/// threads among them.
using error_handler = void (*)(std::exception const& error);

namespace detail {

inline void print_error(std::exception const& error) { std::fprintf(stderr, "%s\n", error.what()); }

inline std::atomic<error_handler> current_error_handler = print_error;

} // namespace detail

/// Makes `handler` the one that takes all errors from now on, on every thread, and returns the one before.
/// The first one prints the text; a null pointer means that one.
inline error_handler set_error_handler(error_handler handler) noexcept
{
    return detail::current_error_handler.exchange(handler == nullptr ? detail::print_error : handler);
}

} // namespace xloom

#endif

namespace xloom::detail {

template <class Error>
[[noreturn]] void throw_or_abort(Error const& error)
{
#ifdef __cpp_exceptions
    throw error;
#else
    current_error_handler.load()(error);
    std::abort();
#endif
}

} // namespace xloom::detail
