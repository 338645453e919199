#pragma once
// Error reporting by an exception or, without exceptions (-fno-exceptions), by a handler.

#include <xloom/detail/core/abi.hpp>

#ifndef __cpp_exceptions

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace xloom::inline XLOOM_ABI {

/// A function that is called with the error instead of a throw. It must end the program: if it returns,
/// std::abort is called, and leaving it by longjmp is undefined behaviour, since destructors are skipped,
/// including those of locks and threads.
using error_handler = void (*)(std::exception const& error);

namespace detail {

inline void print_error(std::exception const& error) { std::fprintf(stderr, "%s\n", error.what()); }

inline std::atomic<error_handler> current_error_handler = print_error;

} // namespace detail

/// Sets the error handler of all threads and returns the previous one. The default, also set by a null
/// pointer, prints the message.
inline error_handler set_error_handler(error_handler handler) noexcept
{
    return detail::current_error_handler.exchange(handler == nullptr ? detail::print_error : handler);
}

} // namespace xloom::inline XLOOM_ABI

#endif

namespace xloom::inline XLOOM_ABI::detail {

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

} // namespace xloom::inline XLOOM_ABI::detail
