#include "names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace compiler {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

/// Keywords and alternative tokens of C++20.
bool is_keyword(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>(
        {"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
            "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
            "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
            "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
            "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
            "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
            "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
            "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
            "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
            "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return std::binary_search(words.begin(), words.end(), name);
}

/// Macros that the standard or common systems define in lower case.
bool is_macro(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>({"assert", "errno", "far", "i386",
        "interface", "linux", "major", "makedev", "minor", "near", "offsetof", "pascal", "setjmp", "small",
        "stderr", "stdin", "stdout", "unix", "va_arg", "va_copy", "va_end", "va_start"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return std::binary_search(words.begin(), words.end(), name);
}

/// Keywords, macros and words that other standards, some contexts or some settings reserve.
bool is_taken(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>(
        {"atomic_cancel", "atomic_commit", "atomic_noexcept", "contract_assert", "final", "import", "main",
            "max", "min", "module", "override", "reflexpr", "synchronized"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return is_keyword(name) || is_macro(name) || std::binary_search(words.begin(), words.end(), name);
}

/// Types and variables that the headers of C and POSIX declare in the global namespace. A parameter of such a
/// name would hide them, of which -Wshadow warns.
bool is_global(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>(
        {"blkcnt_t", "blksize_t", "clock_t", "clockid_t", "daylight", "dev_t", "div_t", "double_t", "environ",
            "float_t", "fpos_t", "fsblkcnt_t", "fsfilcnt_t", "fsid_t", "gid_t", "id_t", "ino_t", "key_t",
            "ldiv_t", "lldiv_t", "locale_t", "loff_t", "mbstate_t", "mode_t", "nlink_t", "off_t", "optarg",
            "opterr", "optind", "optopt", "pid_t", "ptrdiff_t", "quad_t", "regex_t", "register_t", "signgam",
            "sigset_t", "size_t", "socklen_t", "ssize_t", "suseconds_t", "time_t", "timer_t", "timezone",
            "tzname", "uid_t", "uint", "ulong", "useconds_t", "ushort", "wint_t"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return std::binary_search(words.begin(), words.end(), name);
}

/// True for main and the functions of C and POSIX whose names a model may have. A function of the global
/// namespace hides a class of its name there.
bool is_function(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>({"abort", "abs", "accept", "access",
        "acct", "acos", "acosh", "adjtime", "alarm", "alloca", "asin", "asinh", "atan", "atan2", "atanh",
        "basename", "bind", "brk", "bsearch", "calloc", "canonicalize", "cbrt", "ceil", "chdir", "chown",
        "chroot", "clock", "clone", "close", "confstr", "connect", "copysign", "cos", "cosh", "crypt",
        "ctime", "daemon", "difftime", "div", "drem", "dup", "erf", "erfc", "exit", "exp", "exp10", "exp2",
        "expm1", "fabs", "fclose", "fdim", "ffs", "finite", "floor", "fma", "fmax", "fmin", "fmod", "fopen",
        "fork", "fread", "free", "frexp", "fsync", "fwrite", "gamma", "getc", "getline", "getopt", "gets",
        "gettext", "getw", "hypot", "ilogb", "index", "j0", "j1", "jn", "kill", "ldexp", "lgamma", "link",
        "listen", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "main", "malloc", "memcpy",
        "memmove", "memset", "mktemp", "modf", "nan", "nearbyint", "nextafter", "nice", "open", "pause",
        "perror", "pipe", "poll", "pow", "printf", "profil", "putc", "puts", "putw", "qsort", "raise", "rand",
        "random", "read", "realloc", "recv", "remainder", "remove", "rename", "revoke", "rewind", "rint",
        "rmdir", "round", "roundeven", "sbrk", "scalb", "scanf", "select", "send", "signal", "significand",
        "sin", "sincos", "sinh", "sleep", "socket", "sqrt", "srand", "srandom", "stat", "strcpy", "strlen",
        "swab", "symlink", "sync", "syscall", "sysconf", "system", "tan", "tanh", "tgamma", "time", "times",
        "tolower", "toupper", "trunc", "truncate", "uname", "unlink", "unshare", "usleep", "utime", "wait",
        "write", "y0", "y1", "yn"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return std::binary_search(words.begin(), words.end(), name);
}

/// True for identifiers such as EOF, NAN or I, which are macros somewhere. Single letters but I are not.
bool is_like_macro(std::string_view name)
{
    return name == "I" || (name.size() > 1 && std::none_of(name.begin(), name.end(), is_lower));
}

} // namespace

std::string identifier_of(std::string_view name, std::size_t most)
{
    std::string result;
    for (char const c : name) {
        bool const is_kept = is_lower(c) || is_upper(c) || is_digit(c);
        if (is_kept)
            result += c;
        else if (!result.empty() && result.back() != '_')
            result += '_';
        if (result.size() == most)
            break;
    }
    while (!result.empty() && result.back() == '_')
        result.pop_back();
    if (result.empty() || is_digit(result[0]))
        result.insert(0, "v");
    if (is_taken(result) || is_global(result) || is_like_macro(result))
        result += '_';
    return result;
}

std::string why_no_identifier(std::string_view text)
{
    if (text.empty())
        return "is empty";
    if (is_digit(text[0]))
        return "begins with a digit";
    for (char const c : text)
        if (!is_lower(c) && !is_upper(c) && !is_digit(c) && c != '_')
            return fmt::format(
                "holds {}, but may hold letters of ASCII, digits and _", comment_text({&c, 1}));
    return is_keyword(text) ? "is a keyword of C++" : "";
}

std::string why_no_qualified_name(std::string_view text)
{
    for (std::size_t at = text.find("::"); at != std::string_view::npos; at = text.find("::")) {
        if (std::string why = why_no_identifier(text.substr(0, at)); !why.empty())
            return why;
        text.remove_prefix(at + 2);
    }
    return why_no_identifier(text);
}

std::string why_no_namespace(std::string_view text)
{
    if (std::string why = why_no_qualified_name(text); !why.empty())
        return why;
    std::string const parts = fmt::format("::{}::", text);
    for (std::string_view const used : {"std", "xt", "xloom", "xloom_onnx"})
        if (parts.find(fmt::format("::{}::", used)) != std::string::npos)
            return fmt::format("has {}, a namespace that the generated code uses", used);
    std::string_view const outermost = text.substr(0, text.find("::"));
    if (is_function(outermost) || is_global(outermost))
        return fmt::format("begins with {}, a function or type of C or POSIX", outermost);
    for (std::string_view rest = text; !rest.empty();) {
        std::string_view const part = rest.substr(0, rest.find("::"));
        if (is_macro(part))
            return fmt::format("has {}, a macro on some systems", part);
        rest.remove_prefix(std::min(rest.size(), part.size() + 2));
    }
    return "";
}

std::string class_name_of(std::string_view file)
{
    std::string const name = identifier_of(file, std::string_view::npos);
    return why_no_class_name(name).empty() ? name : name + '_';
}

std::string why_no_class_name(std::string_view text)
{
    if (std::find(own_identifiers.begin(), own_identifiers.end(), text) != own_identifiers.end())
        return "is an identifier that the generated code has already";
    if (is_function(text))
        return "is a function of C or POSIX, which hides a class";
    if (is_global(text))
        return "is a type or variable of C or POSIX";
    if (std::string why = why_no_identifier(text); !why.empty())
        return why;
    return is_macro(text) ? "is a macro on some systems" : "";
}

std::string name_scope::unique(std::string_view name)
{
    std::string const plain = identifier_of(name);
    if (used_.insert(plain).second)
        return plain;
    for (std::size_t& number = next_.try_emplace(plain, 2).first->second;; ++number) {
        // A numbered name may be a macro, as M_PI_2 is.
        std::string numbered = identifier_of(
            fmt::format("{}{}{}", plain, plain.back() == '_' ? "" : "_", number), std::string_view::npos);
        if (used_.insert(numbered).second)
            return numbered;
    }
}

std::string comment_text(std::string_view name)
{
    constexpr std::size_t most = 72;
    std::string result = "'";
    for (char const c : name) {
        if (result.size() > most)
            return result + "...'";
        if (is_printable(c) && c != '\\')
            result += c;
        else
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return result + "'";
}

std::string string_literal(std::string_view text)
{
    std::string result = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\' || c == '?')
            (result += '\\') += c;
        else if (is_printable(c))
            result += c;
        else
            result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    return result + '"';
}

std::string text_expression(std::string_view text)
{
    std::string const literal = string_literal(text);
    return text.find('\0') == std::string_view::npos
               ? literal
               : fmt::format("std::string({}, {})", literal, text.size());
}

} // namespace compiler
