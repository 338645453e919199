#pragma once
// The conflicts between two types, and the subject of an error text about them.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

/// The property in which two types differ. `unknown_type`: one of the two is untyped or has an undefined
/// element type where it must be known.
enum class conflict { none, unknown_type, kind, element, rank, dimension };

namespace detail {

/// The function that was called and one of its operands, as in "infer_scan" and "output[2]".
struct subject {
    std::string_view function;
    std::string_view operand;
    std::optional<std::size_t> index{};

    friend void append(std::string& text, subject const& s)
    {
        text += s.operand;
        if (s.index)
            text += concat("[", *s.index, "]");
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
