#pragma once
// The exception types of xloom, the formatting of their messages, and how they are reported: by an
// exception or, without exceptions (-fno-exceptions), by a handler.

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

namespace xloom::inline XLOOM_ABI {

/// The base class of all exceptions that report an incorrect call. Exceptions thrown by a body propagate
/// unchanged and do not derive from it.
class error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Incompatible kinds or element types, or a wrong number of types.
class type_error : public error {
public:
    using error::error;
};

/// Ranks, dimensions or sizes that violate an operator's shape requirements.
class shape_error : public error {
public:
    using error::error;
};

/// An index out of range for its axis.
class index_error : public error {
public:
    using error::error;
};

/// An option, attribute or number of operands that the operator does not allow.
class option_error : public error {
public:
    using error::error;
};

/// Operands that share memory although one is written while the other is read.
class overlap_error : public error {
public:
    using error::error;
};

/// A body that violated its contract, detected after the call.
class body_error : public error {
public:
    using error::error;
};

/// Another rank that failed: its exception has a type that is not one of xloom's, or it has ended. It is no
/// incorrect call, so it does not derive from `error`.
class rank_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

inline void append(std::string& text, std::string_view part) { text += part; }
inline void append(std::string& text, std::string const& part) { text += part; }
inline void append(std::string& text, char const* part) { text += part; }
inline void append(std::string& text, bool part) { text += part ? "true" : "false"; }
inline void append(std::string& text, std::integral auto part) { text += std::to_string(part); }

/// Appends a range as a list: [2, 3].
template <class Range>
    requires requires(Range const& range) { range.begin() != range.end(); }
void append(std::string& text, Range const& range)
{
    char const* separator = "[";
    for (auto const& item : range) {
        text += separator;
        append(text, item);
        separator = ", ";
    }
    text += range.begin() == range.end() ? "[]" : "]";
}

/// A number with its noun: "1 type", "2 types".
struct counted {
    std::size_t count;
    std::string_view noun;

    friend void append(std::string& text, counted const& n)
    {
        text += std::to_string(n.count);
        text += ' ';
        text += n.noun;
        text += n.count == 1 ? "" : "s";
    }
};

template <class... Parts>
std::string concat(Parts const&... parts)
{
    std::string text;
    (append(text, parts), ...);
    return text;
}

/// Joins facts into one sentence: "a", "a and b", "a, b and c".
inline std::string join(std::vector<std::string> const& facts)
{
    std::string text;
    for (std::size_t i = 0; i < facts.size(); ++i)
        text += concat(i == 0 ? "" : i + 1 == facts.size() ? " and " : ", ", facts[i]);
    return text;
}

/// A list of facts for one sentence, which shows the first four and the number of the rest: "a, b, c, d and 3
/// more".
class fact_list {
public:
    static constexpr std::size_t most_listed = 4;

    template <class... Parts>
    void add(Parts const&... parts)
    {
        if (count_++ < most_listed)
            listed_.push_back(concat(parts...));
    }

    bool empty() const noexcept { return count_ == 0; }
    std::size_t size() const noexcept { return count_; }

    friend void append(std::string& text, fact_list const& facts)
    {
        std::vector<std::string> listed = facts.listed_;
        if (facts.count_ > most_listed)
            listed.push_back(concat(facts.count_ - most_listed, " more"));
        text += join(listed);
    }

private:
    std::vector<std::string> listed_{};
    std::size_t count_ = 0;
};

/// Throws Error with the concatenated parts as its message. Deliberately not constexpr: a constant expression
/// that calls it does not compile, and the compiler's diagnostic shows the message at the call.
template <class Error, class... Parts>
[[noreturn]] void fail(Parts const&... parts)
{
    throw_or_abort(Error(concat(parts...)));
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
