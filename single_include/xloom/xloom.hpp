#pragma once
// xloom 0.1.0 in one file: structured recurrences with exact ONNX semantics, on xtensor.
//
// Needs C++20, xtensor 0.24.3 or newer with its xtl, and xsimd 8.1 or newer. With XLOOM_USE_TBB defined it holds tbb_policy, too, and
// needs oneTBB, with XLOOM_USE_ADOLC adolc_tape and ADOL-C. Made by scripts/single-include from the headers below include/: change those.
//
// BSD 3-Clause License
//
// Copyright (c) 2026, the xloom authors
// All rights reserved.
//
// Redistribution and use in source and binary forms, with or without
// modification, are permitted provided that the following conditions are met:
//
// 1. Redistributions of source code must retain the above copyright notice, this
//    list of conditions and the following disclaimer.
//
// 2. Redistributions in binary form must reproduce the above copyright notice,
//    this list of conditions and the following disclaimer in the documentation
//    and/or other materials provided with the distribution.
//
// 3. Neither the name of the copyright holder nor the names of its
//    contributors may be used to endorse or promote products derived from
//    this software without specific prior written permission.
//
// THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
// AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
// IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
// DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
// FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
// DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
// SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
// CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
// OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
// OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

// ==== xloom/xloom.hpp ====
// All public headers; xloom/tbb.hpp, which requires oneTBB, only if XLOOM_USE_TBB is defined, and xloom/adolc.hpp, which
// requires ADOL-C, only if XLOOM_USE_ADOLC is.

// ==== xloom/activations.hpp ====
// ONNX's activation functions over contiguous ranges, with SIMD for float and double.

// ==== xloom/core/activation.hpp ====
// The activation functions of ONNX's recurrent operators: names, and defaults of alpha and beta.

// ==== xloom/core/error.hpp ====
// The exception types of xloom, and the formatting of their messages.

// ==== xloom/core/raise.hpp ====
// Error reporting by an exception or, without exceptions (-fno-exceptions), by a handler.

// ==== xloom/core/exceptions.hpp ====
// The library's namespace in translation units without exceptions. Inline functions compiled with and without
// exceptions would share one symbol, of which the linker keeps either; with separate namespaces, each
// translation unit reports errors by the mechanism that it was compiled for.

#ifndef __cpp_exceptions
#define xloom xloom_without_exceptions
#endif

// Kernels use the library's internal types without qualification.
namespace xloom::detail {}
namespace xloom::kernel {
using namespace detail;
}

#ifndef __cpp_exceptions

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace xloom {

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

namespace xloom {

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
} // namespace xloom

// ==== xloom/core/static_vector.hpp ====
// A vector of fixed capacity with in-place storage, so that shapes and option lists are constexpr and do not
// allocate.

// ==== xloom/core/print.hpp ====
// Printing of shapes and types as in error messages, such as float[2, N].

namespace xloom {

namespace detail {

/// True if T is a type of xloom that to_string and << print.
template <class T>
inline constexpr bool is_printed = false;

} // namespace detail

/// Returns the text of a shape, axes, dim, partial_shape, partial_type or type_list.
///
/// Example
/// ```cpp
/// xloom::to_string(xloom::shape{2, 3}); // = [2, 3]
/// ```
template <class T>
    requires detail::is_printed<T>
std::string to_string(T const& value)
{
    return detail::concat(value);
}

/// Writes to_string(value) to a stream. The caller includes <ostream>.
template <class Traits, class T>
    requires detail::is_printed<T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, T const& value)
{
    return out << to_string(value);
}

} // namespace xloom

namespace xloom {

/// The subset of std::vector that shapes and lists need, with in-place storage for Capacity items.
///
/// Errors    option_error: more than Capacity items.
template <class T, std::size_t Capacity>
class static_vector {
public:
    using value_type = T;

    constexpr static_vector() = default;

    /// Constructs a vector of `count` copies of `value`.
    constexpr static_vector(std::size_t count, T const& value) { resize(count, value); }

    constexpr static_vector(std::initializer_list<T> items) : static_vector(items.begin(), items.end()) {}

    template <std::input_iterator Iterator>
    constexpr static_vector(Iterator first, Iterator last)
    {
        for (; first != last; ++first)
            push_back(static_cast<T>(*first));
    }

    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    static constexpr std::size_t capacity() noexcept { return Capacity; }

    constexpr T& operator[](std::size_t i) noexcept { return items_[i]; }
    constexpr T const& operator[](std::size_t i) const noexcept { return items_[i]; }
    constexpr T& back() noexcept { return items_[size_ - 1]; }
    constexpr T const& back() const noexcept { return items_[size_ - 1]; }

    constexpr T* data() noexcept { return items_; }
    constexpr T const* data() const noexcept { return items_; }
    constexpr T* begin() noexcept { return items_; }
    constexpr T* end() noexcept { return items_ + size_; }
    constexpr T const* begin() const noexcept { return items_; }
    constexpr T const* end() const noexcept { return items_ + size_; }

    constexpr void push_back(T const& item)
    {
        require_room_for(size_ + 1);
        items_[size_++] = item;
    }

    /// Inserts `item` before position `where`.
    constexpr void insert(std::size_t where, T const& item)
    {
        push_back(item);
        std::rotate(begin() + where, end() - 1, end());
    }

    /// Removes the item at position `where`.
    constexpr void erase(std::size_t where)
    {
        std::copy(begin() + where + 1, end(), begin() + where);
        items_[--size_] = T{};
    }

    constexpr void resize(std::size_t size, T const& value = T{})
    {
        require_room_for(size);
        for (std::size_t i = size_; i < size; ++i)
            items_[i] = value;
        size_ = size;
    }

    friend constexpr bool operator==(static_vector const& a, static_vector const& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    static constexpr void require_room_for(std::size_t size)
    {
        if (size > Capacity)
            detail::fail<option_error>("xloom: a list holds at most ", Capacity,
                " items (max_rank, max_operands), but was given ", size, ".");
    }

    T items_[Capacity]{};
    std::size_t size_ = 0;
};

/// True for shapes and axes: they are printed.
template <std::integral T, std::size_t Capacity>
inline constexpr bool detail::is_printed<static_vector<T, Capacity>> = true;

} // namespace xloom

namespace xloom {

/// The activation functions of ONNX's recurrent operators.
enum class activation : unsigned char {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus,
    softmax
};

inline constexpr std::size_t activation_count = 12;

/// An activation function with its parameters. A parameter that the function does not have is ignored.
struct activation_function {
    activation kind;
    double alpha = 0;
    double beta = 0;

    friend constexpr bool operator==(activation_function const&, activation_function const&) = default;
};

/// The source of the defaults of alpha and beta: ONNX (the defaults of the standalone operator), or
/// com.microsoft, whose runtime uses 0 where it defines no default.
enum class activation_dialect : unsigned char { onnx, microsoft };

namespace detail {

struct activation_entry {
    std::string_view name;
    bool has_alpha = false;
    bool has_beta = false;
    std::array<double, 2> onnx{};      ///< alpha, beta
    std::array<double, 2> microsoft{}; ///< alpha, beta
};

inline constexpr std::array<activation_entry, activation_count> activation_entries{{
    {"Relu"},
    {"Tanh"},
    {"Sigmoid"},
    {"Affine", true, true, {1, 0}, {0, 0}},
    {"LeakyRelu", true, false, {0.01, 0}, {0.01, 0}},
    {"ThresholdedRelu", true, false, {1, 0}, {0, 0}},
    {"ScaledTanh", true, true, {1, 1}, {0, 0}},
    {"HardSigmoid", true, true, {0.2, 0.5}, {0.2, 0.5}},
    {"Elu", true, false, {1, 0}, {1, 0}},
    {"Softsign"},
    {"Softplus"},
    {"Softmax"},
}};

constexpr char lower(char c) noexcept { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_same_name(std::string_view a, std::string_view b) noexcept
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

inline std::string activation_names()
{
    std::vector<std::string> names;
    names.reserve(activation_count);
    for (activation_entry const& entry : activation_entries)
        names.emplace_back(entry.name);
    return join(names);
}

} // namespace detail

/// Returns the name as ONNX spells it, such as "LeakyRelu".
constexpr std::string_view name_of(activation kind) noexcept
{
    auto const number = static_cast<std::size_t>(kind);
    return number < activation_count ? detail::activation_entries[number].name : "unknown";
}

/// The largest number of activations: f, g and h for each of two directions.
inline constexpr std::size_t max_activations = 6;
using activation_list = static_vector<activation_function, max_activations>;

/// Returns the activations of these names; case is ignored. alphas and betas are consumed in order: a
/// function with that parameter takes the next value, or its default once the list is exhausted. Surplus
/// values are ignored.
///
/// Errors    option_error: an unknown name; more than max_activations names.
/// Source    ONNX LSTM-22 (activations, activation_alpha, activation_beta); com.microsoft AttnLSTM as ONNX
///           Runtime runs it.
/// Example   tests/core/activation.test.cpp
constexpr activation_list parse_activations(std::string_view op, std::span<std::string_view const> names,
    std::span<double const> alphas = {}, std::span<double const> betas = {},
    activation_dialect dialect = activation_dialect::onnx)
{
    if (names.size() > max_activations)
        detail::fail<option_error>(op, ": there may be at most ", max_activations,
            " activations, but activations has ", names.size(), ". Give fewer.");
    activation_list functions;
    std::size_t next_alpha = 0, next_beta = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::size_t kind = 0;
        while (
            kind < activation_count && !detail::is_same_name(names[i], detail::activation_entries[kind].name))
            ++kind;
        if (kind == activation_count)
            detail::fail<option_error>(op, ": an activation must be one that ONNX names, but activations[", i,
                "] is \"", names[i], "\". Choose one of ", detail::activation_names(), ".");
        detail::activation_entry const& entry = detail::activation_entries[kind];
        auto const& defaults = dialect == activation_dialect::onnx ? entry.onnx : entry.microsoft;
        activation_function function{static_cast<activation>(kind), defaults[0], defaults[1]};
        if (entry.has_alpha && next_alpha < alphas.size())
            function.alpha = alphas[next_alpha++];
        if (entry.has_beta && next_beta < betas.size())
            function.beta = betas[next_beta++];
        functions.push_back(function);
    }
    return functions;
}

} // namespace xloom

// ==== xloom/core/cast.hpp ====
// Conversion of a number to another element type, as by ONNX's Cast.

// ==== xloom/core/float_rounding.hpp ====
// Rounding of float and double to a small format in integer arithmetic, and the exact conversion back; both
// with the same results at compile time.

// ==== xloom/core/float_format.hpp ====
// The bit layouts of ONNX's small floating-point types.

// ==== xloom/core/element_types.hpp ====
// The element types of ONNX, with the values of TensorProto::DataType, and their names.

namespace xloom {

/// The element type of a tensor; `undefined` if it is not known. Some enumerators have the names of storage
/// types: with `using namespace xloom`, write `using enum element_type` in an inner namespace or block, where
/// it hides them.
enum class element_type : std::int32_t {
    undefined = 0,
    float_ = 1,
    uint8 = 2,
    int8 = 3,
    uint16 = 4,
    int16 = 5,
    int32 = 6,
    int64 = 7,
    string = 8,
    bool_ = 9,
    float16 = 10,
    double_ = 11,
    uint32 = 12,
    uint64 = 13,
    complex64 = 14,
    complex128 = 15,
    bfloat16 = 16,
    float8_e4m3fn = 17,
    float8_e4m3fnuz = 18,
    float8_e5m2 = 19,
    float8_e5m2fnuz = 20,
    uint4 = 21,
    int4 = 22,
    float4_e2m1 = 23,
    float8_e8m0 = 24,
    uint2 = 25,
    int2 = 26
};

/// The number of element types, including `undefined`; their values are 0 .. element_type_count - 1.
inline constexpr std::size_t element_type_count = 27;

/// Returns the name in ONNX's type strings, such as "float8e4m3fn" in tensor(float8e4m3fn); "undefined" for a
/// value that is not an element type.
constexpr std::string_view name_of(element_type element) noexcept
{
    constexpr std::string_view names[element_type_count] = {"undefined", "float", "uint8", "int8", "uint16",
        "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32", "uint64", "complex64",
        "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
        "int4", "float4e2m1", "float8e8m0", "uint2", "int2"};
    auto const number = static_cast<std::size_t>(element);
    return number < element_type_count ? names[number] : names[0];
}

} // namespace xloom

namespace xloom::detail {

/// The patterns that a format reserves for infinities and NaNs, named by ONNX's suffixes.
enum class float_specials : unsigned char {
    ieee, // the highest exponent: infinities, and NaNs beyond them
    fn,   // "finite": all ones, with either sign, is NaN
    fnuz, // "finite, unsigned zero": the pattern of -0 is the only NaN
    none  // nothing: every pattern is a finite number
};

/// A floating-point format. From the most significant bit: the sign if the format has one, the exponent, the
/// mantissa. A pattern without its sign is called a magnitude; magnitudes are ordered like the values.
/// Exponent 0 encodes zero and the subnormal numbers; without a mantissa, all numbers are powers of two.
struct float_format {
    int exponent_bits;
    int mantissa_bits;
    int bias;
    float_specials specials;
    bool has_sign = true;

    constexpr int magnitude_bits() const noexcept { return exponent_bits + mantissa_bits; }
    constexpr int bits() const noexcept { return magnitude_bits() + (has_sign ? 1 : 0); }
    constexpr bool has_zero() const noexcept { return mantissa_bits > 0; }
    constexpr bool has_infinity() const noexcept { return specials == float_specials::ieee; }
    constexpr bool has_nan() const noexcept { return specials != float_specials::none; }

    constexpr unsigned sign() const noexcept { return has_sign ? 1u << magnitude_bits() : 0u; }
    constexpr unsigned all_ones() const noexcept { return (1u << magnitude_bits()) - 1; }

    /// Returns the smallest magnitude with the highest exponent: that of infinity, if the format has one.
    constexpr unsigned infinity() const noexcept { return all_ones() >> mantissa_bits << mantissa_bits; }

    /// Returns the magnitude of a quiet NaN; for fnuz the pattern including its sign.
    constexpr unsigned nan() const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return infinity() | 1u << (mantissa_bits - 1);
        case float_specials::fnuz:
            return sign();
        default:
            return all_ones();
        }
    }

    constexpr bool is_nan(unsigned pattern) const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return (pattern & all_ones()) > infinity();
        case float_specials::fn:
            return (pattern & all_ones()) == nan();
        case float_specials::fnuz:
            return pattern == nan();
        default:
            return false;
        }
    }

    /// Returns the magnitude of the largest finite number.
    constexpr unsigned largest() const noexcept
    {
        switch (specials) {
        case float_specials::ieee:
            return infinity() - 1;
        case float_specials::fn:
            return all_ones() - 1;
        default:
            return all_ones();
        }
    }
};

/// Returns the format of a floating-point element type of at most 16 bits; for any other type, a format of 0
/// bits.
constexpr float_format format_of(element_type element) noexcept
{
    switch (element) {
    case element_type::float16:
        return {5, 10, 15, float_specials::ieee};
    case element_type::bfloat16:
        return {8, 7, 127, float_specials::ieee};
    case element_type::float8_e4m3fn:
        return {4, 3, 7, float_specials::fn};
    case element_type::float8_e4m3fnuz:
        return {4, 3, 8, float_specials::fnuz};
    case element_type::float8_e5m2:
        return {5, 2, 15, float_specials::ieee};
    case element_type::float8_e5m2fnuz:
        return {5, 2, 16, float_specials::fnuz};
    case element_type::float8_e8m0:
        return {8, 0, 127, float_specials::fn, false};
    case element_type::float4_e2m1:
        return {2, 1, 1, float_specials::none};
    default:
        return {0, 0, 0, float_specials::none, false};
    }
}

} // namespace xloom::detail

namespace xloom {

/// The rounding of float8_e8m0: to the next power of two away from zero, towards zero, or to the nearest,
/// ties up.
enum class round_mode : unsigned char { up, down, nearest };

/// The attributes of ONNX's Cast. `saturate` applies to float 8: a value out of range becomes the nearest
/// finite number if true, else infinity (float8_e5m2) or NaN (the others). `round_mode` applies to
/// float8_e8m0 only.
struct cast_options {
    bool saturate = true;
    xloom::round_mode round_mode = xloom::round_mode::up;
};

namespace detail {

template <std::floating_point Float>
struct float_layout;
template <>
struct float_layout<float> {
    using word = std::uint32_t;
    static constexpr int exponent_bits = 8, mantissa_bits = 23, bias = 127;
};
template <>
struct float_layout<double> {
    using word = std::uint64_t;
    static constexpr int exponent_bits = 11, mantissa_bits = 52, bias = 1023;
};

/// Returns the magnitude of a number beyond the largest finite one; for fnuz, the pattern of NaN including
/// its sign.
constexpr unsigned overflow_of(float_format const& format, bool saturate) noexcept
{
    bool const saturates = format.bits() == 8 ? saturate : format.specials == float_specials::none;
    if (saturates)
        return format.largest();
    return format.has_infinity() ? format.infinity() : format.nan();
}

/// Returns the nearest magnitude of the format, ties to even, as if its exponent had no upper limit.
/// `magnitude` is that of a float or double.
///
/// Why no case for subnormal numbers: those of the format only drop more bits, and a mantissa that rounds up
/// to the next power of two carries into the exponent; those of the source are treated as normal and still
/// round to 0.
template <class Float, element_type Target>
constexpr typename float_layout<Float>::word round_magnitude(
    typename float_layout<Float>::word magnitude) noexcept
{
    using source = float_layout<Float>;
    using word = typename source::word;
    constexpr float_format format = format_of(Target);
    constexpr int excess = source::mantissa_bits - format.mantissa_bits;
    constexpr word one = 1;

    if constexpr (format.exponent_bits == source::exponent_bits)
        return (magnitude + ((one << (excess - 1)) - 1) + (magnitude >> excess & 1)) >> excess;

    constexpr word hidden = one << source::mantissa_bits;
    word const significand = (magnitude & (hidden - 1)) | hidden;
    int const exponent = static_cast<int>(magnitude >> source::mantissa_bits) + (format.bias - source::bias);
    // Dropping more than mantissa_bits + 2 bits gives 0, as does dropping exactly that many.
    int const dropped = (std::min)(excess + (std::max)(1 - exponent, 0), source::mantissa_bits + 2);
    word const rounded =
        (significand + ((one << (dropped - 1)) - 1) + (significand >> dropped & 1)) >> dropped;
    return (static_cast<word>((std::max)(exponent, 1) - 1) << format.mantissa_bits) + rounded;
}

/// Returns the pattern of a float or double in the format. A NaN keeps its sign and the high bits of its
/// payload, if the format has them.
template <element_type Target, class Float>
constexpr unsigned encode(Float value, bool saturate) noexcept
{
    using source = float_layout<Float>;
    using word = typename source::word;
    constexpr float_format format = format_of(Target);
    constexpr word source_infinity = ((word{1} << source::exponent_bits) - 1) << source::mantissa_bits;
    constexpr int excess = source::mantissa_bits - format.mantissa_bits;

    word const bits = std::bit_cast<word>(value);
    word const magnitude = bits & (~word{0} >> 1);
    unsigned const sign = bits != magnitude ? format.sign() : 0;
    word const rounded = round_magnitude<Float, Target>(magnitude);
    unsigned const finite =
        rounded > format.largest() ? overflow_of(format, saturate) : static_cast<unsigned>(rounded);
    if constexpr (format.specials == float_specials::none)
        return magnitude > source_infinity
                   ? format.largest()
                   : finite | sign; // ONNX: NaN becomes the largest number, as +Inf does
    else if constexpr (format.specials == float_specials::fnuz)
        return magnitude > source_infinity ? format.nan() : finite == 0 ? 0 : finite | sign;
    else if constexpr (format.specials == float_specials::fn)
        return (magnitude > source_infinity ? format.nan() : finite) | sign;
    else
        return (magnitude > source_infinity
                       ? format.nan() | (static_cast<unsigned>(magnitude >> excess) & format.all_ones())
                       : finite) |
               sign;
}

/// Returns the pattern of a number in float8_e8m0. ONNX does not specify negative numbers: they become NaN,
/// but -0 is treated as 0.
constexpr unsigned encode_power_of_two(double value, cast_options options) noexcept
{
    constexpr float_format format = format_of(element_type::float8_e8m0);
    constexpr std::uint64_t one = std::uint64_t{1} << float_layout<double>::mantissa_bits;
    auto const bits = std::bit_cast<std::uint64_t>(value);
    if (bits > std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()) && value != 0)
        return format.nan();
    if (value < 0x1p-127 || value > 0x1p127)
        return !options.saturate ? format.nan() : value < 1 ? 0 : format.largest();
    std::uint64_t const fraction = bits & (one - 1);
    std::uint64_t const least = options.round_mode == round_mode::up        ? 1
                                : options.round_mode == round_mode::nearest ? one / 2
                                                                            : one;
    int const exponent =
        static_cast<int>(bits / one) - float_layout<double>::bias + (fraction >= least ? 1 : 0);
    return static_cast<unsigned>(exponent + format.bias);
}

/// Selects one of two words by a mask: g++ does not vectorise a loop that selects a computed float by a
/// branch.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) noexcept
{
    std::uint32_t const mask = 0u - static_cast<std::uint32_t>(condition);
    return (mask & yes) | (~mask & no);
}

/// Returns the exact value of a pattern. A NaN keeps its sign and payload.
template <element_type Source>
constexpr float decode(unsigned bits) noexcept
{
    constexpr float_format format = format_of(Source);
    constexpr int excess = 23 - format.mantissa_bits;
    constexpr std::uint32_t float_infinity = 0x7f800000, float_nan = 0x7fc00000;

    std::uint32_t const magnitude = bits & format.all_ones();
    std::uint32_t const sign = (bits & format.sign()) << (31 - format.magnitude_bits());
    std::uint32_t const normal =
        (magnitude << excess) + (static_cast<std::uint32_t>(127 - format.bias) << 23);
    if constexpr (!format.has_zero())
        return std::bit_cast<float>(magnitude == format.nan() ? float_nan
                                    : magnitude == 0          ? std::uint32_t{1} << 22
                                                              : normal);
    else if constexpr (format.exponent_bits == 8)
        return std::bit_cast<float>(normal | sign);
    else {
        // In units of the smallest number, which is a normal float.
        constexpr float unit =
            std::bit_cast<float>(static_cast<std::uint32_t>(128 - format.bias - format.mantissa_bits) << 23);
        auto const subnormal =
            std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * unit);
        std::uint32_t const number = select(magnitude >> format.mantissa_bits == 0, subnormal, normal) | sign;
        if constexpr (format.specials == float_specials::ieee)
            return std::bit_cast<float>(number | (magnitude >= format.infinity() ? float_infinity : 0));
        else if constexpr (format.specials == float_specials::fn)
            return std::bit_cast<float>(number | (magnitude == format.nan() ? float_nan : 0));
        else if constexpr (format.specials == float_specials::fnuz)
            return std::bit_cast<float>(select(bits == format.nan(), float_nan, number));
        else
            return std::bit_cast<float>(number);
    }
}

/// Converts an integer to a double that every format rounds as it would round the integer: the bits beyond
/// the 53 of the mantissa are combined into the lowest one (rounding to odd).
template <std::integral Integer>
constexpr double widen(Integer value) noexcept
{
    if constexpr (sizeof(Integer) < sizeof(std::uint64_t)) {
        return static_cast<double>(value);
    } else {
        bool const is_negative = std::cmp_less(value, 0);
        std::uint64_t const magnitude =
            is_negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
        std::uint64_t const odd = magnitude >> 53 == 0
                                      ? magnitude
                                      : magnitude >> 11 << 11 | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
        return is_negative ? -static_cast<double>(odd) : static_cast<double>(odd);
    }
}
constexpr float widen(float value) noexcept { return value; }
constexpr double widen(double value) noexcept { return value; }

} // namespace detail
} // namespace xloom

// ==== xloom/core/number.hpp ====
// The concept of a type whose values convert to a number.

namespace xloom::detail {

template <class T>
concept builtin_number = std::same_as<T, float> || std::same_as<T, double> ||
                         (std::integral<T> && sizeof(T) <= sizeof(std::uint64_t));

/// A type whose unary + gives an integer, a float or a double: the built-in numbers, the storage types, and
/// user-defined types with such an operator.
template <class T>
concept number = requires(T const& value) { requires builtin_number<decltype(+value)>; };

} // namespace xloom::detail

// ==== xloom/core/small_float.hpp ====
// Storage types for ONNX's floating-point types that C++ lacks. Arithmetic is done in float.

namespace xloom {

/// A number in the format of an ONNX element type; see the aliases below. Each occupies whole bytes: only
/// files pack two float4 into one.
///
/// To float   implicit and exact, like char to int: `a + b` is a float, comparisons are those of floats (NaN
///            != NaN, -0 == 0).
/// From       integers, float, double and the other storage types: implicit, rounded once to nearest, ties to
///            even, with the defaults of ONNX's Cast: on overflow float16 and bfloat16 become infinite, the
///            others their largest number. cast<To>(x, options) takes other options. float8_e8m0 rounds up; 0
///            becomes its smallest number, negative numbers NaN.
/// Compound   a += b computes in float, or in double if b is one, and rounds once. For two of one type the
///            result is correctly rounded, except bfloat16's subnormal products and quotients and
///            float8_e8m0.
/// Default    `small_float x;` leaves x uninitialised, as with float; all bits of `small_float x{}` are 0,
///            which is 0, or float8_e8m0's 2^-127.
///
/// Why both conversions are implicit, as between the built-in types: xtensor tests std::is_convertible before
/// it assigns one element type to another, and throws at run time if only an explicit conversion exists. The
/// drawback: `c ? x : 1.0f` needs a cast of one operand.
template <element_type Element>
class small_float {
public:
    static constexpr detail::float_format format = detail::format_of(Element);
    static_assert(
        format.bits() > 0, "xloom: small_float is for float16, bfloat16 and the float8 and float4 types.");

    using bits_type = std::conditional_t<(format.bits() > 8), std::uint16_t, std::uint8_t>;

    constexpr small_float() = default;

    template <class Number>
        requires(!std::same_as<Number, small_float> && detail::number<Number>)
    constexpr small_float(Number value) noexcept : small_float(value, cast_options{})
    {}

    /// Converts with the attributes of ONNX's Cast.
    template <detail::number Number>
    constexpr small_float(Number value, cast_options options) noexcept
        : bits_(round(detail::widen(+value), options))
    {}

    /// Returns the number with this pattern in the low bits; higher bits are ignored.
    static constexpr small_float from_bits(unsigned bits) noexcept
    {
        small_float result{};
        result.bits_ = static_cast<bits_type>(bits & (format.sign() | format.all_ones()));
        return result;
    }
    constexpr bits_type bits() const noexcept { return bits_; }

    constexpr operator float() const noexcept { return detail::decode<Element>(bits_); }

    friend constexpr bool isnan(small_float x) noexcept { return format.is_nan(x.bits_); }
    friend constexpr bool isinf(small_float x) noexcept
    {
        return format.has_infinity() && (x.bits_ | format.sign()) == (format.sign() | format.infinity());
    }
    friend constexpr bool isfinite(small_float x) noexcept { return !isnan(x) && !isinf(x); }

    template <detail::number Number>
    constexpr small_float& operator+=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) + in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator-=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) - in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator*=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) * in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_float& operator/=(Number other) noexcept
    {
        return *this = small_float(in<Number>(*this) / in<Number>(other));
    }

private:
    static constexpr bits_type round(std::floating_point auto value, cast_options options) noexcept
    {
        if constexpr (format.has_zero())
            return static_cast<bits_type>(detail::encode<Element>(value, options.saturate));
        else
            return static_cast<bits_type>(detail::encode_power_of_two(value, options));
    }

    /// Converts to the type in which arithmetic with a Number is done.
    template <class Number>
    static constexpr auto in(detail::number auto value) noexcept
    {
        return static_cast<std::conditional_t<std::same_as<Number, double>, double, float>>(value);
    }

    bits_type bits_;
};

using float16 = small_float<element_type::float16>;
using bfloat16 = small_float<element_type::bfloat16>;
using float8_e4m3fn = small_float<element_type::float8_e4m3fn>;
using float8_e4m3fnuz = small_float<element_type::float8_e4m3fnuz>;
using float8_e5m2 = small_float<element_type::float8_e5m2>;
using float8_e5m2fnuz = small_float<element_type::float8_e5m2fnuz>;
/// A power of two from 2^-127 to 2^127, or NaN: no sign, no zero, no infinity.
using float8_e8m0 = small_float<element_type::float8_e8m0>;
/// A number 0, 0.5, 1, 1.5, 2, 3, 4 or 6, with a sign. NaN becomes 6.
using float4_e2m1 = small_float<element_type::float4_e2m1>;

} // namespace xloom

namespace std {

// Each type converts to the other, so there is no common type by default, except for two equal types.
template <xloom::element_type Element, xloom::detail::number Other>
    requires(!is_same_v<Other, xloom::small_float<Element>>)
struct common_type<xloom::small_float<Element>, Other> : common_type<float, decltype(+declval<Other>())> {};
template <xloom::element_type Element, xloom::detail::number Other>
    requires is_arithmetic_v<Other>
struct common_type<Other, xloom::small_float<Element>> : common_type<Other, float> {};

/// The limits of a small_float. The base class has the members that are common to all binary formats, with or
/// without subnormal numbers.
template <xloom::element_type Element>
class numeric_limits<xloom::small_float<Element>>
    : public conditional_t<xloom::detail::format_of(Element).has_zero(), numeric_limits<float>,
          numeric_limits<unsigned char>> {
    using type = xloom::small_float<Element>;
    static constexpr xloom::detail::float_format format = type::format;
    static constexpr int smallest_exponent = format.has_zero() ? 1 - format.bias : -format.bias;
    static constexpr int largest_exponent =
        static_cast<int>(format.largest() >> format.mantissa_bits) - format.bias;

    static constexpr int powers_of_ten(int powers_of_two) { return powers_of_two * 30103 / 100000; }

public:
    static constexpr bool is_signed = format.has_sign;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool is_modulo = false;
    static constexpr bool is_iec559 = format.bits() == 16;
    static constexpr bool traps = false;
    static constexpr bool has_infinity = format.has_infinity();
    static constexpr bool has_quiet_NaN = format.has_nan();
    static constexpr bool has_signaling_NaN = format.has_infinity();
    static constexpr float_round_style round_style =
        format.has_zero() ? round_to_nearest : round_toward_infinity;

    static constexpr int digits = format.mantissa_bits + 1;
    static constexpr int digits10 = powers_of_ten(digits - 1);
    static constexpr int max_digits10 = powers_of_ten(digits) + 2;
    static constexpr int min_exponent = smallest_exponent + 1;
    static constexpr int min_exponent10 = powers_of_ten(smallest_exponent);
    static constexpr int max_exponent = largest_exponent + 1;
    static constexpr int max_exponent10 = powers_of_ten(largest_exponent + 1);

    static constexpr type(min)() noexcept
    {
        return type::from_bits(format.has_zero() ? 1u << format.mantissa_bits : 0u);
    }
    static constexpr type lowest() noexcept
    {
        return type::from_bits(format.has_sign ? format.sign() | format.largest() : 0);
    }
    static constexpr type(max)() noexcept { return type::from_bits(format.largest()); }
    static constexpr type denorm_min() noexcept { return type::from_bits(format.has_zero() ? 1 : 0); }
    static constexpr type epsilon() noexcept { return type(1.0 / (1 << format.mantissa_bits)); }
    static constexpr type round_error() noexcept { return type(format.has_zero() ? 0.5 : 1.0); }
    static constexpr type infinity() noexcept
    {
        return type::from_bits(has_infinity ? format.infinity() : 0);
    }
    static constexpr type quiet_NaN() noexcept { return type::from_bits(has_quiet_NaN ? format.nan() : 0); }
    static constexpr type signaling_NaN() noexcept
    {
        return type::from_bits(has_signaling_NaN ? format.infinity() | 1 : 0);
    }
};

} // namespace std

// ==== xloom/core/small_int.hpp ====
// Storage types for ONNX's integers below 8 bits. Arithmetic is done in int.

namespace xloom {

namespace detail {

/// Returns the low 8 bits of an integer.
constexpr unsigned low_bits(std::integral auto value) noexcept
{
    return static_cast<unsigned>(static_cast<std::uint64_t>(value) & 0xff);
}

/// Returns the low 8 bits of the integer nearest to a floating-point number, ties to even; 0 for infinity and
/// NaN.
constexpr unsigned low_bits(double value) noexcept
{
    if (!(-0x1p60 < value && value < 0x1p60)) // from 2^60 on all doubles are multiples of 256
        return 0;
    auto const towards_zero = static_cast<std::int64_t>(value);
    double const rest = value - static_cast<double>(towards_zero);
    bool const is_odd = (towards_zero & 1) != 0;
    int const up = rest > 0.5 || (rest == 0.5 && is_odd) ? 1 : 0;
    int const down = rest < -0.5 || (rest == -0.5 && is_odd) ? 1 : 0;
    return low_bits(towards_zero + up - down);
}

} // namespace detail

/// An integer of 2 or 4 bits; see the aliases below. Each occupies a whole byte: only files pack several into
/// one.
///
/// To int     implicit, like char to int: `a + b` is an int.
/// From       integers: implicit, the low bits, as two's complement where the type has a sign (ONNX's Cast).
///            Floating-point numbers: implicit, the low bits of the nearest integer, ties to even; 0 for
///            infinity and NaN, which ONNX does not specify.
/// Compound   a += b, ++a, ...: as with the built-in integers, computed in the common type of int and b, then
///            converted as above.
/// Default    `small_int x;` leaves x uninitialised, as with int; `small_int x{}` is 0.
template <element_type Element>
class small_int {
public:
    static_assert(Element == element_type::int4 || Element == element_type::uint4 ||
                      Element == element_type::int2 || Element == element_type::uint2,
        "xloom: small_int is for int4, uint4, int2 and uint2.");
    static constexpr int width = Element == element_type::int4 || Element == element_type::uint4 ? 4 : 2;
    static constexpr bool is_signed = Element == element_type::int4 || Element == element_type::int2;

    constexpr small_int() = default;

    template <class Number>
        requires(!std::same_as<Number, small_int> && detail::number<Number>)
    constexpr small_int(Number value) noexcept : value_(extend(detail::low_bits(+value)))
    {}

    /// Returns the number with this pattern in the low bits; higher bits are ignored.
    static constexpr small_int from_bits(unsigned bits) noexcept { return small_int(bits); }
    constexpr std::uint8_t bits() const noexcept
    {
        return static_cast<std::uint8_t>(static_cast<unsigned>(value_) & mask);
    }

    constexpr operator int() const noexcept { return value_; }

    template <detail::number Number>
    constexpr small_int& operator+=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) + in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator-=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) - in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator*=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) * in<Number>(other));
    }
    template <detail::number Number>
    constexpr small_int& operator/=(Number other) noexcept
    {
        return *this = small_int(in<Number>(value_) / in<Number>(other));
    }

    constexpr small_int& operator++() noexcept { return *this += 1; }
    constexpr small_int& operator--() noexcept { return *this -= 1; }
    constexpr small_int operator++(int) noexcept
    {
        small_int const before = *this;
        ++*this;
        return before;
    }
    constexpr small_int operator--(int) noexcept
    {
        small_int const before = *this;
        --*this;
        return before;
    }

private:
    using storage = std::conditional_t<is_signed, signed char, unsigned char>;
    static constexpr unsigned mask = (1u << width) - 1;
    static constexpr unsigned sign = is_signed ? 1u << (width - 1) : 0u;

    static constexpr storage extend(unsigned bits) noexcept
    {
        return static_cast<storage>(static_cast<int>((bits & mask) ^ sign) - static_cast<int>(sign));
    }

    /// Converts to the type in which arithmetic with a Number is done.
    template <class Number>
    static constexpr auto in(detail::number auto value) noexcept
    {
        return static_cast<std::common_type_t<int, decltype(+std::declval<Number>())>>(value);
    }

    storage value_;
};

using int4 = small_int<element_type::int4>;
using uint4 = small_int<element_type::uint4>;
using int2 = small_int<element_type::int2>;
using uint2 = small_int<element_type::uint2>;

} // namespace xloom

namespace std {

// Each type converts to the other, so there is no common type by default, except for two equal types.
template <xloom::element_type Element, xloom::detail::number Other>
    requires(!is_same_v<Other, xloom::small_int<Element>>)
struct common_type<xloom::small_int<Element>, Other> : common_type<int, decltype(+declval<Other>())> {};
template <xloom::element_type Element, xloom::detail::number Other>
    requires is_arithmetic_v<Other>
struct common_type<Other, xloom::small_int<Element>> : common_type<Other, int> {};

/// The limits of a small_int. The base class has the members that are common to all integer types.
template <xloom::element_type Element>
class numeric_limits<xloom::small_int<Element>>
    : public conditional_t<xloom::small_int<Element>::is_signed, numeric_limits<signed char>,
          numeric_limits<unsigned char>> {
    using type = xloom::small_int<Element>;

public:
    static constexpr bool is_modulo = true;
    static constexpr int digits = type::width - (type::is_signed ? 1 : 0);
    static constexpr int digits10 = digits * 30103 / 100000;

    static constexpr type(min)() noexcept { return type(type::is_signed ? -(1 << digits) : 0); }
    static constexpr type lowest() noexcept { return (min)(); }
    static constexpr type(max)() noexcept { return type((1 << digits) - 1); }
    static constexpr type epsilon() noexcept { return type{}; }
    static constexpr type round_error() noexcept { return type{}; }
    static constexpr type denorm_min() noexcept { return type{}; }
    static constexpr type infinity() noexcept { return type{}; }
    static constexpr type quiet_NaN() noexcept { return type{}; }
    static constexpr type signaling_NaN() noexcept { return type{}; }
};

} // namespace std

namespace xloom {

namespace detail {

template <class T>
inline constexpr bool is_small_float = false;
template <element_type Element>
inline constexpr bool is_small_float<small_float<Element>> = true;

} // namespace detail

/// Converts a number as ONNX's Cast converts an element. Only small_float uses the options.
///
/// Differs   where ONNX does not specify the result or calls it "undefined": floating-point numbers convert
///           to int8 .. uint64 as in C++ (truncated; undefined behaviour out of range), to small_int and
///           small_float as documented there. Up to Cast-23 ONNX converted infinity to NaN in the fnuz types
///           even if saturating, since Cast-24 to the largest number, as here.
/// Source    ONNX Cast-25, and its notes on float 8, float 4, int 4 and int 2.
template <detail::number To, detail::number From>
constexpr To cast(From value, [[maybe_unused]] cast_options options = {}) noexcept
{
    if constexpr (std::same_as<To, From>)
        return value;
    else if constexpr (detail::is_small_float<To>)
        return To(value, options);
    else
        return static_cast<To>(value);
}

} // namespace xloom

// ==== xloom/kernel/activate.hpp ====
// Activation functions, softmax included, over a row.

// ==== xloom/kernel/softmax.hpp ====
// Softmax of a row.

// ==== xloom/kernel/activations.hpp ====
// The activation functions as function objects for a scalar or a SIMD batch. NaN stays NaN in all of them.

// ==== xloom/kernel/elementary.hpp ====
// exp, expm1, log1p and tanh of a scalar or a SIMD batch. NaN stays NaN in all of them.
//
// For batches of floats they are implemented here without branches, so that the cost of an item does not
// depend on its value. Batches of doubles use xsimd; scalars use <cmath> or the functions of their type.

// ==== xloom/kernel/simd.hpp ====
// SIMD batches for the kernels: those of xsimd where it supports the type, else scalars, so that one template
// serves both. With XLOOM_NO_SIMD defined, which must be the same in all translation units of a program,
// xsimd is not included. It is defined here for targets whose vector units xsimd does not support.

#ifndef XLOOM_NO_SIMD
#include <xsimd/xsimd.hpp>
#ifdef XSIMD_NO_SUPPORTED_ARCHITECTURE
#define XLOOM_NO_SIMD
#endif
#endif

// g++ 12 reports the operands that its AVX-512 intrinsics leave undefined as errors of the caller.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace xloom::kernel {

#ifdef XLOOM_NO_SIMD
template <class T>
inline constexpr bool has_simd = false;
#else
/// True for float and double if the target has vector units for them.
template <class T>
inline constexpr bool has_simd = xsimd::has_simd_register<T>::value;
#endif

namespace detail {

template <class T, bool = has_simd<T>>
struct batch_of {
    using type = T;
    static constexpr std::size_t size = 1;
};
#ifndef XLOOM_NO_SIMD
template <class T>
struct batch_of<T, true> {
    using type = xsimd::batch<T>;
    static constexpr std::size_t size = type::size;
};
#endif

} // namespace detail

template <class T>
using batch_t = typename detail::batch_of<T>::type;

template <class T>
inline constexpr std::size_t batch_size = detail::batch_of<T>::size;

/// Returns `count` rounded up to whole batches.
template <class T>
constexpr std::size_t whole_batches(std::size_t count) noexcept
{
    return (count + batch_size<T> - 1) / batch_size<T> * batch_size<T>;
}

template <class T>
batch_t<T> load_batch(T const* from)
{
    if constexpr (has_simd<T>)
        return batch_t<T>::load_unaligned(from);
    else
        return *from;
}

template <class T>
void store_batch(T* to, std::type_identity_t<batch_t<T>> const& batch)
{
    if constexpr (has_simd<T>)
        batch.store_unaligned(to);
    else
        *to = batch;
}

/// Returns a * b + c, rounded once if the processor can.
///
/// Why std::fma: a compiler that may contract a * b + c decides for each expression, so that a sum would have
/// other bits in a batch than in a single row.
template <class V>
V multiply_add(V const& a, V const& b, V const& c)
{
#ifdef FP_FAST_FMAF
    if constexpr (std::is_same_v<V, float>)
        return std::fma(a, b, c);
#endif
#ifdef FP_FAST_FMA
    if constexpr (std::is_same_v<V, double>)
        return std::fma(a, b, c);
#endif
    return a * b + c;
}

/// Returns a / b, rounded once.
template <class V>
V divide(V const& a, V const& b)
{
    return a / b;
}

/// Returns `yes` if the condition is true, else `no`.
template <class T>
T select(bool condition, T const& yes, T const& no)
{
    return condition ? yes : no;
}

#ifndef XLOOM_NO_SIMD

template <class T>
xsimd::batch<T> multiply_add(xsimd::batch<T> const& a, xsimd::batch<T> const& b, xsimd::batch<T> const& c)
{
#ifdef __AVX512F__ // where xsimd 8 multiplies, then adds
    if constexpr (sizeof(a) == 64 && std::is_same_v<T, float>)
        return _mm512_fmadd_ps(a, b, c);
    else if constexpr (sizeof(a) == 64)
        return _mm512_fmadd_pd(a, b, c);
    else
#endif
        return xsimd::fma(a, b, c);
}

#ifdef __aarch64__ // where xsimd multiplies floats with an estimate of 1 / b
template <std::derived_from<xsimd::neon> Arch>
xsimd::batch<float, Arch> divide(xsimd::batch<float, Arch> const& a, xsimd::batch<float, Arch> const& b)
{
    return vdivq_f32(a, b);
}
#endif

template <class T>
xsimd::batch<T> select(
    xsimd::batch_bool<T> const& condition, xsimd::batch<T> const& yes, xsimd::batch<T> const& no)
{
    return xsimd::select(condition, yes, no);
}

namespace detail {

// Return the second operand if one is NaN. The operand order of xsimd's min and max depends on its version.
#ifdef __SSE2__
inline __m128 lesser(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
inline __m128 greater(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
#endif
#ifdef __AVX__
inline __m256 lesser(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
inline __m256 greater(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
#endif
#ifdef __AVX512F__
inline __m512 lesser(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
inline __m512 greater(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
#endif

} // namespace detail

/// Returns min(x, limit); NaN stays NaN. One instruction on x86.
template <class Arch>
xsimd::batch<float, Arch> min_nan_second(
    xsimd::batch<float, Arch> const& limit, xsimd::batch<float, Arch> const& x)
{
#ifdef __SSE2__
    return detail::lesser(limit, x);
#else
    return select(x > limit, limit, x);
#endif
}

/// Returns max(x, limit); NaN stays NaN. One instruction on x86.
template <class Arch>
xsimd::batch<float, Arch> max_nan_second(
    xsimd::batch<float, Arch> const& limit, xsimd::batch<float, Arch> const& x)
{
#ifdef __SSE2__
    return detail::greater(limit, x);
#else
    return select(x < limit, limit, x);
#endif
}

#endif

/// Returns the sum of a batch's numbers.
template <class T>
T sum_of(batch_t<T> const& batch)
{
    if constexpr (!has_simd<T>)
        return batch;
    else if constexpr (requires { reduce_add(batch); })
        return reduce_add(batch);
    else
        return hadd(batch); // the name before xsimd 9
}

/// Loads the first `count` items into a batch, padded with `fill`. Requires count < batch_size.
template <class T>
batch_t<T> load_first(T const* from, std::size_t count, T fill = T(0))
{
    T items[batch_size<T>];
    std::fill(std::copy_n(from, count, items), std::end(items), fill);
    return load_batch(items);
}

template <class T>
void store_first(std::type_identity_t<batch_t<T>> const& batch, T* to, std::size_t count)
{
    T items[batch_size<T>];
    store_batch(items, batch);
    std::copy_n(items, count, to);
}

/// Computes y[i] = f(x[i]) for i < count. f takes and returns a T or a batch. x and y may be the same array.
///
/// Why the remainder uses a batch too: an item's result must not depend on its position. Why flatten: f's
/// constants stay in registers only if all its calls are inlined, which g++ does not always do.
template <class T, class F>
[[gnu::flatten]] void map(T const* x, T* y, std::size_t count, F const& f)
{
    std::size_t i = 0;
    for (; i + batch_size<T> <= count; i += batch_size<T>)
        store_batch(y + i, f(load_batch(x + i)));
    if constexpr (has_simd<T>)
        if (i < count)
            store_first(f(load_first(x + i, count - i)), y + i, count - i);
}

} // namespace xloom::kernel

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// False positives of g++ 12, as in kernel/simd.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace xloom::kernel::detail {

using std::abs, std::exp, std::expm1, std::log, std::log1p, std::tanh;

template <class V>
inline constexpr bool is_float_batch = std::is_same_v<V, batch_t<float>> && has_simd<float>;

/// Evaluates a polynomial by Horner's method; `first` is the coefficient of x^0.
template <class V, class... Coefficients>
V polynomial(V const& x, float first, Coefficients... others)
{
    if constexpr (sizeof...(others) == 0)
        return V(first);
    else
        return multiply_add(polynomial(x, others...), x, V(first));
}

/// Returns 2^n for -127 < n < 128, 0 for -127, infinity for 128. Not ldexp, which gives a subnormal for -127
/// on some vector units.
template <class V, class Integers>
V power_of_two(Integers const& n)
{
    Integers const bits = (n + Integers(127)) << 23;
    if constexpr (requires {
                      {
                          bitwise_cast<float>(bits)
                      } -> std::same_as<V>;
                  })
        return bitwise_cast<float>(bits);
    else
        return bitwise_cast<V>(bits); // the signature before xsimd 9
}

/// A decomposition exp(x) = scale + scale * rest, with scale a power of two and rest small.
template <class V>
struct exp_parts {
    V scale, rest;

    explicit exp_parts(V const& x)
    {
        // Cody-Waite reduction: log(2) in two parts, the first with so few bits that its product with n is
        // exact.
        auto const exponent = nearbyint_as_int(x * V(1.44269504f));
        V const n = to_float(exponent);
        V const r = multiply_add(n, V(2.12194440e-4f), multiply_add(n, V(-0.693359375f), x));
        scale = power_of_two<V>(exponent);
        // expm1(r) = r + r^2 q(r), q by Remez's algorithm for |r| <= log(2) / 2, evaluated in independent
        // pairs (Estrin's scheme).
        V const r2 = r * r, q01 = polynomial(r, 0.49999998154f, 0.166665436212f),
                q23 = polynomial(r, 0.0416671998777f, 0.00836652056784f);
        V const q = multiply_add(multiply_add(V(0.00138825202682f), r2, q23), r2, q01);
        rest = multiply_add(q, r2, r);
    }

    V exp() const { return (V(1) + rest) * scale; }
    V exp_less_1() const { return multiply_add(scale, rest, scale - V(1)); }
};

/// True if xsimd's exponentials of doubles are wrong: without a rounding instruction, versions before 14 add
/// 2^52 and subtract it again, which clang's -ffast-math cancels.
inline constexpr bool is_rounding_cancelled =
#if defined(__clang__) && defined(__FAST_MATH__) && !defined(__SSE4_1__) && !defined(XLOOM_NO_SIMD)
    XSIMD_VERSION_MAJOR < 14;
#else
    false;
#endif

/// Returns f(x), computed item by item.
template <class T, class F>
batch_t<T> one_by_one(batch_t<T> const& x, F const& f)
{
    T items[batch_size<T>];
    store_batch(items, x);
    for (T& item : items)
        item = f(item);
    return load_batch(items);
}

/// Returns f(x) for a function that has reached its limits at +-800.
///
/// Why arguments are limited: without AVX-512, xsimd converts doubles to integers as C++ does, which is
/// undefined behaviour for NaN and for values out of range.
template <class V, class F>
V within_limits(V const& x, F const& f)
{
    if constexpr (has_simd<double> && std::is_same_v<V, batch_t<double>>) {
        if constexpr (is_rounding_cancelled)
            return one_by_one<double>(x, f);
        auto const is_number = x == x;
        V const limited = select(x > V(800), V(800), select(x < V(-800), V(-800), x));
        return select(is_number, f(select(is_number, limited, V(0))), x);
    } else
        return f(x);
}

/// Returns exp(x). For floats: 0 from -87.7 down, infinity from 88.4 up.
template <class V>
V exp_of(V const& x)
{
    if constexpr (is_float_batch<V>)
        return exp_parts<V>(max_nan_second(V(-88), min_nan_second(V(89), x))).exp();
    else
        return within_limits(x, [](auto const& v) { return exp(v); });
}

/// Returns exp(x) - 1, without cancellation near 0 if the scalar has expm1. For floats: valid for x <= 88.
template <class V>
V exp_less_1(V const& x)
{
    if constexpr (is_float_batch<V>)
        return exp_parts<V>(max_nan_second(V(-88), x)).exp_less_1();
    else if constexpr (requires { expm1(x); })
        return within_limits(x, [](auto const& v) { return expm1(v); });
    else
        return exp(x) - V(1);
}

/// Returns log(1 + x), without cancellation near 0 if the scalar has log1p. Requires 0 <= x <= 1, or NaN.
template <class V>
V log_of_1_plus(V const& x)
{
    if constexpr (is_float_batch<V>) {
        // x + x^2 q(x), q by Remez's algorithm.
        V const q = polynomial(x, -0.499999327629f, 0.333305113057f, -0.249585873186f, 0.196954002014f,
            -0.153553957836f, 0.106805552876f, -0.0576644475447f, 0.0202045892726f, -0.00331847401456f);
        return multiply_add(q, x * x, x);
    } else if constexpr (requires { log1p(x); })
        return within_limits(x, [](auto const& v) { return log1p(v); });
    else
        return log(V(1) + x);
}

template <class V>
V tanh_of(V const& x)
{
    if constexpr (is_float_batch<V>) {
        // For |x| >= 0.5494, that is |tanh(x)| >= 1/2: 1 - 2 / (exp(2 |x|) + 1). Below, where that cancels:
        // |x| + |x|^3 p(x^2), p by Remez's algorithm.
        V const size = abs(x), z = x * x;
        V const large = V(1) - divide(V(2), exp_parts<V>(min_nan_second(V(20), size + size)).exp() + V(1));
        V const p = polynomial(z, -0.33332949765f, 0.133208001303f, -0.0526767985362f, 0.0164473737971f);
        return select(size < V(0.5494f), multiply_add(p * z, size, size), large) | bitofsign(x);
    } else
        return within_limits(x, [](auto const& v) { return tanh(v); });
}

} // namespace xloom::kernel::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace xloom::kernel {

/// max(x, 0). -0 stays -0.
struct relu {
    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(0), x);
    }
};

struct tanh {
    template <class V>
    V operator()(V const& x) const
    {
        return detail::tanh_of(x);
    }
};

/// 1 / (1 + exp(-x)).
struct sigmoid {
    template <class V>
    V operator()(V const& x) const
    {
        return divide(V(1), V(1) + detail::exp_of(-x));
    }
};

/// Returns sigmoid(x) * tanh(y). For floats, one division serves both: max error 5 ULP, possibly 0 where the
/// sigmoid is below 1e-29.
template <class V>
V sigmoid_times_tanh(V const& x, V const& y)
{
    if constexpr (detail::is_float_batch<V>) {
        using detail::abs;
        V const size = min_nan_second(V(10), abs(y)); // tanh(10) rounds to 1
        V const e = detail::exp_parts<V>(size + size).exp_less_1();
        return divide(e, (V(1) + detail::exp_of(-x)) * (V(2) + e)) | bitofsign(y);
    } else
        return sigmoid{}(x)*tanh{}(y);
}

/// x / (1 + |x|), with its limit at infinity.
struct softsign {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        V const size = abs(x);
        V const sign = select(x < V(0), V(-1), V(1));
        return select(V(1) + size == size, sign, divide(x, V(1) + size));
    }
};

/// log(1 + exp(x)), without overflow.
struct softplus {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        return select(x < V(0), V(0), x) + detail::log_of_1_plus(detail::exp_of(-abs(x)));
    }
};

/// alpha * x + beta.
template <class T>
struct affine {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        return multiply_add(V(alpha), x, V(beta));
    }
};

/// alpha * x for x < 0, else x.
template <class T>
struct leaky_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * x, x);
    }
};

/// 0 for x < alpha, else x.
template <class T>
struct thresholded_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(alpha), V(0), x);
    }
};

/// alpha * tanh(beta * x).
template <class T>
struct scaled_tanh {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        return V(alpha) * tanh{}(V(beta) * x);
    }
};

/// alpha * x + beta, clamped to [0, 1].
template <class T>
struct hard_sigmoid {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        V const y = multiply_add(V(alpha), x, V(beta));
        return select(y < V(0), V(0), select(y > V(1), V(1), y));
    }
};

/// alpha * (exp(x) - 1) for x < 0, else x.
template <class T>
struct elu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * detail::exp_less_1(x), x);
    }
};

/// Calls f with the activation's function object, its parameters converted to T. Does nothing for softmax,
/// which is not elementwise.
template <class T, class F>
void with_activation(activation_function const& function, F const& f)
{
    T const alpha = static_cast<T>(function.alpha), beta = static_cast<T>(function.beta);
    switch (function.kind) {
    case activation::relu:
        return f(relu{});
    case activation::tanh:
        return f(tanh{});
    case activation::sigmoid:
        return f(sigmoid{});
    case activation::affine:
        return f(affine<T>{alpha, beta});
    case activation::leaky_relu:
        return f(leaky_relu<T>{alpha});
    case activation::thresholded_relu:
        return f(thresholded_relu<T>{alpha});
    case activation::scaled_tanh:
        return f(scaled_tanh<T>{alpha, beta});
    case activation::hard_sigmoid:
        return f(hard_sigmoid<T>{alpha, beta});
    case activation::elu:
        return f(elu<T>{alpha});
    case activation::softsign:
        return f(softsign{});
    case activation::softplus:
        return f(softplus{});
    case activation::softmax:
        return;
    }
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// Returns the largest of x, ignoring NaN; NaN if all are NaN. Requires count > 0.
template <class T>
T largest_of(T const* x, std::size_t count) noexcept
{
    // Not a != a: for NaN that is false with xsimd 8 on AVX.
    auto const larger = []<class V>(
                            V const& a, V const& b) { return select(a == a, select(b > a, b, a), b); };
    T largest = x[0];
    std::size_t i = 0;
    if constexpr (has_simd<T>)
        if (count >= batch_size<T>) {
            batch_t<T> all = load_batch(x);
            for (i = batch_size<T>; i + batch_size<T> <= count; i += batch_size<T>)
                all = larger(all, load_batch(x + i));
            T items[batch_size<T>];
            store_batch(items, all);
            for (std::size_t width = batch_size<T> / 2; width != 0; width /= 2)
                for (std::size_t j = 0; j < width; ++j)
                    items[j] = larger(items[j], items[j + width]);
            largest = items[0];
        }
    for (; i < count; ++i)
        largest = larger(largest, x[i]);
    return largest;
}

/// Computes y = exp(x - max(x)) / sum(exp(x - max(x))) over all of x. y is NaN if one of x is NaN or
/// +infinity, or all are -infinity.
template <class T>
void softmax(T const* x, T* y, std::size_t count) noexcept
{
    if (count == 0)
        return;
    T const largest = largest_of(x, count);
    map(x, y, count, [largest]<class V>(V const& v) { return detail::exp_of(v - V(largest)); });
    batch_t<T> sums(T(0));
    std::size_t i = 0;
    for (; i + batch_size<T> <= count; i += batch_size<T>)
        sums = sums + load_batch(y + i);
    if constexpr (has_simd<T>)
        if (i < count)
            sums = sums + load_first(y + i, count - i);
    T const scale = T(1) / sum_of<T>(sums);
    map(y, y, count, [scale]<class V>(V const& v) { return v * V(scale); });
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// Computes y = function(x) over rows of `count` items. y may be x.
template <class T>
void activate(activation_function const& function, T const* x, T* y, std::size_t count) noexcept
{
    if (function.kind == activation::softmax)
        softmax(x, y, count);
    else
        with_activation<T>(function, [x, y, count](auto const& f) { map(x, y, count, f); });
}

} // namespace xloom::kernel

namespace xloom {

/// The accuracy of an activation: its error is at most `max_ulp` units in the last place of the true value,
/// for float and double arguments from the lowest ones on. Below these, where true values are subnormal or
/// nearly so, the result is at least 0 and exceeds the true value by at most `max_ulp` times the smallest
/// subnormal number.
struct activation_accuracy {
    activation kind;
    double max_ulp;
    float lowest_float = -std::numeric_limits<float>::infinity();
    double lowest_double = -std::numeric_limits<double>::infinity();
};

/// The accuracies of activations. Relu, LeakyRelu and ThresholdedRelu are not listed: they round once at
/// most. Nor are Affine and HardSigmoid, which round alpha * x, then the sum, or both at once. ScaledTanh
/// rounds beta * x, its tanh, and the product with alpha; the bound holds where beta * x and the result are
/// not subnormal.
inline constexpr std::array<activation_accuracy, 6> activation_accuracies{{
    {activation::tanh, kernel::has_simd<float> ? 1.5 : 2.5}, // 2.5: <cmath> of glibc 2.36
    {activation::sigmoid, 3.0, -87.0f, -708.0},
    {activation::scaled_tanh, kernel::has_simd<float> ? 4.5 : 6.5},
    {activation::elu, 2.5}, // with alpha = 1
    {activation::softsign, 2.0},
    {activation::softplus, 3.0, -87.0f, -708.0},
}};

namespace detail {

template <class T>
void activate_items(activation_function const& function, T const* x, T* y, std::size_t count)
{
    kernel::activate(function, x, y, count);
}

/// Computes storage floats as floats, in one piece because softmax needs all of them.
template <class T>
    requires is_small_float<T>
void activate_items(activation_function const& function, T const* x, T* y, std::size_t count)
{
    std::vector<float> floats(x, x + count);
    activate_items(function, floats.data(), floats.data(), count);
    std::transform(floats.begin(), floats.end(), y, [](float value) { return T(value); });
}

/// Returns an activation with ONNX's defaults of alpha and beta. An invalid kind is kept for the error text.
constexpr activation_function default_activation(activation kind)
{
    auto const number = static_cast<std::size_t>(kind);
    if (number >= activation_count)
        return {kind};
    auto const& [alpha, beta] = activation_entries[number].onnx;
    return {kind, alpha, beta};
}

/// The items of a contiguous range: std::vector, std::array, std::span, an array.
template <class Range>
using range_item_t = typename decltype(std::span(std::declval<Range>()))::element_type;

/// True if y is a contiguous range that can be written, and x one of the same element type.
template <class X, class Y>
concept activates = requires {
    typename range_item_t<X const&>;
    typename range_item_t<Y>;
    requires std::same_as<std::remove_const_t<range_item_t<X const&>>, range_item_t<Y>>;
};

} // namespace detail

/// Computes y[i] = function(x[i]); softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) over the whole range.
///
/// Shapes    x and y are contiguous ranges of equal length: std::vector, std::array, std::span, arrays.
/// Types     float and double with SIMD, storage floats through float, any other scalar that has the
///           functions of <cmath>; x and y of one type.
/// Max error activation_accuracies, in ULP.
/// Special   NaN gives NaN, in every function. Infinity gives the limit, but NaN where alpha (Affine,
///           HardSigmoid; LeakyRelu below 0) or beta (ScaledTanh) is 0: their product is NaN. Sigmoid and
///           Softplus do not overflow. -0 stays -0 in Relu, LeakyRelu, Tanh, Elu and Softsign.
///           ThresholdedRelu keeps x >= alpha, as ONNX specifies. Softmax is NaN everywhere if one of x is
///           NaN or +infinity, or all are -infinity.
/// Errors    before anything is written: shape_error: x and y differ in length; option_error: an invalid
///           kind, an unknown name.
/// Cost      float, AVX2: 0.3 to 0.9 ns per item, whatever its value. An item's result does not depend on its
///           position. Storage floats: a buffer of a float for each item.
/// Aliasing  y may be x.
/// Source    ONNX LSTM-22, activations.
/// Example
/// ```cpp
/// std::vector<float> x = {-1, 0, 2};
/// xloom::activate(xloom::activation::relu, x, x);
/// x; // = [0, 0, 2]
/// xloom::activate({xloom::activation::elu, 0.5}, x, x); // alpha = 0.5
/// ```
template <class X, class Y>
void activate(activation_function const& function, X const& x, Y&& y)
{
    static_assert(detail::activates<X, Y>,
        "xloom::activate: x and y must be contiguous ranges of one element type, such as std::vector or "
        "std::span, and y must be a variable that can be written");
    if constexpr (detail::activates<X, Y>) {
        std::span const from(x);
        std::span const to(std::forward<Y>(y));
        if (from.size() != to.size())
            detail::fail<shape_error>("xloom::activate: x and y must be equally long, but x has ",
                detail::counted{from.size(), "item"}, " and y has ", to.size(), ". Give them one length.");
        if (static_cast<std::size_t>(function.kind) >= activation_count)
            detail::fail<option_error>(
                "xloom::activate: an activation must be one that ONNX names, but function.kind is ",
                static_cast<int>(function.kind), ". Choose one of ", detail::activation_names(), ".");
        detail::activate_items(function, from.data(), to.data(), from.size());
    }
}

/// Computes an activation with ONNX's defaults of alpha and beta.
template <class X, class Y>
void activate(activation kind, X const& x, Y&& y)
{
    xloom::activate(detail::default_activation(kind), x, std::forward<Y>(y));
}

/// Computes the activation of this name, such as "LeakyRelu", with ONNX's defaults of alpha and beta; case is
/// ignored.
template <class X, class Y>
void activate(std::string_view name, X const& x, Y&& y)
{
    xloom::activate(parse_activations("xloom::activate", std::array{name})[0], x, std::forward<Y>(y));
}

} // namespace xloom

// ==== xloom/attn_lstm.hpp ====
// com.microsoft's AttnLSTM, an LSTM with Bahdanau attention over a memory, for a batch of sequences.

// ==== xloom/core/never.hpp ====
// A constant that is false for every type, for compile-time errors in templates.

namespace xloom::detail {

/// False for every T. A static_assert on it fails only where its statement is instantiated.
template <class T>
inline constexpr bool never = false;

} // namespace xloom::detail

// ==== xloom/run/recurrent/attn_lstm_call.hpp ====
// A call of AttnLSTM: the checks of its operands, and its runner.

// ==== xloom/check/attn_lstm.hpp ====
// Shape requirements of AttnLSTM's attention.

// ==== xloom/check/recurrent.hpp ====
// Requirements of the recurrent operators on shapes, lengths and options.

// ==== xloom/check/lengths.hpp ====
// The check of the lengths of sequences, one for each row of a batch.

// ==== xloom/core/shape.hpp ====
// Shapes and axes: constexpr, without xtensor. The names of operator and operands are parameters.

// ==== xloom/core/option_list.hpp ====
// A list-valued option, which counts its items so that an operator can report a list that is too long.

namespace xloom {

/// The first Capacity items of a list, and the number of items given. The operator rejects a list of more
/// than Capacity items.
template <class T, std::size_t Capacity>
class option_list : public static_vector<T, Capacity> {
    using items = static_vector<T, Capacity>;

public:
    constexpr option_list() = default;
    constexpr option_list(items const& all) : items(all) {}
    /// Constructs a list of `count` copies of `value`.
    constexpr option_list(std::size_t count, T const& value)
    {
        for (std::size_t i = 0; i < count; ++i)
            push_back(value);
    }
    constexpr option_list(std::initializer_list<T> all) : option_list(all.begin(), all.end()) {}

    template <std::input_iterator Iterator>
    constexpr option_list(Iterator first, Iterator last)
    {
        for (; first != last; ++first)
            push_back(static_cast<T>(*first));
    }

    constexpr void push_back(T const& item)
    {
        if (this->size() < Capacity)
            items::push_back(item);
        else
            ++surplus_;
    }

    /// Returns the number of items given, including those beyond Capacity.
    constexpr std::size_t given() const noexcept { return this->size() + surplus_; }

private:
    std::size_t surplus_ = 0;
};

template <std::integral T, std::size_t Capacity>
inline constexpr bool detail::is_printed<option_list<T, Capacity>> = true;

} // namespace xloom

namespace xloom {

/// The largest rank; a call with a tensor of a larger rank throws shape_error.
inline constexpr std::size_t max_rank = 16;

/// The largest number of operands of one kind; a call with more throws option_error.
inline constexpr std::size_t max_operands = 32;

/// The rank of a container whose rank is known at run time only.
inline constexpr std::size_t dynamic_rank = static_cast<std::size_t>(-1);

using shape = static_vector<std::size_t, max_rank>;
using strides = static_vector<std::ptrdiff_t, max_rank>;
using axes = option_list<std::int64_t, max_operands>;

namespace detail {

/// Requires rank <= max_rank. `i` is the operand's index if there are several of that name.
///
/// Errors    shape_error: over max_rank.
constexpr void check_rank(
    std::string_view op, std::string_view operand, std::size_t rank, std::optional<std::size_t> i = {})
{
    if (rank > max_rank)
        fail<shape_error>(op, ": a tensor may have at most ", max_rank, " axes (max_rank), but ", operand,
            i ? concat("[", *i, "]") : std::string(), " has ", rank, ". Merge some of them.");
}

} // namespace detail

/// True if `axis` is in [-rank, rank - 1]; negative axes count from the back.
constexpr bool is_axis(std::int64_t axis, std::size_t rank) noexcept
{
    auto const r = static_cast<std::int64_t>(rank);
    return -r <= axis && axis < r;
}

/// Returns the axis counted from the front. Requires is_axis(axis, rank).
constexpr std::size_t wrap_axis(std::int64_t axis, std::size_t rank) noexcept
{
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// Returns `dims` without `axis`: the shape of a slice.
template <class Dims>
constexpr Dims drop_axis(Dims dims, std::size_t axis)
{
    dims.erase(axis);
    return dims;
}

/// Returns `dims` with `dim` inserted at `axis`: the shape of stacked slices.
template <class Dims>
constexpr Dims insert_axis(Dims dims, std::size_t axis, typename Dims::value_type const& dim)
{
    dims.insert(axis, dim);
    return dims;
}

/// True if the numbers of elements and of bytes are representable in std::ptrdiff_t.
constexpr bool is_countable(shape const& dims, std::size_t bytes_per_element = 1) noexcept
{
    for (std::size_t const dim : dims)
        if (dim == 0)
            return true;
    std::size_t room =
        static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)()) / bytes_per_element;
    for (std::size_t const dim : dims) {
        room /= dim;
        if (room == 0)
            return false;
    }
    return true;
}

/// True if the strides in bytes are representable too. An empty tensor has strides as if its empty axes had
/// length 1.
constexpr bool has_strides(shape dims, std::size_t bytes_per_element = 1) noexcept
{
    for (std::size_t& dim : dims)
        dim = dim == 0 ? 1 : dim;
    return is_countable(dims, bytes_per_element);
}

/// Returns the number of elements; 1 for rank 0. Requires is_countable(dims).
constexpr std::size_t element_count(shape const& dims) noexcept
{
    for (std::size_t const dim : dims)
        if (dim == 0)
            return 0;
    std::size_t count = 1;
    for (std::size_t const dim : dims)
        count *= dim;
    return count;
}

/// Returns the index tuple of element `flat` in row-major order (NumPy's unravel_index). Requires flat <
/// element_count(dims).
constexpr shape unravel(std::size_t flat, shape const& dims)
{
    shape position(dims.size(), 0);
    for (std::size_t axis = dims.size(); axis-- > 0; flat /= dims[axis])
        position[axis] = flat % dims[axis];
    return position;
}

/// Returns the strides of a contiguous row-major tensor.
constexpr strides row_major_strides(shape const& dims)
{
    strides result(dims.size(), 0);
    std::ptrdiff_t step = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        result[axis] = step;
        step *= static_cast<std::ptrdiff_t>(dims[axis]);
    }
    return result;
}

} // namespace xloom

namespace xloom::detail {

/// True if a length is in [0, most]. One above std::int64_t's maximum is negative here.
constexpr bool is_length(std::int64_t length, std::size_t most) noexcept
{
    return length >= 0 && static_cast<std::uint64_t>(length) <= most;
}

template <class Lengths>
fact_list describe_wrong_lengths(
    std::string_view operand, Lengths const& lengths, std::size_t N, std::size_t most)
{
    fact_list wrong;
    for (std::size_t n = 0; n < N; ++n)
        if (!is_length(lengths[n], most))
            wrong.add(operand, "[", n, "] is ", lengths.text(n));
    return wrong;
}

/// Checks lengths [N], each in [0, most], where ONNX has `letter` for `most`.
///
/// Errors    shape_error: not one length for each row. index_error: a length outside [0, most].
template <class Lengths>
constexpr void check_lengths(std::string_view op, std::string_view operand, Lengths const& lengths,
    std::size_t N, std::string_view letter, std::size_t most)
{
    if (!lengths.is_given())
        return;
    if (lengths.shape() != shape{N})
        fail<shape_error>(op, ": ", operand, " must have the shape [N] = [", N, "], but it is ",
            lengths.shape(), ". Give a length for each row.");
    bool are_lengths = true;
    for (std::size_t n = 0; n < N; ++n)
        are_lengths = are_lengths && is_length(lengths[n], most);
    if (!are_lengths)
        fail<index_error>(op, ": lengths must be in [0, ", letter, "] = [0, ", most, "], but ",
            describe_wrong_lengths(operand, lengths, N, most), ". Correct it.");
}

} // namespace xloom::detail

// ==== xloom/check/overlap.hpp ====
// Aliasing requirements: no two operands share memory, except an output with the input that is the same
// tensor on the same axis and in the same direction.

// ==== xloom/core/overlap.hpp ====
// Overlap of strided arrays. Exact up to 10,000 steps of search, then conservative: interleaved and adjacent
// views do not overlap.

// ==== xloom/core/layout.hpp ====
// The strided layout of a tensor in memory.

namespace xloom::detail {

/// A shape and, for each axis, the stride in elements (any sign, 0 allowed).
struct strided_layout {
    shape dims{};
    xloom::strides strides{};
};

/// True if the elements are contiguous in row-major order.
constexpr bool is_row_major(strided_layout const& layout)
{
    std::ptrdiff_t step = 1;
    for (std::size_t axis = layout.dims.size(); axis-- > 0;) {
        if (layout.dims[axis] == 0)
            return true;
        if (layout.dims[axis] != 1 && layout.strides[axis] != step)
            return false;
        step *= static_cast<std::ptrdiff_t>(layout.dims[axis]);
    }
    return true;
}

/// Returns the layout of one slice across `axis`.
constexpr strided_layout drop_axis(strided_layout const& layout, std::size_t axis)
{
    return {drop_axis(layout.dims, axis), drop_axis(layout.strides, axis)};
}

} // namespace xloom::detail

namespace xloom::detail {

/// The memory of one operand: address, bytes per item and layout.
struct memory_block {
    std::uintptr_t address = 0;
    std::size_t item_bytes = 1;
    strided_layout layout{};
};

/// A bounded linear Diophantine equation: sum of count * step = target, with 0 <= count <= limit for each
/// term. A solution is a byte that two arrays share. Terms whose sums are the multiples of one step are
/// merged, then divisibility is tested, then counts are tried by descending step: for nested strides one or
/// two counts of each remain. After a fixed number of attempts the result is conservatively true.
class overlap_equation {
public:
    constexpr void add(std::uintmax_t step, std::uintmax_t limit)
    {
        if (step != 0 && limit != 0)
            terms_.push_back({step, limit});
    }

    constexpr bool is_soluble(std::uintmax_t target)
    {
        std::sort(terms_.begin(), terms_.end(), [](term const& a, term const& b) { return a.step > b.step; });
        merge_terms();
        return is_divisible(target) && is_soluble_from(0, target);
    }

private:
    struct term {
        std::uintmax_t step = 0;
        std::uintmax_t limit = 0;
    };

    /// Merges terms. Requires descending steps. A step that is m times the next one is merged into it if the
    /// limit of the next one is at least m - 1: together they reach every multiple. So the same axis of two
    /// views becomes one term, whatever its length.
    constexpr void merge_terms()
    {
        for (std::size_t i = terms_.size(); i-- > 1;) {
            auto const [larger, count] = terms_[i - 1];
            std::uintmax_t const multiple = larger / terms_[i].step;
            if (larger % terms_[i].step == 0 && multiple - 1 <= terms_[i].limit) {
                terms_[i].limit += multiple * count;
                terms_.erase(i - 1);
            }
        }
    }

    /// False if the larger steps have a common divisor whose multiples all differ from the target by more
    /// than the smaller terms can add up to.
    constexpr bool is_divisible(std::uintmax_t target) const
    {
        std::uintmax_t rest = 0;
        for (term const& t : terms_)
            rest += t.step * t.limit;
        std::uintmax_t divisor = 0;
        for (auto const& [step, limit] : terms_) {
            rest -= step * limit;
            divisor = std::gcd(divisor, step);
            if (target % divisor > rest)
                return false;
        }
        return true;
    }

    constexpr bool is_soluble_from(std::size_t first, std::uintmax_t target)
    {
        if (target == 0 || attempts_left_ == 0)
            return true;
        --attempts_left_;
        if (first == terms_.size())
            return false;
        std::uintmax_t rest = 0;
        for (std::size_t i = first + 1; i < terms_.size(); ++i)
            rest += terms_[i].step * terms_[i].limit;
        auto const [step, limit] = terms_[first];
        std::uintmax_t const least = target > rest ? (target - rest + step - 1) / step : 0;
        for (std::uintmax_t count = (std::min)(limit, target / step) + 1; count-- > least;)
            if (is_soluble_from(first + 1, target - count * step))
                return true;
        return false;
    }

    static_vector<term, 2 * max_rank + 2> terms_{};
    int attempts_left_ = 10'000;
};

/// The range from the lowest byte of a block to its highest, inclusive.
struct byte_range {
    std::uintptr_t lowest;
    std::uintptr_t highest;
};

constexpr std::uintmax_t stride_in_bytes(memory_block const& block, std::size_t axis)
{
    std::ptrdiff_t const step = block.layout.strides[axis];
    return static_cast<std::uintmax_t>(step < 0 ? -step : step) * block.item_bytes;
}

/// Returns the byte range of a block. Requires at least one item.
constexpr byte_range bytes_of(memory_block const& block)
{
    byte_range range{block.address, block.address + block.item_bytes - 1};
    for (std::size_t axis = 0; axis < block.layout.dims.size(); ++axis) {
        auto const reach =
            static_cast<std::uintptr_t>(stride_in_bytes(block, axis) * (block.layout.dims[axis] - 1));
        if (block.layout.strides[axis] < 0)
            range.lowest -= reach;
        else
            range.highest += reach;
    }
    return range;
}

/// True if two blocks whose byte ranges intersect share a byte.
///
/// The bytes of a are lowest_a + sum(i * step), those of b lowest_b + sum(j * step). Counting those of b down
/// from its highest byte puts both sums on one side, with positive signs.
[[gnu::noinline]] constexpr bool share_byte(
    memory_block const& a, memory_block const& b, std::uintmax_t highest_b_from_lowest_a)
{
    overlap_equation equation;
    for (memory_block const* const block : {&a, &b}) {
        equation.add(1, block->item_bytes - 1);
        for (std::size_t axis = 0; axis < block->layout.dims.size(); ++axis)
            equation.add(stride_in_bytes(*block, axis), block->layout.dims[axis] - 1);
    }
    return equation.is_soluble(highest_b_from_lowest_a);
}

/// True if the blocks share a byte. Cost: some 10 ns if their ranges do not intersect, else 0.1 to 0.3 us for
/// usual layouts of any size.
[[gnu::noinline]] constexpr bool overlap(memory_block const& a, memory_block const& b)
{
    if (element_count(a.layout.dims) == 0 || element_count(b.layout.dims) == 0)
        return false;
    detail::byte_range const in_a = detail::bytes_of(a), in_b = detail::bytes_of(b);
    if (in_a.highest < in_b.lowest || in_b.highest < in_a.lowest)
        return false;
    return detail::share_byte(a, b, in_b.highest - in_a.lowest);
}

/// True if distinct indices map to distinct elements (mdspan's is_unique) and the strides nest: each exceeds
/// the extent of all smaller ones, as in every view of a container. Conservative: for strides that do not
/// nest, such as [2, 3] for the shape [3, 2], false.
constexpr bool is_unique(strided_layout const& layout)
{
    struct axis {
        std::uintmax_t step = 0;
        std::uintmax_t last = 0;
    };
    static_vector<axis, max_rank> all;
    for (std::size_t i = 0; i < layout.dims.size(); ++i) {
        if (layout.dims[i] == 0)
            return true;
        std::ptrdiff_t const step = layout.strides[i];
        if (layout.dims[i] > 1)
            all.push_back({static_cast<std::uintmax_t>(step < 0 ? -step : step), layout.dims[i] - 1});
    }
    std::sort(all.begin(), all.end(), [](axis const& a, axis const& b) { return a.step < b.step; });
    std::uintmax_t reach = 0;
    for (auto const& [step, last] : all) {
        if (step <= reach)
            return false;
        reach += step * last;
    }
    return true;
}

} // namespace xloom::detail

namespace xloom::detail {

/// The memory of an operand and, for inputs and outputs, its time axis and direction.
struct placed_operand {
    memory_block memory{};
    std::size_t axis = 0;
    bool reverse = false;
};

/// True if both are the same tensor, or views of the same items in the same order.
constexpr bool is_same_memory(memory_block const& a, memory_block const& b)
{
    return a.address == b.address && a.item_bytes == b.item_bytes && a.layout.dims == b.layout.dims &&
           a.layout.strides == b.layout.strides;
}

constexpr bool is_same_traversal(placed_operand const& a, placed_operand const& b)
{
    return is_same_memory(a.memory, b.memory) && a.axis == b.axis && a.reverse == b.reverse;
}

/// Requires that no two items of an operand that is written share memory.
constexpr void check_unique(
    std::string_view op, std::string_view operand, strided_layout const& layout, std::string_view advice)
{
    if (!is_unique(layout))
        fail<overlap_error>(op, ": every item of ", operand, " must have memory of its own, but ", operand,
            " has the shape ", layout.dims, " and the strides ", layout.strides, ". ", advice);
}

/// Two operands, a[i] and b[j], that share a byte.
struct shared_memory {
    std::string_view a;
    std::size_t i;
    std::string_view b;
    std::size_t j;
};

/// Calls found(shared_memory) for every pair that shares a byte but must not.
template <class Found>
constexpr void find_shared_memory(std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs, Found&& found)
{
    for (std::size_t i = 0; i < states.size(); ++i) {
        for (std::size_t j = i + 1; j < states.size(); ++j)
            if (overlap(states[i].memory, states[j].memory))
                found(shared_memory{"states", i, "states", j});
        for (std::size_t j = 0; j < inputs.size(); ++j)
            if (overlap(states[i].memory, inputs[j].memory))
                found(shared_memory{"states", i, "scan_inputs", j});
        for (std::size_t j = 0; j < outputs.size(); ++j)
            if (overlap(states[i].memory, outputs[j].memory))
                found(shared_memory{"states", i, "scan_outputs", j});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t j = i + 1; j < outputs.size(); ++j)
            if (overlap(outputs[i].memory, outputs[j].memory))
                found(shared_memory{"scan_outputs", i, "scan_outputs", j});
        for (std::size_t j = 0; j < inputs.size(); ++j)
            if (overlap(outputs[i].memory, inputs[j].memory) && !is_same_traversal(outputs[i], inputs[j]))
                found(shared_memory{"scan_outputs", i, "scan_inputs", j});
    }
}

inline fact_list describe_shared_memory(std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs)
{
    fact_list pairs;
    find_shared_memory(states, inputs, outputs, [&](shared_memory const& pair) {
        pairs.add(pair.a, "[", pair.i, "] overlaps ", pair.b, "[", pair.j, "]");
    });
    return pairs;
}

/// Requires that no state or output shares memory with another operand. An output may be the same tensor as
/// an input, on the same axis and in the same direction.
///
/// Errors    overlap_error: a state or output shares a byte with another operand.
[[gnu::noinline]] constexpr void check_overlap(std::string_view op, std::span<placed_operand const> states,
    std::span<placed_operand const> inputs, std::span<placed_operand const> outputs)
{
    bool is_shared = false;
    find_shared_memory(states, inputs, outputs, [&](shared_memory const&) { is_shared = true; });
    if (is_shared)
        fail<overlap_error>(op,
            ": a state or output must have exclusive memory, or be the tensor of an input, along the same "
            "axis in the same direction, but ",
            describe_shared_memory(states, inputs, outputs), ". Copy one of the two.");
}

} // namespace xloom::detail

// ==== xloom/check/shapes.hpp ====
// The check of several operands whose shapes follow from a few sizes, with one error text for all of them.

namespace xloom::detail {

/// An upper bound on the bytes of a number, including its share of the padding of a row to whole SIMD vectors
/// and cache lines. Sizes that overflow with it do not fit in memory, and sums of sizes that do not overflow
/// with it do not overflow.
inline constexpr std::size_t padded_bytes = std::size_t{1} << 14;

/// An operand with its expected and its actual shape.
struct shape_requirement {
    std::string_view operand;
    std::string_view symbolic_shape; ///< of the expected shape, such as [D, N, H]
    shape expected;
    std::optional<shape> actual; ///< none: the operand is omitted
};

/// True if both have the same axes in another order, not counting those of length 1: one is a transposition
/// of the other.
constexpr bool are_transposed(shape a, shape b)
{
    auto const drop_ones = [](shape const& dims) {
        shape longer;
        for (std::size_t const dim : dims)
            if (dim != 1)
                longer.push_back(dim);
        return longer;
    };
    a = drop_ones(a);
    b = drop_ones(b);
    if (a == b)
        return false;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

/// Returns the remedy: a reshape requires the same number of items, a transposition the same axes.
constexpr std::string_view shape_remedy(std::span<shape_requirement const> requirements)
{
    bool all_transposed = true, all_reshaped = true;
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected) {
            bool const is_transposed = are_transposed(*requirement.actual, requirement.expected);
            bool const has_the_items =
                element_count(*requirement.actual) == element_count(requirement.expected);
            all_transposed &= is_transposed;
            all_reshaped &= has_the_items && !is_transposed;
        }
    return all_transposed ? ". Transpose it." : all_reshaped ? ". Reshape it." : ". Give it that shape.";
}

[[noreturn]] inline void fail_shapes(
    std::string_view op, std::string_view sizes, std::span<shape_requirement const> requirements)
{
    fact_list facts;
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected)
            facts.add(requirement.operand, " is ", *requirement.actual, " instead of ",
                requirement.symbolic_shape, " = ", requirement.expected);
    fail<shape_error>(op, ": the operands must have the shapes that ", sizes, " give them, but ", facts,
        shape_remedy(requirements));
}

/// Requires that every given operand has its expected shape. `describe` returns the sizes for the error text.
template <class Describe>
constexpr void check_shapes(
    std::string_view op, std::span<shape_requirement const> requirements, Describe const& describe)
{
    for (shape_requirement const& requirement : requirements)
        if (requirement.actual && *requirement.actual != requirement.expected)
            fail_shapes(op, describe(), requirements);
}

constexpr void check_given(
    std::string_view op, std::string_view operand, std::optional<shape> const& dims, std::size_t rank)
{
    if (!dims)
        fail<shape_error>(op, ": ", operand, " must be given, but it is omitted. Give it ", rank, " axes.");
    if (dims->size() != rank)
        fail<shape_error>(op, ": ", operand, " must have ", rank, " axes, but its shape is ", *dims,
            ". Give it ", rank, ".");
}

} // namespace xloom::detail

// ==== xloom/core/direction.hpp ====
// The directions in which a recurrent operator traverses the time axis.

namespace xloom {

/// ONNX's attribute `direction`. A bidirectional operator has two sets of weights and states: forward, then
/// reverse.
enum class direction : unsigned char { forward, reverse, bidirectional };

namespace detail {

inline constexpr std::array<std::string_view, 3> direction_names{"forward", "reverse", "bidirectional"};

/// Returns D, the length of the direction axis of weights, states and outputs.
constexpr std::size_t direction_count(direction d) noexcept { return d == direction::bidirectional ? 2 : 1; }

} // namespace detail

/// Returns the value of ONNX's attribute, such as "forward".
constexpr std::string_view name_of(direction d) noexcept
{
    auto const number = static_cast<std::size_t>(d);
    return number < detail::direction_names.size() ? detail::direction_names[number] : "unknown";
}

/// Returns the direction of this name; case-sensitive.
///
/// Errors    option_error: an unknown name.
/// Source    ONNX LSTM-22, GRU-22, RNN-22 (direction).
/// Example   tests/core/direction.test.cpp
constexpr direction parse_direction(std::string_view op, std::string_view name)
{
    for (direction const d : {direction::forward, direction::reverse, direction::bidirectional})
        if (name == name_of(d))
            return d;
    auto const& [forward, reverse, bidirectional] = detail::direction_names;
    detail::fail<option_error>(op, ": a direction must be one that ONNX names, but direction is \"", name,
        "\". Choose one of ", forward, ", ", reverse, " and ", bidirectional, ".");
}

} // namespace xloom

namespace xloom::detail {

/// The sizes of the weights: D directions, I input, H hidden.
struct recurrent_widths {
    std::size_t D = 1, I = 0, H = 0;
};

/// The sizes of a batch: T time steps, N rows.
struct batch_sizes {
    std::size_t T = 0, N = 0;
};

/// Rejects weights whose last two axes are transposed, as in Keras: [D, I, gates H] and [D, H, gates H].
constexpr void check_not_transposed(
    std::string_view op, std::size_t gates, std::optional<shape> const& W, std::optional<shape> const& R)
{
    if (!W || !R || W->size() != 3 || R->size() != 3)
        return;
    auto const is_transposed = [&](shape const& dims, std::size_t H) {
        return dims[1] != gates * H && dims[2] == gates * H;
    };
    bool const is_R_transposed = is_transposed(*R, (*R)[1]) && (*R)[1] != gates * (*R)[2];
    bool const is_W_transposed = is_transposed(*W, is_R_transposed ? (*R)[1] : (*R)[2]);
    if (is_W_transposed || is_R_transposed)
        fail<shape_error>(op, ": the axis of the gates must come before the last one in W and R, but W is ",
            *W, " and R is ", *R, ". Exchange the last two axes of ",
            is_W_transposed && is_R_transposed ? "both"
            : is_W_transposed                  ? "W"
                                               : "R",
            " by xt::transpose and a copy.");
}

/// Checks W [D, gates H, I + attention_columns] and R [D, gates H, H], and returns D, I and H.
template <class Options>
constexpr recurrent_widths check_weights(std::string_view op, Options const& options,
    std::optional<shape> const& W, std::optional<shape> const& R, std::size_t attention_columns = 0)
{
    check_given(op, "W", W, 3);
    check_given(op, "R", R, 3);
    std::size_t const H = (*R)[2], width = (*W)[2];
    if (options.hidden_size &&
        (*options.hidden_size < 1 || static_cast<std::uint64_t>(*options.hidden_size) != H))
        fail<option_error>(op, ": hidden_size must be R's last dimension, but hidden_size is ",
            *options.hidden_size, " and R is ", *R, ". Correct one of them.");
    if (H == 0)
        fail<shape_error>(op, ": H must be at least 1, but R is ", *R, ". Give the states a length.");
    if (!has_strides({direction_count(options.direction), H, (std::max)(H, width)}, padded_bytes))
        fail<shape_error>(
            op, ": the weights must fit in memory, but W is ", *W, " and R is ", *R, ". Reduce them.");
    if (width < attention_columns)
        fail<shape_error>(op, ": W must be at least as wide as the attention state, C = ", attention_columns,
            ", but W is ", *W, ". Give W [D, 4H, I + C].");
    return {direction_count(options.direction), width - attention_columns, H};
}

inline std::string describe(recurrent_widths const& sizes)
{
    return concat("D = ", sizes.D, ", I = ", sizes.I, " and H = ", sizes.H);
}

/// Returns the option layout; 0 for AttnLSTM, which does not have it.
template <class Options>
constexpr std::int64_t layout_of_options(Options const& options)
{
    if constexpr (requires { options.layout; })
        return options.layout;
    else
        return 0;
}

/// Checks clip, layout and direction, which all recurrent operators have.
template <class Options>
constexpr void check_options(std::string_view op, Options const& options)
{
    if (options.clip && !(*options.clip > 0))
        fail<option_error>(op, ": clip must be greater than 0, but clip is ", std::to_string(*options.clip),
            ". Leave it out for no limit.");
    if (std::int64_t const layout = layout_of_options(options); layout != 0 && layout != 1)
        fail<option_error>(op, ": layout must be 0 or 1, but layout is ", layout,
            ". Choose 1 where the batch axis comes first.");
    if (options.direction != direction::forward && options.direction != direction::reverse &&
        options.direction != direction::bidirectional)
        fail<option_error>(op, ": direction must be forward, reverse or bidirectional, but it is ",
            static_cast<int>(options.direction), ". Choose one of them.");
}

/// Requires that a list has at most as many numbers as its capacity.
template <class List>
constexpr void check_list(std::string_view op, std::string_view operand, List const& list)
{
    if (list.given() > list.capacity())
        fail<option_error>(op, ": ", operand, " may have at most ", list.capacity(), " numbers, but it has ",
            list.given(), ". Give fewer.");
}

/// Returns the activations of all directions: those of the options, or the defaults.
template <class Options>
constexpr activation_list check_activations(std::string_view op, Options const& options,
    std::span<std::string_view const> defaults, activation_dialect dialect)
{
    std::size_t const D = direction_count(options.direction);
    std::size_t const count = options.activations.given();
    if (count != 0 && count != D * defaults.size())
        fail<option_error>(op, ": there must be ", defaults.size(),
            " activations for each direction, but direction is ", name_of(options.direction),
            " and activations has ", count, ". Give ", D * defaults.size(), " or none.");
    check_list(op, "activation_alpha", options.activation_alpha);
    check_list(op, "activation_beta", options.activation_beta);
    activation_list const own = parse_activations(
        op, options.activations, options.activation_alpha, options.activation_beta, dialect);
    if (count != 0)
        return own;
    activation_list all;
    for (std::size_t d = 0; d < D; ++d)
        for (activation_function const& function : parse_activations(op, defaults))
            all.push_back(function);
    return all;
}

inline std::string describe(recurrent_widths const& sizes, batch_sizes const& batch)
{
    return concat("T = ", batch.T, ", N = ", batch.N, ", D = ", sizes.D, " and H = ", sizes.H);
}

/// Requires that the size of N rows of inputs and states does not overflow.
constexpr void check_rows(std::string_view op, recurrent_widths const& sizes, std::size_t N)
{
    if (!has_strides({N, sizes.D, sizes.I + sizes.H}, padded_bytes))
        fail<shape_error>(op, ": the states must fit in memory, but N = ", N, ", ", describe(sizes),
            ". Choose fewer rows.");
}

/// True if the size of Y in bytes does not overflow.
constexpr bool has_output(recurrent_widths const& sizes, batch_sizes const& batch)
{
    return has_strides({batch.T, sizes.D, batch.N, sizes.H}, sizeof(double));
}

/// Requires that the sizes of Y and of the states do not overflow.
constexpr void check_batch_sizes(std::string_view op, recurrent_widths const& sizes, batch_sizes const& batch)
{
    if (!has_output(sizes, batch))
        fail<shape_error>(
            op, ": Y must fit in memory, but ", describe(sizes, batch), ". Choose smaller sizes.");
    check_rows(op, sizes, batch.N);
}

/// Checks X [T, N, I], in layout 1 [N, T, I], and returns T and N.
constexpr batch_sizes check_X(
    std::string_view op, shape const& X, recurrent_widths const& sizes, std::int64_t layout)
{
    if (X.size() != 3 || X[2] != sizes.I)
        fail<shape_error>(op, ": X must have the shape ", layout == 0 ? "[T, N, I]" : "[N, T, I]",
            " with I = ", sizes.I, ", as W has it, but X is ", X, ". Give X that shape.");
    batch_sizes const batch = layout == 0 ? batch_sizes{X[0], X[1]} : batch_sizes{X[1], X[0]};
    if (!has_output(sizes, batch))
        fail<shape_error>(op, ": Y must fit in memory, but X is ", X, ", D = ", sizes.D, " and H = ", sizes.H,
            ". Reduce its dimensions.");
    check_rows(op, sizes, batch.N);
    return batch;
}

constexpr std::string_view state_letters(std::int64_t layout)
{
    return layout == 0 ? "[D, N, H]" : "[N, D, H]";
}
constexpr std::string_view output_letters(std::int64_t layout)
{
    return layout == 0 ? "[T, D, N, H]" : "[N, T, D, H]";
}

/// Returns the shape of states: [D, N, H], in layout 1 [N, D, H].
constexpr shape state_shape(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return layout == 0 ? shape{sizes.D, batch.N, sizes.H} : shape{batch.N, sizes.D, sizes.H};
}

/// Returns the shape of Y: [T, D, N, H], in layout 1 [N, T, D, H].
constexpr shape output_shape(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return layout == 0 ? shape{batch.T, sizes.D, batch.N, sizes.H}
                       : shape{batch.N, batch.T, sizes.D, sizes.H};
}

/// The name of an operand and its shape, if it is given.
struct named_shape {
    std::string_view operand;
    std::optional<shape> dims;
};

/// Checks states [D, N, H], in layout 1 [N, D, H].
template <class Weights, std::size_t Count>
constexpr void check_states(std::string_view op, Weights const& weights, batch_sizes const& batch,
    std::array<named_shape, Count> const& states)
{
    recurrent_widths const& sizes = weights.sizes();
    std::array<shape_requirement, Count> requirements{};
    for (std::size_t i = 0; i < Count; ++i)
        requirements[i] = {states[i].operand, state_letters(weights.layout()),
            state_shape(sizes, batch, weights.layout()), states[i].dims};
    check_shapes(op, requirements, [&] { return describe(sizes, batch); });
}

/// The name and memory of an operand. An output may be the same tensor as the input that `may_alias` names.
struct named_block {
    std::string_view operand;
    memory_block block;
    std::string_view may_alias{};
};

/// Requires that no two items of an output share memory, and that no output shares memory with another
/// operand.
inline void check_apart(
    std::string_view op, std::span<named_block const> outputs, std::span<named_block const> inputs)
{
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        named_block const& output = outputs[k];
        check_unique(op, output.operand, output.block.layout, "Copy it first.");
        for (named_block const& input : inputs)
            if (overlap(output.block, input.block) &&
                !(input.operand == output.may_alias && is_same_memory(output.block, input.block)))
                fail<overlap_error>(op, ": outputs are written while inputs are read, but ", output.operand,
                    " overlaps ", input.operand, ". Copy one of the two.");
        for (std::size_t j = 0; j < k; ++j)
            if (overlap(output.block, outputs[j].block))
                fail<overlap_error>(op, ": no two outputs may share memory, but ", output.operand,
                    " overlaps ", outputs[j].operand, ". Separate them.");
    }
}

} // namespace xloom::detail

namespace xloom::detail {

/// The sizes of an attention: A attention size, E memory depth, C attention state (L with an attention layer,
/// else E). All are 0 without attention.
struct attention_widths {
    std::size_t A = 0, E = 0, C = 0;
    bool attends = false, has_layer = false;
};

/// Requires that all of these operands are given or none; returns true if they are given.
template <std::size_t Count>
constexpr bool check_together(std::string_view op, std::string_view names,
    std::array<std::pair<std::string_view, bool>, Count> const& operands)
{
    std::size_t given = 0;
    for (auto const& operand : operands)
        given += operand.second ? 1 : 0;
    if (given != 0 && given != Count) {
        fact_list missing;
        for (auto const& operand : operands)
            if (!operand.second)
                missing.add(operand.first);
        fail<shape_error>(op, ": ", names, " must be given together, but ", missing,
            missing.size() == 1 ? " is" : " are", " omitted. Give all of them, or none for a plain LSTM.");
    }
    return given != 0;
}

/// Checks QW [D, H, A], MW [D, E, A], V [D, A] and AW [D, H + E, L], and returns their sizes. H is that of R.
constexpr attention_widths check_attention(std::string_view op, std::optional<shape> const& R,
    std::optional<shape> const& QW, std::optional<shape> const& MW, std::optional<shape> const& V,
    std::optional<shape> const& AW)
{
    check_given(op, "R", R, 3);
    bool const attends = check_together(op, "QW, MW and V",
        std::array{std::pair{std::string_view("QW"), QW.has_value()},
            std::pair{std::string_view("MW"), MW.has_value()},
            std::pair{std::string_view("V"), V.has_value()}});
    if (!attends) {
        if (AW)
            fail<shape_error>(op, ": an attention layer needs attention, but AW is ", *AW,
                " and QW, MW and V are omitted. Give them, or omit AW.");
        return {};
    }
    check_given(op, "MW", MW, 3);
    if (AW)
        check_given(op, "AW", AW, 3);
    std::size_t const D = (*R)[0], H = (*R)[2], E = (*MW)[1], A = (*MW)[2], L = AW ? (*AW)[2] : 0;
    if (!has_strides({D, 2, (std::max)(H, E), (std::max)({A, E, L})}, padded_bytes))
        fail<shape_error>(op, ": the weights must fit in memory, but ",
            AW ? concat("R is ", *R, ", MW is ", *MW, " and AW is ", *AW)
               : concat("R is ", *R, " and MW is ", *MW),
            ". Reduce them.");
    check_shapes(op,
        std::array{
            shape_requirement{"QW", "[D, H, A]", {D, H, A}, QW},
            shape_requirement{"MW", "[D, E, A]", {D, E, A}, MW},
            shape_requirement{"V", "[D, A]", {D, A}, V},
            shape_requirement{"AW", "[D, H + E, L]", {D, H + E, L}, AW},
        },
        [&] { return concat("D = ", D, ", H = ", H, ", E = ", E, " and A = ", A); });
    return {A, E, AW ? L : E, true, AW.has_value()};
}

/// Requires that the sizes of keys, values and alignments do not overflow.
constexpr void check_memory_sizes(
    std::string_view op, attention_widths const& attention, std::size_t D, std::size_t N, std::size_t S)
{
    auto const& [A, E, C, attends, has_layer] = attention;
    if (attends && !has_strides({D, N, S, (std::max)({A, E, C})}, padded_bytes))
        fail<shape_error>(op, ": keys and alignments must fit in memory, but D = ", D, ", N = ", N,
            ", S = ", S, ", A = ", A, ", E = ", E, " and C = ", C, ". Choose smaller sizes.");
}

/// Checks M [N, S, E], initial_attention [D, N, C] and initial_alignment [D, N, S]. Returns S; 0 without
/// attention.
constexpr std::size_t check_memory(std::string_view op, attention_widths const& attention,
    recurrent_widths const& sizes, std::size_t N, std::optional<shape> const& M, bool has_lengths,
    std::optional<shape> const& initial_attention, std::optional<shape> const& initial_alignment)
{
    if (!attention.attends) {
        for (bool const is_given :
            {M.has_value(), has_lengths, initial_attention.has_value(), initial_alignment.has_value()})
            if (is_given)
                fail<shape_error>(op,
                    ": memory is for weights with attention, but QW, MW and V are omitted and ",
                    M                   ? "M"
                    : has_lengths       ? "memory_seq_lens"
                    : initial_attention ? "initial_attention"
                                        : "initial_alignment",
                    " is given. Give them, or leave it out.");
        return 0;
    }
    check_given(op, "M", M, 3);
    std::size_t const S = (*M)[1], D = sizes.D;
    check_memory_sizes(op, attention, D, N, S);
    check_shapes(op,
        std::array{
            shape_requirement{"M", "[N, S, E]", {N, S, attention.E}, M},
            shape_requirement{"initial_attention", "[D, N, C]", {D, N, attention.C}, initial_attention},
            shape_requirement{"initial_alignment", "[D, N, S]", {D, N, S}, initial_alignment},
        },
        [&] {
            return concat(
                "D = ", D, ", N = ", N, ", S = ", S, ", E = ", attention.E, " and C = ", attention.C);
        });
    return S;
}

} // namespace xloom::detail

// ==== xloom/run/recurrent/attn_lstm_run.hpp ====
// The engine of AttnLSTM: the rows of an LSTM, each with a memory.

// ==== xloom/run/recurrent/attention_score.hpp ====
// The attention score as a user-defined callable.

// ==== xloom/kernel/attn_lstm.hpp ====
// A time step of an LSTM with Bahdanau attention for a batch of rows, on raw data.

// ==== xloom/kernel/attention.hpp ====
// Bahdanau attention over one memory: keys that are computed once, and their scores for each query.
//
// Why exponentials: the keys do not change from step to step, and tanh(key + query) = 1 - 2 / (1 + exp(2 key)
// exp(2 query)). With both exponentials precomputed, an element costs a multiplication and a division instead
// of a tanh. The cost is cancellation where key + query is near 0: the error of a float's score is 2^-24 sum
// |V|, while that of a tanh would shrink with it. So exponentials are not used where sum |V| is large.

namespace xloom::kernel {

/// The largest |key| for which exponentials are used. With such keys, a query whose exponential overflows or
/// underflows gives a tanh of exactly 1 or -1.
template <class T>
inline constexpr T largest_key = 0;
template <>
inline constexpr float largest_key<float> = 16;
template <>
inline constexpr double largest_key<double> = 150;

/// The largest sum of |V| for which scores are computed from exponentials.
inline constexpr double largest_weights = 64;

/// The keys of one memory: `length` rows at a stride of `step`, padded to whole batches.
template <class T>
struct key_rows {
    T* first = nullptr;
    std::size_t length = 0;
    std::size_t step = 0;
    bool are_exponentials = false; ///< each key is stored as exp(2 key)
};

/// Replaces the keys by exponentials unless one exceeds largest_key.
template <class T>
void make_exponentials(key_rows<T>& keys, std::size_t A) noexcept
{
    if constexpr (has_simd<T>) {
        constexpr T limit = largest_key<T>;
        bool is_small = true;
        for (std::size_t m = 0; m < keys.length; ++m)
            for (std::size_t a = 0; a < A; ++a)
                is_small &= !(std::abs(keys.first[m * keys.step + a]) > limit);
        if (!is_small)
            return;
        for (std::size_t m = 0; m < keys.length; ++m)
            map(keys.first + m * keys.step, keys.first + m * keys.step, whole_batches<T>(A),
                []<class V>(V const& key) { return detail::exp_of(key + key); });
        keys.are_exponentials = true;
    }
}

/// Replaces a query by exponentials, for keys that are exponentials.
template <class T>
void make_exponentials(T* query, std::size_t A) noexcept
{
    map(query, query, whole_batches<T>(A), []<class V>(V const& q) { return detail::exp_of(q + q); });
}

namespace detail {

/// Computes scores[m] = start + sum_a term(key[m, a], query[a], V[a]) for `Keys` keys at once; f adds a term
/// to a sum.
template <std::size_t Keys, class T, class F>
[[gnu::flatten]] void score_keys(T const* keys, std::size_t step, T const* query, T const* V, std::size_t A,
    T* scores, T start, F const& f) noexcept
{
    batch_t<T> sums[Keys];
    for (auto& sum : sums)
        sum = batch_t<T>(T(0));
    for (std::size_t a = 0; a < A; a += batch_size<T>) {
        auto const q = load_batch(query + a), v = load_batch(V + a);
#pragma GCC unroll 4
        for (std::size_t m = 0; m < Keys; ++m)
            sums[m] = f(load_batch(keys + m * step + a), q, v, sums[m]);
    }
    for (std::size_t m = 0; m < Keys; ++m)
        scores[m] = start + sum_of<T>(sums[m]);
}

template <class T, class F>
void score_all(key_rows<T> const& keys, T const* query, T const* V, std::size_t A, T* scores, T start,
    F const& f) noexcept
{
    std::size_t m = 0;
    for (; m + 4 <= keys.length; m += 4)
        score_keys<4>(keys.first + m * keys.step, keys.step, query, V, A, scores + m, start, f);
    for (; m < keys.length; ++m)
        score_keys<1>(keys.first + m * keys.step, keys.step, query, V, A, scores + m, start, f);
}

} // namespace detail

/// V, padded to whole batches with zeros, and the values that exponentials require of it.
template <class T>
struct score_weights {
    T const* V;
    T const* minus_2V; ///< null: V is too large for exponentials
    T sum;
};

/// Computes scores[m] = sum_a V[a] tanh(key[m, a] + query[a]). Requires a query of exponentials if the keys
/// are exponentials.
template <class T>
void bahdanau_scores(
    key_rows<T> const& keys, T const* query, score_weights<T> const& V, std::size_t A, T* scores) noexcept
{
    if (keys.are_exponentials)
        detail::score_all(keys, query, V.minus_2V, A, scores, V.sum,
            []<class B>(B const& key, B const& q, B const& v, B const& sum) {
                return sum + divide(v, multiply_add(key, q, B(T(1))));
            });
    else
        detail::score_all(keys, query, V.V, A, scores, T(0),
            []<class B>(B const& key, B const& q, B const& v, B const& sum) {
                return multiply_add(v, detail::tanh_of(key + q), sum);
            });
}

} // namespace xloom::kernel

// ==== xloom/kernel/lstm.hpp ====
// A time step of the LSTM for a batch of rows, on raw data.

// ==== xloom/kernel/arena.hpp ====
// A bump allocator that pads each allocation to whole cache lines; without memory, it only adds up sizes.

// ==== xloom/core/cache.hpp ====
// The assumed cache line of the processor. A wrong assumption costs speed, not correctness.

namespace xloom::detail {

/// The size of a cache line in bytes.
inline constexpr std::size_t cache_line = 64;

/// The number of elements per cache line; at least 1.
template <class T>
inline constexpr std::size_t elements_per_cache_line = sizeof(T) < cache_line ? cache_line / sizeof(T) : 1;

} // namespace xloom::detail

namespace xloom::kernel {

template <class T>
class arena {
public:
    arena() = default;
    explicit arena(T* items) : items_(items) {}

    T* take(std::size_t count) noexcept
    {
        T* const piece = items_ == nullptr ? nullptr : items_ + used_;
        used_ += (count + elements_per_cache_line<T> - 1) / elements_per_cache_line<T> *
                 elements_per_cache_line<T>;
        return piece;
    }

    bool only_counts() const noexcept { return items_ == nullptr; }
    std::size_t used() const noexcept { return used_; }

private:
    T* items_ = nullptr;
    std::size_t used_ = 0;
};

} // namespace xloom::kernel

// ==== xloom/kernel/multiply.hpp ====
// Products with a constant matrix.
//
// Why every sum is accumulated in the order of k: its bits then depend neither on the number of rows nor on
// how the work is partitioned, so that a batch equals its rows, a sequence its pieces, and two threads one.
// Each sum is split into dependency chains of at most chain_length multiply-adds, because rounding errors
// grow with the length of a chain.

// ==== xloom/core/tuning.hpp ====
// The thresholds and constants of the cost models. A wrong value costs speed, never a bit of a result.
//
// They were chosen with scripts/bench on the machines of docs/benchmarks.md: AMD Zen 3 with AVX2 and Zen 4
// with AVX-512, g++ 12 -O3. The register tiles of products depend on the vector unit (kernel/panels.hpp,
// kernel/row_blocks.hpp).

namespace xloom::tuning {

/// The assumed size of a core's private L2 cache in bytes, an upper bound: larger data is read from L3 or
/// memory in every pass over it.
inline constexpr std::size_t l2_cache_size = std::size_t{2} << 20;

/// The minimum number of elements copied or reduced that justifies another thread.
inline constexpr std::size_t elements_per_thread = std::size_t{1} << 14;

/// The minimum number of multiply-adds that justifies another thread.
inline constexpr std::size_t products_per_thread = std::size_t{1} << 18;

/// The minimum distance in elements between the writes of two threads: more than a cache line.
inline constexpr std::size_t thread_distance = 64;

/// The number of offsets that scatter and gather compute at once.
inline constexpr std::size_t offsets_per_block = 64;

/// The largest slice, in elements, that has a loop with a length known at compile time.
inline constexpr std::size_t max_small_slice = 4;

/// The prefetch distance in slices: a slice is prefetched that many slices before it is used.
constexpr std::size_t prefetch_distance(std::size_t slice_size)
{
    return slice_size <= max_small_slice ? 32 : 16;
}

/// The prefetch distance in updates where they are fused with the copy of data.
inline constexpr std::size_t update_prefetch_distance = 2;

/// The minimum sizes in bytes of a slice and of data for which the copy and the updates are fused.
inline constexpr std::size_t fused_slice_bytes = 1024;
inline constexpr std::size_t fused_data_bytes = std::size_t{1} << 20;

/// The cost model of sorting updates by owner, in units of one element's reduction: sorting an update costs
/// `sorting_cost`, applying one costs its slice and `applying_cost`. Sorting must reduce the time to
/// `worthwhile_fraction`.
inline constexpr double sorting_cost = 50;
inline constexpr double applying_cost = 11;
inline constexpr double worthwhile_fraction = 0.75;

/// The maximum number of updates that a thread sorts at once: they fit in the L2 cache.
inline constexpr std::size_t updates_per_share = std::size_t{1} << 13;

/// The maximum number of threads that find out which updates take effect: each has a bit per slice, so that
/// all of them have at most an integer per slice.
inline constexpr std::size_t max_slice_sets = 64;

/// The maximum size in bytes of a buffer for elements that are not contiguous.
inline constexpr std::size_t element_buffer_bytes = std::size_t{1} << 20;

/// The maximum size in bytes of outputs that a loop reserves for its maximum trip count, and the number of
/// iterations that it reserves where they would be larger.
inline constexpr std::size_t reserved_output_bytes = std::size_t{1} << 20;
inline constexpr std::size_t reserved_iterations = 16;

/// The maximum number of rows for which the inputs of several time steps are multiplied with W together.
inline constexpr std::size_t rows_per_product = 96;

} // namespace xloom::tuning

// ==== xloom/kernel/panels.hpp ====
// A constant matrix packed for products, in panels as wide as the registers allow.

namespace xloom::kernel {

/// The width of a panel in batches: 16 registers hold 3 by 4 sums and the factors, 32 hold 4 by 6.
template <class T>
inline constexpr std::size_t panel_batches = !has_simd<T> || sizeof(batch_t<T>) >= 64 ? 4 : 3;

template <class T>
inline constexpr std::size_t panel_width = panel_batches<T> * batch_size<T>;

/// A matrix [depth, columns] in row-major panels, its columns padded to whole batches: panel p begins with
/// column p * panel_width. The last panel is as wide as the remaining columns.
template <class T>
struct panels {
    T const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
};

/// Returns the width of the panel that begins with column `first` of `columns`.
template <class T>
constexpr std::size_t columns_of_panel(std::size_t first, std::size_t columns) noexcept
{
    return (std::min)(panel_width<T>, whole_batches<T>(columns) - first);
}

/// Returns the number of items of panels [depth, columns].
template <class T>
constexpr std::size_t panel_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * whole_batches<T>(columns);
}

/// Returns the stride of rows of sums, padded by a cache line so that power-of-two strides do not map all
/// rows to the same cache sets.
template <class T>
constexpr std::size_t row_step(std::size_t columns) noexcept
{
    return whole_batches<T>(columns) + elements_per_cache_line<T>;
}

/// A strided matrix [depth, columns]: item (k, j) is at items[k * depth_step + j * column_step].
template <class Item>
struct strided_matrix {
    Item const* items;
    std::ptrdiff_t depth_step;
    std::ptrdiff_t column_step;
};

/// Mutable panels, the destination of pack_panels.
template <class T>
struct unpacked_panels {
    T* items;
    std::size_t depth;
    std::size_t columns;

    panels<T> packed() const noexcept { return {items, depth, columns}; }
};

/// Writes a matrix [rows, columns] into panels, to rows from first_row and columns from first_column on.
///
/// Why in blocks of rows: weights are contiguous along the depth or across it; in both cases a cache line is
/// read completely while it is in cache.
template <class T, class Item>
void pack_panels(strided_matrix<Item> from, std::size_t rows, std::size_t columns,
    unpacked_panels<T> const& to, std::size_t first_row = 0, std::size_t first_column = 0) noexcept
{
    constexpr std::size_t block = 16;
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t begin = 0, end; begin < columns; begin = end) {
        std::size_t const offset = (first_column + begin) % panel_width<T>,
                          panel = first_column + begin - offset;
        std::size_t const width = columns_of_panel<T>(panel, to.columns);
        end = (std::min)(columns, begin + width - offset);
        T* const target = to.items + panel * to.depth + first_row * width + offset;
        Item const* const source = from.items + at(begin) * from.column_step;
        if (from.column_step == 1) {
            for (std::size_t k = 0; k < rows; ++k)
                for (std::size_t j = 0; j < end - begin; ++j)
                    target[k * width + j] = static_cast<T>(source[at(k) * from.depth_step + at(j)]);
        } else {
            for (std::size_t k0 = 0; k0 < rows; k0 += block)
                for (std::size_t j = 0; j < end - begin; ++j) {
                    T* const to_column = target + k0 * width + j;
                    Item const* const from_column =
                        source + at(k0) * from.depth_step + at(j) * from.column_step;
                    for (std::size_t k = 0, count = (std::min)(block, rows - k0); k < count; ++k)
                        to_column[k * width] = static_cast<T>(from_column[at(k) * from.depth_step]);
                }
        }
    }
}

} // namespace xloom::kernel

// ==== xloom/kernel/row_blocks.hpp ====
// The rows of a product, in blocks whose sums fit in registers.

// ==== xloom/core/partition.hpp ====
// The partition of work among threads.

// ==== xloom/core/policy.hpp ====
// Execution policies. Only the policy that is passed to an operator starts threads.

namespace xloom {

namespace detail {
struct any_part {
    void operator()(std::size_t) const {}
};
} // namespace detail

/// An execution policy. concurrency() returns the useful number of parts, at least 1. for_each(parts, f)
/// calls f(0) to f(parts - 1), each once, in any order and on any threads, and returns when all are done; an
/// exception of f propagates out of it.
template <class P>
concept execution_policy = requires(P const& policy, std::size_t parts, detail::any_part const& f) {
    {
        policy.concurrency()
    } -> std::convertible_to<std::size_t>;
    policy.for_each(parts, f);
};

/// The policy that runs everything on the calling thread.
struct serial_policy {
    static constexpr std::size_t concurrency() noexcept { return 1; }

    template <class F>
    constexpr void for_each(std::size_t parts, F const& f) const
    {
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }
};
inline constexpr serial_policy serial{};

} // namespace xloom

namespace xloom::detail {

/// Returns the index of the first item of part `part` of `parts`, into which `count` items are divided. Parts
/// differ by at most one item, and the larger ones are first.
constexpr std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t count) noexcept
{
    return count / parts * part + (std::min)(part, count % parts);
}

template <execution_policy Policy>
inline constexpr bool has_threads = !std::is_same_v<Policy, serial_policy>;

/// Returns the number of parts for `items` elements under a policy: at least 1, even if the policy has no
/// threads.
template <execution_policy Policy>
std::size_t parts_for(Policy const& policy, std::size_t items)
{
    return std::max<std::size_t>(
        std::min<std::size_t>(items / tuning::elements_per_thread, policy.concurrency()), 1);
}

} // namespace xloom::detail

namespace xloom::kernel {

/// The maximum number of rows in a block, whose sums for one panel fit in registers.
template <class T>
inline constexpr std::size_t block_rows = panel_batches<T> == 3 ? 4 : 6;

/// A partition of `length` items into as few blocks of at most `most` as possible, of nearly equal sizes. If
/// most >= 3 and there are two rows or more, no block has size 1.
struct blocks {
    std::size_t length, most;

    constexpr std::size_t count() const noexcept { return (length + most - 1) / most; }
    constexpr std::size_t begin(std::size_t block) const noexcept
    {
        return xloom::detail::begin_of_part(block, count(), length);
    }
};

/// Rows of numbers at a stride: row r begins at first[r * step]. With a step of 0, all rows are the same.
template <class T>
struct rows_of {
    T* first;
    std::size_t step;

    constexpr rows_of from(std::size_t row) const noexcept { return {first + row * step, step}; }
};

/// Rows of numbers in contiguous blocks, each of which holds number k of all its rows contiguously.
///
/// Why: a product reads them sequentially.
template <class T>
struct interleaved_rows {
    T const* first;
};

/// Calls f with `count` as a compile-time constant. Requires Least <= count <= Most.
template <std::size_t Least, std::size_t Most, class F>
void with_count(std::size_t count, F const& f)
{
    if constexpr (Least < Most)
        if (count < Most)
            return with_count<Least, Most - 1>(count, f);
    f(std::integral_constant<std::size_t, Most>());
}

namespace detail {

template <std::size_t Count, class T>
void interleave_block(rows_of<T const> from, std::size_t depth, T* to) noexcept
{
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t r = 0; r < Count; ++r)
            to[k * Count + r] = from.first[r * from.step + k];
}

} // namespace detail

/// Interleaves rows [rows, depth] into `to` [rows, depth]. A single row is not copied.
template <class T>
interleaved_rows<T> interleave(
    std::size_t rows, rows_of<std::type_identity_t<T> const> a, std::size_t depth, T* to) noexcept
{
    if (rows == 1)
        return {a.first};
    blocks const parts{rows, block_rows<T>};
    for (std::size_t part = 0; part < parts.count(); ++part) {
        std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
        with_count<2, block_rows<T>>(end - begin, [&](auto count) {
            detail::interleave_block<count, T>(a.from(begin), depth, to + begin * depth);
        });
    }
    return {to};
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// The maximum number of products in a dependency chain.
inline constexpr std::size_t chain_length = 128;

/// The order in which panels are processed. Alternating it reuses the cached tail of a matrix slightly larger
/// than the cache.
enum class panel_order : bool { forwards, backwards };

constexpr panel_order order_of_step(std::size_t t) noexcept
{
    return t % 2 == 0 ? panel_order::forwards : panel_order::backwards;
}

namespace detail {

/// Returns number k of row r of a block of `Count` rows.
template <std::size_t Count, class T>
T const& number_of(rows_of<T const> block, std::size_t r, std::size_t k) noexcept
{
    return block.first[r * block.step + k];
}
template <std::size_t Count, class T>
T const& number_of(interleaved_rows<T> block, std::size_t r, std::size_t k) noexcept
{
    return block.first[k * Count + r];
}

/// Returns the block that begins with row `row`.
template <class T>
rows_of<T const> block_at(rows_of<T const> rows, std::size_t row, std::size_t) noexcept
{
    return rows.from(row);
}
template <class T>
interleaved_rows<T> block_at(interleaved_rows<T> rows, std::size_t row, std::size_t depth) noexcept
{
    return {rows.first + row * depth};
}

/// Loads row k of `Batches` batches of columns from panels at a stride of `next_panel`.
template <std::size_t Batches, class T>
std::array<batch_t<T>, Batches> load_batches(T const* panel, std::size_t next_panel, std::size_t k) noexcept
{
    std::array<batch_t<T>, Batches> batches;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Batches; ++i) {
        std::size_t const number = i / panel_batches<T>, column = i * batch_size<T> - number * panel_width<T>;
        std::size_t const width = columns_of_panel<T>(number * panel_width<T>, Batches * batch_size<T>);
        batches[i] = load_batch(panel + number * next_panel + k * width + column);
    }
    return batches;
}

/// Prefetches `Count` items for writing, into L1.
template <std::size_t Count, class T>
void prefetch_for_write(T const* items) noexcept
{
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Count; i += elements_per_cache_line<T>)
        __builtin_prefetch(items + i, 1, 3);
}

/// A prefetch of the next panel, spread over the products of this one: into L2, because other work precedes
/// its use.
template <class T>
struct prefetch_next_panel {
    T const* first;
    std::size_t step; ///< the stride from product to product

    void operator()(std::size_t k) const noexcept { __builtin_prefetch(first + k * step, 0, 2); }
};

struct no_prefetch {
    void operator()(std::size_t) const noexcept {}
};

/// Computes sums = factor * b + sums.
///
/// Why g++ without SIMD keeps a loop: it vectorises a loop over std::fma but not the unrolled calls, while
/// clang vectorises the unrolled calls only.
template <class T, std::size_t Batches>
void add_row(batch_t<T> const& factor, std::array<batch_t<T>, Batches> const& b,
    std::array<batch_t<T>, Batches>& sums) noexcept
{
#ifndef __clang__
    if constexpr (!has_simd<T>) {
#pragma GCC unroll 1
        for (std::size_t i = 0; i < Batches; ++i)
            sums[i] = multiply_add(factor, b[i], sums[i]);
        return;
    }
#endif
#pragma GCC unroll 16
    for (std::size_t i = 0; i < Batches; ++i)
        sums[i] = multiply_add(factor, b[i], sums[i]);
}

/// Computes sums = start + a b for `Count` rows and `Batches` batches of columns, with products [k, end) in
/// one dependency chain.
///
/// Why unrolled by 4: loop overhead is 1/7 of an iteration of one product, and SMT siblings compete for issue
/// slots. Without unrolling, g++ also loads a row of b again for each row of a.
template <std::size_t Count, std::size_t Batches, class T, class Rows, class Fetch>
void add_chain(Rows a, std::size_t k, std::size_t end, T const* panel, std::size_t next_panel,
    rows_of<T const> start, rows_of<T> sums, Fetch const& fetch) noexcept
{
    using batch = batch_t<T>;

    std::array<std::array<batch, Batches>, Count> sum;
    for (auto& row : sum)
        row.fill(batch(T(0)));

#pragma GCC unroll 4
    for (; k < end; ++k) {
        std::array<batch, Batches> const b = load_batches<Batches>(panel, next_panel, k);
        fetch(k);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Count; ++r) {
            batch const factor(number_of<Count>(a, r, k));
            add_row<T>(factor, b, sum[r]);
        }
    }

#pragma GCC unroll 8
    for (std::size_t r = 0; r < Count; ++r)
#pragma GCC unroll 16
        for (std::size_t i = 0; i < Batches; ++i)
            store_batch(sums.first + r * sums.step + i * batch_size<T>,
                load_batch(start.first + r * start.step + i * batch_size<T>) + sum[r][i]);
}

/// Computes sums = start + a b for `Count` rows and `Batches` batches of columns, which begin at the given
/// panel of b, with all products in as many dependency chains as needed.
///
/// Why the sums are prefetched first: they are needed at the end of the first chain, where no other work
/// hides the latency.
template <std::size_t Count, std::size_t Batches, class T, class Rows, class Fetch>
void multiply_tile(Rows a, panels<T> const& b, std::size_t panel, rows_of<T const> start, rows_of<T> sums,
    Fetch const& fetch) noexcept
{
    constexpr std::size_t width = Batches * batch_size<T>;
    std::size_t const column = panel * panel_width<T>;
    start.first += column;
    sums.first += column;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Count; ++r)
        prefetch_for_write<width>(sums.first + r * sums.step);
    for (std::size_t k = 0; k < b.depth; k += chain_length) {
        std::size_t const end = (std::min)(k + chain_length, b.depth);
        add_chain<Count, Batches>(
            a, k, end, b.items + column * b.depth, b.depth * panel_width<T>, start, sums, fetch);
        start = {sums.first, sums.step};
    }
    if (b.depth == 0)
        for (std::size_t r = 0; r < Count; ++r)
            std::copy_n(start.first + r * start.step, width, sums.first + r * sums.step);
}

/// Computes sums = start + a b for one row, several panels at a time: one panel has too few independent sums
/// to keep the multipliers busy.
template <class T, class Rows>
void multiply_one(
    Rows a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums, panel_order order) noexcept
{
    constexpr std::size_t width = panel_batches<T>, group_size = (7 + width) / width;
    std::size_t const batches = whole_batches<T>(b.columns) / batch_size<T>;
    blocks const groups{(batches + width - 1) / width, group_size};
    for (std::size_t i = 0; i < groups.count(); ++i) {
        std::size_t const group = order == panel_order::backwards ? groups.count() - 1 - i : i;
        std::size_t const panel = groups.begin(group),
                          end = (std::min)(groups.begin(group + 1) * width, batches);
        with_count<1, group_size * width>(end - panel * width,
            [&](auto count) { multiply_tile<1, count>(a, b, panel, start, sums, no_prefetch()); });
    }
}

/// Returns the prefetch of a panel that part `part` of the rows issues, if any. The last parts, up to four of
/// them, share a panel evenly.
///
/// Why they share it: prefetches that are issued faster than cache lines arrive delay each other.
template <class T>
std::optional<prefetch_next_panel<T>> share_of(
    T const* panel, std::size_t depth, std::size_t part, std::size_t parts) noexcept
{
    std::size_t const shares = std::gcd(std::bit_floor(std::min<std::size_t>(parts, 4)), panel_width<T>),
                      width = panel_width<T> / shares;
    if (part + shares < parts)
        return std::nullopt;
    return prefetch_next_panel<T>{
        panel + (part + shares - parts) * width * depth, (std::min)(width, elements_per_cache_line<T>)};
}

/// Computes sums = start + a b for two or more rows, panel by panel.
///
/// Why the next panel is prefetched: a matrix larger than L2 would stall at the beginning of each panel.
/// Prefetching costs 1/20 of the time of the rows that issue it, which a matrix that fits in L2 would not
/// recover.
template <class T, class Rows>
void multiply_many(std::size_t rows, Rows a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums,
    panel_order order) noexcept
{
    constexpr std::size_t width = panel_batches<T>;
    std::size_t const batches = whole_batches<T>(b.columns) / batch_size<T>,
                      count = (batches + width - 1) / width, whole = batches / width;
    blocks const parts{rows, block_rows<T>};
    bool const is_backwards = order == panel_order::backwards,
               is_prefetched = panel_items<T>(b.depth, b.columns) * sizeof(T) > tuning::l2_cache_size;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const panel = is_backwards ? count - 1 - i : i,
                          next = is_backwards ? panel - 1 : panel + 1;
        for (std::size_t part = 0; part < parts.count(); ++part) {
            std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
            auto const multiply_part = [&](auto batches_here, auto const& fetch) {
                with_count<2, block_rows<T>>(end - begin, [&](auto rows_here) {
                    multiply_tile<rows_here, batches_here>(
                        block_at(a, begin, b.depth), b, panel, start.from(begin), sums.from(begin), fetch);
                });
            };
            std::optional<prefetch_next_panel<T>> share;
            if (is_prefetched && panel < whole && next < whole)
                share = share_of(b.items + next * panel_width<T> * b.depth, b.depth, part, parts.count());
            if (share)
                multiply_part(std::integral_constant<std::size_t, width>(), *share);
            else
                with_count<1, width>((std::min)(width, batches - panel * width),
                    [&](auto batches_here) { multiply_part(batches_here, no_prefetch()); });
        }
    }
}

} // namespace detail

/// Computes sums = start + a b for a [rows, b.depth], rows_of<T const> or interleaved_rows. start and sums
/// are [rows, whole batches]; start may be sums, other overlaps are not allowed.
template <class T, class Rows = rows_of<T const>>
void multiply(std::size_t rows, Rows a, panels<T> const& b, rows_of<T const> start, rows_of<T> sums,
    panel_order order = panel_order::forwards) noexcept
{
    if (rows == 1)
        detail::multiply_one(a, b, start, sums, order);
    else
        detail::multiply_many(rows, a, b, start, sums, order);
}

} // namespace xloom::kernel

// ==== xloom/kernel/units.hpp ====
// Operations of recurrent cells on a row of units. Rows are padded to whole batches, so that there is no
// remainder; the padding is computed but never read.

namespace xloom::kernel {

/// Computes z = function(z). Softmax, which is over the row, excludes the padding.
template <class T>
void activate_padded(activation_function const& function, T* z, std::size_t units) noexcept
{
    activate<T>(function, z, z, function.kind == activation::softmax ? units : whole_batches<T>(units));
}

/// Computes z = min(max(z, -limit), limit); NaN stays NaN.
template <class T>
void clip_units(T limit, T* z, std::size_t units) noexcept
{
    map(z, z, whole_batches<T>(units), [limit]<class V>(V const& v) {
        V const most(limit), least(-limit);
        return select(v > most, most, select(v < least, least, v));
    });
}

/// Calls f(position of the first unit) for each batch of units.
template <class T, class F>
void for_each_batch(std::size_t units, F const& f) noexcept
{
    for (std::size_t j = 0; j < units; j += batch_size<T>)
        f(j);
}

/// Computes z += a * b.
template <class T>
void add_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(units, [=](std::size_t j) {
        store_batch(z + j, multiply_add(load_batch(a + j), load_batch(b + j), load_batch(z + j)));
    });
}

/// Computes z = a * b.
template <class T>
void set_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(
        units, [=](std::size_t j) { store_batch(z + j, load_batch(a + j) * load_batch(b + j)); });
}

/// The activation of a gate, with optional clipping of its sums.
template <class T>
struct gate {
    activation_function function;
    T clip; ///< the limit of the sums
    bool is_clipped;

    void operator()(T* z, std::size_t units) const noexcept
    {
        if (is_clipped)
            clip_units(clip, z, units);
        activate_padded(function, z, units);
    }
};

} // namespace xloom::kernel

namespace xloom::kernel {

/// The constants of one direction. A gate's sums begin at a multiple of gate_step; the gates are i, o, f, c.
template <class T>
struct lstm_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    panels<T> W;           ///< [I, 4 gate_step]
    panels<T> R;           ///< [H, 4 gate_step]
    T const* bias;         ///< laid out as a row of sums
    T const* P;            ///< i, o, f, each gate_step long; null: none
    gate<T> f, g;
    activation_function h;
    bool input_forget;

    /// Returns the stride of rows of sums.
    std::size_t sums_step() const noexcept { return row_step<T>(4 * gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + R.depth * R.columns; }
};

template <class T>
bool is_plain(lstm_parameters<T> const& p) noexcept
{
    return p.f.function.kind == activation::sigmoid && p.g.function.kind == activation::tanh &&
           p.h.kind == activation::tanh && !p.f.is_clipped && p.P == nullptr && !p.input_forget;
}

/// Computes the next c and h of a row from the sums of its gates, with the default activations and no other
/// option.
///
/// Why two passes: they keep one exponential per dependency chain, within the reorder window. With h in the
/// first pass, a chain would have two exponentials.
template <class T>
[[gnu::flatten]] void plain_lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    T const *const i = sums, *const o = i + p.gate_step, *const f = o + p.gate_step,
                   *const g = f + p.gate_step;
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const input = sigmoid_times_tanh(load_batch(i + j), load_batch(g + j));
        store_batch(c + j, multiply_add(sigmoid()(load_batch(f + j)), load_batch(c + j), input));
    });
    for_each_batch<T>(p.H,
        [=](std::size_t j) { store_batch(h + j, sigmoid_times_tanh(load_batch(o + j), load_batch(c + j))); });
}

/// Computes the next c and h of a row from the sums of its gates, with any options. Overwrites the sums.
template <class T>
void lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    std::size_t const H = p.H, step = p.gate_step;
    T *const i = sums, *const o = sums + step, *const f = sums + 2 * step, *const g = sums + 3 * step;
    if (p.P != nullptr)
        add_products(p.P, c, i, H);
    p.f(i, H);
    if (!p.input_forget) {
        if (p.P != nullptr)
            add_products(p.P + 2 * step, c, f, H);
        p.f(f, H);
    }
    p.g(g, H);
    for_each_batch<T>(H, [=, forgets = p.input_forget](std::size_t j) {
        auto const input = load_batch(i + j);
        auto const kept = forgets ? batch_t<T>(1) - input : load_batch(f + j);
        store_batch(c + j, multiply_add(kept, load_batch(c + j), input * load_batch(g + j)));
    });
    if (p.P != nullptr)
        add_products(p.P + step, c, o, H);
    p.f(o, H);
    std::copy_n(c, step, h);
    activate_padded(p.h, h, H);
    set_products(o, h, h, H);
}

/// The states of a batch's rows.
template <class T>
class lstm_rows {
public:
    /// Allocates memory for `rows` rows; an arena without memory only adds up the size.
    lstm_rows(lstm_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p),
          h_(memory.take(rows * p.gate_step)),
          c_(memory.take(rows * p.gate_step)),
          interleaved_(memory.take(rows * p.gate_step))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.gate_step; }
    T* c(std::size_t row) const noexcept { return c_ + row * p_.gate_step; }

    /// Returns h of the first `rows` rows for a product; valid until the next call.
    interleaved_rows<T> h_of_all(std::size_t rows) const noexcept
    {
        return interleave(rows, {h_, p_.gate_step}, p_.H, interleaved_);
    }

    panels<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_step() const noexcept { return p_.sums_step(); }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const noexcept
    {
        multiply<T>(rows, h_of_all(rows), p_.R, {sums, sums_step()}, {sums, sums_step()}, order_of_step(t));
        auto const units = is_plain(p_) ? plain_lstm_units<T> : lstm_units<T>;
        for (std::size_t row = 0; row < rows; ++row)
            units(p_, sums + row * sums_step(), h(row), c(row));
    }

private:
    lstm_parameters<T> const& p_;
    T* h_;
    T* c_;
    T* interleaved_;
};

} // namespace xloom::kernel

// ==== xloom/kernel/sequences.hpp ====
// The time loop of the recurrent operators: a batch of sequences of any lengths, run through a cell.

namespace xloom::kernel {

/// A row of items at a stride of `step`.
template <class Item>
struct strided_row {
    Item* first = nullptr;
    std::ptrdiff_t step = 1;
};

/// Copies `count` items and converts them.
template <class From, class To>
void copy_row(strided_row<From const> from, std::size_t count, strided_row<To> to)
{
    if (from.step == 1 && to.step == 1)
        std::transform(
            from.first, from.first + count, to.first, [](From const& item) { return static_cast<To>(item); });
    else
        for (std::size_t i = 0; i < count; ++i)
            to.first[static_cast<std::ptrdiff_t>(i) * to.step] =
                static_cast<To>(from.first[static_cast<std::ptrdiff_t>(i) * from.step]);
}

/// One sequence in the order of a direction: its first x and y, and their strides along time (negated in the
/// reverse direction).
template <class Item>
struct sequence {
    std::size_t row; ///< in the batch
    std::size_t length;
    strided_row<Item const> x;
    std::ptrdiff_t x_step;
    strided_row<Item> y; ///< null: omitted
    std::ptrdiff_t y_step;
};

/// Returns how many of the first `most` sequences are longer than t. Requires sequences sorted by descending
/// length.
template <class Item>
std::size_t count_longer(sequence<Item> const* sequences, std::size_t most, std::size_t t) noexcept
{
    while (most > 0 && sequences[most - 1].length <= t)
        --most;
    return most;
}

/// Memory for the inputs of steps that are multiplied together, and for their sums.
template <class T>
struct step_buffers {
    std::size_t steps;
    T* x;
    T* interleaved_x;
    T* sums;

    template <class Rows>
    step_buffers(Rows const& cell, std::size_t rows, std::size_t longest, arena<T>& memory)
        : steps((std::min)(std::max<std::size_t>(longest, 1),
              std::max<std::size_t>(tuning::rows_per_product / std::max<std::size_t>(rows, 1), 1))),
          x(memory.take(most_together(rows, longest) * cell.W().depth)),
          interleaved_x(memory.take(most_together(rows, longest) * cell.W().depth)),
          sums(memory.take(most_together(rows, longest) * cell.sums_step()))
    {}

private:
    /// Returns at least steps * rows, and no less than for fewer rows or steps: memory for a batch suffices
    /// for smaller ones.
    static std::size_t most_together(std::size_t rows, std::size_t longest)
    {
        return (std::min)(
            std::max<std::size_t>(longest, 1) * rows, (std::max)(tuning::rows_per_product, rows));
    }
};

/// The recorder that records nothing.
struct no_recorder {
    template <class Rows, class T>
    void operator()(Rows const&, std::size_t, std::size_t, T const*) const noexcept
    {}
};

/// Runs `count` sequences, sorted by descending length, whose states are the first rows of `cell`.
///
/// After each step the recorder is called as record(cell, row, t, sums) for each row of the step: the states
/// are those after it, and `sums` holds what the cell left there, which is the gates. A derivative needs
/// them.
template <class T, class Item, class Rows, class Recorder = no_recorder>
void run_sequences(Rows const& cell, sequence<Item> const* sequences, std::size_t count,
    step_buffers<T> const& buffers, Recorder const& record = {})
{
    std::size_t const I = cell.W().depth, step = cell.sums_step();
    std::size_t const longest = count == 0 ? 0 : sequences[0].length;
    std::size_t const H = cell.H();
    for (std::size_t begin = 0; begin < longest; begin += buffers.steps) {
        std::size_t const end = (std::min)(begin + buffers.steps, longest);
        std::size_t rows = 0;
        for (std::size_t t = begin, active = count; t < end; ++t) {
            active = count_longer(sequences, active, t);
            for (std::size_t r = 0; r < active; ++r, ++rows) {
                auto const& [items, item_step] = sequences[r].x;
                copy_row<Item, T>({items + static_cast<std::ptrdiff_t>(t) * sequences[r].x_step, item_step},
                    I, {buffers.x + rows * I});
            }
        }
        auto const x = interleave(rows, {buffers.x, I}, I, buffers.interleaved_x);
        multiply<T>(rows, x, cell.W(), {cell.bias(), 0}, {buffers.sums, step});

        T* sums = buffers.sums;
        for (std::size_t t = begin, active = count; t < end; ++t) {
            active = count_longer(sequences, active, t);
            cell.step(active, count_longer(sequences, active, t + 1), t, sums);
            for (std::size_t r = 0; r < active; ++r)
                record(cell, r, t, sums + r * step);
            sums += active * step;
            for (std::size_t r = 0; r < active; ++r)
                if (auto const& [items, item_step] = sequences[r].y; items != nullptr)
                    copy_row<T, Item>({cell.h(r)}, H,
                        {items + static_cast<std::ptrdiff_t>(t) * sequences[r].y_step, item_step});
        }
    }
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// The constants of one direction. C, the length of the attention state, is L if there is an attention layer
/// AW, else E.
template <class T>
struct attn_lstm_parameters {
    using number = T;

    lstm_parameters<T> lstm;
    std::size_t A, E, C;
    panels<T> W_attention; ///< [C, 4 gate_step]
    panels<T> QW;          ///< [H, A]
    panels<T> MW;          ///< [E, A]
    panels<T> AW_h;        ///< [H, L]
    panels<T> AW_context;  ///< [E, L]
    score_weights<T> V;
    T const* zeros; ///< as long as the widest row
    bool attends;   ///< false: a plain LSTM
    bool has_layer; ///< true: AW is given

    /// Returns the multiply-adds of a row and a step, without the scores.
    std::size_t products() const noexcept
    {
        return lstm.products() + W_attention.depth * W_attention.columns + QW.depth * QW.columns +
               AW_h.depth * AW_h.columns + AW_context.depth * AW_context.columns;
    }
};

/// The memory that a row attends to.
template <class T>
struct attention_memory {
    key_rows<T> keys;
    T* values; ///< panels [length, E]
};

/// The memory of one row of the batch: item (m, e) is at items[m * step + e * item_step].
template <class Item>
struct memory_rows {
    Item const* items;
    std::size_t length;
    std::ptrdiff_t step;
    std::ptrdiff_t item_step;
};

/// Allocates keys and values for `length` rows of memory.
template <class T>
attention_memory<T> take_memory(
    attn_lstm_parameters<T> const& p, std::size_t length, arena<T>& memory) noexcept
{
    std::size_t const step = whole_batches<T>(p.A);
    return {{memory.take(length * step), length, step, false}, memory.take(panel_items<T>(length, p.E))};
}

/// Writes zeros after the A numbers of a key or query, up to a whole batch: infinity times the zeros that pad
/// a product is NaN, which V's zeros do not undo.
template <class T>
void clear_padding(T* row, std::size_t A) noexcept
{
    std::fill(row + A, row + whole_batches<T>(A), T(0));
}

/// Computes keys and values from a row's memory. `row` is scratch for [length, E].
template <class T, class Item>
void fill_memory(attn_lstm_parameters<T> const& p, memory_rows<Item> const& from, T* row,
    bool with_exponentials, attention_memory<T>& to)
{
    for (std::size_t m = 0; m < from.length; ++m)
        copy_row<Item, T>(
            {from.items + static_cast<std::ptrdiff_t>(m) * from.step, from.item_step}, p.E, {row + m * p.E});
    pack_panels<T, T>(
        {row, static_cast<std::ptrdiff_t>(p.E), 1}, from.length, p.E, {to.values, from.length, p.E});
    multiply<T>(from.length, {row, p.E}, p.MW, {p.zeros, 0}, {to.keys.first, to.keys.step});
    for (std::size_t m = 0; m < from.length; ++m)
        clear_padding(to.keys.first + m * to.keys.step, p.A);
    if (with_exponentials && p.V.minus_2V != nullptr)
        make_exponentials(to.keys, p.A);
}

/// The default score: Bahdanau's, with weights V.
template <class T>
struct bahdanau_score {
    static constexpr bool takes_exponentials = has_simd<T>;

    score_weights<T> V;
    std::size_t A;

    void operator()(std::size_t, key_rows<T> const& keys, T* query, T const*, T* scores) const noexcept
    {
        if constexpr (takes_exponentials)
            if (keys.are_exponentials)
                make_exponentials(query, A);
        bahdanau_scores(keys, query, V, A, scores);
    }
};

/// A row of the batch with its memory and the destination of its alignments.
template <class T, class Item>
struct attending_row {
    std::size_t row; ///< in the batch
    attention_memory<T> memory;
    strided_row<Item> alignment; ///< null: omitted
    std::ptrdiff_t alignment_step;
};

/// The states of a batch's rows. The score is called as score(row, keys, query, last alignment, scores).
template <class T, class Item, class Score>
class attn_lstm_rows {
public:
    attn_lstm_rows(attn_lstm_parameters<T> const& p, std::size_t rows, std::size_t longest_memory,
        Score const& score, arena<T>& memory)
        : p_(p),
          lstm_(p.lstm, rows, memory),
          score_(score),
          alignment_step_(whole_batches<T>(longest_memory)),
          attention_(memory.take(rows * attention_step())),
          context_(p.has_layer ? memory.take(rows * context_step()) : attention_),
          query_(memory.take(rows * query_step())),
          alignment_(memory.take(rows * alignment_step_)),
          scores_(memory.take(alignment_step_)),
          interleaved_(memory.take(rows * (std::max)(p.C, p.E)))
    {}

    T* h(std::size_t row) const noexcept { return lstm_.h(row); }
    T* c(std::size_t row) const noexcept { return lstm_.c(row); }
    T* attention(std::size_t row) const noexcept { return attention_ + row * attention_step(); }
    T* alignment(std::size_t row) const noexcept { return alignment_ + row * alignment_step_; }

    panels<T> const& W() const noexcept { return lstm_.W(); }
    std::size_t H() const noexcept { return lstm_.H(); }
    T const* bias() const noexcept { return lstm_.bias(); }
    std::size_t sums_step() const noexcept { return lstm_.sums_step(); }

    /// Sets the rows' memories. If `has_last_step`, the attention of a row's last step is computed too,
    /// although no step reads it.
    void attend_to(attending_row<T, Item> const* rows, bool has_last_step) noexcept
    {
        rows_ = rows;
        has_last_step_ = has_last_step;
    }

    /// Performs step t of the first `rows` rows, whose sums hold W x + bias; the first `continuing` of them
    /// have a step t + 1.
    void step(std::size_t rows, std::size_t continuing, std::size_t t, T* sums) const
    {
        if (p_.attends) {
            auto const attention_of_all =
                interleave(rows, {attention_, attention_step()}, p_.C, interleaved_);
            multiply<T>(rows, attention_of_all, p_.W_attention, {sums, sums_step()}, {sums, sums_step()});
        }
        lstm_.step(rows, continuing, t, sums);
        if (p_.attends)
            attend_all(has_last_step_ ? rows : continuing, t);
    }

private:
    std::size_t attention_step() const noexcept { return row_step<T>(p_.C); }
    std::size_t context_step() const noexcept { return row_step<T>(p_.E); }
    std::size_t query_step() const noexcept { return row_step<T>(p_.A); }

    void attend_all(std::size_t rows, std::size_t t) const
    {
        auto const h = lstm_.h_of_all(rows);
        rows_of<T const> const zeros{p_.zeros, 0};
        multiply<T>(rows, h, p_.QW, zeros, {query_, query_step()});
        for (std::size_t row = 0; row < rows; ++row) {
            clear_padding(query_ + row * query_step(), p_.A);
            attend(row, t);
        }
        if (p_.has_layer) {
            rows_of<T> const attention{attention_, attention_step()};
            multiply<T>(rows, h, p_.AW_h, zeros, attention);
            multiply<T>(rows, interleave(rows, {context_, context_step()}, p_.E, interleaved_), p_.AW_context,
                {attention_, attention_step()}, attention);
        }
    }

    /// Computes the alignment and the context of one row.
    void attend(std::size_t row, std::size_t t) const
    {
        attending_row<T, Item> const& at = rows_[row];
        std::size_t const length = at.memory.keys.length;
        if (length != 0)
            score_(at.row, at.memory.keys, query_ + row * query_step(), alignment(row), scores_);
        if constexpr (has_simd<T>)
            std::fill(
                scores_ + length, scores_ + whole_batches<T>(length), -std::numeric_limits<T>::infinity());
        softmax(scores_, alignment(row), whole_batches<T>(length));
        multiply<T>(1, {alignment(row), 0}, {at.memory.values, length, p_.E}, {p_.zeros, 0},
            {context_ + row * context_step(), 0});
        if (at.alignment.first != nullptr)
            copy_row<T, Item>({alignment(row)}, length,
                {at.alignment.first + static_cast<std::ptrdiff_t>(t) * at.alignment_step, at.alignment.step});
    }

    attn_lstm_parameters<T> const& p_;
    lstm_rows<T> lstm_;
    Score score_;
    std::size_t alignment_step_;
    T* attention_;
    T* context_;
    T* query_;
    T* alignment_;
    T* scores_;
    T* interleaved_;
    attending_row<T, Item> const* rows_ = nullptr;
    bool has_last_step_ = false;
};

} // namespace xloom::kernel

namespace xloom {

/// The arguments of a score for one row of the batch, and its output.
template <class T>
struct attention_step {
    std::size_t d; ///< the direction: 1 for the reverse one of bidirectional, else 0
    std::size_t n; ///< the row of the batch
    T const* keys; ///< [s, A]: s steps of memory at a stride of key_step
    std::size_t key_step;
    std::span<T const> query; ///< [A]
    std::span<T const> V;     ///< [A]
    std::span<T const>
        last_alignment;  ///< [s]; zeros before the first step, unless initial_alignment is given
    std::span<T> scores; ///< [s], to be written

    std::span<T const> key(std::size_t m) const { return {keys + m * key_step, query.size()}; }
};

/// The default score: scores[m] = sum_a V[a] tanh(keys[m, a] + query[a]).
struct bahdanau {};

/// A score of attention: bahdanau, or a callable for which score(step) writes step.scores. It is called for
/// rows with memory only, concurrently if the policy has several threads.
template <class Score, class T>
concept attention_score =
    std::same_as<Score, bahdanau> || std::invocable<Score const&, attention_step<T> const&>;

namespace detail {

template <class T, class Score>
struct user_score {
    static constexpr bool takes_exponentials = false;

    Score const* score;
    std::size_t d, A;
    T const* V;

    void operator()(
        std::size_t row, kernel::key_rows<T> const& keys, T* query, T const* last_alignment, T* scores) const
    {
        (*score)(attention_step<T>{d, row, keys.first, keys.step, {query, A}, {V, A},
            {last_alignment, keys.length}, {scores, keys.length}});
    }
};

template <class T>
kernel::bahdanau_score<T> score_for(bahdanau const&, kernel::attn_lstm_parameters<T> const& p, std::size_t)
{
    return {p.V, p.A};
}
template <class T, class Score>
user_score<T, Score> score_for(Score const& score, kernel::attn_lstm_parameters<T> const& p, std::size_t d)
{
    return {&score, d, p.A, p.V.V};
}

} // namespace detail
} // namespace xloom

// ==== xloom/run/recurrent/batch_call.hpp ====
// The common parts of the calls of recurrent operators: outputs, their checks, and the runner.

// ==== xloom/run/recurrent/batch_run.hpp ====
// The engine of the recurrent operators: the rows of a batch, sorted by length and partitioned into
// independent parts.

// ==== xloom/core/aligned_vector.hpp ====
// A std::vector aligned to cache lines, so that no SIMD batch crosses one; large vectors are aligned to huge
// pages and advised to use them.

// ==== xloom/core/huge_pages.hpp ====
// Huge pages for large allocations (madvise).
//
// Why: the TLB covers a few hundred to a few thousand 4 KiB pages. Beyond that, every access to a new page is
// a page-table walk, most expensive under virtualisation.

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace xloom::detail {

/// The size of a huge page in bytes; a regular page has 4 KiB.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Advises the system to use huge pages for memory aligned to huge_page. Best effort: without huge pages
/// accesses are only slower.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept
{
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
}

} // namespace xloom::detail

namespace xloom::detail {

template <class T>
struct cache_aligned_allocator {
    using value_type = T;

    cache_aligned_allocator() = default;
    template <class U>
    cache_aligned_allocator(cache_aligned_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        if (count > (static_cast<std::size_t>(-1) - huge_page) / sizeof(T))
            throw_or_abort(std::bad_array_new_length());
        std::size_t const bytes = count * sizeof(T);
        void* const memory = ::operator new(bytes, alignment(count));
        if (bytes >= huge_page)
            advise_huge_pages(memory, bytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* items, std::size_t count) noexcept { ::operator delete(items, alignment(count)); }

    static constexpr std::align_val_t alignment(std::size_t count) noexcept
    {
        return std::align_val_t{
            (std::max)(alignof(T), count * sizeof(T) < huge_page ? cache_line : huge_page)};
    }

    friend bool operator==(cache_aligned_allocator const&, cache_aligned_allocator const&) = default;
};

template <class T>
using aligned_vector = std::vector<T, detail::cache_aligned_allocator<T>>;

} // namespace xloom::detail

// ==== xloom/tensor/tensor_ref.hpp ====
// References to operands in memory that may be omitted.

// ==== xloom/tensor/borrowed.hpp ====
// Traits of borrowed operands: types whose items outlive the object, so that a temporary may be passed.

// ==== xloom/tensor/tensor.hpp ====
// The tensor concepts, and the traits of tensors: items, shape, layout, owning type.

// ==== xloom/kernel/strided_copy.hpp ====
// A copy between two strided layouts of one shape, planned once and run many times.

namespace xloom::kernel {

/// A loop over the pairs of items of two strided arrays of the same shape, which assigns the first to the
/// second. Axes of length 1 are dropped, and adjacent axes that have a common stride in both arrays are
/// merged, so that most copies are one or two loops. Cost: each item is read once and written once. Allocates
/// nothing.
class strided_copy {
public:
    constexpr strided_copy(shape const& dims, strides const& from, strides const& to)
    {
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            if (dims[axis] == 0)
                empty_ = true;
            if (dims[axis] == 1)
                continue;
            if (!dims_.empty() && continues(from_.back(), from[axis], dims[axis]) &&
                continues(to_.back(), to[axis], dims[axis])) {
                dims_.back() *= dims[axis];
                from_.back() = from[axis];
                to_.back() = to[axis];
            } else {
                dims_.push_back(dims[axis]);
                from_.push_back(from[axis]);
                to_.push_back(to[axis]);
            }
        }
        if (dims_.empty()) {
            dims_.push_back(1);
            from_.push_back(1);
            to_.push_back(1);
        }
    }

    template <class T>
    void operator()(T const* from, T* to) const
    {
        if (!empty_)
            copy(0, from, to);
    }

    /// Calls f(from item, to item) for every pair.
    template <class From, class To, class F>
    void for_each_pair(From* from, To* to, F const& f) const
    {
        if (!empty_)
            walk(0, from, to, f);
    }

private:
    static constexpr bool continues(std::ptrdiff_t outer, std::ptrdiff_t inner, std::size_t inner_dim)
    {
        return outer == inner * static_cast<std::ptrdiff_t>(inner_dim);
    }

    /// Copies the items along `axis` and the axes after it.
    ///
    /// Why a loop copies contiguous items too: std::copy_n calls memmove, which costs more than copying a row
    /// of a small element. Why not walk: g++ 12 compiles it to code that is 1/7 slower.
    template <class T>
    void copy(std::size_t axis, T const* from, T* to) const
    {
        std::size_t const count = dims_[axis];
        std::ptrdiff_t const from_step = from_[axis];
        std::ptrdiff_t const to_step = to_[axis];
        if (axis + 1 < dims_.size())
            for (std::size_t i = 0; i < count; ++i, from += from_step, to += to_step)
                copy(axis + 1, from, to);
        else if (from_step == 1 && to_step == 1)
            for (std::size_t i = 0; i < count; ++i)
                to[i] = from[i];
        else
            for (std::size_t i = 0; i < count; ++i, from += from_step, to += to_step)
                *to = *from;
    }

    template <class From, class To, class F>
    [[gnu::noinline]] void walk(std::size_t axis, From* from, To* to, F const& f) const
    {
        for (std::size_t i = 0; i < dims_[axis]; ++i, from += from_[axis], to += to_[axis])
            if (axis + 1 < dims_.size())
                walk(axis + 1, from, to, f);
            else
                f(*from, *to);
    }

    shape dims_{};
    strides from_{};
    strides to_{};
    bool empty_ = false;
};

} // namespace xloom::kernel

// ==== xloom/tensor/element_view.hpp ====
// The view of one element of a tensor that a body receives: a row-major xtensor expression over memory that
// it does not own.

// ==== xloom/tensor/xtensor.hpp ====
// The only file that includes xtensor, of the releases 0.24.3 to 0.27.1.
//
// Why: 0.26 moved every header into folders, without forwarding headers. Up to 0.25, g++ in C++20 mode
// deduces xtensor<T, 4> as the type of the sum of two xarrays (it takes the allocator for a non-type
// parameter), whose evaluation throws bad_array_new_length: the specialisation below gives the intended type.

#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xbuffer_adaptor.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xeval.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#include <xtensor/xeval.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace xt::detail {

template <>
struct xtype_for_shape<svector<std::size_t, 4>> {
    template <class T, layout_type L>
    using type = xarray<T, L>;
};

} // namespace xt::detail

namespace xloom {

template <class T, class Shape>
class basic_element_view;

/// An element view for the parameter list of a body that is not generic. T is const for inputs.
template <class T, std::size_t Rank = dynamic_rank>
using element_view = basic_element_view<T,
    std::conditional_t<Rank == dynamic_rank, xt::dynamic_shape<std::size_t>, std::array<std::size_t, Rank>>>;

/// An element view of a fixed shape, for the elements of an xt::xtensor_fixed.
template <class T, std::size_t... Dims>
using fixed_element_view = basic_element_view<T, xt::fixed_shape<Dims...>>;

namespace detail {

template <class Shape>
inline constexpr bool is_fixed_shape = false;
template <std::size_t... Dims>
inline constexpr bool is_fixed_shape<xt::fixed_shape<Dims...>> = true;

/// The shape and strides of a view; an empty class for a fixed shape.
template <class Shape>
struct element_geometry {
    using shape_type = Shape;
    using strides_type = xt::get_strides_t<Shape>;

    explicit element_geometry(xloom::shape const& dims)
    {
        xt::resize_container(dims_, dims.size());
        xt::resize_container(strides_, dims.size());
        xt::resize_container(backstrides_, dims.size());
        std::copy(dims.begin(), dims.end(), dims_.begin());
        size_ = xt::compute_strides(dims_, xt::layout_type::row_major, strides_, backstrides_);
    }

    Shape dims_{};
    strides_type strides_{};
    strides_type backstrides_{};
    std::size_t size_ = 0;
};

template <std::size_t... Dims>
struct element_geometry<xt::fixed_shape<Dims...>> {
    using fixed = xt::fixed_shape<Dims...>;
    using shape_type = typename fixed::cast_type;
    using strides_type = xt::get_strides_t<shape_type>;

    explicit element_geometry(xloom::shape const&) {}

    static constexpr shape_type dims_ = fixed();
    static constexpr strides_type strides_ =
        xt::get_strides<xt::layout_type::row_major, strides_type>(fixed());
    static constexpr strides_type backstrides_ = xt::get_backstrides(dims_, strides_);
    static constexpr std::size_t size_ = (Dims * ... * std::size_t{1});
};

template <class T, class Shape>
struct temporary_of {
    using type = xt::xarray<T>;
};
template <class T, std::size_t Rank>
struct temporary_of<T, std::array<std::size_t, Rank>> {
    using type = xt::xtensor<T, Rank>;
};
template <class T, std::size_t... Dims>
struct temporary_of<T, xt::fixed_shape<Dims...>> {
    using type = xt::xtensor_fixed<T, xt::fixed_shape<Dims...>>;
};

/// The exception of a view that is assigned another shape. The operator that made the view replaces it by a
/// body_error that names the operand and the iteration.
class element_reshaped : public body_error {
public:
    element_reshaped(void const* view, void const* data, shape const& is, std::string const& assigned)
        : body_error(concat("xloom: an element must keep its shape, but one of the shape ", is,
              " was assigned ", assigned, ". Assign the shape it has.")),
          view_(view),
          data_(data),
          is_(is),
          assigned_(assigned)
    {}

    void const* view() const { return view_; }
    void const* data() const { return data_; }
    shape const& is() const { return is_; }
    std::string const& assigned() const { return assigned_; }

private:
    void const* view_;
    void const* data_;
    shape is_;
    std::string assigned_;
};

} // namespace detail
} // namespace xloom

namespace xt {

template <class T, class Shape>
struct xcontainer_inner_types<xloom::basic_element_view<T, Shape>> {
    using geometry = xloom::detail::element_geometry<Shape>;
    using storage_type = xbuffer_adaptor<T*, no_ownership, std::allocator<std::remove_const_t<T>>>;
    using reference = T&;
    using const_reference = T const&;
    using size_type = std::size_t;
    using shape_type = Shape;
    using strides_type = typename geometry::strides_type;
    using backstrides_type = strides_type;
    using inner_shape_type = typename geometry::shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = strides_type;
    using temporary_type = typename xloom::detail::temporary_of<std::remove_const_t<T>, Shape>::type;
    static constexpr layout_type layout = layout_type::row_major;
};

template <class T, class Shape>
struct xiterable_inner_types<xloom::basic_element_view<T, Shape>>
    : xcontainer_iterable_types<xloom::basic_element_view<T, Shape>> {};

} // namespace xt

namespace xloom {

/// A row-major view of one element, an xtensor expression like any other: x_t(i, j), x_t.data(),
/// xt::noalias(y_t) = h + x_t.
///
/// Assignment writes the values and never changes the shape: an expression of another shape is a body_error
/// (a compile error between fixed shapes). `y_t = 0` fills. A copy (`auto a = y_t`, xt::eval(y_t)) is another
/// view of the same memory. swap(y_t, z_t) and std::ranges::swap exchange the values; std::swap does not
/// compile. `y_t = expression` evaluates into a temporary, as everywhere in xtensor; xt::noalias(y_t)
/// allocates nothing.
///
/// Why not an xtensor adaptor: adaptors silently accept another shape of the same size, throw an untyped
/// error for a larger one, have no common function that resets the pointer (xfixed_adaptor has none), and
/// have type names too long for a body's parameter list.
template <class T, class Shape>
class basic_element_view : public xt::xcontainer<basic_element_view<T, Shape>>,
                           public xt::xcontainer_semantic<basic_element_view<T, Shape>> {
    using container_base = xt::xcontainer<basic_element_view>;
    using semantic_base = xt::xcontainer_semantic<basic_element_view>;
    using inner_types = xt::xcontainer_inner_types<basic_element_view>;
    using geometry = typename inner_types::geometry;

public:
    using storage_type = typename inner_types::storage_type;
    using inner_shape_type = typename inner_types::inner_shape_type;
    using inner_strides_type = typename inner_types::inner_strides_type;
    using temporary_type = typename inner_types::temporary_type;
    using expression_tag = xt::xtensor_expression_tag;

    /// Makes a view of row-major items of shape `dims` that begin at `data`. `dims` is ignored for a fixed
    /// shape.
    basic_element_view(T* data, shape const& dims)
        : geometry_(dims), storage_(static_cast<T*>(data), geometry_.size_)
    {}

    basic_element_view(basic_element_view const&) = default;

    basic_element_view& operator=(basic_element_view const& other)
    {
        resize(other.shape());
        if (std::less<T const*>()(this->data(), other.data()))
            std::copy_n(other.data(), this->size(), this->data());
        else if (this->data() != other.data())
            std::copy_backward(other.data(), other.data() + this->size(), this->data() + this->size());
        return *this;
    }

    /// Deleted so that std::swap does not compile: its temporary copy would view the same memory, and both
    /// views would end up equal.
    basic_element_view& operator=(basic_element_view&&) = delete;

    /// Swaps the values of two elements of the same shape.
    friend void swap(basic_element_view& a, basic_element_view& b)
        requires(!std::is_const_v<T>)
    {
        a.resize(b.shape());
        std::swap_ranges(a.data(), a.data() + a.size(), b.data());
    }

    template <class E>
    basic_element_view& operator=(xt::xexpression<E> const& expression)
    {
        require_shape_of(expression.derived_cast());
        return semantic_base::operator=(expression);
    }

    /// Called by xt::noalias(y_t) = expression.
    template <class E>
    basic_element_view& assign_xexpression(xt::xexpression<E> const& expression)
    {
        require_shape_of(expression.derived_cast());
        xt::assign_xexpression(*this, expression);
        return *this;
    }

    /// Called by xt::noalias(y_t) += expression; xtensor's own function does not compile for fixed shapes.
    template <class E>
    basic_element_view& computed_assign(xt::xexpression<E> const& expression)
    {
        return assign_xexpression(expression);
    }

    /// Copies the values of a temporary; called by xtensor's assignment operators.
    basic_element_view& operator=(temporary_type&& values)
    {
        resize(values.shape());
        std::copy_n(values.data(), values.size(), this->data());
        return *this;
    }

    basic_element_view& operator=(std::remove_const_t<T> const& value)
    {
        std::fill_n(this->data(), this->size(), value);
        return *this;
    }

    /// Throws body_error unless `dims` equals the view's shape; xtensor calls it with the shape of an
    /// assigned expression.
    template <class Dims>
    void resize(Dims const& dims, bool = false) const
    {
        if (!std::equal(dims.begin(), dims.end(), this->shape().begin(), this->shape().end()))
            detail::throw_or_abort(detail::element_reshaped(
                this, this->data(), {this->shape().begin(), this->shape().end()}, detail::concat(dims)));
    }

    static constexpr xt::layout_type layout() noexcept { return xt::layout_type::row_major; }
    static constexpr bool is_contiguous() noexcept { return true; }

    /// Makes the view refer to other memory; for the operators that pass views to bodies.
    void rebind(T* data) noexcept { storage_.reset_data(static_cast<T*>(data), geometry_.size_); }

private:
    friend class xt::xcontainer<basic_element_view>;

    template <class E>
    void require_shape_of(E const& expression) const
    {
        using other = typename E::shape_type;
        if constexpr (detail::is_fixed_shape<Shape> && detail::is_fixed_shape<other>)
            static_assert(std::is_same_v<Shape, other>, "xloom: an element keeps its shape, but the "
                                                        "expression assigned to it has another fixed shape");
        else
            resize(expression.shape());
    }

    storage_type& storage_impl() noexcept { return storage_; }
    storage_type const& storage_impl() const noexcept { return storage_; }
    inner_shape_type const& shape_impl() const noexcept { return geometry_.dims_; }
    inner_strides_type const& strides_impl() const noexcept { return geometry_.strides_; }
    inner_strides_type const& backstrides_impl() const noexcept { return geometry_.backstrides_; }

    [[no_unique_address]] geometry geometry_;
    storage_type storage_;
};

} // namespace xloom

namespace xloom {

/// Customisation point: specialise it to use your own container as a tensor. A specialisation declares
///
///     using value_type = ...;                                  // the items' type
///     static constexpr std::size_t rank = ...;                 // or dynamic_rank
///     static auto data(T& or T const&);                        // pointer to the first item
///     static auto shape(T const&), strides(T const&); // ranges of integers; strides in items, any sign
///     static T make(xloom::shape const&);             // a container of that shape, its items unspecified
///     template <std::size_t Rank> using rebind = ...; // the same family with another rank (dynamic_rank: T)
///
/// Specialised here for every xtensor expression whose items are in memory: xarray, xtensor, xtensor_fixed,
/// their adaptors, strided views.
template <class T>
struct enable_tensor;

namespace detail {

template <class T>
using bare = std::remove_cvref_t<T>;

template <class T>
concept expression = xt::is_xexpression<bare<T>>::value;

/// False for a flattened view (xt::ravel) whose items only an iterator can reach: xtensor declares a data()
/// for it that does not compile.
template <class T>
inline constexpr bool has_items_in_storage = true;
template <class T>
    requires requires(T& t) { t.storage(); }
inline constexpr bool has_items_in_storage<T> = requires(T& t) {
    requires std::is_convertible_v<decltype(t.storage().data()), decltype(std::as_const(t).data())>;
};

template <class T>
concept strided_expression = expression<T> && requires(bare<T>& t) {
    t.data();
    t.data_offset();
    t.strides();
} && has_items_in_storage<bare<T>>;

template <class Shape>
inline constexpr std::size_t rank_of_shape = dynamic_rank;
template <class Size, std::size_t Rank>
inline constexpr std::size_t rank_of_shape<std::array<Size, Rank>> = Rank;
template <std::size_t... Dims>
inline constexpr std::size_t rank_of_shape<xt::fixed_shape<Dims...>> = sizeof...(Dims);

/// True for xtensor's containers, false for its adaptors and views.
template <class T>
inline constexpr bool is_xcontainer = false;
template <class Storage, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_xcontainer<xt::xarray_container<Storage, Layout, Shape, Tag>> = true;
template <class Storage, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_xcontainer<xt::xtensor_container<Storage, Rank, Layout, Tag>> = true;
template <class T, class Shape, xt::layout_type Layout, bool Sharable, class Tag>
inline constexpr bool is_xcontainer<xt::xfixed_container<T, Shape, Layout, Sharable, Tag>> = true;

} // namespace detail

/// The specialisation for xtensor expressions whose items are in memory.
template <detail::strided_expression T>
struct enable_tensor<T> {
    using value_type = std::remove_const_t<typename T::value_type>;
    static constexpr std::size_t rank = detail::rank_of_shape<typename T::shape_type>;

    template <class U>
    static auto data(U& tensor)
    {
        return tensor.data() + tensor.data_offset();
    }
    static auto const& shape(T const& tensor) { return tensor.shape(); }
    static auto const& strides(T const& tensor) { return tensor.strides(); }

    static T make(xloom::shape const& dims)
    {
        T tensor;
        if constexpr (rank != 0 && !detail::is_fixed_shape<typename T::shape_type>) {
            typename T::shape_type extents{};
            xt::resize_container(extents, dims.size());
            std::copy(dims.begin(), dims.end(), extents.begin());
            tensor.resize(extents);
        }
        return tensor;
    }

    template <std::size_t Rank>
    using rebind =
        typename detail::temporary_of<value_type, typename element_view<value_type, Rank>::shape_type>::type;
};

/// A type for which enable_tensor is specialised.
template <class T>
concept tensor = requires { enable_tensor<detail::bare<T>>::rank; };

namespace detail {

/// An xtensor expression that computes its items on access, so that it may refer to variables that no longer
/// exist.
template <class T>
concept lazy = expression<T> && !tensor<T>;

/// A tensor that does not own its items: an xtensor adaptor or view.
template <class T>
concept tensor_view = tensor<T> && expression<T> && !is_xcontainer<bare<T>>;

template <class T>
struct shape_type_of {
    using type = std::conditional_t<enable_tensor<T>::rank == dynamic_rank, xt::dynamic_shape<std::size_t>,
        std::array<std::size_t, enable_tensor<T>::rank == dynamic_rank ? 0 : enable_tensor<T>::rank>>;
};
template <strided_expression T>
    requires is_fixed_shape<typename T::shape_type>
struct shape_type_of<T> {
    using type = typename T::shape_type;
};

/// The shape type of a tensor: std::array, fixed_shape, or xtensor's dynamic shape.
template <tensor T>
using shape_type_t = typename shape_type_of<bare<T>>::type;

/// The type of one item of a tensor; for a scalar T itself.
template <class T>
struct item_of {
    using type = T;
};
template <tensor T>
struct item_of<T> {
    using type = typename enable_tensor<T>::value_type;
};
template <lazy T>
struct item_of<T> {
    using type = typename T::value_type;
};
template <class T>
using item_t = typename item_of<bare<T>>::type;

/// The type that owns a value: T itself for containers and scalars, a container for views, adaptors and lazy
/// expressions.
template <class T>
struct owned {
    using type = T;
};
template <tensor_view T>
struct owned<T> {
    using type = typename temporary_of<item_t<T>, shape_type_t<T>>::type;
};
template <lazy T>
struct owned<T> {
    using type = bare<decltype(xt::eval(std::declval<T const&>()))>;
};
/// For types derived from xt::xcontainer, which xt::eval returns unevaluated.
template <lazy T>
    requires std::is_base_of_v<xt::xcontainer<T>, T>
struct owned<T> {
    using type = typename temporary_of<item_t<T>, typename T::shape_type>::type;
};
template <class T>
using owned_t = typename owned<bare<T>>::type;

/// True if the items of every T are contiguous in row-major order.
template <class T>
inline constexpr bool is_always_row_major = false;
template <strided_expression T>
inline constexpr bool is_always_row_major<T> = T::static_layout == xt::layout_type::row_major;

/// Returns the number of axes, which may exceed max_rank; 0 for a scalar.
template <class T>
std::size_t rank_of([[maybe_unused]] T const& value)
{
    if constexpr (!tensor<T>) {
        return 0;
    } else if constexpr (enable_tensor<bare<T>>::rank == dynamic_rank) {
        auto const& dims = enable_tensor<bare<T>>::shape(value);
        return static_cast<std::size_t>(std::distance(dims.begin(), dims.end()));
    } else {
        return enable_tensor<bare<T>>::rank;
    }
}

/// Returns the shape of a value of any rank as text.
template <class T>
std::string describe_shape([[maybe_unused]] T const& value)
{
    if constexpr (tensor<T>)
        return concat(enable_tensor<bare<T>>::shape(value));
    else
        return concat(shape{});
}

/// Returns the shape of a tensor. Requires a rank of at most max_rank.
template <tensor T>
shape shape_of(T const& value)
{
    auto const& dims = enable_tensor<bare<T>>::shape(value);
    return {dims.begin(), dims.end()};
}

template <tensor T>
strided_layout layout_of(T const& value)
{
    auto const& steps = enable_tensor<bare<T>>::strides(value);
    return {detail::shape_of(value), {steps.begin(), steps.end()}};
}

/// The type of a tensor's shape that is cheap to compare: a std::array where the rank is static.
template <tensor T>
using extents_t = std::conditional_t<enable_tensor<T>::rank == dynamic_rank, shape,
    std::array<std::size_t, enable_tensor<T>::rank == dynamic_rank ? 0 : enable_tensor<T>::rank>>;

template <tensor T>
extents_t<T> extents_of(T const& value)
{
    auto const& dims = enable_tensor<T>::shape(value);
    if constexpr (enable_tensor<T>::rank == dynamic_rank) {
        return {dims.begin(), dims.end()};
    } else {
        extents_t<T> extents{};
        for (std::size_t axis = 0; axis < extents.size(); ++axis)
            extents[axis] = static_cast<std::size_t>(dims[axis]);
        return extents;
    }
}

/// True if a value's shape equals a range of dimensions; a scalar has none.
template <class T, class Dims>
bool is_shaped_like(T const& value, Dims const& dims)
{
    if constexpr (tensor<T>) {
        auto const& own = enable_tensor<T>::shape(value);
        return std::equal(own.begin(), own.end(), dims.begin(), dims.end(),
            [](auto a, auto b) { return static_cast<std::size_t>(a) == static_cast<std::size_t>(b); });
    } else {
        return dims.size() == 0;
    }
}

/// Returns the shape of a scalar, which is empty. A scalar is any value that is not a tensor.
template <class T>
    requires(!expression<T> && !tensor<T>)
shape shape_of(T const&)
{
    return {};
}

template <class A, class B>
bool have_same_shape(A const& a, B const& b)
{
    if constexpr (tensor<A>)
        return detail::is_shaped_like(b, enable_tensor<A>::shape(a));
    else
        return detail::is_shaped_like(b, shape{});
}

/// Assigns the items of one tensor to those of another tensor of the same shape.
template <tensor From, tensor To>
void copy_items(From const& from, To& to)
{
    auto const* source = enable_tensor<From>::data(from);
    auto* target = enable_tensor<To>::data(to);
    if constexpr (is_always_row_major<From> && is_always_row_major<To>)
        std::copy_n(source, from.size(), target);
    else
        kernel::strided_copy(detail::shape_of(from), detail::layout_of(from).strides,
            detail::layout_of(to).strides)(source, target);
}

} // namespace detail
} // namespace xloom

namespace xt {

// Declared here because xtensor declares them only in the headers that define them, which its other
// expressions do not include.
template <class CT, class S, layout_type L, class FST>
class xstrided_view;
template <class CT, class... S>
class xview;

} // namespace xt

namespace xloom::detail {

/// True if the items of an X outlive the X: a std::span, a view of a variable, an adaptor of memory that it
/// does not own. False for a container, and for a view or an adaptor that holds a container.
template <class X>
inline constexpr bool is_borrowed = std::ranges::enable_borrowed_range<X>;

/// True if the items of a view or an adaptor that stores a Closure outlive that view or adaptor.
template <class Closure>
inline constexpr bool is_borrowed_closure =
    std::is_lvalue_reference_v<Closure> || is_borrowed<std::remove_const_t<Closure>>;

template <class T, class Shape>
inline constexpr bool is_borrowed<basic_element_view<T, Shape>> = true;
/// xtensor passes a smart pointer that owns the memory as the allocator argument.
template <class Pointer, class Allocator>
inline constexpr bool is_borrowed<xt::xbuffer_adaptor<Pointer, xt::no_ownership, Allocator>> =
    !requires(Allocator owner) { owner.get(); };
template <class Closure, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_borrowed<xt::xarray_adaptor<Closure, Layout, Shape, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_borrowed<xt::xtensor_adaptor<Closure, Rank, Layout, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_borrowed<xt::xtensor_view<Closure, Rank, Layout, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, class Shape, xt::layout_type Layout, bool Sharable, class Tag>
inline constexpr bool is_borrowed<xt::xfixed_adaptor<Closure, Shape, Layout, Sharable, Tag>> =
    is_borrowed_closure<Closure>;
template <class Closure, class... Slices>
inline constexpr bool is_borrowed<xt::xview<Closure, Slices...>> = is_borrowed_closure<Closure>;
template <class Closure, class Shape, xt::layout_type Layout, class Storage>
inline constexpr bool is_borrowed<xt::xstrided_view<Closure, Shape, Layout, Storage>> =
    is_borrowed_closure<Closure>;

/// True if the items of an operand that is passed as an X&& may be read after the call.
template <class X>
inline constexpr bool outlives_expression =
    std::is_lvalue_reference_v<X> || is_borrowed<std::remove_cvref_t<X>>;

} // namespace xloom::detail

// ==== xloom/tensor/operand_names.hpp ====
// The operands' names in compile errors, spelt as in ONNX.

namespace xloom::detail {

/// A compile-time error of an operand that a tensor_ref or a lengths_ref refers to.
enum class ref_error { none, lazy, kind, item, integer, temporary, constant };

namespace names {

// The message of a static_assert is a literal, so only the preprocessor can insert a name.
#define XLOOM_NAMED_OPERAND(type, name)                                                                      \
    struct type {                                                                                            \
        static constexpr std::string_view text = name;                                                       \
                                                                                                             \
        template <ref_error Error>                                                                           \
        static consteval bool fits()                                                                         \
        {                                                                                                    \
            static_assert(Error != ref_error::lazy,                                                          \
                "xloom: " name " must be a tensor in memory, but a lazy expression was passed; put its "     \
                "value into a variable first");                                                              \
            static_assert(Error != ref_error::kind,                                                          \
                "xloom: " name " must be a tensor in memory: a container, adaptor or view of xtensor, or a " \
                "type with xloom::enable_tensor");                                                           \
            static_assert(Error != ref_error::item,                                                          \
                "xloom: " name " must have the element type of the operator's other tensors; convert it "    \
                "into a variable first, "                                                                    \
                "by xt::cast<float> for example");                                                           \
            static_assert(                                                                                   \
                Error != ref_error::integer, "xloom: " name " must hold integers, of any integer type");     \
            static_assert(Error != ref_error::temporary,                                                     \
                "xloom: " name " must be a variable or a view of one, but a temporary was passed, which is " \
                "gone when it is used");                                                                     \
            static_assert(                                                                                   \
                Error != ref_error::constant, "xloom: " name " is written, so it must not be const");        \
            return Error == ref_error::none;                                                                 \
        }                                                                                                    \
    };

/// The name in errors of a reference made before the call, whose operand is not known yet.
XLOOM_NAMED_OPERAND(any_tensor, "an operand")
XLOOM_NAMED_OPERAND(any_lengths, "lengths")

XLOOM_NAMED_OPERAND(X, "X")
XLOOM_NAMED_OPERAND(W, "W")
XLOOM_NAMED_OPERAND(R, "R")
XLOOM_NAMED_OPERAND(B, "B")
XLOOM_NAMED_OPERAND(P, "P")
XLOOM_NAMED_OPERAND(QW, "QW")
XLOOM_NAMED_OPERAND(MW, "MW")
XLOOM_NAMED_OPERAND(V, "V")
XLOOM_NAMED_OPERAND(M, "M")
XLOOM_NAMED_OPERAND(AW, "AW")
XLOOM_NAMED_OPERAND(bias, "bias")
XLOOM_NAMED_OPERAND(sequence_lens, "sequence_lens")
XLOOM_NAMED_OPERAND(memory_seq_lens, "memory_seq_lens")
XLOOM_NAMED_OPERAND(initial_h, "initial_h")
XLOOM_NAMED_OPERAND(initial_c, "initial_c")
XLOOM_NAMED_OPERAND(initial_attention, "initial_attention")
XLOOM_NAMED_OPERAND(initial_alignment, "initial_alignment")
XLOOM_NAMED_OPERAND(Y, "Y")
XLOOM_NAMED_OPERAND(Y_h, "Y_h")
XLOOM_NAMED_OPERAND(Y_c, "Y_c")
XLOOM_NAMED_OPERAND(alignments, "alignments")
XLOOM_NAMED_OPERAND(Y_attention, "Y_attention")
XLOOM_NAMED_OPERAND(Y_alignment, "Y_alignment")
XLOOM_NAMED_OPERAND(d_data, "d_data")
XLOOM_NAMED_OPERAND(d_updates, "d_updates")

#undef XLOOM_NAMED_OPERAND

} // namespace names
} // namespace xloom::detail

// ==== xloom/tensor/operands.hpp ====
// The operands of a call: inputs evaluated into memory, shapes and memory blocks.

// ==== xloom/tensor/operand_tuple.hpp ====
// Operand tuples (packs): one value or a flat std::tuple of values, for an operator's states, inputs or
// outputs.

namespace xloom::detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<std::tuple<Ts...>> = true;

template <class T>
inline constexpr bool is_sequence = false;
template <class T, class Allocator>
inline constexpr bool is_sequence<std::vector<T, Allocator>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool has_sequence = is_sequence<T> || is_optional<T>;

/// Returns the values of a pack (its leaves, as in JAX) as a std::tuple of lvalue references.
template <class Pack>
constexpr auto leaves(Pack& pack)
{
    if constexpr (is_tuple<std::remove_const_t<Pack>>) {
        return std::apply([](auto&... leaf) { return std::tie(leaf...); }, pack);
    } else {
        return std::tie(pack);
    }
}

/// The tuple type of the leaves of a pack: std::tuple<T&...>.
template <class Pack>
using leaves_t = decltype(detail::leaves(std::declval<std::remove_reference_t<Pack>&>()));

template <class Pack>
inline constexpr std::size_t leaf_count = std::tuple_size_v<leaves_t<Pack>>;

/// False if a std::tuple is nested in a std::tuple.
template <class Pack>
inline constexpr bool is_flat = true;
template <class... Ts>
inline constexpr bool is_flat<std::tuple<Ts...>> = !(is_tuple<bare<Ts>> || ...);

/// True if every value can be a scan output: a tensor or a scalar.
template <class Pack>
inline constexpr bool is_stackable = !has_sequence<Pack>;
template <class... Ts>
inline constexpr bool is_stackable<std::tuple<Ts...>> =
    !((has_sequence<bare<Ts>> || is_tuple<bare<Ts>>) || ...);

/// Calls f(std::integral_constant<i>, leaf) for every leaf of a tuple.
template <class Tuple, class F>
constexpr void for_each_leaf(Tuple&& tuple, F&& f)
{
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(std::integral_constant<std::size_t, I>{}, std::get<I>(tuple)), ...);
    }(std::make_index_sequence<std::tuple_size_v<bare<Tuple>>>{});
}

template <class... Ts>
struct owned<std::tuple<Ts...>> {
    using type = std::tuple<owned_t<Ts>...>;
};

} // namespace xloom::detail

namespace xloom::detail {

/// The type of an input during a call: a reference to a tensor, or a container for a lazy expression, which
/// is evaluated once, before the first iteration.
template <class X>
using input_t = std::conditional_t<lazy<X>, owned_t<X> const, X const&>;

template <class Pack>
auto evaluated_inputs(Pack const& inputs)
{
    return std::apply([](auto&... input) { return std::tuple<input_t<bare<decltype(input)>>...>(input...); },
        detail::leaves(inputs));
}

/// True unless the type of an operand shows that its rank is at most max_rank.
template <class X>
inline constexpr bool may_exceed_max_rank = lazy<X>;
template <tensor X>
inline constexpr bool may_exceed_max_rank<X> = (enable_tensor<bare<X>>::rank > max_rank); // or dynamic_rank

/// Requires that every operand, a tensor or a scalar, has a rank of at most max_rank. Costs nothing in a loop
/// whose types show it.
template <class... Xs>
void check_ranks(std::string_view op, std::string_view name, std::tuple<Xs...> const& operands)
{
    if constexpr ((may_exceed_max_rank<bare<Xs>> || ...))
        detail::for_each_leaf(operands,
            [&](auto i, auto const& operand) { check_rank(op, name, detail::rank_of(operand), i); });
}
template <class X>
void check_ranks(std::string_view op, std::string_view name, std::vector<X> const& operands)
{
    for (std::size_t i = 0; i < operands.size(); ++i)
        check_rank(op, name, detail::rank_of(operands[i]), i);
}

template <class... Xs>
std::array<shape, sizeof...(Xs)> shapes_of(std::tuple<Xs...> const& operands)
{
    return std::apply(
        [](auto const&... operand) { return std::array<shape, sizeof...(Xs)>{detail::shape_of(operand)...}; },
        operands);
}

template <class X>
memory_block memory_of(X const& value)
{
    if constexpr (tensor<X>)
        return {reinterpret_cast<std::uintptr_t>(enable_tensor<bare<X>>::data(value)), sizeof(item_t<X>),
            detail::layout_of(value)};
    else
        return {reinterpret_cast<std::uintptr_t>(std::addressof(value)), sizeof(X), {}};
}

/// Returns the operands' memory blocks; the caller sets the time axis and the direction of inputs and
/// outputs.
template <class... Xs>
std::array<placed_operand, sizeof...(Xs)> places_of(std::tuple<Xs...> const& operands)
{
    return std::apply(
        [](auto const&... operand) {
            return std::array<placed_operand, sizeof...(Xs)>{placed_operand{detail::memory_of(operand)}...};
        },
        operands);
}

/// True if the operand is neither const nor a view of const memory.
template <class X>
struct is_writable : std::bool_constant<!std::is_const_v<X>> {};
template <tensor X>
struct is_writable<X>
    : std::bool_constant<!std::is_const_v<X> &&
                         !std::is_const_v<std::remove_pointer_t<decltype(enable_tensor<bare<X>>::data(
                             std::declval<X&>()))>>> {};

/// True if no value of a pack is a temporary that owns its items: lvalues, std::tie, views of variables by
/// value.
template <class Pack>
inline constexpr bool outlives_call = outlives_expression<Pack>;
template <class... Ts>
inline constexpr bool outlives_call<std::tuple<Ts...>> = (outlives_expression<Ts> && ...);

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// Returns the layout of an operand's items. An empty tensor may have a null pointer; its strides are then
/// zeroed to avoid arithmetic on null.
template <class X>
strided_layout layout_at(void const* data, X const& operand)
{
    strided_layout layout = detail::layout_of(operand);
    if (data == nullptr)
        layout.strides = strides(layout.dims.size(), 0);
    return layout;
}

/// Returns a pointer to the first item of an operand; accesses the operand as const if T is const.
template <class T, class X>
auto* data_as(X& operand)
{
    if constexpr (std::is_const_v<T>)
        return enable_tensor<bare<X>>::data(std::as_const(operand));
    else
        return enable_tensor<bare<X>>::data(operand);
}

/// Finds the compile-time error of an operand that a tensor_ref<T> refers to.
template <class X, class T>
consteval ref_error find_ref_error()
{
    if constexpr (lazy<X>)
        return ref_error::lazy;
    else if constexpr (!tensor<X>)
        return ref_error::kind;
    else if constexpr (!std::is_same_v<item_t<X>, std::remove_const_t<T>>)
        return ref_error::item;
    else if constexpr (!outlives_expression<X>)
        return ref_error::temporary;
    else
        return std::is_convertible_v<decltype(data_as<T>(std::declval<X&>())), T*> ? ref_error::none
                                                                                   : ref_error::constant;
}

/// Finds the compile-time error of an operand that a lengths_ref refers to: a tensor of any integer type is
/// valid.
template <class X>
consteval ref_error find_lengths_error()
{
    constexpr ref_error error = find_ref_error<X, item_t<X> const>();
    return error == ref_error::none && !std::integral<item_t<X>> ? ref_error::integer : error;
}

/// The item type of an operator's first operand; float if that operand is invalid.
template <class X>
using first_item_t = std::conditional_t<tensor<X> || lazy<X>, item_t<X>, float>;

} // namespace detail

/// A non-owning reference to a tensor of any rank and layout: of T const to read it, of T to write it. {} is
/// an omitted operand. Made from variables, adaptors and views; the tensor must outlive it.
template <class T>
class tensor_ref {
public:
    tensor_ref() = default;

    template <class X>
        requires(!std::is_base_of_v<tensor_ref, detail::bare<X>>)
    tensor_ref(X&& operand) : tensor_ref(detail::names::any_tensor(), std::forward<X>(operand))
    {}

    /// Refers to an operand. Name holds the texts of its compile-time errors.
    template <class Name, class X>
    tensor_ref(Name, X&& operand) : is_given_(true)
    {
        if constexpr (Name::template fits<detail::find_ref_error<X, T>()>()) {
            data_ = detail::data_as<T>(operand);
            rank_ = detail::rank_of(operand);
            if (rank_ <= max_rank)
                layout_ = detail::layout_at(data_, operand);
        }
    }

    bool is_given() const noexcept { return is_given_; }
    T* data() const noexcept { return data_; }
    std::size_t rank() const noexcept { return rank_; }
    /// Returns the shape; empty if the rank exceeds max_rank, which is an error in every operator.
    xloom::shape const& shape() const noexcept { return layout_.dims; }
    std::ptrdiff_t step(std::size_t axis) const noexcept { return layout_.strides[axis]; }
    detail::memory_block block() const noexcept
    {
        return {reinterpret_cast<std::uintptr_t>(data_), sizeof(T), layout_};
    }

private:
    T* data_ = nullptr;
    std::size_t rank_ = 0;
    detail::strided_layout layout_{};
    bool is_given_ = false;
};

/// A non-owning reference to lengths: a tensor of any integer type. {} is an omitted operand.
class lengths_ref {
public:
    lengths_ref() = default;

    template <class X>
        requires(!std::is_base_of_v<lengths_ref, detail::bare<X>>)
    lengths_ref(X&& operand) : lengths_ref(detail::names::any_lengths(), std::forward<X>(operand))
    {}

    /// Refers to an operand. Name holds the texts of its compile-time errors.
    template <class Name, class X>
    lengths_ref(Name, X&& operand)
    {
        if constexpr (Name::template fits<detail::find_lengths_error<X>()>()) {
            data_ = detail::data_as<detail::item_t<X> const>(operand);
            rank_ = detail::rank_of(operand);
            if (rank_ <= max_rank)
                layout_ = detail::layout_at(data_, operand);
            item_bytes_ = sizeof(detail::item_t<X>);
            read_ = [](void const* data, std::ptrdiff_t at) {
                return static_cast<std::int64_t>(static_cast<detail::item_t<X> const*>(data)[at]);
            };
            text_ = [](void const* data, std::ptrdiff_t at) {
                return detail::concat(static_cast<detail::item_t<X> const*>(data)[at]);
            };
        }
    }

    bool is_given() const noexcept { return read_ != nullptr; }
    std::size_t rank() const noexcept { return rank_; }
    /// Returns the shape; empty if the rank exceeds max_rank, which is an error in every operator.
    xloom::shape const& shape() const noexcept { return layout_.dims; }
    /// Returns item n of a tensor of rank 1.
    std::int64_t operator[](std::size_t n) const
    {
        return read_(data_, static_cast<std::ptrdiff_t>(n) * layout_.strides[0]);
    }
    /// Returns item n of a tensor of rank 1 as text. An item above std::int64_t's maximum is negative in
    /// operator[], but exact in the text.
    std::string text(std::size_t n) const
    {
        return text_(data_, static_cast<std::ptrdiff_t>(n) * layout_.strides[0]);
    }
    detail::memory_block block() const noexcept
    {
        return {reinterpret_cast<std::uintptr_t>(data_), item_bytes_, layout_};
    }

private:
    void const* data_ = nullptr;
    std::size_t rank_ = 0;
    detail::strided_layout layout_{};
    std::size_t item_bytes_ = 1;
    std::int64_t (*read_)(void const*, std::ptrdiff_t) = nullptr;
    std::string (*text_)(void const*, std::ptrdiff_t) = nullptr;
};

namespace detail {

/// A tensor_ref or lengths_ref to an operand of a known name.
template <class Ref, class Name>
class named_ref : public Ref {
public:
    static constexpr std::string_view name = Name::text;

    named_ref() = default;
    named_ref(Ref const& ref) : Ref(ref) {}

    template <class X>
        requires(!std::is_base_of_v<Ref, bare<X>>)
    named_ref(X&& operand) : Ref(Name(), std::forward<X>(operand))
    {}
};

/// The operand X of a recurrent operator.
template <class Item>
using input_ref = named_ref<tensor_ref<Item const>, names::X>;

/// Requires that every operand has a rank of at most max_rank.
template <class... Refs, class... Names>
void check_ranks(std::string_view op, named_ref<Refs, Names> const&... operands)
{
    (check_rank(op, operands.name, operands.rank()), ...);
}

/// Returns the shape of an operand; std::nullopt if it is omitted.
template <class Ref>
std::optional<shape> shape_if_given(Ref const& operand)
{
    return operand.is_given() ? std::optional<shape>(operand.shape()) : std::nullopt;
}

} // namespace detail
} // namespace xloom

namespace xloom {

namespace detail {

/// The computation type of a recurrent operator: float for storage floats, else Item.
template <class Item>
using compute_t = std::conditional_t<is_small_float<Item>, float, Item>;

/// Sets elements `begin` .. `end` - 1 of a row to 0.
template <class Item>
void zero_fill(kernel::strided_row<Item> const& row, std::size_t begin, std::size_t end)
{
    for (std::size_t i = begin; i < end; ++i)
        row.first[static_cast<std::ptrdiff_t>(i) * row.step] = Item(0);
}

/// A state or output that has a row of items for each direction and batch row, in layout 0 or 1: [D, N, ..]
/// or [N, D, ..].
template <class Item>
class state_rows {
public:
    state_rows() = default;
    state_rows(tensor_ref<Item> const& from, std::int64_t layout)
    {
        if (from.is_given()) {
            data_ = from.data();
            d_ = from.step(layout == 0 ? 0 : 1);
            n_ = from.step(layout == 0 ? 1 : 0);
            item_ = from.step(2);
        }
    }

    bool is_given() const { return data_ != nullptr; }
    kernel::strided_row<Item> operator()(std::size_t d, std::size_t n) const
    {
        return {data_ + static_cast<std::ptrdiff_t>(d) * d_ + static_cast<std::ptrdiff_t>(n) * n_, item_};
    }
    /// Sets elements `begin` .. `end` - 1 of a row to 0.
    void zero_fill(std::size_t d, std::size_t n, std::size_t begin, std::size_t end) const
    {
        detail::zero_fill((*this)(d, n), begin, end);
    }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t d_ = 0, n_ = 0, item_ = 0;
};

/// An operand that has a row of items for each time step, direction and batch row, in layout 0 or 1: [T, D,
/// N, ..] or [N, T, D, ..]; without directions, [T, N, ..] or [N, T, ..].
template <class Item>
class step_rows {
public:
    step_rows() = default;
    step_rows(tensor_ref<Item> const& from, std::int64_t layout)
    {
        if (!from.is_given())
            return;
        data_ = from.data();
        bool const has_directions = from.shape().size() == 4;
        t_ = from.step(layout == 0 ? 0 : 1);
        n_ = from.step(layout != 0 ? 0 : has_directions ? 2 : 1);
        d_ = has_directions ? from.step(layout == 0 ? 1 : 2) : 0;
        item_ = from.step(from.shape().size() - 1);
    }

    bool is_given() const { return data_ != nullptr; }
    std::ptrdiff_t step() const { return t_; }
    kernel::strided_row<Item> operator()(std::size_t t, std::size_t d, std::size_t n) const
    {
        return {data_ + static_cast<std::ptrdiff_t>(t) * t_ + static_cast<std::ptrdiff_t>(d) * d_ +
                    static_cast<std::ptrdiff_t>(n) * n_,
            item_};
    }
    /// Sets elements `begin` .. `end` - 1 of a row to 0, in time steps `first` .. `last` - 1.
    void zero_fill(std::size_t first, std::size_t last, std::size_t d, std::size_t n, std::size_t begin,
        std::size_t end) const
    {
        if (is_given())
            for (std::size_t t = first; t < last; ++t)
                detail::zero_fill((*this)(t, d, n), begin, end);
    }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t t_ = 0, d_ = 0, n_ = 0, item_ = 0;
};

/// The operands of a call along time: X, Y, and the length of each row.
template <class Item>
struct batch_operands {
    batch_sizes sizes;
    recurrent_widths widths;
    xloom::direction direction;
    step_rows<Item const> X;
    step_rows<Item> Y;
    lengths_ref lengths;

    std::size_t length(std::size_t n) const
    {
        return lengths.is_given() ? static_cast<std::size_t>(lengths[n]) : sizes.T;
    }

    /// Returns the time step at which direction d of a row begins, and true if time runs backwards from
    /// there.
    std::pair<std::size_t, bool> first_step(std::size_t d, std::size_t n) const
    {
        std::size_t const length = this->length(n);
        bool const backwards = direction == direction::reverse || d == 1;
        return {backwards && length != 0 ? length - 1 : 0, backwards};
    }

    kernel::sequence<Item> sequence(std::size_t d, std::size_t n) const
    {
        auto const [first, backwards] = first_step(d, n);
        kernel::sequence<Item> result{n, length(n), X(first, 0, n), backwards ? -X.step() : X.step(), {}, 0};
        if (Y.is_given()) {
            result.y = Y(first, d, n);
            result.y_step = backwards ? -Y.step() : Y.step();
        }
        return result;
    }
};

/// Returns the number of groups into which the rows of each direction are partitioned.
template <class Policy>
std::size_t row_groups(Policy const& policy, recurrent_widths const& widths, batch_sizes const& batch,
    std::size_t products_per_step)
{
    std::size_t const threads = std::max<std::size_t>(policy.concurrency(), 1);
    std::size_t const useful = batch.T * batch.N * widths.D * products_per_step / tuning::products_per_thread;
    std::size_t const parts = (std::min)(threads, std::max<std::size_t>(useful, 1));
    return std::clamp<std::size_t>((parts + widths.D - 1) / widths.D, 1, std::max<std::size_t>(batch.N, 1));
}

template <class Item>
struct recurrent_runner;

} // namespace detail

/// Reusable memory of the recurrent operators. It grows to the size that a call needs; a call that needs no
/// more than an earlier one allocates nothing. One call may use it at a time.
template <class Item>
class recurrent_workspace {
public:
    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return numbers_.capacity() * sizeof(detail::compute_t<Item>) +
               sequences_.capacity() * sizeof(kernel::sequence<Item>) +
               (order_.capacity() + begins_.capacity()) * sizeof(std::size_t);
    }

private:
    friend struct detail::recurrent_runner<Item>;

    detail::aligned_vector<detail::compute_t<Item>> numbers_{};
    std::vector<std::size_t> order_{};
    std::vector<kernel::sequence<Item>> sequences_{};
    std::vector<std::size_t> begins_{};
};

namespace detail {

template <class Item>
struct recurrent_runner {
    using T = compute_t<Item>;

    batch_operands<Item> operands;
    std::size_t groups; ///< of rows, in each direction
    recurrent_workspace<Item>& workspace;

    /// A part of the work: the sequences of one direction, of every `groups`-th sorted row.
    struct part {
        std::size_t d;
        std::size_t number; ///< the index of its first sequence
        kernel::sequence<Item> const* first;
        std::size_t count;
        std::size_t longest() const { return count == 0 ? 0 : first->length; }
    };

    /// Runs all parts. Family provides make_rows(part, memory), start(part, rows) and finish(part, rows).
    template <class Family, class Policy>
    void operator()(Family const& family, Policy const& policy)
    {
        reserve(family);
        policy.for_each(operands.widths.D * groups, [&](std::size_t p) {
            run(family, part_at(p), workspace.numbers_.data() + workspace.begins_[p]);
        });
    }

    /// Makes the workspace large enough for smaller batches too, which may be partitioned into fewer groups.
    template <class Family>
    void reserve_all(Family const& family) const
    {
        for (recurrent_runner each = *this; each.groups != 0; --each.groups)
            each.reserve(family);
    }

    /// Makes the workspace large enough for this batch.
    template <class Family>
    void reserve(Family const& family)
    {
        sort_rows();
        std::size_t const parts = operands.widths.D * groups;
        workspace.begins_.clear();
        std::size_t total = 0;
        for (std::size_t p = 0; p < parts; ++p) {
            kernel::arena<T> size;
            take_memory(family, part_at(p), size);
            workspace.begins_.push_back(total);
            total += size.used();
        }
        if (workspace.numbers_.size() < total) {
            workspace.numbers_.clear(); // otherwise resize copies them and may double the capacity
            workspace.numbers_.resize(total);
        }
    }

private:
    /// Sorts rows by descending length, so that the active rows are always the first ones.
    void sort_rows()
    {
        auto& order = workspace.order_;
        order.resize(operands.sizes.N);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            std::size_t const length_a = operands.length(a), length_b = operands.length(b);
            return length_a != length_b ? length_a > length_b : a < b;
        });
        workspace.sequences_.clear();
        for (std::size_t d = 0; d < operands.widths.D; ++d)
            for (std::size_t group = 0; group < groups; ++group)
                for (std::size_t i = group; i < order.size(); i += groups)
                    workspace.sequences_.push_back(operands.sequence(d, order[i]));
    }

    part part_at(std::size_t number) const
    {
        std::size_t const N = operands.sizes.N, d = number / groups, group = number % groups;
        std::size_t const begin = begin_of_part(group, groups, N), end = begin_of_part(group + 1, groups, N);
        return {d, d * N + begin, workspace.sequences_.data() + d * N + begin, end - begin};
    }

    template <class Family>
    static auto take_memory(Family const& family, part const& at, kernel::arena<T>& memory)
    {
        auto rows = family.make_rows(at, memory);
        kernel::step_buffers<T> const buffers(rows, at.count, at.longest(), memory);
        return std::pair(std::move(rows), buffers);
    }

    template <class Family>
    void run(Family const& family, part const& at, T* numbers) const
    {
        kernel::arena<T> memory(numbers);
        auto const [rows, buffers] = take_memory(family, at, memory);
        family.start(at, rows);
        kernel::run_sequences<T>(rows, at.first, at.count, buffers);
        family.finish(at, rows);
        for (std::size_t r = 0; r < at.count; ++r)
            operands.Y.zero_fill(
                at.first[r].length, operands.sizes.T, at.d, at.first[r].row, 0, operands.widths.H);
    }
};

/// Loads a row of a state, zeros if the state is omitted.
template <class Item, class T>
void load_state(state_rows<Item const> const& from, std::size_t d, std::size_t n, std::size_t count, T* to)
{
    if (from.is_given())
        kernel::copy_row<Item, T>(from(d, n), count, {to});
    else
        std::fill_n(to, count, T(0));
}

template <class Item, class T>
void store_state(T const* from, std::size_t count, state_rows<Item> const& to, std::size_t d, std::size_t n)
{
    if (to.is_given())
        kernel::copy_row<T, Item>({from}, count, to(d, n));
}

} // namespace detail
} // namespace xloom

// ==== xloom/run/recurrent/packed_weights.hpp ====
// The weights of the recurrent operators, packed once for all calls that use them.

// ==== xloom/run/recurrent/shared_parameters.hpp ====
// Parameters that are packed once, and the memory of the numbers that they point to.

namespace xloom::detail {

/// The parameters of each direction, with the numbers that they point to: written once, then shared by all
/// copies. A move is a copy, because a copy is cheap: a moved-from object can be used as before.
template <class Parameters>
class shared_parameters {
    using T = typename Parameters::number;

public:
    /// Calls pack(d, memory), which returns the parameters of direction d, twice for each direction, first
    /// with an arena that only counts.
    template <class Pack>
    shared_parameters(std::size_t D, Pack const& pack)
    {
        kernel::arena<T> size;
        for (std::size_t d = 0; d < D; ++d)
            pack(d, size);
        auto numbers = std::make_shared<aligned_vector<T>>(size.used() + 1, T(0));
        kernel::arena<T> memory(numbers->data());
        for (std::size_t d = 0; d < D; ++d)
            all_[d] = pack(d, memory);
        numbers_ = std::move(numbers);
    }

    shared_parameters(shared_parameters const&) = default;
    shared_parameters& operator=(shared_parameters const&) = default;

    Parameters const& operator[](std::size_t d) const { return all_[d]; }

private:
    std::array<Parameters, 2> all_{};
    std::shared_ptr<aligned_vector<T> const> numbers_;
};

} // namespace xloom::detail

namespace xloom::detail {

/// The results of the checks of constants and options. Initialised in braces, which fix the order of the
/// checks.
struct checked_weights {
    recurrent_widths sizes;
    activation_list functions;
};

/// The name of the operator in the errors of a constructor.
struct operator_name {
    std::string_view text;
};

/// The packed weights of a recurrent operator: sizes, attributes, and the parameters of each direction.
/// Family provides parameters<T>, check(op, constants, options), which returns checked_weights or a class
/// derived from it, and pack(constants, checked, options, d, memory), which returns parameters of direction
/// d.
template <class Family, class T>
class packed_weights {
public:
    xloom::direction direction() const noexcept { return direction_; }
    std::int64_t layout() const noexcept { return layout_; }
    recurrent_widths const& sizes() const noexcept { return checked_.sizes; }

protected:
    template <class Constants, class Options>
    packed_weights(operator_name const& op, Constants const& constants, Options const& options)
        : direction_(options.direction),
          layout_(layout_of_options(options)),
          checked_(Family::check(op.text, constants, options)),
          parameters_(checked_.sizes.D, [&](std::size_t d, kernel::arena<T>& memory) {
              return Family::template pack<T>(constants, checked_, options, d, memory);
          })
    {}

    auto const& checked() const noexcept { return checked_; }

private:
    template <class F, class U>
    friend typename F::template parameters<U> const& parameters_of(
        packed_weights<F, U> const& weights, std::size_t d) noexcept;

    xloom::direction direction_;
    std::int64_t layout_;
    typename Family::checked checked_;
    shared_parameters<typename Family::template parameters<T>> parameters_;
};

/// Returns the kernel's parameters of direction d.
template <class Family, class T>
typename Family::template parameters<T> const& parameters_of(
    packed_weights<Family, T> const& weights, std::size_t d) noexcept
{
    return weights.parameters_[d];
}

/// Returns the block that begins at (first_row, first_column) of matrix d of a tensor [D, .., ..],
/// transposed: its columns are along the depth.
template <class Item>
kernel::strided_matrix<Item> across(
    tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row, std::size_t first_column)
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    return {
        from.data() + at(d) * from.step(0) + at(first_row) * from.step(1) + at(first_column) * from.step(2),
        from.step(2), from.step(1)};
}

/// Returns the rows from first_row on of matrix d of a tensor [D, .., ..], not transposed: its rows are along
/// the depth.
template <class Item>
kernel::strided_matrix<Item> along(tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row)
{
    kernel::strided_matrix<Item> const matrix = across(from, d, first_row, 0);
    return {matrix.items, matrix.column_step, matrix.depth_step};
}

/// Allocates panels, which are initially zeros.
template <class T>
kernel::unpacked_panels<T> take_panels(std::size_t depth, std::size_t columns, kernel::arena<T>& memory)
{
    return {memory.take(kernel::panel_items<T>(depth, columns)), depth, columns};
}

/// Loads `count` items of a tensor of rank 2: to = from[d, first ..].
template <class T, class Item>
void load_row(tensor_ref<Item const> const& from, std::size_t d, std::size_t first, std::size_t count, T* to)
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    kernel::copy_row<Item, T>(
        {from.data() + at(d) * from.step(0) + at(first) * from.step(1), from.step(1)}, count, {to});
}

/// Computes to = B[d, first ..] + B[d, second ..], H items of each; leaves the initial zeros if B is omitted.
template <class T, class Item>
void load_bias(tensor_ref<Item const> const& B, std::size_t d, std::size_t first, std::size_t second,
    std::size_t H, T* to)
{
    if (!B.is_given())
        return;
    auto const item = [&](std::size_t i) {
        return static_cast<T>(B.data()[static_cast<std::ptrdiff_t>(d) * B.step(0) +
                                       static_cast<std::ptrdiff_t>(i) * B.step(1)]);
    };
    for (std::size_t j = 0; j < H; ++j)
        to[j] = item(first + j) + item(second + j);
}

template <class T>
kernel::gate<T> gate_of(activation_function const& function, std::optional<double> const& clip)
{
    return {function, static_cast<T>(clip.value_or(0)), clip.has_value()};
}

} // namespace xloom::detail

namespace xloom::detail {

template <class Item>
xt::xtensor<Item, 4> make_output(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return enable_tensor<xt::xtensor<Item, 4>>::make(output_shape(sizes, batch, layout));
}

template <class Item>
xt::xtensor<Item, 3> make_state(recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    return enable_tensor<xt::xtensor<Item, 3>>::make(state_shape(sizes, batch, layout));
}

/// Returns the memory block of each input; an empty one for an omitted input.
template <class... Refs, class... Names>
std::array<named_block, sizeof...(Refs)> blocks_of(named_ref<Refs, Names> const&... inputs)
{
    return {named_block{inputs.name, inputs.is_given() ? inputs.block() : memory_block{0, 1, {{0}, {1}}}}...};
}

/// An output, its required shape, and the name of the input that may be the same tensor.
template <class Item>
struct output_requirement {
    std::string_view operand;
    std::string_view symbolic_shape;
    shape expected;
    tensor_ref<Item> const& ref;
    std::string_view may_alias{};
};

/// Requires outputs of the expected shapes that overlap neither each other nor an input, except as may_alias
/// allows. `describe` returns the sizes that an error cites.
template <class Item, class Describe, std::size_t Outputs, std::size_t Inputs>
void check_outputs(std::string_view op, Describe const& describe,
    std::array<output_requirement<Item>, Outputs> const& outputs,
    std::array<named_block, Inputs> const& inputs)
{
    std::array<shape_requirement, Outputs> laws{};
    static_vector<named_block, Outputs> blocks;
    for (std::size_t i = 0; i < Outputs; ++i) {
        output_requirement<Item> const& output = outputs[i];
        check_rank(op, output.operand, output.ref.rank());
        laws[i] = {output.operand, output.symbolic_shape, output.expected, shape_if_given(output.ref)};
        if (output.ref.is_given())
            blocks.push_back({output.operand, output.ref.block(), output.may_alias});
    }
    check_shapes(op, laws, describe);
    check_apart(op, blocks, inputs);
}

template <class Item, class Weights, class Policy>
recurrent_runner<Item> make_runner(Weights const& weights, batch_operands<Item> const& operands,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::size_t const products = detail::parameters_of(weights, 0).products();
    return {operands, row_groups(policy, operands.widths, operands.sizes, products), workspace};
}

template <class Item, class Weights, class States, class Policy>
void run_recurrent(Weights const& weights, States const& states, input_ref<Item> const& X,
    lengths_ref const& sequence_lens, tensor_ref<Item> const& Y, batch_sizes const& batch,
    recurrent_workspace<Item>& workspace, Policy const& policy)
{
    batch_operands<Item> const operands{batch, weights.sizes(), weights.direction(), {X, weights.layout()},
        {Y, weights.layout()}, sequence_lens};
    make_runner(weights, operands, workspace, policy)(states, policy);
}

/// Returns a workspace for batches of up to the given sizes.
template <class Item, class Weights, class States, class Policy>
recurrent_workspace<Item> reserved_workspace(std::string_view op, Weights const& weights,
    States const& states, batch_sizes const& batch, Policy const& policy)
{
    check_batch_sizes(op, weights.sizes(), batch);
    recurrent_workspace<Item> workspace;
    make_runner(weights, batch_operands<Item>{batch, weights.sizes(), weights.direction(), {}, {}, {}},
        workspace, policy)
        .reserve_all(states);
    return workspace;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// M [N, S, E] and the length of each row that is read.
template <class Item>
struct memory_operand {
    tensor_ref<Item const> M;
    lengths_ref lengths;
    std::size_t S = 0;

    std::size_t length(std::size_t n) const
    {
        return lengths.is_given() ? static_cast<std::size_t>(lengths[n]) : S;
    }
    kernel::memory_rows<Item> rows(std::size_t n) const
    {
        return {M.data() + static_cast<std::ptrdiff_t>(n) * M.step(0), length(n), M.step(1), M.step(2)};
    }
};

/// The initial and final states of the rows, their memories, and the destinations of their alignments.
template <class Item, class Weights, class Score>
struct attn_lstm_states {
    using T = compute_t<Item>;
    using score_type = decltype(score_for(
        std::declval<Score const&>(), std::declval<kernel::attn_lstm_parameters<T> const&>(), 0));
    using rows_type = kernel::attn_lstm_rows<T, Item, score_type>;

    Weights const& weights;
    Score const& score;
    batch_operands<Item> const& operands;
    memory_operand<Item> memory;
    state_rows<Item const> initial_h, initial_c, initial_attention, initial_alignment;
    state_rows<Item> Y_h, Y_c, Y_attention, Y_alignment;
    step_rows<Item> alignments;
    std::vector<kernel::attending_row<T, Item>>& attending; ///< one row for each sequence

    struct part_rows : rows_type {
        T* scratch;
    };

    template <class Part>
    part_rows make_rows(Part const& part, kernel::arena<T>& numbers) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        std::size_t longest = 0;
        for (std::size_t r = 0; r < part.count; ++r)
            longest = (std::max)(longest, memory.length(part.first[r].row));
        part_rows rows{rows_type(p, part.count, longest, score_for(score, p, part.d), numbers),
            numbers.take(longest * p.E)};
        for (std::size_t r = 0; r < part.count; ++r)
            attending[part.number + r] = attend_to(p, part.d, part.first[r].row, numbers);
        rows.attend_to(attending.data() + part.number,
            alignments.is_given() || Y_attention.is_given() || Y_alignment.is_given());
        return rows;
    }

    template <class Part>
    void start(Part const& part, part_rows const& rows) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        for (std::size_t r = 0; r < part.count; ++r) {
            std::size_t const n = part.first[r].row;
            load_state(initial_h, part.d, n, rows.H(), rows.h(r));
            load_state(initial_c, part.d, n, rows.H(), rows.c(r));
            if (!p.attends)
                continue;
            kernel::fill_memory(p, memory.rows(n), rows.scratch, score_type::takes_exponentials,
                attending[part.number + r].memory);
            load_state(initial_attention, part.d, n, p.C, rows.attention(r));
            load_state(initial_alignment, part.d, n, memory.length(n), rows.alignment(r));
        }
    }

    template <class Part>
    void finish(Part const& part, part_rows const& rows) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        for (std::size_t r = 0; r < part.count; ++r) {
            std::size_t const n = part.first[r].row, length = memory.length(n);
            store_state(rows.h(r), rows.H(), Y_h, part.d, n);
            store_state(rows.c(r), rows.H(), Y_c, part.d, n);
            store_state(rows.attention(r), p.C, Y_attention, part.d, n);
            store_state(rows.alignment(r), length, Y_alignment, part.d, n);
            if (Y_alignment.is_given())
                Y_alignment.zero_fill(part.d, n, length, memory.S);
            alignments.zero_fill(0, part.first[r].length, part.d, n, length, memory.S);
            alignments.zero_fill(part.first[r].length, operands.sizes.T, part.d, n, 0, memory.S);
        }
    }

private:
    kernel::attending_row<T, Item> attend_to(kernel::attn_lstm_parameters<T> const& p, std::size_t d,
        std::size_t n, kernel::arena<T>& numbers) const
    {
        kernel::attending_row<T, Item> row{n, kernel::take_memory(p, memory.length(n), numbers), {}, 0};
        if (alignments.is_given()) {
            auto const [first, backwards] = operands.first_step(d, n);
            row.alignment = alignments(first, d, n);
            row.alignment_step = backwards ? -alignments.step() : alignments.step();
        }
        return row;
    }
};

} // namespace detail

/// Reusable memory of AttnLSTM: see recurrent_workspace.
template <class Item>
struct attention_workspace : recurrent_workspace<Item> {
    std::vector<kernel::attending_row<detail::compute_t<Item>, Item>> attending{}; ///< internal

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return recurrent_workspace<Item>::bytes() +
               attending.capacity() * sizeof(kernel::attending_row<detail::compute_t<Item>, Item>);
    }
};

} // namespace xloom

namespace xloom {

/// The sizes of a call: T steps, N rows of the batch, S steps of memory.
struct attn_lstm_sizes {
    std::size_t T = 0, N = 0, S = 0;
};

namespace detail {

/// Checks the inputs of a call, and returns its sizes.
template <class Item, class Weights, class Start>
attn_lstm_sizes check_attn_lstm_call(
    std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h, start.initial_c, start.M, start.memory_seq_lens,
        start.initial_attention, start.initial_alignment);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), 0);
    check_states(op, weights, batch,
        std::array{named_shape{"initial_h", shape_if_given(start.initial_h)},
            named_shape{"initial_c", shape_if_given(start.initial_c)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    std::size_t const S = check_memory(op, weights.attention(), weights.sizes(), batch.N,
        shape_if_given(start.M), start.memory_seq_lens.is_given(), shape_if_given(start.initial_attention),
        shape_if_given(start.initial_alignment));
    check_lengths(op, "memory_seq_lens", start.memory_seq_lens, batch.N, "S", S);
    return {batch.T, batch.N, S};
}

template <class Item, class Weights, class Start, class Outputs>
void check_attn_lstm_outputs(std::string_view op, Weights const& weights, attn_lstm_sizes const& sizes,
    input_ref<Item> const& X, Start const& start, Outputs const& outputs)
{
    auto const& [T, N, S] = sizes;
    std::size_t const D = weights.sizes().D, H = weights.sizes().H, C = weights.attention().C;
    check_outputs<Item>(
        op,
        [&] {
            return concat("T = ", sizes.T, ", N = ", sizes.N, ", D = ", weights.sizes().D,
                ", H = ", weights.sizes().H, ", S = ", sizes.S, " and C = ", weights.attention().C);
        },
        std::array{
            output_requirement<Item>{"Y", "[T, D, N, H]", {T, D, N, H}, outputs.Y},
            output_requirement<Item>{"Y_h", "[D, N, H]", {D, N, H}, outputs.Y_h, "initial_h"},
            output_requirement<Item>{"Y_c", "[D, N, H]", {D, N, H}, outputs.Y_c, "initial_c"},
            output_requirement<Item>{"alignments", "[T, D, N, S]", {T, D, N, S}, outputs.alignments},
            output_requirement<Item>{
                "Y_attention", "[D, N, C]", {D, N, C}, outputs.Y_attention, "initial_attention"},
            output_requirement<Item>{
                "Y_alignment", "[D, N, S]", {D, N, S}, outputs.Y_alignment, "initial_alignment"},
        },
        blocks_of(X, start.sequence_lens, start.initial_h, start.initial_c, start.M, start.memory_seq_lens,
            start.initial_attention, start.initial_alignment));
}

/// Calls use(runner, states) with the runner and the states of a call.
template <class Item, class Weights, class Start, class Outputs, class Score, class Policy, class Use>
void with_attn_lstm_runner(input_ref<Item> const& X, Weights const& weights, attn_lstm_sizes const& sizes,
    Start const& start, Outputs const& outputs, Score const& score, attention_workspace<Item>& workspace,
    Policy const& policy, Use const& use)
{
    batch_operands<Item> const operands{{sizes.T, sizes.N}, weights.sizes(), weights.direction(), {X, 0},
        {outputs.Y, 0}, start.sequence_lens};
    workspace.attending.resize((std::max)(workspace.attending.size(), weights.sizes().D * sizes.N));
    attn_lstm_states<Item, Weights, Score> const states{weights, score, operands,
        {start.M, start.memory_seq_lens, sizes.S}, {start.initial_h, 0}, {start.initial_c, 0},
        {start.initial_attention, 0}, {start.initial_alignment, 0}, {outputs.Y_h, 0}, {outputs.Y_c, 0},
        {outputs.Y_attention, 0}, {outputs.Y_alignment, 0}, {outputs.alignments, 0}, workspace.attending};
    auto runner = detail::make_runner<Item>(weights, operands, workspace, policy);
    use(runner, states);
}

template <class Item, class Weights, class Start, class Outputs, class Score, class Policy>
void run_attn_lstm_into(input_ref<Item> const& X, Weights const& weights, attn_lstm_sizes const& sizes,
    Start const& start, Outputs const& outputs, Score const& score, attention_workspace<Item>& workspace,
    Policy const& policy)
{
    detail::with_attn_lstm_runner(X, weights, sizes, start, outputs, score, workspace, policy,
        [&policy](auto& runner, auto const& states) { runner(states, policy); });
}

} // namespace detail
} // namespace xloom

// ==== xloom/run/recurrent/attn_lstm_weights.hpp ====
// The constants of an AttnLSTM: checked, and packed for its kernel.

// ==== xloom/run/recurrent/lstm_weights.hpp ====
// The constants of an LSTM: checked, and packed for its kernel.

namespace xloom::detail {

inline constexpr std::array<std::string_view, 3> lstm_activations{"Sigmoid", "Tanh", "Tanh"};

/// Checks W [D, 4H, I + C], R [D, 4H, H], B [D, 8H] and P [D, 3H], and returns their sizes; C is 0 in a plain
/// LSTM.
template <class Constants, class Options>
recurrent_widths check_lstm_constants(
    std::string_view op, Constants const& in, Options const& options, std::size_t C = 0)
{
    check_ranks(op, in.W, in.R, in.B, in.P);
    check_options(op, options);
    check_not_transposed(op, 4, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R), C);
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", C == 0 ? "[D, 4H, I]" : "[D, 4H, I + C]", {D, 4 * H, I + C}, in.W.shape()},
            shape_requirement{"R", "[D, 4H, H]", {D, 4 * H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 8H]", {D, 8 * H}, shape_if_given(in.B)},
            shape_requirement{"P", "[D, 3H]", {D, 3 * H}, shape_if_given(in.P)},
        },
        [&] {
            return C == 0 ? describe(sizes) : concat("D = ", D, ", I = ", I, ", H = ", H, " and C = ", C);
        });
    return sizes;
}

/// The weights of an LSTM, as packed_weights needs them.
struct lstm_family {
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::lstm_parameters<T>;

    template <class Constants, class Options>
    static checked check(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_lstm_constants(op, in, options),
            check_activations(op, options, lstm_activations, activation_dialect::onnx)};
    }

    /// Packs direction d, with the first I columns of W. The functions are f, g and h of each direction.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(I, 4 * step, memory), R = take_panels(H, 4 * step, memory);
        T* const bias = memory.take(4 * step);
        T* const P = in.P.is_given() ? memory.take(3 * step) : nullptr;
        for (std::size_t gate = 0; gate < 4 && !memory.only_counts(); ++gate) {
            pack_panels(across(in.W, d, gate * H, 0), I, H, W, 0, gate * step);
            pack_panels(across(in.R, d, gate * H, 0), H, H, R, 0, gate * step);
            load_bias(in.B, d, gate * H, (4 + gate) * H, H, bias + gate * step);
            if (P != nullptr && gate < 3)
                load_row(in.P, d, gate * H, H, P + gate * step);
        }
        return {.I = I,
            .H = H,
            .gate_step = step,
            .W = W.packed(),
            .R = R.packed(),
            .bias = bias,
            .P = P,
            .f = gate_of<T>(functions[3 * d], options.clip),
            .g = gate_of<T>(functions[3 * d + 1], options.clip),
            .h = functions[3 * d + 2],
            .input_forget = options.input_forget};
    }
};

} // namespace xloom::detail

namespace xloom::detail {

/// The results of the checks of an AttnLSTM's constants and options.
struct checked_attention : checked_weights {
    attention_widths attention;
};

template <class Constants>
attention_widths check_attention_constants(std::string_view op, Constants const& in)
{
    check_ranks(op, in.R, in.QW, in.MW, in.V, in.AW);
    return check_attention(op, shape_if_given(in.R), shape_if_given(in.QW), shape_if_given(in.MW),
        shape_if_given(in.V), shape_if_given(in.AW));
}

/// Packs V for the score.
template <class T, class Item>
kernel::score_weights<T> pack_score_weights(
    tensor_ref<Item const> const& V, std::size_t d, std::size_t A, kernel::arena<T>& memory)
{
    std::size_t const padded = kernel::whole_batches<T>(A);
    T *const plain = memory.take(padded), *const minus_twice = memory.take(padded);
    T sum(0), size(0);
    if (!memory.only_counts()) {
        load_row(V, d, 0, A, plain);
        for (std::size_t a = 0; a < A; ++a) {
            minus_twice[a] = T(-2) * plain[a];
            sum += plain[a];
            size += plain[a] < T(0) ? -plain[a] : plain[a];
        }
    }
    return {plain, size <= T(kernel::largest_weights) ? minus_twice : nullptr, sum};
}

/// The weights of an AttnLSTM, as packed_weights needs them.
struct attn_lstm_family {
    using checked = checked_attention;
    template <class T>
    using parameters = kernel::attn_lstm_parameters<T>;

    template <class Constants, class Options>
    static checked check(std::string_view op, Constants const& in, Options const& options)
    {
        attention_widths const attention = check_attention_constants(op, in);
        return {{check_lstm_constants(op, in, options, attention.C),
                    check_activations(op, options, lstm_activations, activation_dialect::microsoft)},
            attention};
    }

    /// Packs direction d.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_attention const& checked, Options const& options,
        std::size_t d, kernel::arena<T>& memory)
    {
        recurrent_widths const& sizes = checked.sizes;
        auto const& [A, E, C, attends, has_layer] = checked.attention;
        kernel::attn_lstm_parameters<T> p{};
        p.lstm = lstm_family::pack<T>(in, checked, options, d, memory);
        p.attends = attends;
        if (!attends)
            return p;
        p.has_layer = has_layer;
        p.A = A;
        p.E = E;
        p.C = C;
        std::size_t const H = sizes.H, step = p.lstm.gate_step;
        auto const W = take_panels(C, 4 * step, memory), QW = take_panels(H, A, memory),
                   MW = take_panels(E, A, memory);
        if (!memory.only_counts()) {
            for (std::size_t gate = 0; gate < 4; ++gate)
                pack_panels(across(in.W, d, gate * H, sizes.I), C, H, W, 0, gate * step);
            pack_panels(along(in.QW, d, 0), H, A, QW);
            pack_panels(along(in.MW, d, 0), E, A, MW);
        }
        if (has_layer) {
            auto const AW_h = take_panels(H, C, memory), AW_context = take_panels(E, C, memory);
            if (!memory.only_counts()) {
                pack_panels(along(in.AW, d, 0), H, C, AW_h);
                pack_panels(along(in.AW, d, H), E, C, AW_context);
            }
            p.AW_h = AW_h.packed();
            p.AW_context = AW_context.packed();
        }
        p.W_attention = W.packed();
        p.QW = QW.packed();
        p.MW = MW.packed();
        p.V = pack_score_weights<T>(in.V, d, A, memory);
        p.zeros = memory.take(kernel::whole_batches<T>((std::max)({A, E, C})));
        return p;
    }
};

} // namespace xloom::detail

namespace xloom {

/// The inputs of an AttnLSTM under com.microsoft's names, in its order, followed by two that ONNX Runtime
/// lacks: the state of the attention, which continues a stream. {} omits an input. Tensors may have any
/// strides.
template <class Item>
struct attn_lstm_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
    detail::named_ref<tensor_ref<Item const>, detail::names::QW> QW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::MW> MW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::V> V{};
    detail::named_ref<tensor_ref<Item const>, detail::names::M> M{};
    detail::named_ref<lengths_ref, detail::names::memory_seq_lens> memory_seq_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::AW> AW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_attention> initial_attention{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_alignment> initial_alignment{};
};

/// The inputs of an AttnLSTM that are constant over calls.
template <class Item>
struct attn_lstm_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
    detail::named_ref<tensor_ref<Item const>, detail::names::QW> QW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::MW> MW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::V> V{};
    detail::named_ref<tensor_ref<Item const>, detail::names::AW> AW{};
};

/// The inputs of an AttnLSTM, except X, that vary from call to call.
template <class Item>
struct attn_lstm_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::M> M{};
    detail::named_ref<lengths_ref, detail::names::memory_seq_lens> memory_seq_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_attention> initial_attention{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_alignment> initial_alignment{};
};

/// The outputs of attn_lstm_into; {} omits one.
template <class Item>
struct attn_lstm_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_c> Y_c{};
    detail::named_ref<tensor_ref<Item>, detail::names::alignments> alignments{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_attention> Y_attention{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_alignment> Y_alignment{};
};

/// The outputs of attn_lstm, in the shapes given there; attn_lstm_into has the other outputs.
template <class Item>
struct attn_lstm_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h, Y_c;
};

/// The attributes of an AttnLSTM. Names and lists are read only during the call that they are passed to.
struct attn_lstm_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};
    std::optional<double> clip{};              ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{}; ///< H, to be checked if given
    bool input_forget = false;                 ///< f = 1 - i
};

/// The weights and attributes of an AttnLSTM, checked and packed once for many calls. Copies share the
/// memory, moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as attn_lstm.
/// Cost      one pass over the weights; memory of their size, with widths padded to whole vectors.
template <class Item>
class attn_lstm_weights : public detail::packed_weights<detail::attn_lstm_family, detail::compute_t<Item>> {
public:
    attn_lstm_weights(attn_lstm_constants<Item> const& constants, attn_lstm_options const& options = {})
        : attn_lstm_weights({"xloom::attn_lstm_weights"}, constants, options)
    {}
    attn_lstm_weights(detail::operator_name const& op, attn_lstm_constants<Item> const& constants,
        attn_lstm_options const& options)
        : attn_lstm_weights::packed_weights(op, constants, options)
    {}

    detail::attention_widths const& attention() const noexcept { return this->checked().attention; }
};

namespace detail {

template <class Item, class Score, class Policy>
attn_lstm_result<Item> run_attn_lstm(input_ref<Item> const& X, attn_lstm_weights<Item> const& weights,
    attn_lstm_start<Item> const& start, Score const& score, Policy const& policy)
{
    attn_lstm_sizes const sizes = check_attn_lstm_call("xloom::attn_lstm", X, weights, start);
    batch_sizes const batch{sizes.T, sizes.N};
    attn_lstm_result<Item> result{make_output<Item>(weights.sizes(), batch, 0),
        make_state<Item>(weights.sizes(), batch, 0), make_state<Item>(weights.sizes(), batch, 0)};
    attention_workspace<Item> workspace;
    detail::run_attn_lstm_into(X, weights, sizes, start,
        attn_lstm_outputs<Item>{result.Y, result.Y_h, result.Y_c}, score, workspace, policy);
    return result;
}

template <class Item>
void check_memory_given(attn_lstm_inputs<Item> const& in)
{
    check_together("xloom::attn_lstm", "QW, MW, V and M",
        std::array{std::pair{std::string_view("QW"), in.QW.is_given()},
            std::pair{std::string_view("MW"), in.MW.is_given()},
            std::pair{std::string_view("V"), in.V.is_given()},
            std::pair{std::string_view("M"), in.M.is_given()}});
}

template <class Item>
attn_lstm_constants<Item> constants_of(attn_lstm_inputs<Item> const& in)
{
    return {.W = in.W, .R = in.R, .B = in.B, .P = in.P, .QW = in.QW, .MW = in.MW, .V = in.V, .AW = in.AW};
}

template <class Item>
attn_lstm_start<Item> start_of(attn_lstm_inputs<Item> const& in)
{
    return {.sequence_lens = in.sequence_lens,
        .initial_h = in.initial_h,
        .initial_c = in.initial_c,
        .M = in.M,
        .memory_seq_lens = in.memory_seq_lens,
        .initial_attention = in.initial_attention,
        .initial_alignment = in.initial_alignment};
}

} // namespace detail

/// Computes com.microsoft's AttnLSTM: an LSTM with Bahdanau attention over a memory, whose result is an input
/// of the next step.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         h, c = lstm_step([x_t, attention], h, c)  # as lstm; attention is zeros at first
///         Y[t, d, n] = h
///         scores = sum(V[d] * tanh(M[n] MW[d] + h QW[d]), axis=-1)      # memory_seq_lens[n] steps
///         alignments[t, d, n] = softmax(scores)
///         context = sum(alignments[t, d, n] * M[n], axis=0)
///         attention = [h, context] AW[d] if AW else context
///
/// Shapes    X [T, N, I], W [D, 4H, I + C], R [D, 4H, H], B [D, 8H], sequence_lens [N], initial_h and
///           initial_c [D, N, H], P [D, 3H], QW [D, H, A], MW [D, E, A], V [D, A], M [N, S, E],
///           memory_seq_lens [N], AW [D, H + E, L], initial_attention [D, N, C], initial_alignment [D, N, S]
///           -> Y [T, D, N, H], Y_h and Y_c [D, N, H], alignments [T, D, N, S], Y_attention [D, N, C],
///           Y_alignment [D, N, S]. C = L with AW, else E. QW, MW, V and M are given together, or all
///           omitted: then it is an LSTM.
/// Types     those of X: float, double; float16 and other storage floats, computed as float; user-defined
///           scalars.
/// Options   attn_lstm_options; if the weights are packed, those given to attn_lstm_weights.
/// Score     any attention_score in place of the sum above; its arguments include the last alignment.
/// Policy    serial, or one with threads (xloom/tbb.hpp): each thread has its own rows and directions.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T] or
///           [0, S]). A score's exceptions propagate.
/// Order     as lstm: the bits of a row depend only on the row; a sequence in pieces, with Y_h, Y_c,
///           Y_attention and, if the score reads it, Y_alignment passed on, is bitwise equal to one call
///           (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X and M in +-1, independent: 2e-6.
///           Rounding of the scores changes an alignment by a relative error of at most 2^-21 sum |V|. Where
///           sum |V| is above 64, each score is a sum of tanh, which keeps the digits of terms near 0. NaN
///           stays NaN. Values beyond a row's lengths are not read; a memory of length 0 gives alignments and
///           a context of zeros.
/// Cost      T N D (4H (I + C + H) + H A + S E + (H + E) L) + N D S E A multiply-adds, fewer for shorter
///           rows, and, for the scores, T N D S A times a multiplication and a division, or a tanh where sum
///           |V| is above 64. Packing is a pass over the weights; attn_lstm_weights are packed once.
/// Differs   from ONNX Runtime: softmax subtracts the maximum, NaN is not clipped to a number, lengths of 0
///           and T, N, S = 0 are defined, ThresholdedRelu keeps x >= alpha, all types are supported,
///           hidden_size is optional.
/// Source    com.microsoft AttnLSTM-1; infer_attn_lstm has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}}, M = {{{1}, {2}}}; // T = N = I = 1, S = 2, E = 1
/// xt::xtensor<float, 3> const W = xt::ones<float>({1, 4, 2}), R = xt::ones<float>({1, 4, 1});
/// xt::xtensor<float, 3> const QW = {{{1}}}, MW = {{{1}}};
/// xt::xtensor<float, 2> const V = {{1}};
/// xloom::attn_lstm(X, {.W = W, .R = R, .QW = QW, .MW = MW, .V = V, .M = M}).Y; // = [[[[0.369606]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start, Policy const& policy = {})
{
    return detail::run_attn_lstm<Item>(X, weights, start, bahdanau(), policy);
}

/// Computes AttnLSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, std::type_identity_t<attn_lstm_inputs<Item>> const& inputs,
    attn_lstm_options const& options = {}, Policy const& policy = {})
{
    return attn_lstm(X, inputs, bahdanau(), options, policy);
}

/// Computes AttnLSTM with a user-defined score.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start, Score const& score, Policy const& policy = {})
{
    return detail::run_attn_lstm<Item>(X, weights, start, score, policy);
}

/// Computes AttnLSTM with a user-defined score and unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, std::type_identity_t<attn_lstm_inputs<Item>> const& inputs,
    Score const& score, attn_lstm_options const& options = {}, Policy const& policy = {})
{
    detail::check_memory_given(inputs);
    attn_lstm_weights<Item> const weights(
        detail::operator_name{"xloom::attn_lstm"}, detail::constants_of(inputs), options);
    return detail::run_attn_lstm<Item>(X, weights, detail::start_of(inputs), score, policy);
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item, execution_policy Policy, class Score>
attn_lstm_result<Item> attn_lstm(Input const&, attn_lstm_weights<Item> const&,
    std::type_identity_t<attn_lstm_start<Item>> const&, Policy const&, Score const&)
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, weights, start[, score][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
attn_lstm_result<Item> attn_lstm(Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&,
    Policy const&, attn_lstm_options const& = {})
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score>
attn_lstm_result<Item> attn_lstm(
    Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&, attn_lstm_options const&, Score const&)
{
    static_assert(detail::never<Score>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy>
attn_lstm_result<Item> attn_lstm(Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&,
    Score const&, Policy const&, attn_lstm_options const& = {})
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Computes AttnLSTM into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as attn_lstm; shape_error: an output's shape; overlap_error: an output shares memory with an
///           input or another output. Y_h, Y_c, Y_attention and Y_alignment may be the same tensors as
///           initial_h and so on, so that a stream updates its state in place.
/// Cost      as attn_lstm; alignments, Y_attention and Y_alignment also require the attention of the last
///           step, which is omitted otherwise.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score = bahdanau, execution_policy Policy = serial_policy>
void attn_lstm_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, attention_workspace<Item>& workspace,
    Score const& score = {}, Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::attn_lstm_into";
    detail::input_ref<Item> const input = X;
    attn_lstm_sizes const sizes = detail::check_attn_lstm_call(op, input, weights, start);
    detail::check_attn_lstm_outputs(op, weights, sizes, input, start, outputs);
    detail::run_attn_lstm_into(input, weights, sizes, start, outputs, score, workspace, policy);
}

/// Runs attn_lstm_into with the default score on the threads of a policy.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
void attn_lstm_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, attention_workspace<Item>& workspace,
    Policy const& policy)
{
    attn_lstm_into(X, weights, start, outputs, workspace, bahdanau(), policy);
}

/// Rejects a score or a policy before the workspace.
template <class Input, class Item, class Other>
void attn_lstm_into(Input const&, attn_lstm_weights<Item> const&,
    std::type_identity_t<attn_lstm_start<Item>> const&, std::type_identity_t<attn_lstm_outputs<Item>> const&,
    Other const&, attention_workspace<Item>&)
{
    static_assert(detail::never<Other>, "xloom::attn_lstm_into: the arguments are attn_lstm_into(X, "
                                        "weights, start, outputs, workspace[, score][, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows, S steps of memory and
/// the policy's threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, attention_score<detail::compute_t<Item>> Score = bahdanau,
    execution_policy Policy = serial_policy>
attention_workspace<Item> attn_lstm_workspace(attn_lstm_weights<Item> const& weights,
    attn_lstm_sizes const& sizes, Score const& score = {}, Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::attn_lstm_workspace";
    detail::check_batch_sizes(op, weights.sizes(), {sizes.T, sizes.N});
    detail::check_memory_sizes(op, weights.attention(), weights.sizes().D, sizes.N, sizes.S);
    attention_workspace<Item> workspace;
    detail::with_attn_lstm_runner<Item>({}, weights, sizes, attn_lstm_start<Item>{},
        attn_lstm_outputs<Item>{}, score, workspace, policy,
        [](auto& runner, auto const& states) { runner.reserve_all(states); });
    return workspace;
}

/// Returns a workspace for the default score and the threads of a policy.
template <class Item, execution_policy Policy>
attention_workspace<Item> attn_lstm_workspace(
    attn_lstm_weights<Item> const& weights, attn_lstm_sizes const& sizes, Policy const& policy)
{
    return attn_lstm_workspace(weights, sizes, bahdanau(), policy);
}

} // namespace xloom

// ==== xloom/attn_lstm_cell.hpp ====
// One step of AttnLSTM, for streams and as a scan's body.

// ==== xloom/run/recurrent/cell_operands.hpp ====
// The operands of a cell, contiguous rows of items in spans, containers or elements of a scan, and the number
// of rows.

namespace xloom::detail {

/// Returns the address of an operand's first item: a tensor's, or data().
template <class Range>
auto* first_item(Range& range)
{
    if constexpr (tensor<Range>)
        return enable_tensor<bare<Range>>::data(range);
    else
        return range.data();
}

/// A range of contiguous items: std::vector, std::span, a tensor.
template <class Range, class Item>
concept items_of =
    (tensor<Range> || requires(Range const& range) { range.size(); }) && requires(Range const& range) {
        {
            detail::first_item(range)
        } -> std::convertible_to<Item const*>;
    };

/// A mutable range of contiguous items, passed as a Range&&.
template <class Range, class Item>
concept mutable_items_of = items_of<Range, Item> && outlives_expression<Range> && requires(Range& range) {
    {
        detail::first_item(range)
    } -> std::convertible_to<Item*>;
};

// The message of a static_assert is a literal, so only the preprocessor can put a name into it.
#define XLOOM_CELL_OPERAND(operand, kind, requirement, memory)                                               \
    template <class Item, class Range>                                                                       \
    consteval bool is_cell_##operand()                                                                       \
    {                                                                                                        \
        static_assert(requirement<Range, Item>,                                                              \
            "xloom: the " kind " " #operand                                                                  \
            " of a cell must be a tensor, std::vector or std::span of the weights' element type, " memory);  \
        return requirement<Range, Item>;                                                                     \
    }

/// True if the operand has the required type; otherwise a compile error names it.
XLOOM_CELL_OPERAND(h, "state", mutable_items_of, "in memory that can be written")
XLOOM_CELL_OPERAND(c, "state", mutable_items_of, "in memory that can be written")
XLOOM_CELL_OPERAND(attention, "state", mutable_items_of, "in memory that can be written")
XLOOM_CELL_OPERAND(alignment, "state", mutable_items_of, "in memory that can be written")
XLOOM_CELL_OPERAND(x_t, "input", items_of, "in memory")
XLOOM_CELL_OPERAND(y_t, "output", mutable_items_of, "in memory that can be written")

#undef XLOOM_CELL_OPERAND

/// The number of a cell's rows: 0 for a moved-from cell, which has no memory.
class row_count {
public:
    row_count() = default;
    explicit row_count(std::size_t rows) noexcept : rows_(rows) {}
    row_count(row_count const&) = default;
    row_count(row_count&& other) noexcept : rows_(std::exchange(other.rows_, 0)) {}
    row_count& operator=(row_count const&) = default;
    row_count& operator=(row_count&& other) noexcept
    {
        rows_ = other.rows_;
        other.rows_ = 0;
        return *this;
    }

    operator std::size_t() const noexcept { return rows_; }

private:
    std::size_t rows_ = 0;
};

/// An operand of a step and the number of contiguous items that it must have.
struct sized_operand {
    std::string_view operand;
    std::string_view symbolic_shape;
    std::size_t expected;
    std::size_t actual;
    bool is_contiguous;
    std::size_t rank = 1;
};

template <class Range>
sized_operand sized(
    std::string_view operand, std::string_view symbolic_shape, std::size_t expected, Range const& range)
{
    if constexpr (!tensor<Range>)
        return {operand, symbolic_shape, expected, range.size(), true};
    else if (std::size_t const rank = detail::rank_of(range); rank > max_rank)
        return {operand, symbolic_shape, expected, 0, false, rank};
    else if constexpr (is_always_row_major<Range>)
        return {operand, symbolic_shape, expected, element_count(detail::shape_of(range)), true};
    else
        return {operand, symbolic_shape, expected, element_count(detail::shape_of(range)),
            is_row_major(detail::layout_of(range))};
}

template <std::size_t Count>
void check_step(std::string_view op, sized_operand const (&operands)[Count])
{
    bool is_right = true;
    for (sized_operand const& each : operands)
        is_right &= each.actual == each.expected && each.is_contiguous;
    if (is_right) [[likely]]
        return;
    for (sized_operand const& each : operands)
        check_rank(op, each.operand, each.rank);
    fact_list wrong;
    for (sized_operand const& each : operands)
        if (each.actual != each.expected)
            wrong.add(each.operand, " has ", each.actual, " items instead of ", each.symbolic_shape, " = ",
                each.expected);
    if (!wrong.empty())
        fail<shape_error>(op, ": the operands of a step must have the sizes that the cell was made for, but ",
            wrong, ". Resize it.");
    for (sized_operand const& each : operands)
        if (!each.is_contiguous)
            wrong.add(each.operand, " is not");
    fail<shape_error>(
        op, ": the operands of a step must be contiguous and row-major, but ", wrong, ". Copy it first.");
}

} // namespace xloom::detail

// ==== xloom/run/recurrent/cell_step.hpp ====
// One step of a cell's rows, whose operands are contiguous.

namespace xloom::detail {

/// The rows of a cell, and memory for the inputs of a step and their sums.
template <class T, class Rows>
struct cell_scratch {
    Rows rows;
    T* x;
    T* sums;

    cell_scratch(Rows const& cell, std::size_t N, kernel::arena<T>& memory)
        : rows(cell), x(memory.take(N * rows.W().depth)), sums(memory.take(N * rows.sums_step()))
    {}
};

/// Performs a step of N rows: h and c [N, H] become the next states, which are also written to y_t [N, H] if
/// it is not null.
template <class T, class Rows, class Item>
void run_step(
    cell_scratch<T, Rows> const& scratch, std::size_t N, Item* h, Item* c, Item const* x_t, Item* y_t)
{
    auto const& [rows, x, sums] = scratch;
    std::size_t const I = rows.W().depth, H = rows.H();
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<Item, T>({h + n * H}, H, {rows.h(n)});
        kernel::copy_row<Item, T>({c + n * H}, H, {rows.c(n)});
    }
    kernel::copy_row<Item, T>({x_t}, N * I, {x});
    kernel::multiply<T>(N, {x, I}, rows.W(), {rows.bias(), 0}, {sums, rows.sums_step()});
    rows.step(N, N, 0, sums);
    for (std::size_t n = 0; n < N; ++n) {
        kernel::copy_row<T, Item>({rows.h(n)}, H, {h + n * H});
        kernel::copy_row<T, Item>({rows.c(n)}, H, {c + n * H});
        if (y_t != nullptr)
            kernel::copy_row<T, Item>({rows.h(n)}, H, {y_t + n * H});
    }
}

} // namespace xloom::detail

namespace xloom {

/// One step of one direction of AttnLSTM for N rows with a memory each, bitwise equal to a step of attn_lstm.
///
///     h, c = lstm_step([x_t, attention], h, c)
///     alignment = softmax(score(M MW, h QW))  # over memory_seq_lens[n] steps of memory
///     attention = [h, alignment M] AW if AW else alignment M
///     y_t = h
///
/// Shapes    M [N, S, E], memory_seq_lens [N]; h, c and y_t [N, H], attention [N, C], alignment [N, S], x_t
///           [N, I]: spans, containers, row-major tensors and views whose items are contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows. option_error: the weights have no attention (use lstm_cell), or
///           no direction d.
/// Cost      as attn_lstm. Keys are computed from M once, by the constructor or set_memory; a step allocates
///           nothing.
/// Aliasing  x_t may be h or c, y_t may be h; the states must not overlap.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    com.microsoft AttnLSTM-1. Used in examples/attention_reader/reader.hpp.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = xt::ones<float>({1, 4, 2}), R = xt::ones<float>({1, 4, 1});
/// xt::xtensor<float, 3> const QW = {{{1}}}, MW = {{{1}}};
/// xt::xtensor<float, 2> const V = {{1}};
/// xt::xtensor<float, 3> const M = {{{1}, {2}}};
/// xloom::attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V});
/// xloom::attn_lstm_cell<float> cell(weights, M);
/// xt::xtensor<float, 1> h = {0}, c = {0}, attention = {0};
/// cell(h, c, attention, xt::xtensor<float, 1>{1});
/// h; // = [0.369606]
/// attention; // = [1.52599]
/// ```
template <class Item, attention_score<detail::compute_t<Item>> Score = bahdanau>
class attn_lstm_cell {
    using T = detail::compute_t<Item>;
    using score_type = decltype(detail::score_for(
        std::declval<Score const&>(), std::declval<kernel::attn_lstm_parameters<T> const&>(), std::size_t()));
    using rows_type = kernel::attn_lstm_rows<T, Item, score_type>;

public:
    /// Constructs a cell with the weights of direction d. M is read by the constructor only.
    attn_lstm_cell(attn_lstm_weights<Item> weights,
        detail::named_ref<tensor_ref<Item const>, detail::names::M> const& M,
        detail::named_ref<lengths_ref, detail::names::memory_seq_lens> const& memory_seq_lens = {},
        Score score = {}, std::size_t d = 0)
        : weights_(std::move(weights)), score_(std::move(score)), d_(d)
    {
        if (d >= weights_.sizes().D)
            detail::fail<option_error>(name, ": d must be less than D = ", weights_.sizes().D, ", but d is ",
                d, ". Choose one of the weights' directions.");
        if (!weights_.attention().attends)
            detail::fail<option_error>(
                name, ": the weights must have attention, but QW, MW and V are omitted. Use lstm_cell.");
        set_memory(M, memory_seq_lens);
    }

    attn_lstm_cell(attn_lstm_cell const&) = default;
    attn_lstm_cell(attn_lstm_cell&&) = default;
    attn_lstm_cell& operator=(attn_lstm_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    attn_lstm_cell& operator=(attn_lstm_cell const& other)
        requires std::is_copy_assignable_v<Score>
    {
        return *this = attn_lstm_cell(other);
    }

    /// Sets another memory, of another N and S if need be. Allocates nothing if an earlier one was as large.
    void set_memory(detail::named_ref<tensor_ref<Item const>, detail::names::M> const& M,
        detail::named_ref<lengths_ref, detail::names::memory_seq_lens> const& memory_seq_lens = {})
    {
        detail::check_ranks(name, M, memory_seq_lens);
        std::size_t const N = M.is_given() && M.shape().size() == 3 ? M.shape()[0] : 0;
        std::size_t const S = detail::check_memory(name, weights_.attention(), weights_.sizes(), N,
            detail::shape_if_given(M), memory_seq_lens.is_given(), std::nullopt, std::nullopt);
        detail::check_rows(name, weights_.sizes(), N);
        detail::check_lengths(name, "memory_seq_lens", memory_seq_lens, N, "S", S);
        memory_.rows.reserve(N); // before loops over N: an M without items may have any N
        detail::memory_operand<Item> const memory{M, memory_seq_lens, S};
        std::size_t longest = 0;
        for (std::size_t n = 0; n < N; ++n)
            longest = (std::max)(longest, memory.length(n));
        // Keys and values of all rows, then scratch for computing them.
        auto const take_memory = [&](kernel::arena<T>& numbers, auto const& keep) {
            for (std::size_t n = 0; n < N; ++n)
                keep(n, kernel::take_memory(parameters(), memory.length(n), numbers));
            return numbers.take(longest * parameters().E);
        };
        kernel::arena<T> size, step_size;
        take_memory(size, [](std::size_t, auto const&) {});
        take_scratch(N, longest, step_size);
        // Allocations come first: if one fails, the cell is unchanged.
        numbers_.resize((std::max)(numbers_.size(), step_size.used() + 1));
        memory_.numbers.resize((std::max)(memory_.numbers.size(), size.used() + 1));

        N_ = detail::row_count(N);
        S_ = S;
        longest_ = longest;
        memory_.rows.clear();
        kernel::arena<T> numbers(memory_.numbers.data());
        T* const scratch = take_memory(numbers, [&](std::size_t n, auto const& taken) {
            memory_.rows.push_back({n, taken, {}, 0});
        });
        for (std::size_t n = 0; n < N; ++n)
            kernel::fill_memory(parameters(), memory.rows(n), scratch, score_type::takes_exponentials,
                memory_.rows[n].memory);
    }

    std::size_t batch_size() const noexcept { return N_; }
    std::size_t memory_steps() const noexcept { return S_; }

    /// Updates h, c and attention to the next state.
    template <class Hidden, class Cell, class Attention, class Element>
        requires std::same_as<Score, bahdanau>
    void operator()(Hidden&& h, Cell&& c, Attention&& attention, Element const& x_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_attention<Item, Attention>() && detail::is_cell_x_t<Item, Element>()) {
            using detail::first_item;
            require_operands(h, c, attention, sized_x(x_t));
            step(detail::first_item(h), detail::first_item(c), detail::first_item(attention), nullptr,
                detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h, c and attention to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Attention, class Element, class Output>
        requires std::same_as<Score, bahdanau>
    void operator()(Hidden&& h, Cell&& c, Attention&& attention, Element const& x_t, Output&& y_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_attention<Item, Attention>() && detail::is_cell_x_t<Item, Element>() &&
                      detail::is_cell_y_t<Item, Output>()) {
            using detail::first_item;
            require_operands(h, c, attention, sized_x(x_t), sized_y(y_t));
            step(detail::first_item(h), detail::first_item(c), detail::first_item(attention), nullptr,
                detail::first_item(x_t), detail::first_item(y_t));
        }
    }

    /// Updates h, c, attention and alignment to the next state and writes y_t = h. The score reads the last
    /// alignment.
    template <class Hidden, class Cell, class Attention, class Alignment, class Element, class Output>
    void operator()(
        Hidden&& h, Cell&& c, Attention&& attention, Alignment&& alignment, Element const& x_t, Output&& y_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_attention<Item, Attention>() &&
                      detail::is_cell_alignment<Item, Alignment>() && detail::is_cell_x_t<Item, Element>() &&
                      detail::is_cell_y_t<Item, Output>()) {
            using detail::first_item;
            require_operands(h, c, attention, detail::sized("alignment", "N S", N_ * S_, alignment),
                sized_x(x_t), sized_y(y_t));
            step(detail::first_item(h), detail::first_item(c), detail::first_item(attention),
                detail::first_item(alignment), detail::first_item(x_t), detail::first_item(y_t));
        }
    }

private:
    static constexpr std::string_view name = "xloom::attn_lstm_cell";

    /// The keys and values of all rows, and the numbers that they point to. A copy points to its own numbers.
    struct held_memory {
        detail::aligned_vector<T> numbers;
        std::vector<kernel::attending_row<T, Item>> rows;

        held_memory() = default;
        held_memory(held_memory&&) noexcept = default;
        held_memory& operator=(held_memory&&) noexcept = default;
        held_memory(held_memory const& other) : numbers(other.numbers), rows(other.rows)
        {
            for (auto& [row, memory, alignment, alignment_step] : rows) {
                memory.keys.first = numbers.data() + (memory.keys.first - other.numbers.data());
                memory.values = numbers.data() + (memory.values - other.numbers.data());
            }
        }
    };

    kernel::attn_lstm_parameters<T> const& parameters() const { return detail::parameters_of(weights_, d_); }

    template <class Hidden, class Cell, class Attention, class... Others>
    void require_operands(
        Hidden const& h, Cell const& c, Attention const& attention, Others const&... others) const
    {
        std::size_t const H = weights_.sizes().H, C = weights_.attention().C;
        detail::check_step(name, {detail::sized("h", "N H", N_ * H, h), detail::sized("c", "N H", N_ * H, c),
                                     detail::sized("attention", "N C", N_ * C, attention), others...});
    }
    template <class Element>
    detail::sized_operand sized_x(Element const& x_t) const
    {
        return detail::sized("x_t", "N I", N_ * weights_.sizes().I, x_t);
    }
    template <class Output>
    detail::sized_operand sized_y(Output const& y_t) const
    {
        return detail::sized("y_t", "N H", N_ * weights_.sizes().H, y_t);
    }

    detail::cell_scratch<T, rows_type> take_scratch(
        std::size_t N, std::size_t longest, kernel::arena<T>& numbers) const
    {
        auto const& p = parameters();
        rows_type const rows(p, N, longest, detail::score_for(score_, p, d_), numbers);
        return {rows, N, numbers};
    }

    void step(Item* h, Item* c, Item* attention, Item* alignment, Item const* x_t, Item* y_t)
    {
        kernel::arena<T> numbers(numbers_.data());
        auto scratch = take_scratch(N_, longest_, numbers);
        rows_type& rows = scratch.rows;
        rows.attend_to(memory_.rows.data(), true);
        std::size_t const C = parameters().C;
        for (std::size_t n = 0; n < N_; ++n) {
            kernel::copy_row<Item, T>({attention + n * C}, C, {rows.attention(n)});
            if (alignment != nullptr)
                kernel::copy_row<Item, T>({alignment + n * S_}, length(n), {rows.alignment(n)});
        }
        detail::run_step(scratch, N_, h, c, x_t, y_t);
        for (std::size_t n = 0; n < N_; ++n) {
            kernel::copy_row<T, Item>({rows.attention(n)}, C, {attention + n * C});
            if (alignment != nullptr) {
                kernel::copy_row<T, Item>({rows.alignment(n)}, length(n), {alignment + n * S_});
                std::fill(alignment + n * S_ + length(n), alignment + (n + 1) * S_, Item(0));
            }
        }
    }

    std::size_t length(std::size_t n) const { return memory_.rows[n].memory.keys.length; }

    attn_lstm_weights<Item> weights_;
    Score score_;
    std::size_t d_;
    detail::row_count N_;
    std::size_t S_ = 0;
    std::size_t longest_ = 0; ///< the maximum length of the rows' memories
    held_memory memory_;
    detail::aligned_vector<T> numbers_;
};

} // namespace xloom

// ==== xloom/check_vjp.hpp ====
// The comparison of a body's VJP with central differences.

// ==== xloom/run/scan/held_pack.hpp ====
// Operands that a function object keeps for a later call.

namespace xloom::detail {

/// The type in which an argument X&& is kept: variables of tensor types by reference, other values as owned
/// ones.
template <class X>
using held_t =
    std::conditional_t<std::is_lvalue_reference_v<X> && tensor<bare<X>>, bare<X> const&, owned_t<X>>;

/// Returns the values of a pack to keep, as a tuple.
template <class Pack>
auto hold(Pack&& pack)
{
    if constexpr (is_tuple<bare<Pack>>)
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<held_t<decltype(std::get<I>(static_cast<Pack&&>(pack)))>...>(
                std::get<I>(static_cast<Pack&&>(pack))...);
        }(std::make_index_sequence<std::tuple_size_v<bare<Pack>>>{});
    else
        return std::tuple<held_t<Pack&&>>(static_cast<Pack&&>(pack));
}

template <class Pack>
using held_pack_t = decltype(detail::hold(std::declval<Pack>()));

/// Returns a value of 0 for a cotangent of `value`: a tensor of its shape, or a scalar.
template <class X>
owned_t<X> zeros_like(X const& value)
{
    if constexpr (tensor<X>) {
        auto zeros = enable_tensor<owned_t<X>>::make(detail::shape_of(value));
        std::fill_n(
            enable_tensor<owned_t<X>>::data(zeros), element_count(detail::shape_of(value)), item_t<X>(0));
        return zeros;
    } else {
        return owned_t<X>(0);
    }
}

/// Returns zeros for the cotangents of the values of a pack, as a pack of owned values.
template <class Pack, class... Xs>
owned_t<Pack> zeros_like_pack(std::tuple<Xs...> const& values)
{
    return std::apply(
        [](auto const&... value) { return owned_t<Pack>(detail::zeros_like(value)...); }, values);
}

} // namespace xloom::detail

// ==== xloom/run/scan/scan_body.hpp ====
// The step and the result of a pure scan, and the iterations that scan and scan_batched share.

// ==== xloom/run/scan/body_call.hpp ====
// Compile-time traits of operands and bodies, and the call of a body on the current elements.

// ==== xloom/run/scan/element_cursor.hpp ====
// Cursors over the elements of an operand along time, and the states and shapes that go with them.

// ==== xloom/kernel/time_axis.hpp ====
// The offsets of elements along the time axis, for every element type, layout, axis and direction.

namespace xloom::kernel {

/// The iterations `begin` .. `end` - 1 of a scan of `length`.
struct iterations {
    std::size_t begin;
    std::size_t end;
    std::size_t length;

    constexpr std::size_t count() const noexcept { return end - begin; }
};

/// Returns all iterations of a scan of `length`.
constexpr iterations all_iterations(std::size_t length) noexcept { return {0, length, length}; }

/// The elements of one operand along its time axis: element t begins `first + t * step` items after the
/// operand's first item.
struct time_axis {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t step = 0;
    strided_layout element{};

    /// Requires axis < rank. In reverse, element 0 is the last of `length`. Empty elements all begin at the
    /// operand's first item, which may be a null pointer.
    constexpr time_axis(strided_layout const& operand, std::size_t axis, std::size_t length, bool reverse)
        : element(drop_axis(operand, axis))
    {
        if (element_count(element.dims) != 0)
            step = operand.strides[axis];
        if (reverse) {
            first = length == 0 ? 0 : static_cast<std::ptrdiff_t>(length - 1) * step;
            step = -step;
        }
    }

    /// Returns the time axis that begins with the element of iteration `begin`.
    constexpr time_axis from(std::size_t begin) const
    {
        time_axis rest = *this;
        rest.first += static_cast<std::ptrdiff_t>(begin) * step;
        return rest;
    }

    /// Returns the copy of `count` consecutive elements, the first of which is passed to it, into a
    /// contiguous row-major buffer.
    strided_copy pack_copy(std::size_t count) const
    {
        auto const [dims, strided, packed] = several(count);
        return {dims, strided, packed};
    }

    /// Returns the copy from a contiguous row-major buffer to `count` consecutive elements, the first of
    /// which is passed to it.
    strided_copy unpack_copy(std::size_t count) const
    {
        auto const [dims, strided, packed] = several(count);
        return {dims, packed, strided};
    }

private:
    struct both_layouts {
        shape dims;
        strides strided;
        strides packed;
    };

    /// Returns the layouts of `count` elements as one array. Time comes after the axes of larger strides, so
    /// that a copy accesses memory in order.
    both_layouts several(std::size_t count) const
    {
        std::size_t axis = 0;
        while (axis < element.dims.size() && std::abs(element.strides[axis]) >= std::abs(step))
            ++axis;
        auto const size = static_cast<std::ptrdiff_t>(element_count(element.dims));
        return {insert_axis(element.dims, axis, count), insert_axis(element.strides, axis, step),
            insert_axis(row_major_strides(element.dims), axis, size)};
    }
};

} // namespace xloom::kernel

// ==== xloom/run/scan/element_buffer.hpp ====
// Buffers that make elements with strided items contiguous for a body.

namespace xloom::detail {

/// A container of items in aligned memory, uninitialised if their type is trivial.
template <class T>
using item_buffer = xt::uvector<T, cache_aligned_allocator<T>>;

/// A buffer for the current element of an output. Each element is written back at the end of its iteration,
/// because a body may read, through a captured variable, what earlier iterations wrote.
template <class T>
class element_buffer {
public:
    element_buffer(T* data, kernel::time_axis const& time, std::size_t)
        : time_(time),
          place_(data + time.first),
          items_(element_count(time.element.dims)),
          scatter_(time.unpack_copy(1))
    {}

    /// Initialises every element from the tensor, for an input that is the same tensor. Returns the address
    /// of the buffered items.
    T* start_from_input()
    {
        gather_.emplace(time_.pack_copy(1));
        return items_.data();
    }

    T* enter()
    {
        if (gather_)
            gather();
        return items_.data();
    }

    [[gnu::noinline]] void leave()
    {
        scatter_(items_.data(), place_);
        place_ += time_.step;
    }

private:
    [[gnu::noinline]] void gather() { (*gather_)(place_, items_.data()); }

    kernel::time_axis time_;
    T* place_;
    item_buffer<T> items_;
    kernel::strided_copy scatter_;
    std::optional<kernel::strided_copy> gather_{};
};

/// A buffer for several elements of an input: consecutive elements that share a cache line load it once.
template <class T>
class element_buffer<T const> {
public:
    element_buffer(T const* data, kernel::time_axis const& time, std::size_t length)
        : time_(time),
          first_(data + time.first),
          length_(length),
          next_(first_),
          left_(length),
          element_size_(element_count(time.element.dims)),
          capacity_(neighbours(time.step, element_size_)),
          items_(capacity_ * element_size_),
          gather_(time.pack_copy(capacity_))
    {}

    /// Makes element t the next one.
    void seek(std::size_t t)
    {
        next_ = first_ + static_cast<std::ptrdiff_t>(t) * time_.step;
        left_ = length_ - t;
        position_ = filled_ = 0;
    }

    T const* enter()
    {
        if (position_ == filled_)
            gather();
        return items_.data() + position_ * element_size_;
    }

    void leave() { ++position_; }

private:
    /// Returns the number of elements that share a cache line; 1 where copying items may throw, so that it
    /// throws in the iteration that needs the item.
    static std::size_t neighbours(std::ptrdiff_t step, std::size_t element_size)
    {
        if (!std::is_trivially_copyable_v<T> || step == 0 || element_size == 0)
            return 1;
        std::size_t const in_a_line = cache_line / sizeof(T) / static_cast<std::size_t>(std::abs(step));
        return std::max<std::size_t>(
            1, (std::min)(in_a_line, tuning::element_buffer_bytes / sizeof(T) / element_size));
    }

    [[gnu::noinline]] void gather()
    {
        position_ = 0;
        filled_ = (std::min)(capacity_, left_);
        if (filled_ < capacity_)
            time_.pack_copy(filled_)(next_, items_.data());
        else
            gather_(next_, items_.data());
        left_ -= filled_;
        next_ += time_.step * static_cast<std::ptrdiff_t>(filled_);
    }

    kernel::time_axis time_;
    T const* first_;
    std::size_t length_;
    T const* next_;
    std::size_t left_;
    std::size_t element_size_;
    std::size_t capacity_;
    item_buffer<T> items_;
    kernel::strided_copy gather_;
    std::size_t position_ = 0;
    std::size_t filled_ = 0;
};

} // namespace xloom::detail

namespace xloom::detail {

/// The element type of an operand of static rank 1: one item. Other operands' elements are views, given by a
/// shape type.
struct item_element {};

/// The shape type of an operand's elements. The time axis is axis 0 (LeadingAxis) or known at run time only.
template <class Shape, bool LeadingAxis>
struct element_shape {
    using type = xt::dynamic_shape<std::size_t>;
};
template <class Size, std::size_t Rank, bool LeadingAxis>
struct element_shape<std::array<Size, Rank>, LeadingAxis> {
    using type =
        std::conditional_t<Rank <= 1, item_element, std::array<std::size_t, Rank == 0 ? 0 : Rank - 1>>;
};
template <std::size_t First, std::size_t... Rest>
struct element_shape<xt::fixed_shape<First, Rest...>, true> {
    using type = std::conditional_t<sizeof...(Rest) == 0, item_element, xt::fixed_shape<Rest...>>;
};
template <std::size_t... Dims>
struct element_shape<xt::fixed_shape<Dims...>, false>
    : element_shape<std::array<std::size_t, sizeof...(Dims)>, false> {};

/// A cursor over the elements of an operand along time; each element's items are contiguous. T is const for
/// an input. The last argument of the constructors is the number of elements.
template <class T, class ElementShape>
class element_cursor {
public:
    element_cursor(T* data, kernel::time_axis const& time, std::size_t)
        : data_(data), first_(time.first), at_(time.first), step_(time.step), view_(data, time.element.dims)
    {}

    /// Makes element t the one that enter() makes current.
    void seek(std::size_t t) { at_ = first_ + static_cast<std::ptrdiff_t>(t) * step_; }

    /// Makes element() the current one; called before the body.
    void enter() { view_.rebind(data_ + at_); }

    /// Advances to the next element; called after the body.
    void leave() { at_ += step_; }

    auto& element() { return view_; }
    /// True if the view that was assigned another shape is this cursor's element.
    bool is_own(element_reshaped const& found) const { return found.view() == &view_; }
    /// True if the view that was assigned another shape is a copy of this cursor's element. An outer
    /// operator's element can begin at the same item, but cannot have the same shape.
    bool is_copy(element_reshaped const& found) const
    {
        return found.data() == view_.data() &&
               std::equal(found.is().begin(), found.is().end(), view_.shape().begin(), view_.shape().end());
    }

protected:
    T* data_;
    std::ptrdiff_t first_;
    std::ptrdiff_t at_;
    std::ptrdiff_t step_;
    basic_element_view<T, ElementShape> view_;
};

/// A cursor over elements whose items may be strided; strided elements are copied through a buffer.
///
/// Why the buffer is a separate object with copies out of line: the compiler keeps a cursor in registers only
/// as long as its address is not passed to a function.
template <class T, class ElementShape>
class buffered_cursor : public element_cursor<T, ElementShape> {
    using base = element_cursor<T, ElementShape>;

public:
    buffered_cursor(T* data, kernel::time_axis const& time, std::size_t length) : base(data, time, length)
    {
        if (!is_row_major(time.element))
            buffer_ = std::make_unique<element_buffer<T>>(data, time, length);
    }

    void seek(std::size_t t)
    {
        if (buffer_)
            buffer_->seek(t);
        base::seek(t);
    }

    void enter()
    {
        if (buffer_)
            this->view_.rebind(buffer_->enter());
        else
            base::enter();
    }

    void leave()
    {
        if (buffer_)
            buffer_->leave();
        base::leave();
    }

    /// Makes an input refer, in every iteration, to the items in the buffer of an output of the same tensor,
    /// if the output has a buffer.
    template <class OutputShape>
    void share_buffer_of(buffered_cursor<std::remove_const_t<T>, OutputShape>& output)
    {
        if (!output.buffer_)
            return;
        this->data_ = output.buffer_->start_from_input();
        this->at_ = this->step_ = 0;
        buffer_.reset();
    }

private:
    template <class, class>
    friend class buffered_cursor;

    std::unique_ptr<element_buffer<T>> buffer_{};
};

template <class T>
class element_cursor<T, item_element> {
public:
    element_cursor(T* data, kernel::time_axis const& time, std::size_t)
        : data_(data), first_(time.first), at_(time.first), step_(time.step)
    {}

    void seek(std::size_t t) { at_ = first_ + static_cast<std::ptrdiff_t>(t) * step_; }
    void enter() {}
    void leave() { at_ += step_; }
    T& element() { return data_[at_]; }
    bool is_own(element_reshaped const&) const { return false; }
    bool is_copy(element_reshaped const&) const { return false; }

private:
    T* data_;
    std::ptrdiff_t first_;
    std::ptrdiff_t at_;
    std::ptrdiff_t step_;
};

template <class T, class ElementShape, bool Contiguous>
using cursor_over = std::conditional_t<(Contiguous || std::is_same_v<ElementShape, item_element>),
    element_cursor<T, ElementShape>, buffered_cursor<T, ElementShape>>;

/// True if an operand's elements are contiguous: slices along the leading axis of a row-major tensor are
/// row-major.
template <class X, bool LeadingAxis>
inline constexpr bool has_packed_elements = LeadingAxis && is_always_row_major<bare<X>>;

/// The cursor type of an operand X (const for an input).
template <class X, bool LeadingAxis>
using cursor_for = cursor_over<std::conditional_t<std::is_const_v<X>, item_t<X> const, item_t<X>>,
    typename element_shape<shape_type_t<bare<X>>, LeadingAxis>::type, has_packed_elements<X, LeadingAxis>>;

/// A state during a loop. Arithmetic states are kept in a local copy and written back by the destructor, also
/// during unwinding: through the caller's reference the compiler would have to store and reload the state
/// around every write to an output.
template <class State>
class local_state {
public:
    explicit local_state(State& state) : state_(state) {}
    State& get() { return state_; }

private:
    State& state_;
};
template <class State>
    requires std::is_arithmetic_v<State>
class local_state<State> {
public:
    explicit local_state(State& state) : target_(state), value_(state) {}
    local_state(local_state const&) = delete;
    ~local_state() { target_ = value_; }
    State& get() { return value_; }

private:
    State& target_;
    State value_;
};

/// The states of a loop, each a local_state.
template <class... States>
class local_states {
public:
    explicit local_states(std::tuple<States&...> const& states) : held_(states) {}

    /// Returns the states as a body's arguments.
    std::tuple<States&...> get()
    {
        return std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held_);
    }

private:
    std::tuple<local_state<States>...> held_;
};

/// Fills an output element with NaN in debug builds, so that one that the body does not write is noticed.
template <class T>
void poison([[maybe_unused]] T& item)
{
#ifndef NDEBUG
    if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        item = std::numeric_limits<T>::quiet_NaN();
#endif
}
template <class T, class Shape>
void poison([[maybe_unused]] basic_element_view<T, Shape>& element)
{
#ifndef NDEBUG
    if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        element = std::numeric_limits<T>::quiet_NaN();
#endif
}

/// The shape that a state must keep; not stored for scalars and fixed shapes.
template <class State>
class shape_guard {
public:
    explicit shape_guard(State const&) {}
    bool holds(State const&) const { return true; }
    shape expected() const { return {}; }
};

template <tensor State>
    requires(!is_fixed_shape<shape_type_t<State>>)
class shape_guard<State> {
public:
    explicit shape_guard(State const& state) : expected_(detail::extents_of(state)) {}
    bool holds(State const& state) const { return detail::is_shaped_like(state, expected_); }
    shape expected() const { return {expected_.begin(), expected_.end()}; }

private:
    extents_t<State> expected_;
};

} // namespace xloom::detail

// ==== xloom/run/scan/stacked_outputs.hpp ====
// Stacked outputs: the values that a body returned in all iterations, along a new axis.

// ==== xloom/check/scan.hpp ====
// Shape requirements of Scan.

// ==== xloom/scan_options.hpp ====
// The options of scan, scan_into, scan_list and scan_batched.

namespace xloom {

/// The direction in which a scan traverses an input or an output.
enum class scan_direction { forward, reverse };

using scan_directions = option_list<scan_direction, max_operands>;

/// Options of Scan. An empty list means axis 0, or forward, for every input or output; otherwise a list has
/// one entry for each.
struct scan_options {
    axes scan_input_axes{};                   ///< the time axis of each scan input; negative: from the back
    axes scan_output_axes{};                  ///< the time axis of each scan output (rank = element rank + 1)
    scan_directions scan_input_directions{};  ///< reverse: iteration t reads element T-1-t
    scan_directions scan_output_directions{}; ///< reverse: iteration t writes element T-1-t
    std::optional<std::size_t> length{};      ///< the number of iterations; required only without scan inputs
};

/// Options of Scan-8, which has neither axes nor output directions to choose.
struct scan_batched_options {
    scan_directions directions{};        ///< empty: forward, for every input
    std::optional<std::size_t> length{}; ///< the longest sequence T; required only without scan inputs
};

} // namespace xloom

namespace xloom::detail {

constexpr std::int64_t axis_option(axes const& list, std::size_t i) { return list.empty() ? 0 : list[i]; }

constexpr bool is_reverse(scan_directions const& list, std::size_t i)
{
    return !list.empty() && list[i] == scan_direction::reverse;
}

template <class List>
constexpr void check_entries(
    std::string_view op, std::string_view option, List const& list, std::size_t operands, std::string_view of)
{
    if (!list.empty() && list.given() != operands)
        fail<option_error>(op, ": ", option, " must be empty or have one entry for each of the ", operands,
            " ", of, ", but it has ", list.given(), ". Leave it empty or give it one for each.");
}

constexpr void check_count(std::string_view op, std::size_t operands, std::string_view of)
{
    if (operands > max_operands)
        fail<option_error>(op, ": there may be at most ", max_operands,
            " operands of one kind (max_operands), but there are ", operands, " ", of,
            ". Stack some of them into one tensor.");
}

constexpr bool is_direction(scan_direction direction)
{
    return direction == scan_direction::forward || direction == scan_direction::reverse;
}

inline fact_list describe_directions(std::string_view option, scan_directions const& list)
{
    fact_list wrong;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (!is_direction(list[i]))
            wrong.add(option, "[", i, "] is ", static_cast<int>(list[i]));
    return wrong;
}

constexpr void check_directions(std::string_view op, std::string_view option, scan_directions const& list)
{
    if (!std::all_of(list.begin(), list.end(), is_direction))
        fail<option_error>(op, ": a direction must be forward (0) or reverse (1), but ",
            describe_directions(option, list), ". Name one of scan_direction's two.");
}

inline fact_list describe_scalars(std::string_view name, std::span<shape const> operands)
{
    fact_list scalars;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].empty())
            scalars.add(name, "[", i, "] has rank 0");
    return scalars;
}

inline fact_list describe_axes(
    std::string_view name, std::span<shape const> operands, std::string_view option, axes const& list)
{
    fact_list wrong;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!is_axis(axis_option(list, i), operands[i].size()))
            wrong.add(option, "[", i, "] is ", axis_option(list, i), " for ", name, "[", i, "] of the shape ",
                operands[i]);
    return wrong;
}

/// Requires that every operand has its time axis.
constexpr void check_time_axes(std::string_view op, std::string_view name, std::span<shape const> operands,
    std::string_view option, axes const& list)
{
    bool has_axis = true;
    bool is_in_range = true;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        has_axis = has_axis && !operands[i].empty();
        is_in_range = is_in_range && is_axis(axis_option(list, i), operands[i].size());
    }
    if (!has_axis)
        fail<shape_error>(op, ": each of ", name, " must have at least one axis, but ",
            describe_scalars(name, operands), ". Give it an axis for the iterations.");
    if (!is_in_range)
        fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but ",
            describe_axes(name, operands, option, list), ". Name an axis that the tensor has.");
}

/// True if an error text lists all of the operands that must agree. Of more it lists the first one, and those
/// that differ from it.
constexpr bool are_all_listed(std::size_t operands) { return operands <= fact_list::most_listed; }

/// Lists the lengths of operands along their time axes: all of them, or those other than `length`.
inline fact_list describe_lengths(std::string_view name, std::span<shape const> operands, axes const& list,
    std::optional<std::size_t> length = {})
{
    auto const length_of = [&](std::size_t i) {
        return operands[i][wrap_axis(axis_option(list, i), operands[i].size())];
    };
    fact_list lengths;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        bool const is_listed =
            length ? length_of(i) != *length
                   : i == 0 || length_of(i) != length_of(0) || are_all_listed(operands.size());
        if (is_listed)
            lengths.add(name, "[", i, "] has ", length_of(i), " (axis ",
                wrap_axis(axis_option(list, i), operands[i].size()), " of ", operands[i], ")");
    }
    return lengths;
}

/// Checks the operands and options of Scan and returns its number of iterations T.
///
/// Errors    option_error: more than max_operands; numbers of axes or directions; an invalid direction; no
///           length or another one than that of the inputs. shape_error: rank 0, an axis out of range,
///           unequal lengths.
/// Source    ONNX Scan-25, text and inference; ONNX's inference checks neither the directions nor the number
///           of their entries.
[[gnu::noinline]] constexpr std::size_t check_scan(
    std::string_view op, std::span<shape const> inputs, std::size_t outputs, scan_options const& options)
{
    check_count(op, inputs.size(), "scan inputs");
    check_count(op, outputs, "scan outputs");
    check_entries(op, "scan_input_axes", options.scan_input_axes, inputs.size(), "scan inputs");
    check_entries(op, "scan_input_directions", options.scan_input_directions, inputs.size(), "scan inputs");
    check_entries(op, "scan_output_axes", options.scan_output_axes, outputs, "scan outputs");
    check_entries(op, "scan_output_directions", options.scan_output_directions, outputs, "scan outputs");
    check_directions(op, "scan_input_directions", options.scan_input_directions);
    check_directions(op, "scan_output_directions", options.scan_output_directions);
    check_time_axes(op, "scan_inputs", inputs, "scan_input_axes", options.scan_input_axes);

    std::optional<std::size_t> length;
    bool agree = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::size_t const own =
            inputs[i][wrap_axis(axis_option(options.scan_input_axes, i), inputs[i].size())];
        agree = agree && own == length.value_or(own);
        length = own;
    }
    if (!agree)
        fail<shape_error>(op, ": all scan inputs must have the same sequence length, but ",
            describe_lengths("scan_inputs", inputs, options.scan_input_axes),
            ". Cut them to one length, or name other axes.");
    if (!length && !options.length)
        fail<option_error>(op, ": without scan inputs the number of iterations must be given, but "
                               "options.length is empty. Set it.");
    if (length && options.length && *length != *options.length)
        fail<option_error>(op, ": options.length must be the scan inputs' sequence length, but it is ",
            *options.length, " and ", describe_lengths("scan_inputs", inputs, options.scan_input_axes),
            ". Leave it empty.");
    return length ? *length : *options.length;
}

/// Requires that outputs that are written in place have exactly T elements.
///
/// Errors    shape_error: rank 0, an axis out of range, another length.
[[gnu::noinline]] constexpr void check_scan_outputs(
    std::string_view op, std::span<shape const> outputs, std::size_t length, scan_options const& options)
{
    check_time_axes(op, "scan_outputs", outputs, "scan_output_axes", options.scan_output_axes);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i][wrap_axis(axis_option(options.scan_output_axes, i), outputs[i].size())] != length)
            fail<shape_error>(op, ": every scan output must be as long as the scan, which has ", length,
                " iterations, but ",
                describe_lengths("scan_outputs", outputs, options.scan_output_axes, length),
                ". Give it an element for each iteration.");
}

inline fact_list describe_fixed_axes(
    std::string_view name, std::span<std::size_t const> ranks, std::string_view option, axes const& list)
{
    fact_list wrong;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i] != 0 && wrap_axis(axis_option(list, i), ranks[i]) != 0)
            wrong.add(
                option, "[", i, "] is ", axis_option(list, i), " for ", name, "[", i, "] of rank ", ranks[i]);
    return wrong;
}

/// Requires that time is axis 0 of every operand whose type has a fixed shape. `fixed_ranks` has the ranks of
/// these, and 0 for others. Requires check_scan, and check_scan_outputs or check_output_axes.
///
/// Errors    option_error: another axis.
[[gnu::noinline]] constexpr void check_fixed_axes(std::string_view op, std::string_view name,
    std::span<std::size_t const> fixed_ranks, std::string_view option, axes const& list)
{
    bool is_leading = true;
    for (std::size_t i = 0; i < fixed_ranks.size(); ++i)
        is_leading =
            is_leading && (fixed_ranks[i] == 0 || wrap_axis(axis_option(list, i), fixed_ranks[i]) == 0);
    if (!is_leading)
        fail<option_error>(op, ": a tensor whose type has a fixed shape must be scanned along axis 0, but ",
            describe_fixed_axes(name, fixed_ranks, option, list), ". Use an xt::xtensor, or a view.");
}

/// Returns the rank of an output that stacks elements of this rank; max_rank for a dynamic_rank.
constexpr std::size_t stacked_rank(std::size_t element_rank)
{
    return element_rank == dynamic_rank ? max_rank : element_rank + 1;
}

inline fact_list describe_output_axes(std::span<std::size_t const> element_ranks, axes const& list)
{
    fact_list wrong;
    for (std::size_t i = 0; i < element_ranks.size(); ++i)
        if (std::size_t const rank = stacked_rank(element_ranks[i]); !is_axis(axis_option(list, i), rank))
            wrong.add("scan_output_axes[", i, "] is ", axis_option(list, i), " for scan_outputs[", i,
                "] of rank ", element_ranks[i] == dynamic_rank ? "at most " : "", rank);
    return wrong;
}

/// Requires that outputs that stack elements of these ranks have the axes of options.scan_output_axes. For a
/// dynamic_rank any axis of a tensor of max_rank passes; stacked_shape checks it once the shape of an element
/// is known.
///
/// Errors    shape_error: an axis out of range.
[[gnu::noinline]] constexpr void check_output_axes(
    std::string_view op, std::span<std::size_t const> element_ranks, scan_options const& options)
{
    bool is_in_range = true;
    for (std::size_t i = 0; i < element_ranks.size(); ++i)
        is_in_range =
            is_in_range && is_axis(axis_option(options.scan_output_axes, i), stacked_rank(element_ranks[i]));
    if (!is_in_range)
        fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but ",
            describe_output_axes(element_ranks, options.scan_output_axes),
            ". Name an axis that the tensor has.");
}

/// Returns the shape of an output that stacks `length` elements along options.scan_output_axes[i].
///
/// Errors    shape_error: over max_rank, an axis out of range, a size that overflows.
constexpr shape stacked_shape(std::string_view op, std::size_t i, shape const& element, std::size_t length,
    std::size_t item_bytes, scan_options const& options)
{
    std::int64_t const axis = axis_option(options.scan_output_axes, i);
    std::size_t const rank = element.size() + 1;
    if (rank > max_rank)
        fail<shape_error>(op, ": a tensor may have at most ", max_rank, " axes (max_rank), but scan_outputs[",
            i, "] would stack elements of the shape ", element, ". Return elements of a lower rank.");
    if (!is_axis(axis, rank))
        fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[",
            i, "] is ", axis, " for scan_outputs[", i, "] of rank ", rank, ", with elements of the shape ",
            element, ". Name an axis that the tensor has.");
    shape const dims = insert_axis(element, wrap_axis(axis, rank), length);
    if (!has_strides(dims, item_bytes))
        fail<shape_error>(op, ": the size of a result must fit in memory, but scan_outputs[", i,
            "] would have the shape ", dims, ". Run fewer iterations.");
    return dims;
}

/// Throws body_error for an operand that must keep its shape `was`, but has the shape `is` after the body. A
/// batched operator passes the row.
[[noreturn]] inline void fail_reshaped(std::string_view op, std::string_view operand, std::size_t i,
    shape const& was, std::string_view is, std::size_t iteration, std::optional<std::size_t> row = {})
{
    fail<body_error>(op, ": ", operand, " must keep their shapes in every iteration, but ", operand, "[", i,
        "] was ", was, " and the body made it ", is, " at iteration ", iteration,
        row ? concat(" of row ", *row) : std::string(), ". Return a value of the original shape.");
}

} // namespace xloom::detail

namespace xloom::detail {

inline constexpr std::size_t dynamic_length = static_cast<std::size_t>(-1);

template <class Y, std::size_t Length>
consteval auto stacked_type()
{
    if constexpr (!tensor<Y>) {
        if constexpr (Length == dynamic_length)
            return std::type_identity<xt::xtensor<Y, 1>>{};
        else
            return std::type_identity<xt::xtensor_fixed<Y, xt::fixed_shape<Length>>>{};
    } else if constexpr (is_fixed_shape<shape_type_t<Y>> && Length != dynamic_length) {
        return []<std::size_t... Dims>(xt::fixed_shape<Dims...>) {
            return std::type_identity<xt::xtensor_fixed<item_t<Y>, xt::fixed_shape<Length, Dims...>>>{};
        }(shape_type_t<Y>{});
    } else {
        constexpr std::size_t rank = enable_tensor<Y>::rank;
        return std::type_identity<
            typename enable_tensor<Y>::template rebind<rank == dynamic_rank ? dynamic_rank : rank + 1>>{};
    }
}

/// The container that stacks values of type Y: the same family with one rank more; scalars give an
/// xt::xtensor<Y, 1>. With a static number of iterations, scalars and values of fixed shape give an
/// xt::xtensor_fixed.
template <class Y, std::size_t Length>
using stacked_t = typename decltype(stacked_type<Y, Length>())::type;

/// A writer of elements, one by one, into a tensor allocated for them.
template <class Item>
class output_writer {
public:
    output_writer() = default;

    output_writer(Item* data, kernel::time_axis const& time)
        : data_(data),
          at_(time.first),
          step_(time.step),
          element_(time.element),
          in_place_(is_row_major(time.element)),
          count_(element_count(time.element.dims))
    {}

    shape const& element_shape() const { return element_.dims; }

    /// Writes the next element. Requires is_shaped_like(y, element_shape()) and space for another element.
    template <class Y>
    void push(Y const& y)
    {
        if constexpr (!tensor<Y>)
            data_[at_] = y;
        else if (is_always_row_major<Y> && in_place_)
            std::copy_n(enable_tensor<Y>::data(y), count_, data_ + at_);
        else
            kernel::strided_copy(element_.dims, detail::layout_of(y).strides, element_.strides)(
                enable_tensor<Y>::data(y), data_ + at_);
        at_ += step_;
    }

    void skip(std::size_t elements) { at_ += static_cast<std::ptrdiff_t>(elements) * step_; }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t at_ = 0;
    std::ptrdiff_t step_ = 0;
    strided_layout element_{};
    bool in_place_ = true;
    std::size_t count_ = 0;
};

/// Returns the shape of an element that a body returned for output k.
///
/// Errors    shape_error: over max_rank.
template <class Y>
shape output_element_shape(std::string_view op, std::size_t k, Y const& value)
{
    check_rank(op, "scan_outputs", detail::rank_of(value), k);
    return detail::shape_of(value);
}

/// The rank of an element; dynamic_rank if its type does not fix it.
template <class Y>
inline constexpr std::size_t element_rank = 0;
template <tensor Y>
inline constexpr std::size_t element_rank<Y> = enable_tensor<Y>::rank;

/// Returns the shape that is known from an element's type: a fixed shape's dimensions, 0 for those of a
/// static rank.
template <class Y>
shape shape_of_type()
{
    if constexpr (!tensor<Y>)
        return {};
    else if constexpr (is_fixed_shape<shape_type_t<Y>>)
        return
            []<std::size_t... Dims>(xt::fixed_shape<Dims...>) { return shape{Dims...}; }(shape_type_t<Y>{});
    else
        return enable_tensor<Y>::rank == dynamic_rank ? shape{} : shape(enable_tensor<Y>::rank, 0);
}

/// Allocates a result of the given shape; does nothing if the shape is fixed.
template <class Stacked>
void make_shape(Stacked& result, shape const& dims)
{
    if constexpr (!is_fixed_shape<shape_type_t<Stacked>>)
        result = enable_tensor<Stacked>::make(dims);
}

template <class Outputs, std::size_t Length>
struct stacked_tuple {
    using type = stacked_t<Outputs, Length>;
    using writers = std::tuple<output_writer<item_t<type>>>;
    using values = std::tuple<Outputs>;
    static constexpr std::array<std::size_t, 1> ranks = {element_rank<Outputs>};
};
template <class... Ys, std::size_t Length>
struct stacked_tuple<std::tuple<Ys...>, Length> {
    using type = std::tuple<stacked_t<Ys, Length>...>;
    using writers = std::tuple<output_writer<item_t<stacked_t<Ys, Length>>>...>;
    using values = std::tuple<Ys...>;
    static constexpr std::array<std::size_t, sizeof...(Ys)> ranks = {element_rank<Ys>...};
};

/// The scan outputs of a run, allocated when the first elements determine the shapes.
template <class Outputs, std::size_t Length>
class stacked_outputs {
    using pack = stacked_tuple<Outputs, Length>;

public:
    using type = typename pack::type;

    /// The ranks of the elements.
    static constexpr auto const& ranks = pack::ranks;

    /// Allocates `length` elements of the shapes of `values`, a tuple of references.
    template <class Values>
    void open(std::string_view op, Values const& values, std::size_t length, scan_options const& options)
    {
        auto const results = detail::leaves(results_);
        std::array<shape, std::tuple_size_v<Values>> all_dims;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using stacked = bare<decltype(std::get<k>(results))>;
            all_dims[k] = stacked_shape(
                op, k, output_element_shape(op, k, value), length, sizeof(item_t<stacked>), options);
        });
        detail::for_each_leaf(results, [&](auto k, auto& result) {
            using stacked = bare<decltype(result)>;
            std::size_t const axis = wrap_axis(axis_option(options.scan_output_axes, k), all_dims[k].size());
            detail::make_shape(result, all_dims[k]);
            std::get<k>(writers_) = {enable_tensor<stacked>::data(result),
                kernel::time_axis(
                    detail::layout_of(result), axis, length, is_reverse(options.scan_output_directions, k))};
        });
    }

    /// Allocates the outputs of zero iterations: the dimensions that the types do not fix are 0; a dynamic
    /// rank gives [0].
    void open_empty(std::string_view op, scan_options const& options)
    {
        detail::for_each_leaf(detail::leaves(results_), [&](auto k, auto& result) {
            using value = std::tuple_element_t<k, typename pack::values>;
            using item = item_t<decltype(result)>;
            if constexpr (enable_tensor<bare<decltype(result)>>::rank == dynamic_rank)
                detail::make_shape(result, {0});
            else
                detail::make_shape(
                    result, stacked_shape(op, k, shape_of_type<value>(), 0, sizeof(item), options));
        });
    }

    /// Appends the elements of iteration t, a tuple of references. Requires open().
    template <class Values>
    void push(std::string_view op, Values const& values, std::size_t t)
    {
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            auto const& writer = std::get<k>(writers_);
            if (!detail::is_shaped_like(value, writer.element_shape()))
                detail::fail_reshaped(
                    op, "scan_outputs", k, writer.element_shape(), detail::describe_shape(value), t);
        });
        detail::for_each_leaf(values, [&](auto k, auto const& value) { std::get<k>(writers_).push(value); });
    }

    /// Reallocates every result, stacked along axis 0, for `length` elements and keeps the first `kept`.
    void resize(std::string_view op, std::size_t length, std::size_t kept)
    {
        detail::for_each_leaf(detail::leaves(results_), [&](auto k, auto& result) {
            using stacked = bare<decltype(result)>;
            auto& writer = std::get<k>(writers_);
            stacked resized = enable_tensor<stacked>::make(
                stacked_shape(op, k, writer.element_shape(), length, sizeof(item_t<stacked>), {}));
            strided_layout const to = detail::layout_of(resized);
            kernel::strided_copy(
                insert_axis(writer.element_shape(), 0, kept), detail::layout_of(result).strides, to.strides)(
                enable_tensor<stacked>::data(std::as_const(result)), enable_tensor<stacked>::data(resized));
            result = std::move(resized);
            writer = {enable_tensor<stacked>::data(result), kernel::time_axis(to, 0, length, false)};
            writer.skip(kept);
        });
    }

    type&& finish() && { return std::move(results_); }

private:
    type results_{};
    typename pack::writers writers_{};
};

} // namespace xloom::detail

namespace xloom::detail {

/// The result type of a body called with these arguments, if it is callable.
template <class Body, class Arguments>
struct call_of {
    static constexpr bool is_valid = false;
};
template <class Body, class... Arguments>
    requires std::is_invocable_v<Body&, Arguments...>
struct call_of<Body, std::tuple<Arguments...>> {
    static constexpr bool is_valid = true;
    using result = std::invoke_result_t<Body&, Arguments...>;
};

template <class... Tuples>
using joined_t = decltype(std::tuple_cat(std::declval<Tuples>()...));

/// True if a condition holds for every leaf type, references removed.
template <template <class> class Condition, class Leaves>
inline constexpr bool every_leaf = true;
template <template <class> class Condition, class... Xs>
inline constexpr bool every_leaf<Condition, std::tuple<Xs...>> =
    (Condition<std::remove_reference_t<Xs>>::value && ...);

/// True for a scan input: a tensor or a lazy expression, of a rank that is not known to be 0.
template <class X>
struct is_scan_input : std::bool_constant<lazy<X>> {};
template <tensor X>
struct is_scan_input<X> : std::bool_constant<enable_tensor<bare<X>>::rank != 0> {};

template <class X>
using is_scan_output = std::bool_constant<tensor<X> && is_scan_input<X>::value>;

template <class X>
concept has_data_and_size = requires(X const& x) { x.data() + x.size(); };

/// False for contiguous memory that is not a tensor here, such as a std::vector or an Eigen matrix.
template <class X>
struct is_no_foreign_memory : std::bool_constant<!has_data_and_size<X>> {};
template <class X>
    requires(tensor<X> || lazy<X>)
struct is_no_foreign_memory<X> : std::true_type {};

template <class X>
using is_scan_state = std::bool_constant<!lazy<X> && !has_sequence<bare<X>>>;

/// The static length of axis 0; dynamic_length unless the shape is fixed.
template <class X>
struct leading_length : std::integral_constant<std::size_t, dynamic_length> {};
template <std::size_t First, std::size_t... Rest>
struct leading_length<xt::fixed_shape<First, Rest...>> : std::integral_constant<std::size_t, First> {};
template <tensor X>
struct leading_length<X> : leading_length<shape_type_t<X>> {};

/// The number of iterations that operands of fixed shapes agree on; dynamic_length if one is not fixed.
template <class Leaves>
struct static_length {
    static constexpr bool agrees = true;
    static constexpr std::size_t value = dynamic_length;
};
template <class X, class... Xs>
struct static_length<std::tuple<X, Xs...>> {
    using rest = static_length<std::tuple<Xs...>>;
    static constexpr std::size_t first = leading_length<bare<X>>::value;
    static constexpr bool agrees =
        rest::agrees && ((first == leading_length<bare<Xs>>::value || first == dynamic_length ||
                             leading_length<bare<Xs>>::value == dynamic_length) &&
                            ...);
    static constexpr std::size_t value = sizeof...(Xs) == 0 || first == rest::value ? first : dynamic_length;
};

/// The rank of a type with a fixed shape, 0 for other types. check_fixed_axes requires that time is axis 0 of
/// the former.
template <class X>
inline constexpr std::size_t fixed_rank = 0;
template <tensor X>
    requires is_fixed_shape<shape_type_t<X>>
inline constexpr std::size_t fixed_rank<X> = enable_tensor<X>::rank;

/// The ranks of the leaves whose types have fixed shapes, 0 for the others.
template <class Leaves>
struct fixed_ranks;
template <class... Xs>
struct fixed_ranks<std::tuple<Xs...>> {
    static constexpr std::array<std::size_t, sizeof...(Xs)> value{fixed_rank<bare<Xs>>...};
};

/// Cursors over operands, and the argument types that a body receives from them. Time is axis 0 of every
/// operand (LeadingAxis), or else of those whose types have fixed shapes.
template <class Leaves, bool LeadingAxis>
struct cursor_set;
template <class... Xs, bool LeadingAxis>
struct cursor_set<std::tuple<Xs...>, LeadingAxis> {
    template <class X>
    using cursor = cursor_for<std::remove_reference_t<X>, LeadingAxis || fixed_rank<bare<X>> != 0>;

    using cursors = std::tuple<cursor<Xs>...>;
    using input_arguments = std::tuple<decltype(std::as_const(std::declval<cursor<Xs>&>().element()))...>;
    using output_arguments = std::tuple<decltype(std::declval<cursor<Xs>&>().element())...>;

    /// Returns cursors over the operands' elements of some iterations. Requires the operands' own `places`,
    /// checked.
    template <class Places>
    static cursors start(
        std::tuple<Xs...> const& operands, Places const& places, kernel::iterations const& range)
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return cursors{cursor<Xs>(enable_tensor<bare<Xs>>::data(std::get<I>(operands)),
                kernel::time_axis(places[I].memory.layout, places[I].axis, range.length, places[I].reverse)
                    .from(range.begin),
                range.count())...};
        }(std::index_sequence_for<Xs...>{});
    }
};

template <class... Cursors>
void enter_all(std::tuple<Cursors...>& cursors)
{
    std::apply([](auto&... each) { (each.enter(), ...); }, cursors);
}

template <class... Cursors>
void leave_all(std::tuple<Cursors...>& cursors)
{
    std::apply([](auto&... each) { (each.leave(), ...); }, cursors);
}

/// Returns the current elements as a body's arguments: inputs are const, outputs are not.
template <class... Cursors>
auto input_elements(std::tuple<Cursors...>& cursors)
{
    return std::apply(
        [](auto&... each) {
            return std::tuple<decltype(std::as_const(each.element()))...>(each.element()...);
        },
        cursors);
}
template <class... Cursors>
auto output_elements(std::tuple<Cursors...>& cursors)
{
    return std::apply(
        [](auto&... each) { return std::tuple<decltype(each.element())...>(each.element()...); }, cursors);
}

template <class... Xs>
std::tuple<Xs const&...> const_leaves(std::tuple<Xs&...> const& leaves)
{
    return leaves;
}

/// Returns body(arguments of the first tuple..., of the second tuple..., ...).
template <class Body, class... Arguments>
decltype(auto) call_body(Body& body, Arguments&&... arguments)
{
    return std::apply(body, std::tuple_cat(static_cast<Arguments&&>(arguments)...));
}

/// Throws a body_error that names the output if the element that was assigned another shape is one of these
/// outputs.
template <class... Cursors>
void fail_if_own(std::string_view op, std::tuple<Cursors...> const& outputs, element_reshaped const& found,
    std::size_t iteration)
{
    detail::for_each_leaf(outputs, [&](auto k, auto const& cursor) {
        if (cursor.is_own(found))
            detail::fail_reshaped(op, "scan_outputs", k, found.is(), found.assigned(), iteration);
    });
    detail::for_each_leaf(outputs, [&](auto k, auto const& cursor) {
        if (cursor.is_copy(found))
            detail::fail_reshaped(op, "scan_outputs", k, found.is(), found.assigned(), iteration);
    });
}

/// Runs a function that calls the body. Without exceptions, element_reshaped is reported as it is, without
/// the output's name.
template <class Cursors, class Iteration, class Run>
void run_bodies([[maybe_unused]] std::string_view op, [[maybe_unused]] Cursors const& outputs,
    [[maybe_unused]] Iteration const& iteration, Run const& run)
{
#ifdef __cpp_exceptions
    try {
        run();
    } catch (element_reshaped const& found) {
        detail::fail_if_own(op, outputs, found, static_cast<std::size_t>(iteration()));
        throw;
    }
#else
    run();
#endif
}

} // namespace xloom::detail

// ==== xloom/run/scan/step.hpp ====
// The values that pure bodies return, and their assignment to carried values.

// ==== xloom/run/scan/step_memory.hpp ====
// A memory pool for values that a body returns: every iteration reuses the same blocks.

namespace xloom::detail {

/// A pool of the blocks that values of one running operator free, for the next iteration's values. It keeps
/// at most as many blocks as were in use at once, the newest; older ones are freed, so that blocks of sizes
/// that no longer occur do not accumulate. The destructor frees the rest, when the operator returns. Each
/// operator on a thread's stack has its own pool; values that outlive it use operator new and delete.
class step_memory_pool {
public:
    step_memory_pool() : outer_(current) { current = this; }
    step_memory_pool(step_memory_pool const&) = delete;
    step_memory_pool& operator=(step_memory_pool const&) = delete;

    ~step_memory_pool()
    {
        current = outer_;
        while (oldest_)
            free_oldest();
    }

    static void* take(std::size_t bytes)
    {
        return current ? current->take_block(allocated(bytes)) : ::operator new(allocated(bytes));
    }

    static void give_back(void* memory, std::size_t bytes) noexcept
    {
        if (current)
            current->keep(memory, allocated(bytes));
        else
            ::operator delete(memory);
    }

private:
    /// A free block, which stores its own node of a list from the oldest to the newest.
    struct block {
        block* older;
        block* newer;
        std::size_t bytes;
    };

    static std::size_t allocated(std::size_t bytes) { return (std::max)(bytes, sizeof(block)); }

    void* take_block(std::size_t bytes)
    {
        block* found = newest_;
        while (found && found->bytes != bytes)
            found = found->older;
        if (found)
            unlink(*found);
        void* const memory = found ? found : ::operator new(bytes);
        most_in_use_ = (std::max)(most_in_use_, ++in_use_);
        return memory;
    }

    void keep(void* memory, std::size_t bytes) noexcept
    {
        if (in_use_ != 0) // values of an outer operator may be freed here
            --in_use_;
        block* const added = ::new (memory) block{newest_, nullptr, bytes};
        (newest_ ? newest_->newer : oldest_) = added;
        newest_ = added;
        if (++kept_ > most_in_use_)
            free_oldest();
    }

    void unlink(block const& each) noexcept
    {
        (each.older ? each.older->newer : oldest_) = each.newer;
        (each.newer ? each.newer->older : newest_) = each.older;
        --kept_;
    }

    void free_oldest() noexcept
    {
        block* const freed = oldest_;
        unlink(*freed);
        ::operator delete(freed);
    }

    static inline constinit thread_local step_memory_pool* current = nullptr;

    block* oldest_ = nullptr;
    block* newest_ = nullptr;
    std::size_t kept_ = 0;
    std::size_t in_use_ = 0;
    std::size_t most_in_use_ = 0;
    step_memory_pool* outer_;
};

/// A standard allocator over the running operator's step_memory_pool.
template <class T>
struct step_memory_allocator {
    using value_type = T;

    step_memory_allocator() = default;
    template <class U>
    step_memory_allocator(step_memory_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw_or_abort(std::bad_array_new_length());
        return static_cast<T*>(step_memory_pool::take(count * sizeof(T)));
    }
    void deallocate(T* items, std::size_t count) noexcept
    {
        step_memory_pool::give_back(items, count * sizeof(T));
    }

    friend bool operator==(step_memory_allocator, step_memory_allocator) noexcept { return true; }
};

} // namespace xloom::detail

namespace xloom::detail {

/// The type that a step stores for a value: lazy expressions and views become containers while the body's
/// variables exist.
///
/// Why not xtensor's allocator: it allocates aligned memory from the system, three to five times as slow for
/// the small tensors that bodies return. The values are copied into states and outputs at once.
template <class T>
struct stored {
    using type = owned_t<T>;
};
template <class T>
    requires(lazy<T> || tensor_view<T>)
struct stored<T> {
    template <class Item>
    using allocator = std::conditional_t<(alignof(Item) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__),
        step_memory_allocator<Item>, std::allocator<Item>>;
    template <class Owner>
    struct recycled {
        using type = Owner;
    };
    template <class Item, class Allocator, std::size_t Rank, xt::layout_type Layout, class Tag>
    struct recycled<xt::xtensor_container<xt::uvector<Item, Allocator>, Rank, Layout, Tag>> {
        using type = xt::xtensor_container<xt::uvector<Item, allocator<Item>>, Rank, Layout, Tag>;
    };
    template <class Item, class Allocator, xt::layout_type Layout, class Shape, class Tag>
    struct recycled<xt::xarray_container<xt::uvector<Item, Allocator>, Layout, Shape, Tag>> {
        using type = xt::xarray_container<xt::uvector<Item, allocator<Item>>, Layout, Shape, Tag>;
    };
    using type = typename recycled<owned_t<T>>::type;
};
template <class... Ts>
struct stored<std::tuple<Ts...>> {
    using type = std::tuple<typename stored<bare<Ts>>::type...>;
};
template <class T>
using stored_t = typename stored<bare<T>>::type;

/// False if a value may refer to variables of a body that has returned: lazy expressions and views.
template <class T>
inline constexpr bool is_self_contained = !lazy<T> && !tensor_view<T>;
template <class... Ts>
inline constexpr bool is_self_contained<std::tuple<Ts...>> = (is_self_contained<bare<Ts>> && ...);
template <class T>
inline constexpr bool is_self_contained<std::optional<T>> = is_self_contained<T>;
template <class T, class Allocator>
inline constexpr bool is_self_contained<std::vector<T, Allocator>> = is_self_contained<T>;

/// A tag for the values of a step that were not grouped in tuples: scan_step{a, b, y}.
struct loose_values {};

/// A tag for the state of a step whose condition is not a bool.
struct no_bool {};

/// False if the type of `to` has a fixed shape or static rank that differs from `from`'s. Two static ones
/// that differ are a compile-time error.
template <class To, class From>
bool has_room_for(To const& to, From const& from)
{
    if constexpr (std::is_same_v<To, From> || !tensor<To>)
        return true;
    else if constexpr (is_fixed_shape<shape_type_t<To>>)
        return detail::have_same_shape(to, from);
    else if constexpr (enable_tensor<To>::rank == dynamic_rank ||
                       enable_tensor<To>::rank == enable_tensor<From>::rank)
        return true;
    else
        return enable_tensor<To>::rank == detail::shape_of(from).size();
}

/// Assigns `from` to `to`: moves if the types are equal, otherwise copies the items. Requires a valid
/// replacement, and has_room_for(to, from).
template <class To, class From>
void assign_carried(To& to, From& from)
{
    if constexpr (std::is_same_v<To, From> || !tensor<To>) {
        to = std::move(from);
    } else {
        if (!detail::have_same_shape(to, from))
            to = enable_tensor<To>::make(detail::shape_of(from));
        detail::copy_items(from, to);
    }
}

} // namespace xloom::detail

namespace xloom {

/// The value that the body of scan returns: the next states, and this iteration's outputs. Construction
/// evaluates lazy xtensor expressions inside the body, so that none of them outlives the body's variables. A
/// body with several return statements must name one type, because a container and a lazy expression deduce
/// two: `-> xloom::scan_step<xt::xtensor<float, 1>>` before the braces, and `return {2 * h};`.
template <class State, class ScanOutputs = std::tuple<>>
struct scan_step {
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
scan_step(State&&) -> scan_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
scan_step(State&&, ScanOutputs&&) -> scan_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

/// The step deduced from three or more values, which scan rejects: states and outputs cannot be
/// distinguished.
template <>
struct scan_step<detail::loose_values> {
    explicit scan_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
scan_step(A const&, B const&, C const&, More const&...) -> scan_step<detail::loose_values>;

/// The result of scan and scan_batched: the states after the last iteration, and the stacked outputs.
template <class State, class ScanOutputs>
struct scan_result {
    State final_state;
    ScanOutputs scan_outputs;
};

namespace detail {

template <class T>
inline constexpr bool is_scan_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_scan_step<scan_step<State, ScanOutputs>> = true;
template <>
inline constexpr bool is_scan_step<scan_step<loose_values>> = false;

template <std::size_t N>
void place_in_time(std::array<placed_operand, N>& places, axes const& axis, scan_directions const& directions)
{
    for (std::size_t i = 0; i < N; ++i) {
        places[i].axis = wrap_axis(axis_option(axis, i), places[i].memory.layout.dims.size());
        places[i].reverse = is_reverse(directions, i);
    }
}

/// Runs the iterations of a pure scan over cursors; `push` receives the outputs of each. The final states are
/// left in `states`.
template <class Step, class Body, class States, class Elements, class Push>
void iterate(std::string_view op, Body& body, States const& states, Elements& elements, std::size_t length,
    Push&& push, std::optional<std::size_t> row = {})
{
    for (std::size_t t = 0; t < length; ++t) {
        detail::enter_all(elements);
        Step step = detail::call_body(body, detail::const_leaves(states), detail::input_elements(elements));
        detail::leave_all(elements);
        auto const returned = detail::leaves(step.state);
        detail::for_each_leaf(returned, [&](auto i, auto const& value) {
            if (!detail::have_same_shape(std::get<i>(states), value))
                detail::fail_reshaped(op, "states", i, detail::shape_of(std::get<i>(states)),
                    detail::describe_shape(value), t, row);
        });
        push(detail::leaves(step.scan_outputs), t);
        detail::for_each_leaf(
            returned, [&](auto i, auto& value) { detail::assign_carried(std::get<i>(states), value); });
    }
}

} // namespace detail
} // namespace xloom

// ==== xloom/run/scan/vjp_types.hpp ====
// Compile-time traits of the operands of derivatives.

namespace xloom::detail {

/// The types of a pack's values as const references: those of parameters in a body's arguments.
template <class Pack>
using const_leaves_t = decltype(detail::const_leaves(detail::leaves(std::declval<bare<Pack> const&>())));

/// True if two tuples have values of the same items in the same order.
template <class A, class B>
inline constexpr bool have_same_items = false;
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
inline constexpr bool have_same_items<std::tuple<As...>, std::tuple<Bs...>> =
    (std::is_same_v<item_t<As>, item_t<Bs>> && ...);

/// True for a parameter whose cotangent can begin as 0.
template <class X>
struct has_zero : std::bool_constant<tensor<X> || lazy<X> || std::is_constructible_v<bare<X>, int>> {};

/// The type of a callable with any arguments and this result. It has no definition.
template <class Result>
struct callable_returning {
    template <class... Arguments>
    Result operator()(Arguments&&...) const;
};

/// The pullback of a call that is not valid.
struct no_pullback {
    template <class... Cotangents>
    void operator()(Cotangents const&...) const
    {}
};

} // namespace xloom::detail

namespace xloom {

/// Options of check_vjp.
struct check_vjp_options {
    std::optional<double> tolerance{}; ///< none: 1e-6 for double and wider types, 1e-2 for float
    std::uint32_t seed = 1;            ///< of the cotangents, which are random numbers in [-1, 1]
};

/// An item of an operand whose derivative by the VJP differs from its difference quotient.
struct vjp_difference {
    std::string operand; ///< such as params[0]
    shape index;
    double vjp;
    double quotient;
};

/// The result of check_vjp, which is true if the VJP is right.
class vjp_report {
public:
    explicit operator bool() const noexcept { return differences_.empty(); }
    std::vector<vjp_difference> const& differences() const noexcept { return differences_; }
    void add(vjp_difference difference) { differences_.push_back(std::move(difference)); }

private:
    std::vector<vjp_difference> differences_{};
};

/// Returns a sentence about the first four differences.
inline std::string to_string(vjp_report const& report)
{
    if (report)
        return "the VJP agrees with the difference quotients";
    detail::fact_list facts;
    for (vjp_difference const& each : report.differences())
        facts.add(each.operand, each.index, " has ", std::to_string(each.vjp), " instead of ",
            std::to_string(each.quotient));
    return detail::concat("the VJP must agree with the difference quotients, but ", facts);
}

inline std::ostream& operator<<(std::ostream& to, vjp_report const& report)
{
    return to << to_string(report);
}

namespace detail {

/// Random numbers in [-1, 1], of the same values on every platform.
class cotangent_numbers {
public:
    explicit cotangent_numbers(std::uint32_t seed) : state_(seed) {}

    double operator()()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<double>(state_ >> 8) / (1 << 23) - 1;
    }

private:
    std::uint32_t state_;
};

/// Calls f(item) for each item of a tensor that owns its items, or for a scalar.
template <class X, class F>
void for_each_item(X& value, F const& f)
{
    if constexpr (tensor<X>) {
        auto* const first = enable_tensor<bare<X>>::data(value);
        std::size_t const count = element_count(detail::shape_of(value));
        for (std::size_t i = 0; i < count; ++i)
            f(first[i]);
    } else {
        f(value);
    }
}

/// True if difference quotients by this type exist.
template <class Item>
inline constexpr bool has_quotients = std::is_floating_point_v<Item>;

/// Compares a VJP with central differences of the sum of all results times cotangents. Operands is a tuple of
/// the states, the elements and the parameters.
template <class Operands>
class vjp_comparison {
public:
    vjp_comparison(Operands& operands, check_vjp_options const& options)
        : operands_(operands), options_(options)
    {}

    /// Returns a cotangent for a result, and the same one for a result of the same place in every call.
    template <class X>
    owned_t<X> cotangent_of(X const& result)
    {
        owned_t<X> ct = detail::zeros_like(result);
        detail::for_each_item(ct, [&](auto& item) {
            if constexpr (has_quotients<bare<decltype(item)>>) {
                item = static_cast<bare<decltype(item)>>(numbers_());
                weights_.push_back(static_cast<double>(item));
            }
        });
        return ct;
    }

    /// Compares the derivatives `ct_operand` of one operand with the quotients. evaluate(use) computes the
    /// results and calls use(result) for each.
    template <std::size_t I, class Ct, class Evaluate>
    void compare(std::string_view name, std::size_t number, Ct const& ct_operand, Evaluate const& evaluate,
        vjp_report& report) const
    {
        auto& operand = std::get<I>(operands_);
        using item = item_t<bare<decltype(operand)>>;
        if constexpr (has_quotients<item>) {
            double const tolerance =
                options_.tolerance.value_or(std::numeric_limits<item>::digits < 53 ? 1e-2 : 1e-6);
            std::vector<double> derivatives;
            detail::for_each_item(
                ct_operand, [&](item const& ct) { derivatives.push_back(static_cast<double>(ct)); });
            std::size_t flat = 0;
            detail::for_each_item(operand, [&](item& value) {
                item const original = value;
                item const step =
                    std::cbrt(std::numeric_limits<item>::epsilon()) * (std::max)(item(1), std::abs(original));
                value = original + step;
                item const above = value;
                double const sum_above = weighted_results(evaluate);
                value = original - step;
                double const quotient =
                    (sum_above - weighted_results(evaluate)) / static_cast<double>(above - value);
                value = original;
                double const vjp = derivatives[flat];
                if (!(std::abs(vjp - quotient) <= tolerance * (std::max)(1.0, std::abs(quotient))))
                    report.add({concat(name, "[", number, "]"), index_of(operand, flat), vjp, quotient});
                ++flat;
            });
        }
    }

private:
    template <class Evaluate>
    double weighted_results(Evaluate const& evaluate) const
    {
        double sum = 0;
        std::size_t next = 0;
        evaluate([&](auto const& result) {
            detail::for_each_item(result, [&](auto const& item) {
                if constexpr (has_quotients<bare<decltype(item)>>)
                    sum += next < weights_.size() ? weights_[next++] * static_cast<double>(item) : 0.0;
            });
        });
        return sum;
    }

    /// Returns the index of an item by its number in memory.
    template <class X>
    static shape index_of(X const& operand, std::size_t flat)
    {
        if constexpr (tensor<X>) {
            auto const [dims, steps] = detail::layout_of(operand);
            shape index;
            for (std::size_t axis = 0; axis < dims.size(); ++axis)
                index.push_back(
                    dims[axis] < 2 ? 0 : flat / static_cast<std::size_t>(steps[axis]) % dims[axis]);
            return index;
        } else {
            return {};
        }
    }

    Operands& operands_;
    check_vjp_options options_;
    cotangent_numbers numbers_{options_.seed};
    std::vector<double> weights_{};
};

/// Runs check_vjp. call_body(operands, use) runs the body on them and calls use(result) for the next states and
/// the outputs.
template <class State, class Elements, class Params, class CallBody, class BodyVjp>
vjp_report check_vjp(State const& states, Elements const& elements, Params const& params,
    CallBody const& call_body, BodyVjp& body_vjp, check_vjp_options const& options)
{
    auto const own = [](auto const& pack) {
        return std::apply(
            [](auto const&... value) { return std::tuple<owned_t<decltype(value)>...>(value...); },
            detail::leaves(pack));
    };
    auto const first = own(states);
    auto const x = own(elements);
    auto const p = own(params);
    auto operands = std::tuple_cat(first, x, p);
    constexpr std::size_t S = std::tuple_size_v<decltype(first)>, M = std::tuple_size_v<decltype(x)>,
                          P = std::tuple_size_v<decltype(p)>;
    vjp_comparison comparison(operands, options);

    auto const results = call_body(operands);
    auto cts = std::apply(
        [&](auto const&... result) { return std::tuple{comparison.cotangent_of(result)...}; }, results);
    vjp_report report;
    [&]<std::size_t... I, std::size_t... J, std::size_t... K, std::size_t... L>(std::index_sequence<I...>,
        std::index_sequence<J...>, std::index_sequence<K...>, std::index_sequence<L...>) {
        auto ct_x = std::tuple(detail::zeros_like(std::get<J>(x))...);
        auto ct_p = std::tuple(detail::zeros_like(std::get<K>(p))...);
        detail::call_body(body_vjp, detail::const_leaves(detail::leaves(first)), detail::leaves(x),
            detail::leaves(p), std::tie(std::as_const(std::get<S + L>(cts))...),
            std::tie(std::get<I>(cts)...), detail::leaves(ct_x), detail::leaves(ct_p));
        auto const evaluate = [&](auto const& use) {
            std::apply([&](auto const&... result) { (use(result), ...); }, call_body(operands));
        };
        (comparison.template compare<I>("states", I, std::get<I>(cts), evaluate, report), ...);
        (comparison.template compare<S + J>("elements", J, std::get<J>(ct_x), evaluate, report), ...);
        (comparison.template compare<S + M + K>("params", K, std::get<K>(ct_p), evaluate, report), ...);
    }(std::make_index_sequence<S>{}, std::make_index_sequence<M>{}, std::make_index_sequence<P>{},
        std::make_index_sequence<std::tuple_size_v<decltype(cts)> - S>{});
    return report;
}

} // namespace detail

/// Compares the VJP of a scan's body with central differences, and returns the items that differ.
///
/// body(state const&..., element const&..., param const&...) -> scan_step and body_vjp are those of scan_vjp.
/// states, elements and params are the arguments of one iteration: each one value or a flat std::tuple of
/// tensors and scalars. The results are multiplied by random cotangents; every item of every operand is then
/// varied by the cube root of its type's epsilon.
///
/// Types     items of floating-point types are varied, others are not.
/// Options   check_vjp_options. The tolerance is relative to the larger of 1 and the quotient.
/// Errors    exceptions of the bodies propagate.
/// Cost      two runs of the body for every item.
/// Source    JAX's jax.test_util.check_vjp.
/// Example
/// ```cpp
/// auto const body = [](double h, double x, double w) { return xloom::scan_step{w * h + x}; };
/// auto const wrong = [](double h, double, double w, double& ct_h, double& ct_x, double& ct_w) {
///     ct_x = ct_h;
///     ct_w += h; // times ct_h
///     ct_h *= w;
/// };
/// bool const is_right = bool(xloom::check_vjp(body, wrong, 0.5, 2.0, 0.25));
/// is_right; // = false
/// ```
template <class Body, class BodyVjp, class State, class Elements, class Params = std::tuple<>>
vjp_report check_vjp(Body&& body, BodyVjp&& body_vjp, State const& states, Elements const& elements,
    Params const& params = {}, check_vjp_options const& options = {})
{
    auto const call_body = [&](auto const& operands) {
        auto step = std::apply(body, operands);
        return std::apply(
            [](auto&... value) { return std::tuple<detail::owned_t<decltype(value)>...>(value...); },
            std::tuple_cat(detail::leaves(step.state), detail::leaves(step.scan_outputs)));
    };
    return detail::check_vjp(states, elements, params, call_body, body_vjp, options);
}

/// Compares the VJP of a body of scan_forward_into. `outputs` are values of the shapes of its output elements.
template <class Body, class BodyVjp, class State, class Elements, class Params, class Outputs>
vjp_report check_vjp_into(Body&& body, BodyVjp&& body_vjp, State const& states, Elements const& elements,
    Params const& params, Outputs const& outputs, check_vjp_options const& options = {})
{
    constexpr std::size_t S = detail::leaf_count<State const>;
    auto const call_body = [&](auto const& operands) {
        auto results = std::apply(
            [](auto const&... value) { return std::tuple<detail::owned_t<decltype(value)>...>(value...); },
            std::tuple_cat(detail::leaves(states), detail::leaves(outputs)));
        [&]<std::size_t... I, std::size_t... J, std::size_t... K>(
            std::index_sequence<I...>, std::index_sequence<J...>, std::index_sequence<K...>) {
            ((std::get<I>(results) = std::get<I>(operands)), ...);
            body(std::get<I>(results)..., std::get<S + J>(operands)..., std::get<S + K>(results)...);
        }(std::make_index_sequence<S>{},
            std::make_index_sequence<std::tuple_size_v<detail::bare<decltype(operands)>> - S>{},
            std::make_index_sequence<std::tuple_size_v<decltype(results)> - S>{});
        return results;
    };
    return detail::check_vjp(states, elements, params, call_body, body_vjp, options);
}

} // namespace xloom

// ==== xloom/gather_nd.hpp ====
// The GatherND operator: gathers the slices that indices name.

// ==== xloom/run/indexed/gather_call.hpp ====
// A call of GatherND: the constructor checks the operands, run() executes it.

// ==== xloom/check/gather_nd.hpp ====
// Shape requirements of GatherND.

// ==== xloom/check/scatter_nd.hpp ====
// Shape requirements of ScatterND.

// ==== xloom/scatter_nd_options.hpp ====
// The options of scatter_nd and scatter_nd_into.

// ==== xloom/core/bounds.hpp ====
// The handling of out-of-range indices.

namespace xloom {

/// The handling of out-of-range indices. check: throws index_error before the first write.  assume: the
/// caller guarantees that there is none; verified in debug builds only.  drop: omits the update or element.
/// clip: clamps to the nearest valid index. An index from -d to -1 is in range for an axis of length d and
/// counts from the end.
enum class bounds : unsigned char { check, assume, drop, clip };

namespace detail {

/// True if kernels may assume that every index is in range.
constexpr bool guarantees_in_range(bounds rule) noexcept
{
    return rule == bounds::check || rule == bounds::assume;
}

} // namespace detail

} // namespace xloom

// ==== xloom/core/duplicates.hpp ====
// The handling of several updates of one slice.

namespace xloom {

/// The handling of several updates of one slice with reduction none: the last or the first one is written, or
/// an error is thrown.
enum class duplicates : unsigned char { last, first, error };

} // namespace xloom

// ==== xloom/core/reduction.hpp ====
// ONNX's reductions as function objects, for every type for which they are defined.

namespace xloom {

/// The values of ONNX's attribute `reduction`, and the mean.
enum class reduction : unsigned char { none, add, mul, max, min, mean };

/// Returns the value of ONNX's attribute, such as "add".
constexpr std::string_view name_of(reduction kind) noexcept
{
    constexpr std::string_view names[] = {"none", "add", "mul", "max", "min", "mean"};
    auto const number = static_cast<std::size_t>(kind);
    return number < std::size(names) ? names[number] : "unknown";
}

namespace detail {

template <class T>
inline constexpr bool is_string = false;
template <class Char, class Traits, class Allocator>
inline constexpr bool is_string<std::basic_string<Char, Traits, Allocator>> = true;

/// A string, vector or matrix: its operators * and <, if any, are not the product and order of numbers.
template <class T>
concept array_like = requires(T const& a) {
    a.size();
    a[0];
};

template <class T>
concept wrapping_integer = std::integral<T> && !std::same_as<T, bool>;

/// The unsigned type for wrap-around arithmetic on T, at least as wide as int, so that it is not promoted to
/// int.
template <wrapping_integer T>
using modular_t = std::make_unsigned_t<std::common_type_t<T, int>>;

template <class T>
concept summable = requires(T const& a) { static_cast<T>(a + a); };
template <class T>
concept multipliable = !array_like<T> && requires(T const& a) { static_cast<T>(a * a); };
template <class T>
concept ordered = !array_like<T> && requires(T const& a) {
    static_cast<bool>(a < a);
    static_cast<bool>(a != a);
};

} // namespace detail

/// The reduction none: the update. Every reduction is a function object: new value = reduce(old value,
/// update).
///
/// Integers wrap around. bool: add and max are or, mul and min are and. Strings: add concatenates, the others
/// do not exist. Complex numbers: add and mul only. max and min return NaN if either value is NaN, and the
/// old value if both are equal (-0 equals 0). Storage types are computed in float or int and rounded once per
/// update.
struct reduce_none_t {
    template <class T>
    constexpr T operator()(T const&, T const& update) const
    {
        return update;
    }
};

/// The reduction add: old + update.
struct reduce_add_t {
    template <detail::summable T>
    constexpr T operator()(T old, T const& update) const
    {
        if constexpr (std::same_as<T, bool>) {
            return old || update;
        } else if constexpr (detail::wrapping_integer<T>) {
            using modular = detail::modular_t<T>;
            return static_cast<T>(static_cast<modular>(old) + static_cast<modular>(update));
        } else if constexpr (detail::is_string<T>) {
            old += update;
            return old;
        } else {
            return static_cast<T>(old + update);
        }
    }
};

/// The reduction mul: old * update.
struct reduce_mul_t {
    template <detail::multipliable T>
    constexpr T operator()(T const& old, T const& update) const
    {
        if constexpr (std::same_as<T, bool>) {
            return old && update;
        } else if constexpr (detail::wrapping_integer<T>) {
            using modular = detail::modular_t<T>;
            return static_cast<T>(static_cast<modular>(old) * static_cast<modular>(update));
        } else {
            return static_cast<T>(old * update);
        }
    }
};

/// The reduction max: the larger of old and update.
struct reduce_max_t {
    template <detail::ordered T>
    constexpr T operator()(T const& old, T const& update) const
    {
        T const larger = old < update ? update : old; // old, if that is NaN
        return update != update ? update : larger;
    }
};

/// The reduction min: the smaller of old and update.
struct reduce_min_t {
    template <detail::ordered T>
    constexpr T operator()(T const& old, T const& update) const
    {
        T const smaller = update < old ? update : old;
        return update != update ? update : smaller;
    }
};

inline constexpr reduce_none_t reduce_none{};
inline constexpr reduce_add_t reduce_add{};
inline constexpr reduce_mul_t reduce_mul{};
inline constexpr reduce_max_t reduce_max{};
inline constexpr reduce_min_t reduce_min{};

namespace detail {

/// The type of the real part of a complex number; T itself for other types.
template <class T>
struct part_of {
    using type = T;
};
template <class T>
    requires requires { typename T::value_type; }
struct part_of<T> {
    using type = typename T::value_type;
};

template <class T>
using part_t = typename part_of<T>::type;

/// Converts a count to P, through double for a user-defined scalar whose constructor would narrow the count.
template <class P>
constexpr P part_from(std::size_t count)
{
    if constexpr (std::is_class_v<P> && std::is_constructible_v<P, double> && !requires { P{count}; })
        return P(static_cast<double>(count));
    else
        return static_cast<P>(count);
}

template <class T>
concept divisible_by_itself =
    requires(T const& sum, std::size_t count) { static_cast<T>(sum / T(static_cast<part_t<T>>(count))); };
template <class T>
concept divisible_by_part =
    requires(T const& sum, std::size_t count) { static_cast<T>(sum / static_cast<part_t<T>>(count)); };

/// The division sum / count; integers are rounded down.
struct divide_by_count {
    template <summable T>
        requires(!is_string<T> && !std::same_as<T, bool> &&
                 (number<T> || divisible_by_itself<T> || divisible_by_part<T>))
    constexpr T operator()(T const& sum, std::size_t count) const
    {
        if constexpr (std::unsigned_integral<T>) {
            return static_cast<T>(sum / count);
        } else if constexpr (number<T>) {
            if constexpr (std::integral<decltype(+sum)>) {
                auto const all = static_cast<std::int64_t>(+sum), n = static_cast<std::int64_t>(count);
                return static_cast<T>(all / n - (all % n < 0 ? 1 : 0));
            } else {
                return static_cast<T>(+sum / static_cast<decltype(+sum)>(count));
            }
        } else if constexpr (divisible_by_itself<T>) {
            return static_cast<T>(sum / T(part_from<part_t<T>>(count)));
        } else {
            return static_cast<T>(sum / part_from<part_t<T>>(count));
        }
    }
};

} // namespace detail
} // namespace xloom

namespace xloom {

/// Options of scatter_nd.
struct scatter_nd_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last; ///< `error` is valid with every reduction
    bool include_self = true;         ///< false: the first update of a slice replaces its old value
    bool accumulate_in_float = false; ///< storage floats are rounded once, at the end, not after each update
    bool unique = false;              ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;              ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom

namespace xloom::detail {

constexpr void check_not_scalar(std::string_view op, std::string_view operand, shape const& dims)
{
    if (dims.empty())
        fail<shape_error>(op, ": data and indices must have at least one axis, but ", operand,
            " has the shape ", dims, ". Give it an axis of length 1.");
}

/// Returns `front` followed by the dimensions of `dims` from axis `first` on.
constexpr shape joined(shape const& front, shape const& dims, std::size_t first)
{
    shape all = front;
    for (std::size_t axis = first; axis < dims.size(); ++axis)
        all.push_back(dims[axis]);
    return all;
}

/// Returns the remedy if indices [n], which is one n-tuple, was meant as n indices; empty for other ranks.
inline std::string describe_one_tuple(shape const& indices)
{
    return indices.size() == 1 ? concat(" indices ", indices, " is one tuple of ", indices[0],
                                     "; pass xt::view(indices, xt::all(), xt::newaxis()) if it names ",
                                     indices[0], " slices.")
                               : std::string();
}

/// Checks the shapes and options of ScatterND: k = indices.shape[-1] leading axes of data are indexed,
/// updates is indices.shape[:-1] ++ data.shape[k:].
///
/// Errors    shape_error: rank 0; over max_rank; k > r; shape of updates; a size that overflows.
///           option_error: options that contradict each other.
/// Source    ONNX ScatterND-18, text; its inference reads neither indices nor updates.
[[gnu::noinline]] constexpr void check_scatter_nd(std::string_view op, shape const& data,
    shape const& indices, shape const& updates, scatter_nd_options const& options)
{
    check_not_scalar(op, "data", data);
    check_not_scalar(op, "indices", indices);
    std::size_t const k = indices.back();
    if (k > data.size())
        fail<shape_error>(op, ": indices' last axis must be no longer than data's rank, but indices is ",
            indices, " and data is ", data, ".",
            indices.size() == 1 ? describe_one_tuple(indices) : std::string(" Index fewer axes."));
    shape const front = drop_axis(indices, indices.size() - 1);
    check_rank(op, "updates", front.size() + data.size() - k);
    shape const expected = joined(front, data, k);
    if (updates != expected)
        fail<shape_error>(op, ": updates must have the shape indices.shape[:-1] ++ data.shape[", k,
            ":] = ", expected, ", but it is ", updates, " (data ", data, ", indices ", indices,
            "). Give updates that shape.", describe_one_tuple(indices));
    if (!has_strides(data) || !has_strides(updates))
        fail<shape_error>(op, ": the size of a tensor must fit in memory, its strides too, but data is ",
            data, " and updates is ", updates, ". Reduce a dimension.");
    if (options.duplicates == duplicates::first && options.reduction != reduction::none)
        fail<option_error>(op, ": duplicates::first requires reduction::none, but reduction is ",
            name_of(options.reduction), ". Choose duplicates::last, with which every update counts.");
}

/// Requires that neither indices nor updates share memory with data, and that no two items of data do.
///
/// Errors    overlap_error.
[[gnu::noinline]] constexpr void check_scatter_overlap(
    std::string_view op, memory_block const& data, memory_block const& indices, memory_block const& updates)
{
    bool const overlaps_indices = overlap(data, indices), overlaps_updates = overlap(data, updates);
    if (overlaps_indices || overlaps_updates)
        fail<overlap_error>(op, ": data is written while indices and updates are read, but ",
            overlaps_indices && overlaps_updates ? "indices and updates overlap"
            : overlaps_indices                   ? "indices overlaps"
                                                 : "updates overlaps",
            " data. Copy one of the two.");
    check_unique(op, "data", data.layout, "Copy it first.");
}

} // namespace xloom::detail

// ==== xloom/gather_nd_options.hpp ====
// The options of gather_nd and gather_nd_into.

namespace xloom {

/// Options of gather_nd.
struct gather_nd_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom

namespace xloom::detail {

/// Checks the operands of GatherND and returns the shape of its output: indices.shape[:-1] ++ data.shape[b +
/// k:], with k = indices.shape[-1] and b = batch_dims.
///
/// Errors    shape_error: rank 0; over max_rank; b + k > r; unequal batch axes; a size that overflows.
///           option_error: b < 0, b >= q or b >= r.
/// Differs   from ONNX: k = 0 is allowed; each empty tuple gives a whole batch entry.
/// Source    ONNX GatherND-13, text; its inference checks b + k <= r only.
[[gnu::noinline]] constexpr shape check_gather_nd(std::string_view op, shape const& data,
    shape const& indices, gather_nd_options const& options, std::size_t item_bytes = 1)
{
    check_not_scalar(op, "data", data);
    check_not_scalar(op, "indices", indices);
    std::size_t const least_rank = data.size() < indices.size() ? data.size() : indices.size();
    if (options.batch_dims < 0 || static_cast<std::uint64_t>(options.batch_dims) >= least_rank)
        fail<option_error>(op, ": batch_dims must be in [0, min(q, r) - 1] = [0, ", least_rank - 1,
            "], but it is ", options.batch_dims, " (data ", data, ", indices ", indices,
            "). Name fewer axes.");
    auto const b = static_cast<std::size_t>(options.batch_dims);
    for (std::size_t axis = 0; axis < b; ++axis)
        if (data[axis] != indices[axis])
            fail<shape_error>(op, ": the first batch_dims = ", b,
                " axes of data and indices must be equally long, but axis ", axis, " has ", data[axis],
                " in data ", data, " and ", indices[axis], " in indices ", indices, ". Name fewer axes.");
    std::size_t const k = indices.back();
    if (k > data.size() - b)
        fail<shape_error>(op,
            ": indices' last axis must be no longer than data's rank less batch_dims, but indices is ",
            indices, ", data is ", data, " and batch_dims is ", b, ".",
            indices.size() == 1 ? describe_one_tuple(indices) : std::string(" Index fewer axes."));
    shape const front = drop_axis(indices, indices.size() - 1);
    check_rank(op, "the output", front.size() + data.size() - b - k);
    shape const dims = joined(front, data, b + k);
    if (!has_strides(dims, item_bytes))
        fail<shape_error>(op,
            ": the size of a result must fit in memory, but the output would have the shape ", dims,
            ". Gather fewer slices.");
    return dims;
}

/// Checks the shape and the memory of GatherND's output.
///
/// Errors    shape_error: output does not have the gathered shape.  overlap_error: it shares memory with data
///           or indices, or two of its items do with each other.
[[gnu::noinline]] constexpr void check_gather_output(std::string_view op, memory_block const& output,
    shape const& gathered, memory_block const& data, memory_block const& indices)
{
    if (output.layout.dims != gathered)
        fail<shape_error>(op,
            ": output must have the shape indices.shape[:-1] ++ data.shape[b + k:] = ", gathered,
            ", but it is ", output.layout.dims, ". Give it that shape.");
    bool const overlaps_data = overlap(output, data), overlaps_indices = overlap(output, indices);
    if (overlaps_data || overlaps_indices)
        fail<overlap_error>(op, ": output is written while data and indices are read, but output overlaps ",
            overlaps_data && overlaps_indices ? "data and indices"
            : overlaps_data                   ? "data"
                                              : "indices",
            ". Give it memory of its own.");
    check_unique(op, "output", output.layout, "Write to a container.");
}

} // namespace xloom::detail

// ==== xloom/run/indexed/checked_indices.hpp ====
// The checked indices of ScatterND and GatherND.

// ==== xloom/kernel/offset_reader.hpp ====
// A type-erased reader of the offsets of index tuples, for every index type and bounds rule.

// ==== xloom/kernel/index_tuples.hpp ====
// The index tuples of ScatterND and GatherND, and their offsets.

namespace xloom::kernel {

/// `count` contiguous tuples, each of one index for each of some axes. A negative index counts from the end
/// of its axis.
template <std::integral Index>
struct index_tuples {
    Index const* first = nullptr;
    std::size_t count = 0;
    strided_layout axes{};      ///< the length and the stride of each axis; offsets have the unit of strides
    std::size_t first_axis = 0; ///< the axis of the tensor that the first index refers to
    bool has_negative = true;   ///< false: no index is negative, so none is tested

    std::size_t width() const { return axes.dims.size(); }
};

template <std::integral Index>
constexpr bool is_index(Index index, std::size_t length)
{
    if constexpr (std::is_unsigned_v<Index>)
        return index < length;
    else
        return index < 0 ? static_cast<std::uintmax_t>(-(index + 1)) < length
                         : static_cast<std::uintmax_t>(index) < length;
}

/// Returns the index counted from the front. Requires is_index(index, length).
template <std::integral Index>
constexpr std::ptrdiff_t wrap_index(Index index, std::size_t length)
{
    auto const i = static_cast<std::ptrdiff_t>(index);
    return i < 0 ? i + static_cast<std::ptrdiff_t>(length) : i;
}

/// Returns the nearest valid index, counted from the front. Requires length > 0.
template <std::integral Index>
constexpr std::ptrdiff_t clip_index(Index index, std::size_t length)
{
    if (is_index(index, length))
        return wrap_index(index, length);
    bool const is_before = std::is_signed_v<Index> && index < Index{};
    return is_before ? 0 : static_cast<std::ptrdiff_t>(length) - 1;
}

namespace detail {

template <std::integral Index>
struct index_range {
    Index least;
    Index largest;
};

/// Returns the range of `count` indices at a stride of Width, or of `width` if Width is 0.
template <std::size_t Width, std::integral Index>
index_range<Index> range_of(Index const* indices, std::size_t count, std::size_t width)
{
    Index least = indices[0], largest = indices[0];
    for (std::size_t i = 0; i < count; ++i) {
        Index const index = indices[i * (Width == 0 ? width : Width)];
        least = index < least ? index : least;
        largest = index > largest ? index : largest;
    }
    return {least, largest};
}

} // namespace detail

/// The properties of all indices of some tuples.
struct index_stats {
    bool in_range = true; ///< every index is within its axis
    bool has_negative = false;
};

/// Returns the properties of all indices. Cost: one pass over the indices for each axis.
template <std::integral Index>
index_stats find_index_stats(index_tuples<Index> const& tuples)
{
    index_stats found;
    if (tuples.count == 0)
        return found;
    std::size_t const width = tuples.width();
    for (std::size_t axis = 0; axis < width; ++axis) {
        Index const* const indices = tuples.first + axis;
        auto const [least, largest] = width == 1   ? detail::range_of<1>(indices, tuples.count, width)
                                      : width == 2 ? detail::range_of<2>(indices, tuples.count, width)
                                                   : detail::range_of<0>(indices, tuples.count, width);
        std::size_t const length = tuples.axes.dims[axis];
        found.in_range = found.in_range && is_index(least, length) && is_index(largest, length);
        found.has_negative = found.has_negative || least < Index{};
    }
    return found;
}

/// The offset of a dropped tuple.
inline constexpr std::ptrdiff_t dropped_offset = (std::numeric_limits<std::ptrdiff_t>::min)();

/// A function object that converts a tuple to its offset. Width is the number of indices of a tuple, 0 if it
/// is not known at compile time.
template <std::size_t Width, bounds Bounds = bounds::assume, bool MayBeNegative = true>
class tuple_offset {
public:
    explicit tuple_offset(strided_layout const& axes) : width_(axes.dims.size())
    {
        std::copy_n(axes.dims.begin(), width(), lengths_.begin());
        std::copy_n(axes.strides.begin(), width(), steps_.begin());
    }

    std::size_t width() const { return Width == 0 ? width_ : Width; }

    template <std::integral Index>
    std::ptrdiff_t operator()(Index const* tuple) const
    {
        std::ptrdiff_t offset = 0;
        bool is_inside = true;
        for (std::size_t axis = 0; axis < width(); ++axis) {
            std::size_t const length = lengths_[axis];
            offset += from_front(tuple[axis], length) * steps_[axis];
            is_inside = is_inside && (Bounds != bounds::drop || is_index(tuple[axis], length));
        }
        return is_inside ? offset : dropped_offset;
    }

private:
    template <std::integral Index>
    static std::ptrdiff_t from_front(Index index, std::size_t length)
    {
        if constexpr (!guarantees_in_range(Bounds))
            return clip_index(index, length);
        else if constexpr (MayBeNegative)
            return wrap_index(index, length);
        else
            return static_cast<std::ptrdiff_t>(index);
    }

    std::array<std::size_t, Width == 0 ? max_rank : Width> lengths_{};
    std::array<std::ptrdiff_t, Width == 0 ? max_rank : Width> steps_{};
    std::size_t width_;
};

/// Calls f with the tuple_offset for these tuples. Widths 1 and 2, the most frequent, are compile-time
/// constants, and so is, for width 1, that no index is negative.
template <bounds Bounds = bounds::assume, std::integral Index, class F>
void with_tuple_offset(index_tuples<Index> const& tuples, F const& f)
{
    switch (tuples.width()) {
    case 1:
        if constexpr (guarantees_in_range(Bounds))
            if (!tuples.has_negative)
                return f(tuple_offset<1, Bounds, false>(tuples.axes));
        return f(tuple_offset<1, Bounds>(tuples.axes));
    case 2:
        return f(tuple_offset<2, Bounds>(tuples.axes));
    default:
        return f(tuple_offset<0, Bounds>(tuples.axes));
    }
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// The offsets of batch entries, which a reader adds to those of their tuples: each entry has `per_entry`
/// tuples.
class batch_offsets {
public:
    batch_offsets() = default;
    batch_offsets(strided_layout const& batch, std::size_t per_entry) : batch_(batch), per_entry_(per_entry)
    {}

    void add_to(std::ptrdiff_t* offsets, std::size_t first, std::size_t count) const
    {
        if (batch_.dims.empty())
            return;
        std::size_t entry = first / per_entry_;
        std::size_t left = per_entry_ - first % per_entry_;
        std::ptrdiff_t base = offset_of(entry);
        for (std::size_t i = 0; i < count; ++i, --left) {
            if (left == 0) {
                base = offset_of(++entry);
                left = per_entry_;
            }
            if (offsets[i] != dropped_offset)
                offsets[i] += base;
        }
    }

private:
    std::ptrdiff_t offset_of(std::size_t entry) const
    {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = batch_.dims.size(); axis-- > 0; entry /= batch_.dims[axis])
            offset += static_cast<std::ptrdiff_t>(entry % batch_.dims[axis]) * batch_.strides[axis];
        return offset;
    }

    strided_layout batch_{};
    std::size_t per_entry_ = 1;
};

namespace detail {

template <class TupleOffset, std::integral Index>
void read_offsets(TupleOffset const offset_of, Index const* tuple, std::size_t count, std::ptrdiff_t* offsets)
{
    for (std::size_t i = 0; i < count; ++i, tuple += offset_of.width())
        offsets[i] = offset_of(tuple);
}

template <bounds Bounds, std::integral Index>
void read_offsets(
    index_tuples<Index> const& tuples, std::size_t from, std::size_t count, std::ptrdiff_t* offsets)
{
    with_tuple_offset<Bounds>(tuples, [&](auto const& offset_of) {
        read_offsets(offset_of, tuples.first + from * offset_of.width(), count, offsets);
    });
}

} // namespace detail

/// A reader of the offsets of index tuples.
class offset_reader {
public:
    /// Requires that `tuples` outlives the reader and, with bounds other than drop and clip,
    /// find_index_stats(tuples).in_range.
    template <std::integral Index>
    offset_reader(index_tuples<Index> const& tuples, bounds rule, batch_offsets const& batch = {})
        : batch_(batch),
          tuples_(&tuples),
          count_(tuples.count),
          read_([](void const* t, bounds r, std::size_t from, std::size_t count, std::ptrdiff_t* offsets) {
              auto const& all = *static_cast<index_tuples<Index> const*>(t);
              switch (r) {
              case bounds::drop:
                  return detail::read_offsets<bounds::drop>(all, from, count, offsets);
              case bounds::clip:
                  return detail::read_offsets<bounds::clip>(all, from, count, offsets);
              default:
                  return detail::read_offsets<bounds::assume>(all, from, count, offsets);
              }
          }),
          rule_(rule)
    {}

    /// Returns a reader of the same tuples from the last to the first.
    offset_reader backward() const
    {
        offset_reader other = *this;
        other.is_backward_ = !is_backward_;
        return other;
    }

    std::size_t count() const { return count_; }
    bool may_drop() const { return rule_ == bounds::drop; }

    /// Writes the offsets of `count` tuples, beginning at position `from`.
    void operator()(std::size_t from, std::size_t count, std::ptrdiff_t* offsets) const
    {
        std::size_t const first = is_backward_ ? count_ - from - count : from;
        read_(tuples_, rule_, first, count, offsets);
        batch_.add_to(offsets, first, count);
        if (is_backward_)
            std::reverse(offsets, offsets + count);
    }

private:
    batch_offsets batch_;
    void const* tuples_;
    std::size_t count_;
    void (*read_)(void const*, bounds, std::size_t, std::size_t, std::ptrdiff_t*);
    bounds rule_;
    bool is_backward_ = false;
};

} // namespace xloom::kernel

// ==== xloom/run/indexed/indexed_operands.hpp ====
// The operands of ScatterND and GatherND as contiguous items in row-major order.

namespace xloom::detail {

/// Returns a contiguous row-major copy of a strided array's items.
template <class T>
xt::xtensor<T, 1> pack_items(T const* items, strided_layout const& layout)
{
    auto packed = xt::xtensor<T, 1>::from_shape({element_count(layout.dims)});
    kernel::strided_copy(layout.dims, layout.strides, row_major_strides(layout.dims))(items, packed.data());
    return packed;
}

/// Copies contiguous row-major items to a strided array.
template <class T>
void unpack_items(xt::xtensor<T, 1> const& packed, T* items, strided_layout const& layout)
{
    kernel::strided_copy(layout.dims, row_major_strides(layout.dims), layout.strides)(packed.data(), items);
}

/// An operand's items in row-major order: the operand's own memory, or a copy if its layout is not row-major.
template <class X>
class row_major_items {
    using item = item_t<X>;

public:
    explicit row_major_items(X const& operand)
    {
        if constexpr (tensor<X>) {
            strided_layout const layout = detail::layout_of(operand);
            data_ = enable_tensor<X>::data(operand);
            if (!is_row_major(layout)) {
                copy_.emplace(pack_items(data_, layout));
                data_ = copy_->data();
            }
        } else {
            data_ = std::addressof(operand);
        }
    }
    row_major_items(row_major_items const&) = delete;
    row_major_items& operator=(row_major_items const&) = delete;

    item const* data() const { return data_; }

private:
    item const* data_;
    std::optional<xt::xtensor<item, 1>> copy_{};
};

/// An output's items in row-major order: its own memory or, if its layout is not row-major, a buffer.
template <class T>
class row_major_output {
public:
    row_major_output(T* items, strided_layout const& layout) : items_(items), layout_(layout)
    {
        if (items != nullptr && !is_row_major(layout))
            buffer_.emplace(xt::xtensor<T, 1>::from_shape({element_count(layout.dims)}));
    }

    /// Returns a pointer to the items; a null pointer if the output is omitted.
    T* data() { return buffer_ ? buffer_->data() : items_; }

    /// Copies the buffer, if there is one, to the output.
    void write_back()
    {
        if (buffer_)
            unpack_items(*buffer_, items_, layout_);
    }

private:
    T* items_;
    strided_layout layout_;
    std::optional<xt::xtensor<T, 1>> buffer_{};
};

} // namespace xloom::detail

namespace xloom::detail {

/// The indices of a call, in row-major order and checked once. Scatter, gather and their derivatives read the
/// same object: a slice that gather reads is the slice that its derivative adds to.
template <class Indices>
class checked_indices {
public:
    using index = item_t<Indices>;

    /// Indices of the axes of data whose lengths and strides are `axes`, the first of which is `first_axis`.
    /// Requires a last axis of `indices` that has one index for each of them.
    ///
    /// Errors    index_error: an index that `rule` does not permit (bounds::assume in debug builds only), or
    ///           bounds::clip to an axis of length 0.
    checked_indices(std::string_view op, Indices const& indices, strided_layout const& axes,
        std::size_t first_axis, bounds rule)
        : shape_(detail::shape_of(indices)), items_(indices), rule_(rule)
    {
        tuples_ = {items_.data(), element_count(front()), axes, first_axis};
        check_range(op);
        check_clip(op);
    }

    std::size_t count() const { return tuples_.count; }

    /// Returns the shape of the indices without their last axis: an update or output element has a position
    /// in it.
    xloom::shape front() const { return drop_axis(shape_, shape_.size() - 1); }

    /// Returns the index tuples; their offsets have the unit of the strides that the constructor received.
    kernel::index_tuples<index> const& tuples() const { return tuples_; }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const
    {
        kernel::index_tuples<index> placed = tuples_;
        auto const first = steps.begin() + static_cast<std::ptrdiff_t>(tuples_.first_axis);
        placed.axes.strides = strides(first, first + static_cast<std::ptrdiff_t>(tuples_.width()));
        return placed;
    }

    /// Returns a reader of the tuples' offsets. The reader must not outlive this object.
    kernel::offset_reader reader(kernel::batch_offsets const& batch = {}) const
    {
        return {tuples_, rule_, batch};
    }

private:
    void check_range(std::string_view op)
    {
#ifdef NDEBUG
        bool const is_checked = rule_ == bounds::check;
#else
        bool const is_checked = rule_ == bounds::check || rule_ == bounds::assume;
#endif
        // Single indices without a negative one have the fastest loops, which repay this pass.
        if (!is_checked && !(rule_ == bounds::assume && tuples_.width() == 1))
            return;
        kernel::index_stats const found = kernel::find_index_stats(tuples_);
        if (is_checked && !found.in_range)
            fail<index_error>(op, ": an index into an axis of length d must be in [-d, d - 1], but ",
                describe_outside(), ". Correct it, or choose bounds::drop or bounds::clip.");
        tuples_.has_negative = found.has_negative;
    }

    void check_clip(std::string_view op) const
    {
        if (rule_ != bounds::clip || tuples_.count == 0)
            return;
        for (std::size_t axis = 0; axis < tuples_.width(); ++axis)
            if (tuples_.axes.dims[axis] == 0)
                fail<index_error>(op, ": an index can be clipped to an axis that has items only, but axis ",
                    tuples_.first_axis + axis, " of data has length 0. Choose bounds::drop.");
    }

    /// Returns the positions and values of all indices outside their axes.
    fact_list describe_outside() const
    {
        fact_list outside;
        for (std::size_t flat = 0; flat < tuples_.count * tuples_.width(); ++flat) {
            std::size_t const axis = flat % tuples_.width();
            std::size_t const length = tuples_.axes.dims[axis];
            if (!kernel::is_index(tuples_.first[flat], length))
                outside.add("indices", unravel(flat, shape_), " is ", tuples_.first[flat], " (axis ",
                    tuples_.first_axis + axis, " of length ", length, ")");
        }
        return outside;
    }

    xloom::shape shape_;
    row_major_items<Indices> items_;
    bounds rule_;
    kernel::index_tuples<index> tuples_{};
};

} // namespace xloom::detail

// ==== xloom/run/indexed/gather_run.hpp ====
// The execution of a GatherND call: which loop, how many threads.

// ==== xloom/kernel/gather_nd.hpp ====
// GatherND over raw memory: copies of the slices at index tuples into contiguous output.

// ==== xloom/kernel/offset_blocks.hpp ====
// The offsets of index tuples in blocks, and prefetching of the slices at them.

namespace xloom::kernel {

/// Prefetches the first cache line of a slice of `length` elements and, beyond a few elements, the last one.
/// The slice may be at `dropped_offset`: prefetching any address is harmless, so it is not tested.
template <class T>
void prefetch_slice(T* data, std::ptrdiff_t offset, std::size_t length)
{
    std::uintptr_t const first =
        reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset) * sizeof(T);
    __builtin_prefetch(reinterpret_cast<void const*>(first), !std::is_const_v<T>);
    if (length > tuning::max_small_slice)
        __builtin_prefetch(
            reinterpret_cast<void const*>(first + (length - 1) * sizeof(T)), !std::is_const_v<T>);
}

/// A block of offsets of consecutive index tuples into `data`, with the offsets of the next block.
template <class T>
struct offset_block {
    std::ptrdiff_t const* offsets;
    std::ptrdiff_t const* next;
    std::size_t first; ///< the position of the first tuple
    std::size_t size;
    T* data;
    std::size_t length; ///< of a slice

    /// Calls f(offset, position) for each tuple that is not dropped, in order, and prefetches the slices of
    /// the next block.
    template <class F>
    void for_each(F const& f) const
    {
        for (std::size_t i = 0; i < size; ++i) {
            kernel::prefetch_slice(data, next[i], length);
            if (offsets[i] != dropped_offset)
                f(offsets[i], first + i);
        }
    }
};

/// Tuples of one index each, none of which is negative or out of range: their offsets need not be computed
/// ahead of their use. If IsBackward, they are visited from the last to the first.
template <class T, std::integral Index, bool IsBackward = false>
class single_indices {
public:
    /// Refers to tuples `from` .. `to` - 1 and to slices of `length` elements of `data`.
    single_indices(
        index_tuples<Index> const& tuples, std::size_t from, std::size_t to, T* data, std::size_t length)
        : indices_(tuples.first),
          from_(from),
          to_(to),
          stride_(tuples.axes.strides[0]),
          data_(data),
          length_(length)
    {}

    /// Calls f(offset, position) for each tuple in order, and prefetches slices ahead of it.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t const ahead = tuning::prefetch_distance(length_);
        if constexpr (IsBackward)
            for (std::size_t i = to_; i-- > from_;) {
                kernel::prefetch_slice(data_, offset((std::max)(i, from_ + ahead) - ahead), length_);
                f(offset(i), i);
            }
        else
            for (std::size_t i = from_; i < to_; ++i) {
                kernel::prefetch_slice(data_, offset((std::min)(i + ahead, to_ - 1)), length_);
                f(offset(i), i);
            }
    }

private:
    std::ptrdiff_t offset(std::size_t i) const { return static_cast<std::ptrdiff_t>(indices_[i]) * stride_; }

    Index const* indices_;
    std::size_t from_;
    std::size_t to_;
    std::ptrdiff_t stride_;
    T* data_;
    std::size_t length_;
};

/// True if the tuples can be read as single_indices.
template <std::integral Index>
bool are_single_indices(index_tuples<Index> const& tuples, bounds rule)
{
    return tuples.width() == 1 && !tuples.has_negative && guarantees_in_range(rule);
}

/// Calls f(offset, position) for those of tuples `from` .. `to` - 1 that are not dropped, in order.
template <class F>
void for_each_named(offset_reader const& read, std::size_t from, std::size_t to, F const& f)
{
    std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
    for (std::size_t first = from; first < to; first += tuning::offsets_per_block) {
        std::size_t const size = (std::min)(tuning::offsets_per_block, to - first);
        read(first, size, offsets.data());
        for (std::size_t i = 0; i < size; ++i)
            if (offsets[i] != dropped_offset)
                f(offsets[i], first + i);
    }
}

/// Calls f(offset_block) for tuples `from` .. `to` - 1 in order, where f uses `length` elements at data +
/// offset.
///
/// The slices of the next block are prefetched: out-of-order execution does not reach past the work on a
/// slice to the next offset. Blocks of longer slices are smaller, so that prefetched slices are still in
/// cache when they are used.
template <class T, class F>
void for_each_block(
    offset_reader const& read, std::size_t from, std::size_t to, T* data, std::size_t length, F const& f)
{
    std::size_t const step =
        length <= tuning::max_small_slice ? tuning::offsets_per_block : tuning::offsets_per_block / 4;
    std::array<std::array<std::ptrdiff_t, tuning::offsets_per_block>, 2> offsets{};
    auto const size_at = [=](std::size_t first) { return first < to ? (std::min)(step, to - first) : 0; };
    if (from < to)
        read(from, size_at(from), offsets[0].data());
    for (std::size_t first = from, i = 0; first < to; first += step, i = 1 - i) {
        std::size_t const next = first + step;
        if (next < to)
            read(next, size_at(next), offsets[1 - i].data());
        f(offset_block<T>{offsets[i].data(), offsets[1 - i].data(), first, size_at(first), data, length});
    }
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// A function object that copies slices of `size` contiguous elements.
struct copy_contiguous_slices {
    std::size_t size;

    /// Copies all slices. `slices.for_each(f)` calls f(offset of the slice in data, its position in the
    /// output).
    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        switch (size) {
        case 1:
            return copy<1>(slices, data, output);
        case 2:
            return copy<2>(slices, data, output);
        case 3:
            return copy<3>(slices, data, output);
        case 4:
            return copy<4>(slices, data, output);
        default:
            slices.for_each([=, count = size](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const from = data + offset;
                T* __restrict const to = output + number * count;
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = from[i];
            });
        }
    }

private:
    template <std::size_t Size, class Slices, class T>
    static void copy(Slices const& slices, T const* data, T* output)
    {
        slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
            T const* __restrict const from = data + offset;
            T* __restrict const to = output + number * Size;
            for (std::size_t i = 0; i < Size; ++i)
                to[i] = from[i];
        });
    }
};

/// A function object that copies slices of `size` elements with any strides.
struct copy_strided_slices {
    strided_copy copy; ///< from a slice to the output
    std::size_t size;

    template <class Slices, class T>
    void operator()(Slices const& slices, T const* data, T* output) const
    {
        slices.for_each(
            [&](std::ptrdiff_t offset, std::size_t number) { copy(data + offset, output + number * size); });
    }
};

/// Copies the slices of tuples `from` .. `to` - 1 to their positions in `output`, whose slices of dropped
/// tuples are not written. Allocates nothing.
template <class T, class Copy>
void gather_nd(
    offset_reader const& read, std::size_t from, std::size_t to, T const* data, T* output, Copy const& copy)
{
    kernel::for_each_block(read, from, to, data, copy.size,
        [&](offset_block<T const> const& block) { copy(block, data, output); });
}

/// Copies the contiguous slices of tuples `from` .. `to` - 1 to their positions in `output`. Requires single
/// indices, none of which is negative or out of range.
template <class T, std::integral Index, class Copy>
void gather_single(index_tuples<Index> const& tuples, std::size_t from, std::size_t to, T const* data,
    T* output, Copy const& copy)
{
    copy(single_indices<T const, Index>(tuples, from, to, data, copy.size), data, output);
}

} // namespace xloom::kernel

namespace xloom::detail {

/// Calls a copy, such as kernel::copy_contiguous_slices, for the slices of `data` at the offsets of `read`, on
/// the threads of a policy. `tuples` are those of `read`; where `are_single` is true, they are read as
/// kernel::single_indices.
template <class T, std::integral Index, class Copy, class Policy>
void run_copies(kernel::offset_reader const& read, kernel::index_tuples<Index> const& tuples, bool are_single,
    T const* data, T* output, Copy const& copy, Policy const& policy)
{
    std::size_t const count = read.count(), parts = parts_for(policy, count * copy.size);
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, count),
                          end = begin_of_part(part + 1, parts, count);
        if (are_single)
            kernel::gather_single(tuples, begin, end, data, output, copy);
        else
            kernel::gather_nd(read, begin, end, data, output, copy);
    });
}

/// Copies the slices of `data`, of the layout `slice`, at the offsets of `read` to their positions in
/// `output`, in row-major order; those of dropped tuples are not written.
template <class T, std::integral Index, class Policy>
void run_gather(kernel::offset_reader const& read, kernel::index_tuples<Index> const& tuples, bool are_single,
    strided_layout const& slice, T const* data, T* output, Policy const& policy)
{
    std::size_t const size = element_count(slice.dims);
    if (is_row_major(slice))
        run_copies(read, tuples, are_single, data, output, kernel::copy_contiguous_slices{size}, policy);
    else
        run_copies(read, tuples, false, data, output,
            kernel::copy_strided_slices{{slice.dims, slice.strides, row_major_strides(slice.dims)}, size},
            policy);
}

} // namespace xloom::detail

namespace xloom::detail {

/// The checked operands of a GatherND call.
template <class Data, class Indices>
class gather_call {
    using T = item_t<Data>;

public:
    gather_call(
        std::string_view op, Data const& data, Indices const& indices, gather_nd_options const& options)
        : options_(options),
          layout_(detail::layout_of(data)),
          output_shape_(check_gather_nd(op, layout_.dims, detail::shape_of(indices), options, sizeof(T))),
          data_(enable_tensor<Data>::data(data)),
          first_(static_cast<std::size_t>(options.batch_dims)),
          last_(first_ + detail::shape_of(indices).back()),
          indices_(op, indices, part_of_layout(first_, last_), first_, options.bounds)
    {}

    shape const& output_shape() const { return output_shape_; }
    bool may_drop() const { return options_.bounds == bounds::drop; }

    /// Writes the output's items in row-major order to `output`; writes nothing if data has no items.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        strided_layout const batch = part_of_layout(0, first_),
                             slice = part_of_layout(last_, layout_.dims.size());
        std::size_t const count = indices_.count();
        if (count == 0 || element_count(layout_.dims) == 0)
            return;
        std::size_t const entries = element_count(batch.dims);
        kernel::offset_reader const read = indices_.reader({batch, count / entries});
        bool const are_single =
            kernel::are_single_indices(indices_.tuples(), options_.bounds) && batch.dims.empty();
        run_gather(read, indices_.tuples(), are_single, slice, data_, output, policy);
    }

private:
    strided_layout part_of_layout(std::size_t first, std::size_t last) const
    {
        return {shape(layout_.dims.begin() + first, layout_.dims.begin() + last),
            strides(layout_.strides.begin() + first, layout_.strides.begin() + last)};
    }

    gather_nd_options options_;
    strided_layout layout_;
    shape output_shape_;
    T const* data_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
    checked_indices<Indices> indices_;
};

} // namespace xloom::detail

// ==== xloom/run/indexed/gather_types.hpp ====
// The requirements on the types of a call of gather_nd or gather_nd_into, with their compile-time errors.

// ==== xloom/run/indexed/index_types.hpp ====
// The requirements on the type of indices, with their compile-time errors.

namespace xloom::detail {

template <class X>
inline constexpr bool holds_indices = std::integral<item_t<X>> && !std::is_same_v<item_t<X>, bool>;

/// True if X can be passed as indices, whatever its item type: a tensor, or a number for one index; not a
/// std::vector.
template <class X>
inline constexpr bool can_hold_indices = tensor<X> || lazy<X> || std::is_arithmetic_v<X>;

// The message of a static_assert is a literal, so only the preprocessor can insert the operator's name. The
// macro defines function<Indices>(): true if Indices is valid, otherwise a compile-time error of one
// sentence.
#define XLOOM_INDEX_TYPES(function, op)                                                                      \
    template <class Indices>                                                                                 \
    consteval bool function()                                                                                \
    {                                                                                                        \
        if constexpr (!can_hold_indices<Indices>)                                                            \
            static_assert(never<Indices>, op ": indices must be a tensor, and a std::vector is none; pass "  \
                                             "xt::adapt(indices, {n, k}) for n tuples of k");                \
        else if constexpr (!holds_indices<Indices>)                                                          \
            static_assert(never<Indices>, op ": indices must hold integers");                                \
        else                                                                                                 \
            return true;                                                                                     \
        return false;                                                                                        \
    }

XLOOM_INDEX_TYPES(are_valid_scatter_nd_indices, "xloom::scatter_nd")
XLOOM_INDEX_TYPES(are_valid_gather_nd_indices, "xloom::gather_nd")
XLOOM_INDEX_TYPES(are_valid_gather_nd_into_indices, "xloom::gather_nd_into")
XLOOM_INDEX_TYPES(are_valid_scatter_nd_vjp_indices, "xloom::scatter_nd_vjp")
XLOOM_INDEX_TYPES(are_valid_gather_nd_vjp_indices, "xloom::gather_nd_vjp")

#undef XLOOM_INDEX_TYPES

} // namespace xloom::detail

namespace xloom::detail {

/// True if Data's family has a container for a result of every rank. A family with a static rank is not known
/// to have one.
template <class Data>
inline constexpr bool has_every_rank = expression<Data>;
template <tensor Data>
    requires(!expression<Data>)
inline constexpr bool has_every_rank<Data> = enable_tensor<Data>::rank == dynamic_rank;

/// True if the types of a call of gather_nd<Rank> are valid, otherwise a compile-time error of one sentence.
template <std::size_t Rank, class Data, class Indices, class Policy>
consteval bool is_valid_gather_nd()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::gather_nd: the arguments are gather_nd(data, indices[, options][, policy])");
    else if constexpr (!tensor<Data> && !lazy<Data>)
        static_assert(never<Data>, "xloom::gather_nd: data must be a tensor");
    else if constexpr (!are_valid_gather_nd_indices<Indices>())
        return false;
    else if constexpr (Rank == dynamic_rank && !has_every_rank<Data>)
        static_assert(never<Data>, "xloom::gather_nd: data is a container of your own with a static rank, so "
                                   "name the output's: gather_nd<Rank>(...)");
    else
        return true;
    return false;
}

/// True if the types of a call of gather_nd_into are valid, otherwise a compile-time error of one sentence.
template <class Data, class Indices, class Output, class Policy>
consteval bool is_valid_gather_nd_into()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::gather_nd_into: the arguments are gather_nd_into(data, indices, "
                                     "output[, options][, policy])");
    else if constexpr (!tensor<Data> && !lazy<Data>)
        static_assert(never<Data>, "xloom::gather_nd_into: data must be a tensor");
    else if constexpr (!are_valid_gather_nd_into_indices<Indices>())
        return false;
    else if constexpr (!tensor<Output>)
        static_assert(never<Output>, "xloom::gather_nd_into: output must be a tensor in memory");
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Data>>)
        static_assert(never<Output>, "xloom::gather_nd_into: output must have data's element type");
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        static_assert(never<Output>, "xloom::gather_nd_into: output is written, so it must not be const");
    else if constexpr (!outlives_call<Output>)
        static_assert(never<Output>,
            "xloom::gather_nd_into: output is written in place, so it must be a variable or a view of one");
    else
        return true;
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// The container of a gathered result: Data's family with this rank.
template <class Data, std::size_t Rank>
using gathered_t = typename enable_tensor<owned_t<Data>>::template rebind<Rank>;

/// Gathers into output, through a row-major copy if its layout is not row-major. Dropped slices keep their
/// values.
template <class Call, tensor Output, class Policy>
void gather_to(Call const& call, Output& output, Policy const& policy)
{
    strided_layout const layout = detail::layout_of(output);
    auto* const items = enable_tensor<Output>::data(output);
    if (is_row_major(layout))
        return call.run(items, policy);
    auto copy = call.may_drop() ? pack_items<item_t<Output>>(items, layout)
                                : xt::xtensor<item_t<Output>, 1>::from_shape({element_count(layout.dims)});
    call.run(copy.data(), policy);
    unpack_items(copy, items, layout);
}

template <std::size_t Rank, class Data, class Indices, class Policy>
auto gather_nd(
    Data const& data, Indices const& indices, gather_nd_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_gather_nd<Rank, Data, Indices, Policy>()) {
        return owned_t<Data>(data); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::gather_nd";
        using result_type = gathered_t<Data, Rank>;
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
        check_rank(op, "data", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        gather_call<bare<decltype(source)>, bare<decltype(index_tensor)>> const call(
            op, source, index_tensor, options);
        shape const& dims = call.output_shape();
        if (Rank != dynamic_rank && dims.size() != Rank)
            fail<shape_error>(op, ": the output must have the requested rank, but its shape is ", dims,
                " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
        result_type result = enable_tensor<result_type>::make(dims);
        if (call.may_drop())
            std::fill_n(enable_tensor<result_type>::data(result), element_count(dims), item_t<Data>{});
        gather_to(call, result, policy);
        return result;
    }
}

template <class Data, class Indices, class Output, class Policy>
void gather_nd_into(Data const& data, Indices const& indices, Output&& output,
    gather_nd_options const& options, Policy const& policy)
{
    if constexpr (is_valid_gather_nd_into<Data, Indices, Output, Policy>()) {
        static constexpr std::string_view op = "xloom::gather_nd_into";
        auto const [source, index_tensor] = detail::evaluated_inputs(std::tie(data, indices));
        check_rank(op, "data", detail::rank_of(source));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        gather_call<bare<decltype(source)>, bare<decltype(index_tensor)>> const call(
            op, source, index_tensor, options);
        check_rank(op, "output", detail::rank_of(output));
        check_gather_output(op, detail::memory_of(output), call.output_shape(), detail::memory_of(source),
            detail::memory_of(index_tensor));
        gather_to(call, output, policy);
    }
}

} // namespace detail

/// Returns the slices of data that indices name.
///
///     for i in ndindex(indices.shape[:-1]):
///         output[i] = data[i[:b] + indices[i]]                    # b = batch_dims
///
/// Shapes    data [d0 .. d(r-1)], indices [i0 .. i(q-2), k], the first b axes of equal lengths; q, r >= 1, b
///           < min(q, r), b + k <= r. The output is indices.shape[:-1] ++ data.shape[b + k:]: an xt::xarray,
///           with gather_nd<Rank> an xt::xtensor of that rank; for your own container one of its family, with
///           gather_nd<Rank> if its rank is static. Any layout, lazy expressions too.
/// Types     data of any type, indices of any integer type. A negative index counts from the end of its axis.
/// Options   batch_dims (0). bounds (check); with drop, dropped slices are T{}.
/// Policy    serial, or one with threads (xloom/tbb.hpp).
/// Errors    shape_error, option_error, index_error (all offending positions and values).
/// Cost      indices read twice, the indexed slices read, the output written once; a copy of indices that are
///           not row-major.
/// Differs   from ONNX: k = 0 is valid, and gives a whole batch entry for each empty tuple.
/// Source    ONNX GatherND-11 to 13; infer_gather_nd has ONNX's own shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const data = {{1, 2}, {3, 4}};
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xloom::gather_nd(data, rows); // = [[3, 4], [1, 2], [3, 4]]
/// xloom::gather_nd<1>(data, xt::xtensor<int, 2>{{0, 1}, {1, 0}}); // = [2, 3]
/// ```
template <std::size_t Rank = dynamic_rank, class Data, class Indices, class Policy = serial_policy>
auto gather_nd(Data const& data, Indices const& indices, gather_nd_options const& options = {},
    Policy const& policy = {})
{
    return detail::gather_nd<Rank>(data, indices, options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <std::size_t Rank = dynamic_rank, class Data, class Indices, execution_policy Policy>
auto gather_nd(Data const&, Indices const&, Policy const&, gather_nd_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd<Rank, Data, Indices, gather_nd_options>());
    return detail::owned_t<Data>();
}

/// Returns the shape of gather_nd's output for data and indices of these shapes: the shape that
/// gather_nd_into's output must have.
///
/// Errors    shape_error and option_error, as gather_nd.
/// Source    ONNX GatherND-13.
/// Example
/// ```cpp
/// xloom::gather_nd_shape({2, 3}, {5, 1}); // = [5, 3]
/// ```
constexpr shape gather_nd_shape(
    shape const& data, shape const& indices, gather_nd_options const& options = {})
{
    return detail::check_gather_nd("xloom::gather_nd", data, indices, options);
}

/// Gathers slices of data into the caller's output, of any layout; with bounds::drop, dropped slices keep
/// their values.
///
/// Errors    as gather_nd, before the first write; shape_error: another shape of output. overlap_error:
///           output shares memory with data or indices, or its items share memory with each other.
template <class Data, class Indices, class Output, class Policy = serial_policy>
void gather_nd_into(Data const& data, Indices const& indices, Output&& output,
    gather_nd_options const& options = {}, Policy const& policy = {})
{
    detail::gather_nd_into(data, indices, std::forward<Output>(output), options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Data, class Indices, class Output, execution_policy Policy>
void gather_nd_into(Data const&, Indices const&, Output const&, Policy const&, gather_nd_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd_into<Data, Indices, Output, gather_nd_options>());
}

} // namespace xloom

// ==== xloom/gather_nd_vjp.hpp ====
// The derivative of GatherND: a scatter that adds the cotangent of each gathered slice to the slice of data
// that it was read from.

// ==== xloom/run/indexed/gather_vjp_call.hpp ====
// A call of the derivative of GatherND: a scatter of ct to the slices that the gather read.

// ==== xloom/check/gather_nd_vjp.hpp ====
// Shape requirements of the derivative of GatherND.

// ==== xloom/gather_nd_vjp_options.hpp ====
// The options of gather_nd_vjp and gather_nd_vjp_into.

namespace xloom {

/// Options of gather_nd_vjp: those of gather_nd, and those of the scatter that its derivative is.
struct gather_nd_vjp_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
    bool accumulate_in_float =
        false;           ///< storage floats are rounded once, at the end, not after each addition
    bool unique = false; ///< the caller guarantees that no slice is indexed twice
    bool sorted = false; ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom

namespace xloom::detail {

/// Checks the operands of the derivative of GatherND: ct has the shape of GatherND's output.
///
/// Errors    shape_error and option_error: as check_gather_nd; shape_error: the shape of ct, or a size that
///           overflows.
[[gnu::noinline]] constexpr void check_gather_nd_vjp(std::string_view op, shape const& ct, shape const& data,
    shape const& indices, gather_nd_vjp_options const& options, std::size_t item_bytes = 1)
{
    shape const gathered = detail::check_gather_nd(
        op, data, indices, {.batch_dims = options.batch_dims, .bounds = options.bounds});
    if (ct != gathered)
        detail::fail<shape_error>(op,
            ": ct must have the shape of gather_nd's output, indices.shape[:-1] ++ data.shape[b + k:] = ",
            gathered, ", but it is ", ct, " (data ", data, ", indices ", indices, "). Give it that shape.");
    if (!has_strides(data, item_bytes))
        detail::fail<shape_error>(op,
            ": the size of a result must fit in memory, but d_data would have the shape ", data,
            ". Reduce a dimension.");
}

/// Checks the memory of the derivative by data.
///
/// Errors    overlap_error: d_data shares memory with ct or indices, or two of its items do with each other.
[[gnu::noinline]] constexpr void check_gather_nd_vjp_output(
    std::string_view op, memory_block const& d_data, memory_block const& ct, memory_block const& indices)
{
    bool const overlaps_ct = overlap(d_data, ct), overlaps_indices = overlap(d_data, indices);
    if (overlaps_ct || overlaps_indices)
        detail::fail<overlap_error>(op,
            ": d_data is written while ct and indices are read, but d_data overlaps ",
            overlaps_ct && overlaps_indices ? "ct and indices"
            : overlaps_ct                   ? "ct"
                                            : "indices",
            ". Give it memory of its own.");
    detail::check_unique(op, "d_data", d_data.layout, "Write to a container.");
}

} // namespace xloom::detail

// ==== xloom/run/indexed/named_slices.hpp ====
// The check of which slices the index tuples of a scatter name: whether twice, and in which order.

// ==== xloom/kernel/repeated_offset.hpp ====
// Searches for repeated and for descending offsets of index tuples.

namespace xloom::kernel {

/// The positions of two tuples.
struct tuple_pair {
    std::size_t earlier;
    std::size_t later;
};

namespace detail {

/// Finds the first repeated offset with a table of all slices. Cost: a number for each slice.
inline std::optional<tuple_pair> find_repeated_in_table(offset_reader const& read, std::size_t slices)
{
    std::vector<std::size_t> named(slices); // the position of its tuple, counted from 1; 0: none
    for (std::size_t i = 0; i < read.count(); ++i) {
        std::ptrdiff_t offset;
        read(i, 1, &offset);
        if (offset == dropped_offset)
            continue;
        std::size_t& earlier = named[static_cast<std::size_t>(offset)];
        if (earlier != 0)
            return tuple_pair{earlier - 1, i};
        earlier = i + 1;
    }
    return std::nullopt;
}

/// Finds the first repeated offset by sorting the tuples. Cost: two numbers for each tuple.
inline std::optional<tuple_pair> find_repeated_by_sorting(offset_reader const& read)
{
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> named; // offset and position
    named.reserve(read.count());
    for_each_named(read, 0, read.count(),
        [&](std::ptrdiff_t offset, std::size_t number) { named.emplace_back(offset, number); });
    std::sort(named.begin(), named.end());
    std::optional<tuple_pair> first;
    for (std::size_t i = 1; i < named.size(); ++i)
        if (named[i - 1].first == named[i].first && (!first || named[i].second < first->later))
            first = tuple_pair{named[i - 1].second, named[i].second};
    return first;
}

} // namespace detail

/// Returns the first tuple that has the offset of an earlier one, and the earlier one. Requires offsets below
/// `slices`, or `dropped_offset`. Cost: a number for each slice or, if there are few tuples, two for each
/// tuple.
inline std::optional<tuple_pair> find_repeated(offset_reader const& read, std::size_t slices)
{
    bool const are_few = read.count() < slices / 8;
    return are_few ? detail::find_repeated_by_sorting(read) : detail::find_repeated_in_table(read, slices);
}

/// Returns the first tuple with an offset less than that of the preceding one, and the preceding one; skips
/// dropped tuples.
inline std::optional<tuple_pair> find_descent(offset_reader const& read)
{
    std::ptrdiff_t before = dropped_offset;
    std::size_t earlier = 0;
    for (std::size_t i = 0; i < read.count(); ++i) {
        std::ptrdiff_t offset;
        read(i, 1, &offset);
        if (offset == dropped_offset)
            continue;
        if (offset < before)
            return tuple_pair{earlier, i};
        before = offset;
        earlier = i;
    }
    return std::nullopt;
}

} // namespace xloom::kernel

namespace xloom::detail {

/// Returns a text such as "indices[0] names slice [2] and indices[5] names slice [2]".
inline std::string describe_pair(kernel::tuple_pair const& pair, kernel::offset_reader const& read,
    shape const& slices, shape const& front)
{
    std::vector<std::string> facts;
    for (std::size_t const number : {pair.earlier, pair.later}) {
        std::ptrdiff_t slice;
        read(number, 1, &slice);
        facts.push_back(concat("indices", unravel(number, front), " names slice ",
            unravel(static_cast<std::size_t>(slice), slices)));
    }
    return join(facts);
}

/// Requires that the slices that the tuples name comply with duplicates::error and, in debug builds, with
/// the promises unique and sorted. `read` gives their positions in row-major order of the shape `slices`,
/// and `front` is the shape of the indices without their last axis.
///
/// Errors    index_error: the first offending tuple, and the preceding one.
inline void check_named_slices(std::string_view op, scatter_nd_options const& options,
    kernel::offset_reader const& read, shape const& slices, shape const& front)
{
    if (options.duplicates == duplicates::error)
        if (auto const pair = kernel::find_repeated(read, element_count(slices)))
            fail<index_error>(op, ": with duplicates::error a slice may be named once, but ",
                describe_pair(*pair, read, slices, front), ". Choose duplicates::last.");
#ifndef NDEBUG
    if (options.unique)
        if (auto const pair = kernel::find_repeated(read, element_count(slices)))
            fail<index_error>(op, ": indices must keep the promise options.unique, but ",
                describe_pair(*pair, read, slices, front), ". Do not promise it.");
    if (options.sorted)
        if (auto const pair = kernel::find_descent(read))
            fail<index_error>(op, ": indices must keep the promise options.sorted, but ",
                describe_pair(*pair, read, slices, front), ". Do not promise it.");
#endif
}

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_run.hpp ====
// The execution of a ScatterND call: which loop, how many threads, and whether slices are tracked.

// ==== xloom/kernel/owned_updates.hpp ====
// A parallel scatter, bitwise equal to a serial one: every slice has one owner, which applies its updates in
// order.

namespace xloom::kernel {

/// An update: the offset of its slice and its position among all updates.
struct owned_update {
    std::ptrdiff_t offset;
    std::size_t number;
};

/// The updates of one owner.
struct owned_updates {
    std::span<owned_update const> updates;

    /// Calls f(offset, position) for each update in order.
    template <class F>
    void for_each(F const& f) const
    {
        for (owned_update const& update : updates)
            f(update.offset, update.number);
    }
};

/// A map from the offset of a slice to its owner. Each aligned range of at least `neighbourhood` offsets has
/// one owner. Ranges are hashed to groups, and groups are assigned so that all owners have about equally many
/// updates of a sample.
class slice_owners {
public:
    /// Requires at least one update.
    slice_owners(std::size_t neighbourhood, std::size_t owners, offset_reader const& read) : owners_(owners)
    {
        while (std::size_t{1} << shift_ < neighbourhood)
            ++shift_;
        std::size_t const samples = (std::min)(std::size_t{1024}, read.count());
        std::size_t const distance =
            read.count() / 8 * 5 | 1; // not a multiple of a likely period of the indices
        std::array<std::size_t, groups> sizes{};
        for (std::size_t i = 0; i < samples; ++i) {
            std::ptrdiff_t offset;
            read(i * distance % read.count(), 1, &offset);
            if (offset != dropped_offset)
                ++sizes[group_of(offset)];
        }
        deal_out(sizes, samples);
    }

    std::size_t count() const { return owners_; }
    std::size_t operator()(std::ptrdiff_t offset) const { return owner_of_[group_of(offset)]; }

    /// Returns the fraction of the sampled updates that the owner with the most has.
    double load() const { return load_; }

private:
    static constexpr std::size_t groups = 256;

    /// Returns the group by Fibonacci hashing: the upper bits of a product with 2^64 / 1.618...
    std::size_t group_of(std::ptrdiff_t offset) const
    {
        return static_cast<std::size_t>(
            (static_cast<std::uint64_t>(offset) >> shift_) * 0x9E37'79B9'7F4A'7C15u >> 56);
    }

    /// Assigns consecutive groups to each owner until the owners so far have their parts of the sum.
    void deal_out(std::array<std::size_t, groups> const& sizes, std::size_t sum)
    {
        std::size_t owner = 0, taken = 0, of_owner = 0, most = 0;
        for (std::size_t group = 0; group < groups; ++group) {
            owner_of_[group] = owner;
            taken += sizes[group];
            of_owner += sizes[group];
            most = (std::max)(most, of_owner);
            if (owner + 1 < owners_ && taken * owners_ >= sum * (owner + 1)) {
                ++owner;
                of_owner = 0;
            }
        }
        load_ = static_cast<double>(most) / static_cast<double>(sum);
    }

    std::size_t owners_;
    int shift_ = 0;
    std::array<std::size_t, groups> owner_of_{};
    double load_ = 1;
};

/// A share of the updates, stably sorted by owner.
class sorted_share {
public:
    /// The maximum number of updates in a share, which then fits in a core's L2 cache.
    static constexpr std::size_t most = tuning::updates_per_share;

    sorted_share(std::size_t size, std::size_t owners)
        : updates_(std::make_unique_for_overwrite<owned_update[]>(size)), ends_(owners)
    {}

    /// Sorts updates `from` .. `to` - 1 by owner.
    void sort(offset_reader const& read, slice_owners const& owner_of, std::size_t from, std::size_t to)
    {
        std::fill(ends_.begin(), ends_.end(), std::size_t{0});
        for_each_named(
            read, from, to, [&](std::ptrdiff_t offset, std::size_t) { ++ends_[owner_of(offset)]; });
        std::size_t begin = 0;
        for (std::size_t& end : ends_)
            begin += std::exchange(end, begin);
        // Counting sort: ends_[owner] is the owner's first position, and each of its updates increments it.
        for_each_named(read, from, to, [&](std::ptrdiff_t offset, std::size_t number) {
            updates_[ends_[owner_of(offset)]++] = {offset, number};
        });
    }

    owned_updates updates_of(std::size_t owner) const
    {
        return {{updates_.get() + (owner == 0 ? 0 : ends_[owner - 1]), updates_.get() + ends_[owner]}};
    }

private:
    std::unique_ptr<owned_update[]> updates_;
    std::vector<std::size_t> ends_;
};

/// Calls apply(owned_updates) for all updates, those of a slice in order and by one part at a time. Works in
/// rounds: each part first sorts its share of the updates by owner, then each owner applies its updates,
/// share by share.
///
/// Cost: 16 bytes for each update of a round, at most 128 KiB for each owner, allocated before the first
/// update is applied; offsets are read twice.
template <class Policy, class Apply>
void for_each_owned(
    Policy const& policy, offset_reader const& read, slice_owners const& owner_of, Apply const& apply)
{
    std::size_t const count = read.count(), parts = owner_of.count();
    std::size_t const size = (std::min)(sorted_share::most, count / parts + 1);
    std::vector<sorted_share> shares;
    shares.reserve(parts);
    for (std::size_t share = 0; share < parts; ++share)
        shares.emplace_back(size, parts);
    for (std::size_t begin = 0; begin < count; begin += parts * size) {
        policy.for_each(parts, [&](std::size_t share) {
            std::size_t const from = (std::min)(begin + share * size, count);
            shares[share].sort(read, owner_of, from, (std::min)(from + size, count));
        });
        policy.for_each(parts, [&](std::size_t owner) {
            for (sorted_share const& share : shares)
                apply(share.updates_of(owner));
        });
    }
}

} // namespace xloom::kernel

// ==== xloom/kernel/scatter_nd.hpp ====
// ScatterND over raw memory: updates of the slices at index tuples, those of one slice in order.

// ==== xloom/kernel/with_reduction.hpp ====
// Run-time dispatch of reductions, so that only innermost loops are instantiated for each of them.

namespace xloom::kernel {

/// True if a function object reduces values of type T.
template <class Function, class T>
inline constexpr bool can_reduce = std::is_invocable_v<Function const&, T, T const&>;

/// Calls f with the function object of a reduction: `reduce` itself or, if it is a `reduction`, the one that
/// it names, which must be able to reduce values of type T. For the mean it is an addition; the caller
/// divides by the number of updates.
template <class T, class Reduce, class F>
void with_reduction(Reduce& reduce, F const& f)
{
    auto const call = [&]<class Function>(Function const& function) {
        if constexpr (can_reduce<Function, T>)
            f(function);
    };
    if constexpr (!std::is_same_v<std::remove_const_t<Reduce>, reduction>) {
        f(reduce);
    } else {
        switch (reduce) {
        case reduction::none:
            return call(reduce_none);
        case reduction::add:
        case reduction::mean:
            return call(reduce_add);
        case reduction::mul:
            return call(reduce_mul);
        case reduction::max:
            return call(reduce_max);
        case reduction::min:
            return call(reduce_min);
        }
    }
}

} // namespace xloom::kernel

namespace xloom::kernel {

/// A function object that applies updates to `size` contiguous elements of each slice; updates have a stride
/// of `step` elements.
struct contiguous_slices {
    std::size_t size;
    std::size_t step;

    /// Applies all updates. `updates.for_each(f)` calls f(offset of the slice in data, position of the
    /// update).
    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        switch (size == step ? size : 0) {
        case 1:
            return apply<1>(updates, data, values, reduce);
        case 2:
            return apply<2>(updates, data, values, reduce);
        case 3:
            return apply<3>(updates, data, values, reduce);
        case 4:
            return apply<4>(updates, data, values, reduce);
        default:
            updates.for_each([&, count = size, distance = step](std::ptrdiff_t offset, std::size_t number) {
                T* __restrict const slice = data + offset;
                T const* __restrict const update = values + number * distance;
                for (std::size_t i = 0; i < count; ++i)
                    slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
            });
        }
    }

private:
    template <std::size_t Size, class Updates, class T, class Reduce>
    static void apply(Updates const& updates, T* data, T const* values, Reduce& reduce)
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            T* __restrict const slice = data + offset;
            T const* __restrict const update = values + number * Size;
            for (std::size_t i = 0; i < Size; ++i)
                slice[i] = static_cast<T>(reduce(std::move(slice[i]), update[i]));
        });
    }
};

/// A function object that applies updates to slices of `size` elements with any strides.
struct strided_slices {
    strided_copy pairs; ///< from an update to a slice
    std::size_t size;

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            pairs.for_each_pair(values + number * size, data + offset,
                [&](T const& from, T& to) { to = static_cast<T>(reduce(std::move(to), from)); });
        });
    }
};

/// Applies updates `from` .. `to` - 1, of `step` elements each, to the slices of `data` at the offsets of
/// `read`. Allocates nothing.
template <class T, class Slices, class Reduce>
void scatter_nd(offset_reader const& read, std::size_t from, std::size_t to, T* data, T const* values,
    std::size_t step, Slices const& slices, Reduce& reduce)
{
    kernel::for_each_block(read, from, to, data, step, [&](offset_block<T> const& block) {
        kernel::with_reduction<T>(reduce, [&](auto& function) { slices(block, data, values, function); });
    });
}

/// Applies all updates to slices of `size` contiguous elements. Requires single indices, none of which is
/// negative or out of range. Allocates nothing.
template <class T, std::integral Index, class Reduce>
void scatter_single(
    index_tuples<Index> const& tuples, T* data, T const* values, std::size_t size, Reduce& reduce)
{
    single_indices<T, Index> const updates(tuples, 0, tuples.count, data, size);
    kernel::with_reduction<T>(reduce, [&](auto& function) {
        contiguous_slices{size, size}(updates, data, values, function);
    });
}

} // namespace xloom::kernel

// ==== xloom/kernel/tracked_slices.hpp ====
// Counts and accumulators of slices, for scatters that treat a slice's first update differently.

namespace xloom::kernel {

/// The rule by which updates of a slice are combined.
struct tracking {
    bool only_first = false;  ///< later updates are ignored
    bool include_self = true; ///< the existing value counts as an update
    bool is_mean = false;     ///< the sum is divided by the number of values combined
};

/// The update counts of contiguous slices of `step` items in `data`, and accumulators of type `Sum`, the
/// computation type. Used as `slices` of kernel::scatter_nd, after which finish() writes the results. Threads
/// may update distinct slices concurrently. Cost: a count for each slice and, if Sum is not T, a Sum for each
/// item of data.
template <class T, class Sum>
class tracked_slices {
public:
    tracked_slices(T* data, std::size_t slices, std::size_t step, tracking const& rule)
        : data_(data), step_(step), rule_(rule), counts_(slices), sums_(keeps_sums ? slices * step : 0)
    {}

    template <class Updates, class Reduce>
    void operator()(Updates const& updates, T* data, T const* values, Reduce& reduce) const
    {
        updates.for_each([&](std::ptrdiff_t offset, std::size_t number) {
            apply(static_cast<std::size_t>(offset), data + offset, values + number * step_, reduce);
        });
    }

    std::size_t slices() const { return counts_.size(); }

    /// Writes the results of slices `from` .. `to` - 1. `divide(sum, count)` returns the mean, for types that
    /// have one.
    template <class Divide>
    void finish(std::size_t from, std::size_t to, Divide const& divide) const
    {
        for (std::size_t slice = from; slice < to; ++slice) {
            if (counts_[slice] == 0)
                continue;
            std::size_t const count = counts_[slice] + (rule_.include_self ? 1 : 0);
            for (std::size_t i = slice * step_; i < (slice + 1) * step_; ++i) {
                if constexpr (std::is_invocable_v<Divide const&, Sum const&, std::size_t>)
                    if (rule_.is_mean)
                        sum_of(i) = divide(sum_of(i), count);
                if constexpr (keeps_sums)
                    data_[i] = static_cast<T>(sum_of(i));
            }
        }
    }

private:
    static constexpr bool keeps_sums = !std::is_same_v<T, Sum>;

    template <class Reduce>
    void apply(std::size_t at, T* old, T const* update, Reduce& reduce) const
    {
        std::size_t const earlier = counts_[at / step_]++;
        if (earlier != 0 && rule_.only_first)
            return;
        for (std::size_t i = 0; i < step_; ++i) {
            Sum& sum = sum_of(at + i);
            if (earlier != 0)
                sum = static_cast<Sum>(reduce(std::move(sum), static_cast<Sum>(update[i])));
            else if (rule_.include_self)
                sum = static_cast<Sum>(reduce(static_cast<Sum>(old[i]), static_cast<Sum>(update[i])));
            else
                sum = static_cast<Sum>(update[i]);
        }
    }

    Sum& sum_of(std::size_t i) const
    {
        if constexpr (keeps_sums)
            return sums_[i];
        else
            return data_[i];
    }

    T* data_;
    std::size_t step_;
    tracking rule_;
    std::vector<std::size_t> mutable counts_;
    std::vector<Sum> mutable sums_;
};

} // namespace xloom::kernel

// ==== xloom/run/indexed/reduction_argument.hpp ====
// The reduction argument of a ScatterND call: a callable, a built-in function object, or an enumerator.

// ==== xloom/core/element_type_of.hpp ====
// The ONNX element type of a C++ type.

namespace xloom {

namespace detail {

template <class T>
inline constexpr element_type element_type_of_bare = element_type::undefined;

// Integers are mapped by size and signedness: long and long long may both be int64. Character types and
// __int128 are not element types.
template <class T>
    requires(std::signed_integral<T> || std::unsigned_integral<T>)
inline constexpr element_type element_type_of_bare<T> = [] {
    constexpr element_type by_size[2][4] = {
        {element_type::uint8, element_type::uint16, element_type::uint32, element_type::uint64},
        {element_type::int8, element_type::int16, element_type::int32, element_type::int64}};
    constexpr std::size_t row = std::is_signed_v<T> ? 1 : 0;
    return sizeof(T) == 1   ? by_size[row][0]
           : sizeof(T) == 2 ? by_size[row][1]
           : sizeof(T) == 4 ? by_size[row][2]
           : sizeof(T) == 8 ? by_size[row][3]
                            : element_type::undefined;
}();
template <>
inline constexpr element_type element_type_of_bare<bool> = element_type::bool_;
template <>
inline constexpr element_type element_type_of_bare<char> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<wchar_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char8_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char16_t> = element_type::undefined;
template <>
inline constexpr element_type element_type_of_bare<char32_t> = element_type::undefined;

template <>
inline constexpr element_type element_type_of_bare<float> = element_type::float_;
template <>
inline constexpr element_type element_type_of_bare<double> = element_type::double_;
template <>
inline constexpr element_type element_type_of_bare<std::complex<float>> = element_type::complex64;
template <>
inline constexpr element_type element_type_of_bare<std::complex<double>> = element_type::complex128;
template <>
inline constexpr element_type element_type_of_bare<std::string> = element_type::string;
template <element_type Element>
inline constexpr element_type element_type_of_bare<small_float<Element>> = Element;
template <element_type Element>
inline constexpr element_type element_type_of_bare<small_int<Element>> = Element;

} // namespace detail

/// The ONNX element type of T, ignoring const and volatile; element_type::undefined if there is none.
template <class T>
inline constexpr element_type element_type_of = detail::element_type_of_bare<std::remove_cv_t<T>>;

} // namespace xloom

namespace xloom::detail {

template <class T>
constexpr std::string_view element_name()
{
    return element_type_of<T> == element_type::undefined ? "values that ONNX does not know"
                                                         : name_of(element_type_of<T>);
}

template <class Reduce, class... Reductions>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_const_t<Reduce>, Reductions> || ...);

/// True if the reduction is an enumerator, known at run time only.
template <class Reduce>
inline constexpr bool is_named = is_one_of<Reduce, reduction>;

/// True if the reduction is built in, so that the order of its calls and their argument type are not
/// observable.
template <class Reduce>
inline constexpr bool is_built_in =
    is_named<Reduce> ||
    is_one_of<Reduce, reduce_none_t, reduce_add_t, reduce_mul_t, reduce_max_t, reduce_min_t>;

/// True if updates replace the existing values.
template <class Reduce>
constexpr bool replaces([[maybe_unused]] Reduce const& reduce)
{
    if constexpr (is_named<Reduce>)
        return reduce == reduction::none;
    else
        return is_one_of<Reduce, reduce_none_t>;
}

/// True if the reduction is defined for values of type T; false if `kind` is not an enumerator.
template <class T>
constexpr bool has_reduction(reduction kind)
{
    switch (kind) {
    case reduction::none:
        return true;
    case reduction::add:
        return kernel::can_reduce<reduce_add_t, T>;
    case reduction::mul:
        return kernel::can_reduce<reduce_mul_t, T>;
    case reduction::max:
        return kernel::can_reduce<reduce_max_t, T>;
    case reduction::min:
        return kernel::can_reduce<reduce_min_t, T>;
    case reduction::mean:
        return kernel::can_reduce<reduce_add_t, T> &&
               std::is_invocable_v<divide_by_count const&, T const&, std::size_t>;
    }
    return false;
}

/// Returns the options with the reduction that the argument names.
template <class Reduce>
scatter_nd_options options_with(
    std::string_view op, [[maybe_unused]] Reduce const& reduce, scatter_nd_options options)
{
    if constexpr (is_named<Reduce>) {
        if (options.reduction != reduction::none && options.reduction != reduce)
            fail<option_error>(op, ": the reduction may be named once, but the argument is ", name_of(reduce),
                " and options.reduction is ", name_of(options.reduction), ". Leave options.reduction out.");
        options.reduction = reduce;
    }
    return options;
}

/// Requires that the options are valid for the element type and for a callable reduction.
template <class T, class Reduce>
void check_reduction(std::string_view op, scatter_nd_options const& options)
{
    if constexpr (is_named<Reduce>) {
        if (options.reduction > reduction::mean)
            fail<option_error>(op, ": options.reduction must be a reduction, but it is number ",
                static_cast<int>(options.reduction), ". Choose one.");
        if (!has_reduction<T>(options.reduction))
            fail<option_error>(op, ": a reduction must be defined for data's elements, but reduction is ",
                name_of(options.reduction), " and data holds ", element_name<T>(), ". Choose another.");
    } else {
        if (options.reduction != reduction::none)
            fail<option_error>(op, ": where a callable reduces, options.reduction must be none, but it is ",
                name_of(options.reduction), ". Omit it.");
        if (!is_built_in<Reduce> && is_small_float<T> && options.accumulate_in_float)
            fail<option_error>(op, ": accumulate_in_float requires a reduction of xloom, but a callable "
                                   "reduces. Omit it, or convert data and updates to float.");
        if (!is_one_of<Reduce, reduce_none_t> && options.duplicates == duplicates::first)
            fail<option_error>(op, ": duplicates::first requires reduction::none, but a callable reduces. "
                                   "Choose duplicates::last, with which every update counts.");
    }
}

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_call.hpp ====
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

// ==== xloom/run/indexed/scatter_indices.hpp ====
// The indices of a call of ScatterND or of its derivative, checked together with the shapes and the options.

namespace xloom::detail {

/// The checked indices of a ScatterND call, and the slices of data that they name.
template <class Indices>
class scatter_indices {
public:
    using index = item_t<Indices>;

    scatter_indices(std::string_view op, shape const& data, Indices const& indices, shape const& updates,
        scatter_nd_options const& options)
        : op_(op),
          options_(options),
          data_shape_(data),
          width_(checked_width(detail::shape_of(indices), updates)),
          indices_(op, indices, indexed_axes(), 0, options.bounds)
    {
        check_named_slices(op, options, reader(), tuples().axes.dims, indices_.front());
    }

    std::string_view op() const { return op_; }
    scatter_nd_options const& options() const { return options_; }
    shape const& data_shape() const { return data_shape_; }
    std::size_t slices() const { return element_count(tuples().axes.dims); }
    std::size_t slice_size() const
    {
        return element_count(shape(data_shape_.begin() + width_, data_shape_.end()));
    }
    /// True if there is nothing to write; so also if data has no items, because then every update is dropped.
    bool is_empty() const { return indices_.count() == 0 || slice_size() == 0 || slices() == 0; }

    /// Returns the index tuples; their offsets are the slices' positions in row-major order.
    kernel::index_tuples<index> const& tuples() const { return indices_.tuples(); }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the slices' positions.
    kernel::offset_reader reader() const { return indices_.reader(); }

    /// Returns a reader of the offsets of tuples(steps). The reader must not outlive the tuples.
    kernel::offset_reader reader(kernel::index_tuples<index> const& tuples, strides const&) const
    {
        return {tuples, options_.bounds};
    }

    /// True if the tuples can be read as kernel::single_indices.
    bool are_single() const { return kernel::are_single_indices(tuples(), options_.bounds); }

    /// Returns the first axis of data that is not indexed.
    std::size_t first_slice_axis() const { return width_; }

private:
    std::size_t checked_width(shape const& indices, shape const& updates) const
    {
        check_scatter_nd(op_, data_shape_, indices, updates, options_);
        return indices.back();
    }

    strided_layout indexed_axes() const
    {
        shape const indexed(data_shape_.begin(), data_shape_.begin() + width_);
        return {indexed, row_major_strides(indexed)};
    }

    std::string_view op_;
    scatter_nd_options options_;
    shape data_shape_;
    std::size_t width_;
    checked_indices<Indices> indices_;
};

} // namespace xloom::detail

namespace xloom::detail {

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates>
class scatter_call : public scatter_indices<Indices> {
public:
    using item = item_t<Updates>;

    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_nd_options const& options)
        : scatter_indices<Indices>(op, detail::shape_of(data), indices, detail::shape_of(updates), options),
          updates_(updates)
    {}

    item const* updates() const { return updates_.data(); }

private:
    row_major_items<Updates> updates_;
};

} // namespace xloom::detail

namespace xloom::detail {

/// Returns the begin of a part, advanced so that no run of equal offsets is split. Requires sorted tuples.
inline std::size_t begin_of_run(kernel::offset_reader const& read, std::size_t begin)
{
    if (begin == 0 || begin == read.count())
        return begin;
    std::ptrdiff_t before, offset;
    read(begin - 1, 1, &before);
    std::size_t end = read.count();
    while (begin < end) {
        std::size_t const middle = begin + (end - begin) / 2;
        read(middle, 1, &offset);
        if (offset == before)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// True if sorting updates by owner is expected to be faster, where one owner applies the fraction `load` of
/// all updates.
constexpr bool is_sorting_worthwhile(std::size_t parts, std::size_t slice_size, double load)
{
    double const sorting = tuning::sorting_cost / static_cast<double>(parts);
    double const applying = tuning::applying_cost + static_cast<double>(slice_size);
    return sorting + applying * load < tuning::worthwhile_fraction * applying;
}

/// Applies updates to slices, in order within each slice, on the threads of a policy where that is faster.
template <class Policy>
class update_runner {
public:
    update_runner(kernel::offset_reader const& read, scatter_nd_options const& options,
        std::size_t slice_size, Policy const& policy)
        : read_(read), options_(options), slice_size_(slice_size), policy_(policy)
    {
        if constexpr (has_threads<Policy>) {
            parts_ = parts_for(policy, read.count() * slice_size);
            if (parts_ == 1 || can_be_cut())
                return;
            if (is_sorting_worthwhile(parts_, slice_size, 1.0 / static_cast<double>(parts_)))
                owner_of_.emplace((std::max)(slice_size, tuning::thread_distance), parts_, read);
            if (!owner_of_ || !is_sorting_worthwhile(parts_, slice_size, owner_of_->load()))
                parts_ = 1;
        }
    }

    bool is_serial() const { return parts_ == 1; }

    template <class T, class Slices, class Reduce>
    void operator()(T* data, T const* values, Slices const& slices, Reduce& reduce) const
    {
        std::size_t const count = read_.count();
        auto const apply_range = [&](std::size_t begin, std::size_t end) {
            kernel::scatter_nd(read_, begin, end, data, values, slice_size_, slices, reduce);
        };
        if constexpr (has_threads<Policy>) {
            if (parts_ > 1 && can_be_cut())
                return policy_.for_each(parts_, [&](std::size_t part) {
                    std::size_t const begin = begin_of_part(part, parts_, count),
                                      end = begin_of_part(part + 1, parts_, count);
                    apply_range(options_.unique ? begin : begin_of_run(read_, begin),
                        options_.unique ? end : begin_of_run(read_, end));
                });
            if (parts_ > 1)
                return kernel::for_each_owned(
                    policy_, read_, *owner_of_, [&](kernel::owned_updates const& updates) {
                        kernel::with_reduction<T>(
                            reduce, [&](auto& function) { slices(updates, data, values, function); });
                    });
        }
        apply_range(0, count);
    }

private:
    /// True if the updates can be split between any two, or between any two of different slices. Sorted
    /// updates must not include dropped ones, which could separate two updates of the same slice.
    bool can_be_cut() const { return options_.unique || (options_.sorted && !read_.may_drop()); }

    kernel::offset_reader const& read_;
    scatter_nd_options const& options_;
    std::size_t slice_size_;
    Policy const& policy_;
    std::size_t parts_ = 1;
    std::optional<kernel::slice_owners> owner_of_{};
};

/// True if contiguous slices are long enough for every thread to update a part of each.
constexpr bool can_cut_slices(std::size_t slice_size, std::size_t parts)
{
    return parts > 1 && slice_size >= parts * tuning::thread_distance;
}

/// Applies every update on each of `parts` threads, each to its own part of the slice.
template <class T, class Reduce, class Policy>
void apply_pieces(kernel::offset_reader const& read, T* data, T const* values, std::size_t slice_size,
    Reduce& reduce, Policy const& policy, std::size_t parts)
{
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, slice_size),
                          end = begin_of_part(part + 1, parts, slice_size);
        kernel::scatter_nd(read, 0, read.count(), data + begin, values + begin, slice_size,
            kernel::contiguous_slices{end - begin, slice_size}, reduce);
    });
}

/// Returns the tracking of slices that the options require.
inline kernel::tracking tracking_of(scatter_nd_options const& options, bool replaces)
{
    return {replaces && options.duplicates == duplicates::first, options.include_self && !replaces,
        options.reduction == reduction::mean};
}

constexpr bool needs_tracking(kernel::tracking const& rule, bool replaces)
{
    return rule.only_first || (!rule.include_self && !replaces) || rule.is_mean;
}

/// Applies updates to tracked slices, which must be contiguous: data of another layout is copied and copied
/// back.
template <class Sum, class Call, tensor Data, class Reduce, class Policy>
void run_tracked(
    Call const& call, Data& data, kernel::tracking const& rule, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    strided_layout const layout = detail::layout_of(data);
    T* items = enable_tensor<Data>::data(data);
    std::optional<xt::xtensor<T, 1>> copy;
    if (!is_row_major(layout)) {
        copy.emplace(pack_items<T>(items, layout));
        items = copy->data();
    }

    strides const steps = row_major_strides(layout.dims);
    auto const tuples = call.tuples(steps);
    kernel::offset_reader const read = call.reader(tuples, steps);
    kernel::tracked_slices<T, Sum> const slices(items, call.slices(), call.slice_size(), rule);
    update_runner(read, call.options(), call.slice_size(), policy)(items, call.updates(), slices, reduce);
    std::size_t const parts = parts_for(policy, slices.slices() * call.slice_size());
    policy.for_each(parts, [&](std::size_t part) {
        slices.finish(begin_of_part(part, parts, slices.slices()),
            begin_of_part(part + 1, parts, slices.slices()), divide_by_count{});
    });

    if (copy)
        unpack_items(*copy, enable_tensor<Data>::data(data), layout);
}

template <class Call, tensor Data, class Reduce, class Policy>
void run_untracked(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    auto* const items = enable_tensor<Data>::data(data);
    strided_layout const layout = detail::layout_of(data);
    auto const tuples = call.tuples(layout.strides);
    kernel::offset_reader const read = call.reader(tuples, layout.strides);
    std::size_t const size = call.slice_size(), axis = call.first_slice_axis();
    strided_layout const slice{shape(layout.dims.begin() + axis, layout.dims.end()),
        strides(layout.strides.begin() + axis, layout.strides.end())};

    bool const is_contiguous = is_row_major(slice);
    std::size_t const pieces = parts_for(policy, tuples.count * size);
    if (is_contiguous && can_cut_slices(size, pieces))
        return apply_pieces(read, items, call.updates(), size, reduce, policy, pieces);

    update_runner const run(read, call.options(), size, policy);
    if (is_contiguous && run.is_serial() && call.are_single())
        kernel::scatter_single(tuples, items, call.updates(), size, reduce);
    else if (is_contiguous)
        run(items, call.updates(), kernel::contiguous_slices{size, size}, reduce);
    else
        run(items, call.updates(),
            kernel::strided_slices{{slice.dims, row_major_strides(slice.dims), slice.strides}, size}, reduce);
}

/// Updates `data` in place. Requires the shape that the call was checked with, and memory that no other
/// operand shares.
template <class Call, tensor Data, class Reduce, class Policy>
void run_scatter_nd(Call const& call, Data& data, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    if (call.is_empty())
        return;
    kernel::tracking const rule = tracking_of(call.options(), replaces(reduce));
    if constexpr (is_small_float<T> && is_built_in<Reduce>)
        if (call.options().accumulate_in_float && !replaces(reduce))
            return run_tracked<float>(call, data, rule, reduce, policy);
    if (needs_tracking(rule, replaces(reduce)))
        run_tracked<T>(call, data, rule, reduce, policy);
    else
        run_untracked(call, data, reduce, policy);
}

} // namespace xloom::detail

namespace xloom::detail {

/// Returns the options of the scatter that adds ct to the gathered slices.
constexpr scatter_nd_options scatter_options(gather_nd_vjp_options const& options)
{
    return {.reduction = reduction::add,
        .bounds = options.bounds,
        .accumulate_in_float = options.accumulate_in_float,
        .unique = options.unique,
        .sorted = options.sorted};
}

/// The checked operands of a call, as run_scatter_nd reads them: ct is the updates, and batch axes precede
/// the indexed axes of data.
template <class Ct, class Indices>
class gather_vjp_call {
public:
    using index = item_t<Indices>;
    using item = item_t<Ct>;

    gather_vjp_call(std::string_view op, Ct const& ct, shape const& data, Indices const& indices,
        gather_nd_vjp_options const& options)
        : options_(scatter_options(options)),
          data_(data),
          first_(static_cast<std::size_t>(options.batch_dims)),
          last_(first_ + checked_width(op, ct, indices, options)),
          indices_(op, indices, part_of_axes(row_major_strides(named_axes()), first_, last_), first_,
              options.bounds),
          ct_(ct)
    {
        check_named_slices(op, options_, indices_.reader(batch(row_major_strides(named_axes()))),
            named_axes(), indices_.front());
    }

    scatter_nd_options const& options() const { return options_; }
    item const* updates() const { return ct_.data(); }
    std::size_t slices() const { return element_count(named_axes()); }
    std::size_t slice_size() const { return element_count(shape(data_.begin() + last_, data_.end())); }
    bool is_empty() const { return indices_.count() == 0 || element_count(data_) == 0; }
    std::size_t first_slice_axis() const { return last_; }
    bool are_single() const
    {
        return first_ == 0 && kernel::are_single_indices(indices_.tuples(), options_.bounds);
    }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the offsets of tuples(steps). The reader must not outlive the tuples.
    kernel::offset_reader reader(kernel::index_tuples<index> const& tuples, strides const& steps) const
    {
        return {tuples, options_.bounds, batch(steps)};
    }

private:
    std::size_t checked_width(
        std::string_view op, Ct const& ct, Indices const& indices, gather_nd_vjp_options const& options) const
    {
        shape const dims = detail::shape_of(indices);
        check_gather_nd_vjp(op, detail::shape_of(ct), data_, dims, options, sizeof(item));
        return dims.back();
    }

    /// Returns the lengths of the axes that name a slice: batch axes and indexed axes.
    shape named_axes() const { return shape(data_.begin(), data_.begin() + last_); }

    strided_layout part_of_axes(strides const& steps, std::size_t first, std::size_t last) const
    {
        return {shape(data_.begin() + first, data_.begin() + last),
            strides(steps.begin() + first, steps.begin() + last)};
    }

    kernel::batch_offsets batch(strides const& steps) const
    {
        strided_layout const axes = part_of_axes(steps, 0, first_);
        return {axes, indices_.count() == 0 ? 1 : indices_.count() / element_count(axes.dims)};
    }

    scatter_nd_options options_;
    shape data_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
    checked_indices<Indices> indices_;
    row_major_items<Ct> ct_;
};

/// Writes zeros to all items of a tensor.
template <tensor Output>
void fill_with_zeros(Output& output)
{
    using T = item_t<Output>;
    strided_layout const layout = detail::layout_of(output);
    T* const items = enable_tensor<Output>::data(output);
    if (is_row_major(layout))
        std::fill_n(items, element_count(layout.dims), T{});
    else
        kernel::strided_copy(layout.dims, layout.strides, layout.strides)
            .for_each_pair(items, items, [](T const&, T& item) { item = T{}; });
}

/// Writes the derivative by data: the sum of the cotangents of each slice's copies.
template <class Call, tensor Output, class Policy>
void run_gather_vjp(Call const& call, Output& d_data, Policy const& policy)
{
    fill_with_zeros(d_data);
    run_scatter_nd(call, d_data, reduce_add, policy);
}

} // namespace xloom::detail

// ==== xloom/run/indexed/gather_vjp_types.hpp ====
// The requirements on the types of a call of gather_nd_vjp or gather_nd_vjp_into, with their compile-time
// errors.

// ==== xloom/core/differentiable.hpp ====
// The concept of an element type that has gradients.

namespace xloom::detail {

/// A type with a remainder: the integers, bool and characters, the storage types of integers, and integers of
/// other libraries.
template <class T>
concept integer_like = requires(T const& a) { a % a; };

/// A type that has sums, products and quotients by a count, and whose T{} is zero: floating-point numbers,
/// their complex numbers and storage types (float8_e8m0 has no zero), and user-defined scalars.
template <class T>
concept differentiable =
    !integer_like<T> && !std::same_as<T, float8_e8m0> && summable<T> && multipliable<T> &&
    std::is_invocable_v<divide_by_count const&, T const&, std::size_t>;

} // namespace xloom::detail

namespace xloom::detail {

/// A shape: xloom::shape, or a range of dimensions such as data.shape().
template <class Dims>
concept dimensions = requires(Dims const& dims) {
    requires std::integral<std::remove_cvref_t<decltype(*dims.begin())>>;
    dims.end();
    dims.size();
};

/// True if ct and indices are valid, otherwise a compile-time error of one sentence.
template <class Ct, class Indices>
consteval bool are_valid_gather_nd_vjp_operands()
{
    if constexpr (!tensor<Ct> && !lazy<Ct>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct must be a tensor");
    else if constexpr (!differentiable<item_t<Ct>>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct must hold numbers that have a gradient, which "
                                 "integers, bool, strings and float8_e8m0 have not");
    else
        return are_valid_gather_nd_vjp_indices<Indices>();
    return false;
}

/// True if the types of a call of gather_nd_vjp<Rank> are valid, otherwise a compile-time error of one
/// sentence.
template <std::size_t Rank, class Ct, class Dims, class Indices, class Policy>
consteval bool is_valid_gather_nd_vjp()
{
    if constexpr (!execution_policy<Policy> || !dimensions<Dims>)
        static_assert(never<Policy>,
            "xloom::gather_nd_vjp: the arguments are gather_nd_vjp(ct, data's shape, "
            "indices[, options][, policy])");
    else if constexpr (!are_valid_gather_nd_vjp_operands<Ct, Indices>())
        return false;
    else if constexpr (Rank == dynamic_rank && !has_every_rank<Ct>)
        static_assert(never<Ct>, "xloom::gather_nd_vjp: ct is a container of your own with a static rank, so "
                                 "name the result's: gather_nd_vjp<Rank>(...)");
    else
        return true;
    return false;
}

/// True if the types of a call of gather_nd_vjp_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Ct, class Indices, class Output, class Policy>
consteval bool is_valid_gather_nd_vjp_into()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::gather_nd_vjp_into: the arguments are gather_nd_vjp_into(ct, "
                                     "indices, d_data[, options][, policy])");
    else if constexpr (!are_valid_gather_nd_vjp_operands<Ct, Indices>())
        return false;
    else if constexpr (!tensor<Output>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data must be a tensor in memory");
    else if constexpr (!std::is_same_v<item_t<Output>, item_t<Ct>>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data must have ct's element type");
    else if constexpr (!is_writable<std::remove_reference_t<Output>>::value)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data is written, so it must not be const");
    else if constexpr (!outlives_call<Output>)
        static_assert(never<Output>, "xloom::gather_nd_vjp_into: d_data is written in place, so it must be a "
                                     "variable or a view of one");
    else
        return true;
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// Returns a range of dimensions as a shape.
///
/// Errors    shape_error: over max_rank.
template <dimensions Dims>
shape shape_from(std::string_view op, Dims const& dims)
{
    check_rank(op, "data", static_cast<std::size_t>(dims.size()));
    return shape(dims.begin(), dims.end());
}

template <std::size_t Rank, class Ct, class Dims, class Indices, class Policy>
auto gather_nd_vjp(Ct const& ct, Dims const& data_shape, Indices const& indices,
    gather_nd_vjp_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_gather_nd_vjp<Rank, Ct, Dims, Indices, Policy>()) {
        return owned_t<Ct>(ct); // a value, so that one mistake gives one error
    } else {
        static constexpr std::string_view op = "xloom::gather_nd_vjp";
        using result_type = typename enable_tensor<owned_t<Ct>>::template rebind<Rank>;
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        shape const dims = detail::shape_from(op, data_shape);
        gather_vjp_call<bare<decltype(cotangent)>, bare<decltype(index_tensor)>> const call(
            op, cotangent, dims, index_tensor, options);
        if (Rank != dynamic_rank && dims.size() != Rank)
            fail<shape_error>(op, ": the result must have the requested rank, but data has the shape ", dims,
                " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
        result_type result = enable_tensor<result_type>::make(dims);
        run_gather_vjp(call, result, policy);
        return result;
    }
}

template <class Ct, class Indices, class Output, class Policy>
void gather_nd_vjp_into(Ct const& ct, Indices const& indices, Output&& d_data,
    gather_nd_vjp_options const& options, Policy const& policy)
{
    if constexpr (is_valid_gather_nd_vjp_into<Ct, Indices, Output, Policy>()) {
        static constexpr std::string_view op = "xloom::gather_nd_vjp_into";
        auto const [cotangent, index_tensor] = detail::evaluated_inputs(std::tie(ct, indices));
        check_rank(op, "ct", detail::rank_of(cotangent));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, "d_data", detail::rank_of(d_data));
        gather_vjp_call<bare<decltype(cotangent)>, bare<decltype(index_tensor)>> const call(
            op, cotangent, detail::shape_of(d_data), index_tensor, options);
        check_gather_nd_vjp_output(
            op, detail::memory_of(d_data), detail::memory_of(cotangent), detail::memory_of(index_tensor));
        run_gather_vjp(call, d_data, policy);
    }
}

} // namespace detail

/// Returns the vector-Jacobian product of gather_nd: the gradient by data, where ct is the cotangent of
/// gather_nd's output. It is a scatter: the cotangents of all copies of a slice are added.
///
///     d_data = zeros(data_shape)
///     for i in ndindex(indices.shape[:-1]):                       # in row-major order
///         d_data[i[:b] + indices[i]] += ct[i]                     # b = batch_dims
///
/// Shapes    ct as gather_nd's output, indices.shape[:-1] ++ data_shape[b + k:]; indices and data_shape, an
///           xloom::shape or any range such as data.shape(), as for gather_nd. The result has data_shape: an
///           xt::xarray, with gather_nd_vjp<Rank> an xt::xtensor of that rank; for your own container one of
///           its family. Any layout, lazy expressions too.
/// Types     ct of float, double, long double, their complex numbers, storage floats other than float8_e8m0,
///           or a user-defined scalar with +, * and /, whose T{} is zero; indices of any integer type.
/// Options   batch_dims (0), bounds (check): those of the gather_nd that is differentiated. With drop, the
///           cotangents of dropped slices are not read; with clip, they are added to the nearest slice.
///           accumulate_in_float (false), unique, sorted (false): those of the scatter_nd that it is.
/// Policy    serial, or one with threads (xloom/tbb.hpp): results are bitwise equal to those of serial.
/// Errors    shape_error, option_error, index_error (all offending positions and values).
/// Order     row-major, as scatter_nd with reduction::add: storage floats are rounded after each addition
///           unless accumulate_in_float.
/// Cost      that of filling d_data with zeros and of scatter_nd_into with reduction::add.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const rows = {{1}, {0}, {-1}};
/// xt::xtensor<float, 2> const ct = {{1, 2}, {3, 4}, {5, 6}};
/// xloom::gather_nd_vjp(ct, {2, 2}, rows); // = [[3, 4], [6, 8]]
/// ```
template <std::size_t Rank = dynamic_rank, class Ct, class Dims = shape, class Indices,
    class Policy = serial_policy>
auto gather_nd_vjp(Ct const& ct, Dims const& data_shape, Indices const& indices,
    gather_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    return detail::gather_nd_vjp<Rank>(ct, data_shape, indices, options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <std::size_t Rank = dynamic_rank, class Ct, class Dims = shape, class Indices,
    execution_policy Policy>
auto gather_nd_vjp(Ct const&, Dims const&, Indices const&, Policy const&, gather_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd_vjp<Rank, Ct, Dims, Indices, gather_nd_vjp_options>());
    return detail::owned_t<Ct>();
}

/// Computes gather_nd_vjp into the caller's d_data, of any layout, whose shape is that of data. Its previous
/// values are overwritten; scatter_nd_into with reduction::add adds to them instead.
///
/// Errors    as gather_nd_vjp, before the first write. overlap_error: d_data shares memory with ct or indices,
///           or its items share memory with each other.
template <class Ct, class Indices, class Output, class Policy = serial_policy>
void gather_nd_vjp_into(Ct const& ct, Indices const& indices, Output&& d_data,
    gather_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    detail::gather_nd_vjp_into(ct, indices, std::forward<Output>(d_data), options, policy);
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Indices, class Output, execution_policy Policy>
void gather_nd_vjp_into(
    Ct const&, Indices const&, Output const&, Policy const&, gather_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_gather_nd_vjp_into<Ct, Indices, Output, gather_nd_vjp_options>());
}

} // namespace xloom

// ==== xloom/gru.hpp ====
// ONNX's GRU over a batch of sequences.

// ==== xloom/run/recurrent/gru_weights.hpp ====
// The constants of a GRU: checked, and packed for its kernel.

// ==== xloom/kernel/gru.hpp ====
// A time step of the GRU for a batch of rows, on raw data.

namespace xloom::kernel {

/// The constants of one direction. A gate's sums begin at a multiple of gate_step; the gates are z, r, h.
template <class T>
struct gru_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    panels<T> W;           ///< [I, 3 gate_step]
    panels<T> R_zr;        ///< [H, 2 gate_step]
    panels<T> R_h;         ///< [H, gate_step]
    T const* bias;         ///< laid out as a row of sums; without Rb_h if linear_before_reset
    T const* Rb_h;         ///< zeros unless linear_before_reset
    gate<T> f, g;
    bool linear_before_reset;

    std::size_t sums_step() const noexcept { return row_step<T>(3 * gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + H * (R_zr.columns + R_h.columns); }
};

template <class T>
class gru_rows {
public:
    gru_rows(gru_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p),
          h_(memory.take(rows * p.gate_step)),
          reset_(memory.take(rows * row_step<T>(p.gate_step))),
          interleaved_(memory.take(rows * p.gate_step))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.gate_step; }

    panels<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_step() const noexcept { return p_.sums_step(); }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t, T* sums) const noexcept
    {
        std::size_t const step = sums_step(), H = p_.H, reset_step = row_step<T>(p_.gate_step);
        auto const h = interleave(rows, {h_, p_.gate_step}, H, interleaved_);
        rows_of<T> const h_sums{sums + 2 * p_.gate_step, step};
        multiply<T>(rows, h, p_.R_zr, {sums, step}, {sums, step});
        if (p_.linear_before_reset)
            multiply<T>(rows, h, p_.R_h, {p_.Rb_h, 0}, {reset_, reset_step});
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * step, *const r = z + p_.gate_step,
                     *const reset = reset_ + row * reset_step;
            p_.f(z, H);
            p_.f(r, H);
            if (p_.linear_before_reset)
                add_products(r, reset, h_sums.first + row * step, H);
            else
                set_products(r, this->h(row), reset, H);
        }
        if (!p_.linear_before_reset)
            multiply<T>(rows, interleave(rows, {reset_, reset_step}, H, interleaved_), p_.R_h,
                {h_sums.first, step}, h_sums);
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * step, *const next = h_sums.first + row * step,
                     *const state = this->h(row);
            p_.g(next, H);
            for_each_batch<T>(H, [=](std::size_t j) {
                auto const kept = load_batch(z + j);
                store_batch(state + j,
                    multiply_add(kept, load_batch(state + j), (batch_t<T>(1) - kept) * load_batch(next + j)));
            });
        }
    }

private:
    gru_parameters<T> const& p_;
    T* h_;
    T* reset_; ///< r * h, or Rh h + Rb_h if linear_before_reset
    T* interleaved_;
};

} // namespace xloom::kernel

namespace xloom::detail {

inline constexpr std::array<std::string_view, 2> gru_activations{"Sigmoid", "Tanh"};

/// Checks W [D, 3H, I], R [D, 3H, H] and B [D, 6H], and returns their sizes.
template <class Constants, class Options>
recurrent_widths check_gru_constants(std::string_view op, Constants const& in, Options const& options)
{
    check_ranks(op, in.W, in.R, in.B);
    check_options(op, options);
    check_not_transposed(op, 3, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R));
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", "[D, 3H, I]", {D, 3 * H, I}, in.W.shape()},
            shape_requirement{"R", "[D, 3H, H]", {D, 3 * H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 6H]", {D, 6 * H}, shape_if_given(in.B)},
        },
        [&] { return describe(sizes); });
    return sizes;
}

/// The weights of a GRU, as packed_weights needs them.
struct gru_family {
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::gru_parameters<T>;

    template <class Constants, class Options>
    static checked check(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_gru_constants(op, in, options),
            check_activations(op, options, gru_activations, activation_dialect::onnx)};
    }

    /// Packs direction d. The functions are f and g of each direction.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        kernel::gru_parameters<T> p{};
        p.I = I;
        p.H = H;
        p.gate_step = step;
        std::size_t const z = 0, r = 1, h = 2;
        auto const W = take_panels(I, 3 * step, memory), R_zr = take_panels(H, 2 * step, memory),
                   R_h = take_panels(H, step, memory);
        T *const bias = memory.take(3 * step), *const Rb_h = memory.take(step);
        if (!memory.only_counts()) {
            for (std::size_t const gate : {z, r, h})
                pack_panels(across(in.W, d, gate * H, 0), I, H, W, 0, gate * step);
            for (std::size_t const gate : {z, r}) {
                pack_panels(across(in.R, d, gate * H, 0), H, H, R_zr, 0, gate * step);
                load_bias(in.B, d, gate * H, (3 + gate) * H, H, bias + gate * step);
            }
            pack_panels(across(in.R, d, h * H, 0), H, H, R_h);
            if (in.B.is_given() && options.linear_before_reset) {
                load_row(in.B, d, h * H, H, bias + h * step);
                load_row(in.B, d, (3 + h) * H, H, Rb_h);
            } else {
                load_bias(in.B, d, h * H, (3 + h) * H, H, bias + h * step);
            }
        }
        p.W = W.packed();
        p.R_zr = R_zr.packed();
        p.R_h = R_h.packed();
        p.bias = bias;
        p.Rb_h = Rb_h;
        p.f = gate_of<T>(functions[2 * d], options.clip);
        p.g = gate_of<T>(functions[2 * d + 1], options.clip);
        p.linear_before_reset = options.linear_before_reset;
        return p;
    }
};

} // namespace xloom::detail

// ==== xloom/run/recurrent/single_state.hpp ====
// The engine of the operators with one state, GRU and RNN; Rows is their kernel.

namespace xloom::detail {

/// The initial and final state of the rows of a GRU or an RNN.
template <class Item, class Rows, class Weights>
struct hidden_states {
    Weights const& weights;
    state_rows<Item const> initial_h;
    state_rows<Item> Y_h;

    template <class Part>
    Rows make_rows(Part const& part, kernel::arena<compute_t<Item>>& memory) const
    {
        return Rows(detail::parameters_of(weights, part.d), part.count, memory);
    }
    template <class Part>
    void start(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r)
            load_state(initial_h, part.d, part.first[r].row, rows.H(), rows.h(r));
    }
    template <class Part>
    void finish(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r)
            store_state(rows.h(r), rows.H(), Y_h, part.d, part.first[r].row);
    }
};

template <class Item, class Weights, class Start>
batch_sizes check_hidden_call(
    std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), weights.layout());
    check_states(op, weights, batch, std::array{named_shape{"initial_h", shape_if_given(start.initial_h)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return batch;
}

template <class Item, class Weights, class Start, class Outputs>
void check_hidden_outputs(std::string_view op, Weights const& weights, batch_sizes const& batch,
    input_ref<Item> const& X, Start const& start, Outputs const& outputs)
{
    check_outputs<Item>(
        op, [&] { return describe(weights.sizes(), batch); },
        std::array{output_requirement<Item>{"Y", output_letters(weights.layout()),
                       output_shape(weights.sizes(), batch, weights.layout()), outputs.Y},
            output_requirement<Item>{"Y_h", state_letters(weights.layout()),
                state_shape(weights.sizes(), batch, weights.layout()), outputs.Y_h, "initial_h"}},
        blocks_of(X, start.sequence_lens, start.initial_h));
}

template <class Rows, class Item, class Weights, class Start, class Outputs, class Policy>
void run_hidden_into(input_ref<Item> const& X, Weights const& weights, batch_sizes const& batch,
    Start const& start, Outputs const& outputs, recurrent_workspace<Item>& workspace, Policy const& policy)
{
    std::int64_t const layout = weights.layout();
    hidden_states<Item, Rows, Weights> const states{
        weights, {start.initial_h, layout}, {outputs.Y_h, layout}};
    run_recurrent<Item>(weights, states, X, start.sequence_lens, outputs.Y, batch, workspace, policy);
}

/// Runs a GRU or an RNN, and returns Y and Y_h.
template <class Result, class Outputs, class Rows, class Item, class Weights, class Start, class Policy>
Result run_hidden(std::string_view op, input_ref<Item> const& X, Weights const& weights, Start const& start,
    Policy const& policy)
{
    batch_sizes const batch = check_hidden_call<Item>(op, X, weights, start);
    Result result{make_output<Item>(weights.sizes(), batch, weights.layout()),
        make_state<Item>(weights.sizes(), batch, weights.layout())};
    recurrent_workspace<Item> workspace;
    run_hidden_into<Rows>(X, weights, batch, start, Outputs{result.Y, result.Y_h}, workspace, policy);
    return result;
}

} // namespace xloom::detail

namespace xloom {

/// The inputs of a GRU under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct gru_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The inputs of a GRU that are constant over calls.
template <class Item>
struct gru_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
};

/// The inputs of a GRU, except X, that vary from call to call.
template <class Item>
struct gru_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The outputs of gru_into; {} omits one.
template <class Item>
struct gru_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
};

/// The outputs of gru, in the shapes given there.
template <class Item>
struct gru_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// ONNX's attributes of a GRU. Names and lists are read only during the call that they are passed to.
struct gru_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{};                                    ///< f, g of each direction; none: Sigmoid, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};
    std::optional<double> clip{};              ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{}; ///< H, to be checked if given
    bool linear_before_reset = false;          ///< r is applied to R h + Rb instead of h
    std::int64_t layout = 0;                   ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of a GRU, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as gru.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class gru_weights : public detail::packed_weights<detail::gru_family, detail::compute_t<Item>> {
public:
    gru_weights(gru_constants<Item> const& constants, gru_options const& options = {})
        : gru_weights({"xloom::gru_weights"}, constants, options)
    {}
    gru_weights(
        detail::operator_name const& op, gru_constants<Item> const& constants, gru_options const& options)
        : gru_weights::packed_weights(op, constants, options)
    {}
};

/// Computes ONNX's GRU.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         z, r = act_f(split(W[d][z, r] x_t + Wb[d] + R[d][z, r] h + Rb[d], 2))
///         h' = act_g(W[d][h] x_t + Wb[d] + R[d][h] (r * h) + Rb[d])
///             # linear_before_reset: + r * (R[d][h] h + Rb[d])
///         h = (1 - z) * h' + z * h
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 3H, I], R [D, 3H, H], B [D, 6H] = [Wb, Rb], sequence_lens [N], initial_h [D,
///           N, H] -> Y [T, D, N, H], Y_h [D, N, H]; gates in the order z, r, h. Layout 1: X [N, T, I], Y [N,
///           T, D, H], states [N, D, H]. Any strides.
/// Types     as lstm.
/// Options   gru_options; if the weights are packed, those given to gru_weights.
/// Policy    serial, or one with threads (xloom/tbb.hpp): each thread has its own rows and directions.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     as lstm: the bits of a row depend only on the row.
/// Cost      T N D 3H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights.
/// Differs   from ONNX: nothing known. A row of length 0 keeps its initial state.
/// Source    ONNX GRU-1, 3, 7, 14, 22; infer_gru has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 3, 1});
/// auto const [Y, Y_h] = xloom::gru(X, {.W = W, .R = R});
/// Y; // = [[[[0.174468]]], [[[0.307763]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
gru_result<Item> gru(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start = {}, Policy const& policy = {})
{
    return detail::run_hidden<gru_result<Item>, gru_outputs<Item>, kernel::gru_rows<detail::compute_t<Item>>,
        Item>("xloom::gru", X, weights, start, policy);
}

/// Computes ONNX's GRU with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
gru_result<Item> gru(Input const& X, std::type_identity_t<gru_inputs<Item>> const& inputs,
    gru_options const& options = {}, Policy const& policy = {})
{
    gru_weights<Item> const weights(
        detail::operator_name{"xloom::gru"}, {inputs.W, inputs.R, inputs.B}, options);
    return gru(X, weights, {inputs.sequence_lens, inputs.initial_h}, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
gru_result<Item> gru(
    Input const&, gru_weights<Item> const&, Policy const&, std::type_identity_t<gru_start<Item>> const& = {})
{
    static_assert(detail::never<Policy>, "xloom::gru: the arguments are gru(X, weights[, start][, policy])");
    return {};
}

/// Rejects a policy that is not last.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
gru_result<Item> gru(
    Input const&, std::type_identity_t<gru_inputs<Item>> const&, Policy const&, gru_options const& = {})
{
    static_assert(detail::never<Policy>, "xloom::gru: the arguments are gru(X, inputs[, options][, policy])");
    return {};
}

/// Computes ONNX's GRU into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as gru; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h may be the same tensor as initial_h.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void gru_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::gru_into";
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_hidden_call<Item>(op, input, weights, start);
    detail::check_hidden_outputs<Item>(op, weights, batch, input, start, outputs);
    detail::run_hidden_into<kernel::gru_rows<detail::compute_t<Item>>>(
        input, weights, batch, start, outputs, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void gru_into(Input const&, gru_weights<Item> const&, std::type_identity_t<gru_start<Item>> const&,
    std::type_identity_t<gru_outputs<Item>> const&, Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>,
        "xloom::gru_into: the arguments are gru_into(X, weights, start, outputs, workspace[, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows and the policy's
/// threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> gru_workspace(
    gru_weights<Item> const& weights, detail::batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>("xloom::gru_workspace", weights,
        detail::hidden_states<Item, kernel::gru_rows<detail::compute_t<Item>>, gru_weights<Item>>{
            weights, {}, {}},
        batch, policy);
}

} // namespace xloom

// ==== xloom/if.hpp ====
// The If operator: runs one of two branches.

namespace xloom {

namespace detail {

/// True if ONNX's condition holds: a bool, or a tensor of any rank with exactly one element.
template <class Cond>
bool is_true(std::string_view op, Cond const& cond)
{
    if constexpr (lazy<Cond>) {
        return is_true(op, owned_t<Cond>(cond));
    } else if constexpr (tensor<Cond>) {
        check_rank(op, "cond", detail::rank_of(cond));
        if (element_count(detail::shape_of(cond)) != 1)
            fail<shape_error>(op, ": cond must have exactly one element, but cond has the shape ",
                detail::shape_of(cond), ". Reduce it, for example with xt::all(cond).");
        return static_cast<bool>(*enable_tensor<Cond>::data(cond));
    } else {
        return static_cast<bool>(cond);
    }
}

/// True if the types of a call of if_ are valid, otherwise a compile-time error of one sentence.
template <class Cond, class Then, class Else>
consteval bool is_valid_if()
{
    if constexpr (!std::is_same_v<item_t<Cond>, bool> && !std::is_convertible_v<Cond const&, bool>)
        static_assert(never<Cond>, "xloom::if_: cond must be a bool or a tensor of bool with one element");
    else if constexpr (!std::is_invocable_v<Then&> || !std::is_invocable_v<Else&>)
        static_assert(never<Then>, "xloom::if_: the branches must be callable without arguments; they see "
                                   "outer variables by capture");
    else {
        using then_t = bare<std::invoke_result_t<Then&>>;
        using else_t = bare<std::invoke_result_t<Else&>>;
        if constexpr (std::is_void_v<then_t> || std::is_void_v<else_t>)
            static_assert(never<Then>,
                "xloom::if_: both branches must return a value; for side effects use an if statement");
        else if constexpr (!is_self_contained<then_t> || !is_self_contained<else_t>)
            static_assert(never<Then>,
                "xloom::if_: a branch returned a lazy xtensor expression or a view, which would refer to its "
                "dead local variables; wrap it in xt::eval(...), or return a container");
        else if constexpr (!std::is_same_v<owned_t<then_t>, owned_t<else_t>>)
            static_assert(
                never<Then>, "xloom::if_: both branches must return the same types; shapes may differ");
        else
            return true;
    }
    return false;
}

} // namespace detail

/// Runs then_branch() if `cond` holds, otherwise else_branch(), and returns its result.
///
/// A branch takes no arguments and returns one value or a flat std::tuple of values: tensors, scalars,
/// sequences, optionals.
///
/// Shapes    cond: a bool, or a tensor of any rank with one element. The branches return the same types;
///           their shapes may differ.
/// Errors    shape_error: cond does not have exactly one element. Exceptions of a branch propagate.
/// Cost      that of the branch.
/// Source    ONNX If-11 to 25; infer_if has the shape rule, If-1's stricter one included.
/// Example
/// ```cpp
/// int const x = -3;
/// xloom::if_(x < 0, [&] { return -x; }, [&] { return x; }); // = 3
/// ```
template <class Cond, class Then, class Else>
auto if_(Cond const& cond, Then&& then_branch, Else&& else_branch)
{
    using namespace detail;
    if constexpr (is_valid_if<Cond, Then, Else>()) {
        using result = owned_t<std::invoke_result_t<Then&>>;
        if (is_true("xloom::if_", cond))
            return result(then_branch());
        return result(else_branch());
    } else {
        return 0; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/if_vjp.hpp ====
// The vector-Jacobian product of if_: its result, and a function from its cotangent to those of the operands.

// ==== xloom/check/cotangents.hpp ====
// Requirements of derivatives on cotangents: shapes, and memory of their own.

namespace xloom::detail {

/// Requires that every cotangent has the shape of its value.
///
/// Errors    shape_error.
inline void check_cotangents(std::string_view op, std::string_view cotangents, std::span<shape const> actual,
    std::string_view values, std::span<shape const> expected)
{
    fact_list wrong;
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (actual[i] != expected[i])
            wrong.add(cotangents, "[", i, "] is ", actual[i], " and ", values, "[", i, "] is ", expected[i]);
    if (!wrong.empty())
        fail<shape_error>(
            op, ": a cotangent must have the shape of its value, but ", wrong, ". Give it that shape.");
}

/// Operands of one name.
struct named_places {
    std::string_view name;
    std::span<placed_operand const> operands;
};

/// Requires that every operand of `written` has memory of its own.
///
/// Errors    overlap_error: two items share memory, or it shares memory with another operand.
inline void check_exclusive(
    std::string_view op, std::span<named_places const> written, std::span<named_places const> read)
{
    fact_list pairs;
    auto const find_shared = [&](std::size_t group, std::size_t i, named_places const& others,
                                 std::size_t first) {
        named_places const& own = written[group];
        for (std::size_t j = first; j < others.operands.size(); ++j)
            if (overlap(own.operands[i].memory, others.operands[j].memory))
                pairs.add(own.name, "[", i, "] overlaps ", others.name, "[", j, "]");
    };
    for (std::size_t group = 0; group < written.size(); ++group)
        for (std::size_t i = 0; i < written[group].operands.size(); ++i) {
            check_unique(op, concat(written[group].name, "[", i, "]"),
                written[group].operands[i].memory.layout, "Copy it first.");
            find_shared(group, i, written[group], i + 1);
            for (std::size_t other = group + 1; other < written.size(); ++other)
                find_shared(group, i, written[other], 0);
            for (named_places const& others : read)
                find_shared(group, i, others, 0);
        }
    if (!pairs.empty())
        fail<overlap_error>(op, ": a cotangent that is written must have exclusive memory, but ", pairs,
            ". Copy one of the two.");
}

} // namespace xloom::detail

// ==== xloom/run/scan/recorded_vjp.hpp ====
// The VJP of a body that nobody wrote: the body runs on scalars that record their operations.

namespace xloom {

/// A recording of operations on numbers, from its construction on, and their derivatives in reverse.
///
///     Tape tape;
///     Tape::scalar x = tape.input(1.5);          // an independent variable
///     tape.output(x * x);                        // a dependent variable
///     tape.reverse(ct_outputs, ct_inputs);       // sets ct_inputs to the VJP; the recording ends
///
/// The destructor ends a recording too. xloom::adolc_tape (xloom/adolc.hpp) is one.
template <class Tape>
concept recording_tape =
    std::default_initializable<Tape> && requires(Tape& tape, typename Tape::scalar const& value,
                                            std::span<double const> ct_outputs, std::span<double> ct_inputs) {
        {
            tape.input(1.0)
        } -> std::same_as<typename Tape::scalar>;
        tape.output(value);
        tape.reverse(ct_outputs, ct_inputs);
    };

/// Stands in the place of a body's VJP: the body, which must be generic, is recorded by a Tape and reversed, one
/// iteration at a time. Items of type double have derivatives, others are passed on as they are.
///
/// Cost      each run of the VJP records one run of the body and copies its operands, the params included.
/// Threads   those of the tape.
template <recording_tape Tape>
struct recorded_with {
    using tape = Tape;
};

namespace detail {

template <class T>
inline constexpr bool is_recorded = false;
template <class Tape>
inline constexpr bool is_recorded<recorded_with<Tape>> = true;

/// Returns a tensor of the shape of another with items of another type, unspecified.
template <class To, class X>
To shaped_like(X const& value)
{
    return enable_tensor<To>::make(detail::shape_of(value));
}

/// Calls f(item) for the items of a value in row-major order.
template <class X, class F>
void for_each_row_major(X& value, F const& f)
{
    if constexpr (tensor<X>) {
        strided_layout const layout = detail::layout_of(value);
        auto* const first = enable_tensor<bare<X>>::data(value);
        kernel::strided_copy(layout.dims, layout.strides, layout.strides)
            .for_each_pair(first, first, [&](auto& item, auto&) { f(item); });
    } else {
        f(value);
    }
}

/// The VJP of a pure body with S states, M elements and P parameters, which returns a step.
template <class Tape, class Body, std::size_t S, std::size_t M, std::size_t P>
class recorded_vjp {
    using scalar = typename Tape::scalar;
    static constexpr std::size_t operands = S + M + P;

public:
    explicit recorded_vjp(Body& body) : body_(body) {}

    /// Receives states, elements, params, cotangents of outputs, and then the cotangents that it writes.
    template <class... Arguments>
        requires(sizeof...(Arguments) >= 2 * operands)
    void operator()(Arguments&&... arguments)
    {
        constexpr std::size_t K = sizeof...(Arguments) - 2 * operands;
        auto const all = std::tie(arguments...);
        Tape tape;
        [&]<std::size_t... I, std::size_t... L>(std::index_sequence<I...>, std::index_sequence<L...>) {
            auto const recorded = std::tuple{record(tape, std::get<I>(all))...};
            auto const step = std::apply(body_, recorded);
            inputs_.clear();
            outputs_.clear();
            detail::for_each_leaf(detail::leaves(step.state),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + K + i>(all)); });
            detail::for_each_leaf(detail::leaves(step.scan_outputs),
                [&](auto i, auto const& value) { add_output(tape, value, std::get<operands + i>(all)); });
            (count_inputs(std::get<I>(all)), ...);
            tape.reverse(outputs_, inputs_);
            double const* next = inputs_.data();
            (take_input(next, std::get<I>(all), std::get<operands + K + I>(all), I < S), ...);
        }(std::make_index_sequence<operands>{}, std::make_index_sequence<K>{});
    }

private:
    template <class X>
    static auto record(Tape& tape, X const& value)
    {
        if constexpr (!std::is_same_v<item_t<X>, double>) {
            return owned_t<X>(value);
        } else if constexpr (tensor<X>) {
            using recorded = typename temporary_of<scalar, shape_type_t<X>>::type;
            auto result = detail::shaped_like<recorded>(value);
            auto* next = enable_tensor<recorded>::data(result);
            detail::for_each_row_major(value, [&](double item) { *next++ = tape.input(item); });
            return result;
        } else {
            return tape.input(value);
        }
    }

    template <class X, class Ct>
    void add_output(Tape& tape, X const& value, Ct const& ct)
    {
        if constexpr (std::is_same_v<item_t<X>, scalar>) {
            detail::for_each_row_major(value, [&](scalar const& item) { tape.output(item); });
            detail::for_each_row_major(ct, [&](double item) { outputs_.push_back(item); });
        }
    }

    template <class X>
    void count_inputs(X const& value)
    {
        if constexpr (std::is_same_v<item_t<X>, double>)
            inputs_.resize(inputs_.size() + element_count(detail::shape_of(value)));
    }

    /// Adds the derivatives by an operand to its cotangent, or replaces it, also where the state had another shape
    /// after the iteration.
    template <class X, class Ct>
    static void take_input(double const*& next, X const& value, Ct& ct, bool replaces)
    {
        if constexpr (std::is_same_v<item_t<X>, double>) {
            if constexpr (std::is_same_v<X, Ct> && tensor<X>)
                if (!detail::have_same_shape(value, ct))
                    ct = detail::shaped_like<X>(value);
            detail::for_each_row_major(ct, [&](double& item) { item = (replaces ? 0.0 : item) + *next++; });
        }
    }

    Body& body_;
    std::vector<double> inputs_{};
    std::vector<double> outputs_{};
};

/// Returns the VJP of a scan's body: the one that was given, or that of a recording.
template <std::size_t S, std::size_t M, std::size_t P, class Body, class BodyVjp>
decltype(auto) vjp_of([[maybe_unused]] Body& body, BodyVjp& body_vjp)
{
    if constexpr (is_recorded<BodyVjp>)
        return recorded_vjp<typename BodyVjp::tape, Body, S, M, P>(body);
    else
        return (body_vjp);
}

/// Returns the VJP of a loop's body, which also receives the iteration and the condition.
template <std::size_t S, std::size_t P, class Body, class BodyVjp>
decltype(auto) loop_vjp_of([[maybe_unused]] Body& body, BodyVjp& body_vjp)
{
    if constexpr (is_recorded<BodyVjp>)
    return [&body]<class... Arguments>(std::int64_t iteration, Arguments && ... arguments)
        requires(sizeof...(Arguments) >= 2 * (S + P))
    {
        auto at_iteration = [&](auto const&... values) { return body(iteration, true, values...); };
        recorded_vjp<typename BodyVjp::tape, decltype(at_iteration), S, 0, P> vjp(at_iteration);
        vjp(static_cast<Arguments&&>(arguments)...);
    };
    else return (body_vjp);
}

/// Returns the VJP of a branch with P operands.
template <std::size_t P, class Branch, class BranchVjp>
decltype(auto) branch_vjp_of([[maybe_unused]] Branch& branch, BranchVjp& branch_vjp)
{
    if constexpr (is_recorded<BranchVjp>)
    return [&branch]<class... Arguments>(Arguments && ... arguments)
        requires(sizeof...(Arguments) >= 2 * P)
    {
        auto step = [&](auto const&... values) { return scan_step{std::tuple(), branch(values...)}; };
        recorded_vjp<typename BranchVjp::tape, decltype(step), 0, 0, P> vjp(step);
        vjp(static_cast<Arguments&&>(arguments)...);
    };
    else return (branch_vjp);
}

} // namespace detail
} // namespace xloom

namespace xloom {

/// The result of if_vjp: that of the branch, and the pullback.
template <class Result, class Pullback>
struct if_vjp_result {
    Result result;
    Pullback pullback;
};

namespace detail {

/// The call of a branch with operands.
template <class Branch, class Operands>
using branch_call = call_of<Branch, const_leaves_t<Operands>>;

/// The call of a branch's VJP: branch_vjp(operand const&..., result cotangent const&..., operand
/// cotangent&...).
template <class BranchVjp, class Operands, class CtResult>
using branch_vjp_call = call_of<BranchVjp,
    joined_t<const_leaves_t<Operands>, const_leaves_t<CtResult>, leaves_t<owned_t<Operands>>>>;

/// True if the types of a call of if_vjp are valid, otherwise a compile-time error of one sentence.
template <class Cond, class Then, class Else, class Operands>
consteval bool is_valid_if_vjp()
{
    if constexpr (!is_flat<bare<Operands>>)
        static_assert(never<Operands>,
            "xloom::if_vjp: operands are one value or a flat std::tuple of values, "
            "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_zero, const_leaves_t<Operands>>)
        static_assert(never<Operands>,
            "xloom::if_vjp: an operand is a tensor or a scalar, whose cotangent can begin as 0");
    else if constexpr (!branch_call<Then, Operands>::is_valid || !branch_call<Else, Operands>::is_valid)
        static_assert(never<Then>,
            "xloom::if_vjp: the branches must be callable as branch(operand const&...); the arguments are "
            "if_vjp(cond, then_branch, then_vjp, else_branch, else_vjp, operands)");
    else {
        using then_t = typename branch_call<Then, Operands>::result;
        using else_t = typename branch_call<Else, Operands>::result;
        return is_valid_if<Cond, callable_returning<then_t>,
            callable_returning<else_t>>(); // the other requirements
    }
    return false;
}

/// True if the types of a call of the pullback are valid, otherwise a compile-time error of one sentence.
template <class Result, class ThenVjp, class ElseVjp, class Operands, class CtResult>
consteval bool is_valid_if_pullback()
{
    if constexpr (!have_same_items<leaves_t<Result>, leaves_t<CtResult const>>)
        static_assert(never<CtResult>,
            "xloom::if_vjp: the pullback's argument is a cotangent for each value of "
            "the result, with items of the value's type");
    else if constexpr (!branch_vjp_call<ThenVjp, Operands, CtResult>::is_valid ||
                       !branch_vjp_call<ElseVjp, Operands, CtResult>::is_valid)
        static_assert(never<ThenVjp>,
            "xloom::if_vjp: the VJPs must be callable as branch_vjp(operand const&..., "
            "result cotangent const&..., operand cotangent&...)");
    else
        return true;
    return false;
}

/// The function from the cotangent of a branch's result to those of its operands.
template <class Result, class Then, class ThenVjp, class Else, class ElseVjp, class Operands>
class if_pullback {
    static constexpr std::string_view op = "xloom::if_vjp";

public:
    if_pullback(bool cond, Then then_branch, ThenVjp then_vjp, Else else_branch, ElseVjp else_vjp,
        held_pack_t<Operands> operands)
        : cond_(cond),
          then_branch_(std::move(then_branch)),
          then_vjp_(std::move(then_vjp)),
          else_branch_(std::move(else_branch)),
          else_vjp_(std::move(else_vjp)),
          operands_(std::move(operands))
    {}

    /// Runs the branch that `cond` chooses.
    Result run_forward()
    {
        auto const operands = detail::const_leaves(detail::leaves(operands_));
        Result result = cond_ ? Result(detail::call_body(then_branch_, operands))
                              : Result(detail::call_body(else_branch_, operands));
        detail::check_ranks(op, "result", detail::leaves(result));
        auto const shapes = detail::shapes_of(detail::leaves(result));
        result_shapes_.assign(shapes.begin(), shapes.end());
        return result;
    }

    /// Returns the cotangents of the operands.
    template <class CtResult>
    owned_t<Operands> operator()(CtResult const& ct_result)
    {
        auto const operands = detail::const_leaves(detail::leaves(operands_));
        owned_t<Operands> ct_operands = detail::zeros_like_pack<Operands>(operands);
        constexpr std::size_t count = std::tuple_size_v<bare<decltype(operands)>>;
        decltype(auto) then_vjp = detail::branch_vjp_of<count>(then_branch_, then_vjp_);
        decltype(auto) else_vjp = detail::branch_vjp_of<count>(else_branch_, else_vjp_);
        if constexpr (is_valid_if_pullback<Result, bare<decltype(then_vjp)>, bare<decltype(else_vjp)>,
                          Operands, CtResult>()) {
            auto const cts = detail::const_leaves(detail::leaves(ct_result));
            detail::check_ranks(op, "ct_result", cts);
            detail::check_cotangents(op, "ct_result", detail::shapes_of(cts), "result", result_shapes_);
            if (cond_)
                detail::call_body(then_vjp, operands, cts, detail::leaves(ct_operands));
            else
                detail::call_body(else_vjp, operands, cts, detail::leaves(ct_operands));
        }
        return ct_operands;
    }

private:
    bool cond_;
    Then then_branch_;
    ThenVjp then_vjp_;
    Else else_branch_;
    ElseVjp else_vjp_;
    held_pack_t<Operands> operands_;
    std::vector<shape> result_shapes_{};
};

} // namespace detail

/// Runs a branch of if_ that has operands, and returns its result with a pullback, the function from the
/// result's cotangent to those of the operands.
///
///     result = then_branch(*operands) if cond else else_branch(*operands)
///     pullback(ct_result) = the cotangents of the operands, by the VJP of that branch
///
/// operands is one value or a flat std::tuple of values. branch(operand const&...) -> one value or a flat
/// std::tuple of values, of the same types from both branches. branch_vjp(operand const&..., result cotangent
/// const&..., operand cotangent&...) -> void adds to the cotangents of the operands, which are zeros at first.
/// The condition has no derivative.
///
/// Shapes    as if_; each cotangent as its value.
/// Types     an operand is a tensor, or a scalar that 0 can be converted to.
/// Errors    as if_; the pullback: shape_error: a cotangent's shape. Exceptions of the callables propagate.
/// Cost      that of the branch and of its VJP; the pullback allocates the cotangents.
/// Aliasing  operands that are variables of tensor types are not copied: they must live, unchanged, until the
///           last call of the pullback. Other operands and the callables are kept in the pullback.
/// Source    JAX's jax.vjp of jax.lax.cond.
/// Example
/// ```cpp
/// auto const twice = [](double x) { return 2 * x; };
/// auto const twice_vjp = [](double, double ct, double& ct_x) { ct_x += 2 * ct; };
/// auto const square = [](double x) { return x * x; };
/// auto const square_vjp = [](double x, double ct, double& ct_x) { ct_x += 2 * x * ct; };
/// auto [result, pullback] = xloom::if_vjp(false, twice, twice_vjp, square, square_vjp, 3.0);
/// result; // = 9
/// pullback(1.0); // = 6
/// ```
template <class Cond, class Then, class ThenVjp, class Else, class ElseVjp, class Operands>
auto if_vjp(Cond const& cond, Then&& then_branch, ThenVjp&& then_vjp, Else&& else_branch, ElseVjp&& else_vjp,
    Operands&& operands)
{
    using namespace detail;
    if constexpr (is_valid_if_vjp<Cond, std::remove_reference_t<Then>, std::remove_reference_t<Else>,
                      Operands>()) {
        using result = owned_t<typename branch_call<std::remove_reference_t<Then>, Operands>::result>;
        if_pullback<result, std::decay_t<Then>, std::decay_t<ThenVjp>, std::decay_t<Else>,
            std::decay_t<ElseVjp>, Operands>
            pullback(is_true("xloom::if_vjp", cond), static_cast<Then&&>(then_branch),
                static_cast<ThenVjp&&>(then_vjp), static_cast<Else&&>(else_branch),
                static_cast<ElseVjp&&>(else_vjp), detail::hold(static_cast<Operands&&>(operands)));
        auto value = pullback.run_forward();
        return if_vjp_result<result, decltype(pullback)>{std::move(value), std::move(pullback)};
    } else {
        return if_vjp_result<int, no_pullback>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/infer/attn_lstm.hpp ====
// Type and shape inference of com.microsoft's AttnLSTM.

// ==== xloom/core/partial_type.hpp ====
// Partial types: the kind, element type and shape of a value as far as they are known before it is computed.

namespace xloom {

/// A dimension of a partial_shape: a value (ONNX allows any int64), a symbol, or unknown. A symbol is a
/// view: its characters must outlive the dim, and every shape and type made from it. String literals do.
class dim {
public:
    /// Constructs an unknown dimension.
    constexpr dim() = default;
    constexpr dim(std::integral auto value) : symbol_(nullptr), number_(static_cast<std::int64_t>(value)) {}
    /// Constructs a dimension with a symbol; an unknown dimension if the symbol is empty.
    constexpr dim(std::string_view symbol)
        : symbol_(symbol.empty() ? "" : symbol.data()), number_(static_cast<std::int64_t>(symbol.size()))
    {}
    constexpr dim(char const* symbol) : dim(std::string_view(symbol)) {}

    constexpr bool has_value() const noexcept { return symbol_ == nullptr; }
    constexpr bool has_symbol() const noexcept { return !symbol().empty(); }
    constexpr bool is_unknown() const noexcept { return !has_value() && !has_symbol(); }

    /// Returns the value; 0 if there is none.
    constexpr std::int64_t value() const noexcept { return has_value() ? number_ : 0; }
    /// Returns the symbol; empty if there is none.
    constexpr std::string_view symbol() const noexcept
    {
        return has_value() ? std::string_view()
                           : std::string_view(symbol_, static_cast<std::size_t>(number_));
    }

    /// True if the same is known of both; unknown equals unknown.
    friend constexpr bool operator==(dim const& a, dim const& b) noexcept
    {
        return a.has_value() == b.has_value() && a.value() == b.value() && a.symbol() == b.symbol();
    }

    friend void append(std::string& text, dim const& d)
    {
        if (d.has_value())
            text += std::to_string(d.value());
        else
            text += d.has_symbol() ? d.symbol() : "?";
    }

private:
    char const* symbol_ = ""; // null for a value, empty for an unknown dimension
    std::int64_t number_ = 0; // the value, or the symbol's length
};

inline constexpr dim unknown{};

/// The type of unknown_rank.
struct unknown_rank_t {
    explicit constexpr unknown_rank_t() = default;
};
inline constexpr unknown_rank_t unknown_rank{};

/// A list of dimensions, or unknown_rank. `partial_shape{}` has rank 0, the shape of a scalar, and differs
/// from an unknown rank. Printed as [2, N, ?]; an unknown rank as [...].
class partial_shape {
public:
    using value_type = dim;

    constexpr partial_shape() = default;
    constexpr partial_shape(std::initializer_list<dim> dims) : dims_(dims) {}
    constexpr partial_shape(unknown_rank_t) : has_rank_(false) {}
    constexpr partial_shape(shape const& dims) : dims_(dims.begin(), dims.end()) {}

    constexpr bool has_rank() const noexcept { return has_rank_; }

    /// Returns the number of dimensions; 0 for an unknown rank.
    constexpr std::size_t rank() const noexcept { return dims_.size(); }

    constexpr dim& operator[](std::size_t axis) noexcept { return dims_[axis]; }
    constexpr dim const& operator[](std::size_t axis) const noexcept { return dims_[axis]; }
    constexpr dim const* begin() const noexcept { return dims_.begin(); }
    constexpr dim const* end() const noexcept { return dims_.end(); }

    /// Inserts `d` before `axis`. Requires has_rank().
    constexpr void insert(std::size_t axis, dim const& d) { dims_.insert(axis, d); }

    constexpr void erase(std::size_t axis) { dims_.erase(axis); }

    /// True if the same is known of both.
    friend constexpr bool operator==(partial_shape const&, partial_shape const&) = default;

    friend void append(std::string& text, partial_shape const& dims)
    {
        if (dims.has_rank_)
            detail::append(text, dims.dims_);
        else
            text += "[...]";
    }

private:
    static_vector<dim, max_rank> dims_{};
    bool has_rank_ = true;
};

/// The outermost kind of a type.
enum class type_kind : unsigned char { untyped, tensor, sparse_tensor, sequence, optional };

/// The largest number of sequences and optionals around a tensor. ONNX's operators use two:
/// optional(seq(tensor)).
inline constexpr std::size_t max_type_depth = 4;

/// The type of a value: untyped, or a tensor, possibly in sequences and optionals. Printed as float[2, N],
/// seq(float[2]), optional(seq(float[...])), sparse float[2], untyped.
class partial_type {
public:
    /// Constructs the untyped type, of which nothing is known. It also represents an omitted optional input.
    constexpr partial_type() = default;

    /// Returns the outermost kind.
    constexpr type_kind kind() const noexcept { return wrappers_.empty() ? leaf_ : wrappers_[0]; }
    constexpr bool is_untyped() const noexcept { return kind() == type_kind::untyped; }
    constexpr bool is_tensor() const noexcept { return kind() == type_kind::tensor; }
    constexpr bool is_wrapped() const noexcept { return !wrappers_.empty(); }

    /// Returns the element type of the innermost tensor.
    constexpr element_type element() const noexcept { return element_; }
    constexpr partial_shape const& shape() const noexcept { return shape_; }

    /// Returns the type of the content of a sequence or optional. Requires is_wrapped().
    constexpr partial_type inner() const
    {
        partial_type content = *this;
        content.wrappers_.erase(0);
        return content;
    }

    /// Returns a `wrapper` (sequence or optional) of this type.
    constexpr partial_type wrapped_in(type_kind wrapper) const
    {
        if (wrappers_.size() == max_type_depth)
            detail::fail<option_error>("xloom::partial_type: a type may hold at most ", max_type_depth,
                " sequences and optionals around its tensor, but ", *this,
                " holds that many already. Use fewer.");
        partial_type outer = *this;
        outer.wrappers_.insert(0, wrapper);
        return outer;
    }

    /// Returns this type with another shape of the innermost tensor.
    constexpr partial_type with_shape(partial_shape const& dims) const
    {
        partial_type reshaped = *this;
        reshaped.shape_ = dims;
        return reshaped;
    }

    /// Returns this type with another element type of the innermost tensor.
    constexpr partial_type with_element(element_type element) const
    {
        partial_type recast = *this;
        recast.element_ = element;
        return recast;
    }

    /// True if the same is known of both.
    friend constexpr bool operator==(partial_type const&, partial_type const&) = default;

    friend constexpr partial_type tensor_type(element_type element, partial_shape const& dims);
    friend constexpr partial_type sparse_tensor_type(element_type element, partial_shape const& dims);

    friend void append(std::string& text, partial_type const& type)
    {
        for (type_kind const wrapper : type.wrappers_)
            text += wrapper == type_kind::sequence ? "seq(" : "optional(";
        if (type.leaf_ == type_kind::untyped)
            text += "untyped";
        else
            text += detail::concat(
                type.leaf_ == type_kind::sparse_tensor ? "sparse " : "", name_of(type.element_), type.shape_);
        text.append(type.wrappers_.size(), ')');
    }

private:
    constexpr partial_type(type_kind leaf, element_type element, partial_shape const& dims)
        : leaf_(leaf), element_(element), shape_(dims)
    {}

    static_vector<type_kind, max_type_depth> wrappers_{}; // the outermost first
    type_kind leaf_ = type_kind::untyped;
    element_type element_ = element_type::undefined;
    partial_shape shape_ = unknown_rank;
};

inline constexpr partial_type untyped{};

/// Returns a tensor type with a known, partially known or unknown shape.
constexpr partial_type tensor_type(element_type element, partial_shape const& dims = unknown_rank)
{
    return {type_kind::tensor, element, dims};
}

/// Returns a sparse tensor type, which no operator of xloom accepts.
constexpr partial_type sparse_tensor_type(element_type element, partial_shape const& dims = unknown_rank)
{
    return {type_kind::sparse_tensor, element, dims};
}

/// Returns seq(content). ONNX has no nested sequences.
constexpr partial_type sequence_of(partial_type const& content)
{
    return content.wrapped_in(type_kind::sequence);
}
/// Returns optional(content).
constexpr partial_type optional_of(partial_type const& content)
{
    return content.wrapped_in(type_kind::optional);
}

/// The types of an operator's inputs or outputs, in order. `type_list(n, untyped)` is a list of n values of
/// which nothing is known. Usable in a constant expression, but not as a constexpr variable, since it
/// allocates.
using type_list = std::vector<partial_type>;

template <>
inline constexpr bool detail::is_printed<dim> = true;
template <>
inline constexpr bool detail::is_printed<partial_shape> = true;
template <>
inline constexpr bool detail::is_printed<partial_type> = true;
template <>
inline constexpr bool detail::is_printed<type_list> = true;

} // namespace xloom

// ==== xloom/infer/merge.hpp ====
// Merging of two partial types of the same value. A contradiction is an error.

// ==== xloom/infer/conflict.hpp ====
// The conflicts between two types, and the subject of an error text about them.

namespace xloom {

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
} // namespace xloom

namespace xloom {

/// Returns the conflict between two dimensions, which is two different values. A symbol and an unknown
/// dimension are compatible with every dimension.
constexpr conflict find_conflict(dim const& inferred, dim const& declared) noexcept
{
    bool const differ = inferred.has_value() && declared.has_value() && inferred.value() != declared.value();
    return differ ? conflict::dimension : conflict::none;
}

/// Returns the first conflict between two shapes. An unknown rank is compatible with every shape.
constexpr conflict find_conflict(partial_shape const& inferred, partial_shape const& declared) noexcept
{
    if (!inferred.has_rank() || !declared.has_rank())
        return conflict::none;
    if (inferred.rank() != declared.rank())
        return conflict::rank;
    for (std::size_t axis = 0; axis < inferred.rank(); ++axis)
        if (find_conflict(inferred[axis], declared[axis]) != conflict::none)
            return conflict::dimension;
    return conflict::none;
}

/// Returns the first conflict between two types, from the outermost kind inwards.
constexpr conflict find_conflict(partial_type const& inferred, partial_type const& declared)
{
    if (inferred.is_untyped() || declared.is_untyped())
        return conflict::none;
    if (inferred.kind() != declared.kind())
        return conflict::kind;
    if (inferred.is_wrapped())
        return find_conflict(inferred.inner(), declared.inner());
    bool const known =
        inferred.element() != element_type::undefined && declared.element() != element_type::undefined;
    if (known && inferred.element() != declared.element())
        return conflict::element;
    return find_conflict(inferred.shape(), declared.shape());
}

namespace detail {

/// Requires that two dims, shapes or types do not contradict each other.
template <class Known>
constexpr void require_mergeable(subject const& about, Known const& inferred, Known const& declared)
{
    switch (find_conflict(inferred, declared)) {
    case conflict::kind:
        fail<type_error>("xloom::", about.function, ": an inferred type must be of the declared kind, but ",
            about, " is inferred as ", inferred, " and declared as ", declared,
            ". Declare what is inferred, or nothing.");
    case conflict::element:
        fail<type_error>("xloom::", about.function,
            ": an inferred type must have the declared element type, but ", about, " is inferred as ",
            inferred, " and declared as ", declared, ". Declare what is inferred, or nothing.");
    case conflict::rank:
        fail<shape_error>("xloom::", about.function, ": an inferred shape must have the declared rank, but ",
            about, " is inferred as ", inferred, " and declared as ", declared,
            ". Declare what is inferred, or no shape.");
    case conflict::dimension:
        fail<shape_error>("xloom::", about.function,
            ": an inferred dimension must equal the declared one, but ", about, " is inferred as ", inferred,
            " and declared as ", declared, ". Declare what is inferred, or a symbol.");
    default:
        return;
    }
}

} // namespace detail

/// Merges two dimensions. A value takes precedence over a symbol, the declared symbol over the inferred one.
///
/// Errors    shape_error: two different values.
/// Source    ONNX mergeInDimensionInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr dim merge_dim(dim const& inferred, dim const& declared)
{
    detail::require_mergeable({"merge_dim", "the dimension"}, inferred, declared);
    return inferred.has_value() || declared.is_unknown() ? inferred : declared;
}

/// Merges two shapes dimension by dimension. An unknown rank adds nothing.
///
/// Errors    shape_error: ranks differ, or two values of one dimension.
/// Source    ONNX mergeInShapeInfo (inferred = source, declared = target).
/// Example   tests/infer/merge.test.cpp
constexpr partial_shape merge_shape(partial_shape const& inferred, partial_shape const& declared)
{
    detail::require_mergeable({"merge_shape", "the shape"}, inferred, declared);
    if (!inferred.has_rank() || !declared.has_rank())
        return inferred.has_rank() ? inferred : declared;
    partial_shape merged = declared;
    for (std::size_t axis = 0; axis < merged.rank(); ++axis)
        merged[axis] = merge_dim(inferred[axis], declared[axis]);
    return merged;
}

namespace detail {

/// Merges two types. Requires that they do not contradict each other.
constexpr partial_type merge_compatible(partial_type const& inferred, partial_type const& declared)
{
    if (inferred.is_untyped() || declared.is_untyped())
        return inferred.is_untyped() ? declared : inferred;
    if (inferred.is_wrapped())
        return merge_compatible(inferred.inner(), declared.inner()).wrapped_in(inferred.kind());
    auto const& element_source = declared.element() == element_type::undefined ? inferred : declared;
    return element_source.with_shape(merge_shape(inferred.shape(), declared.shape()));
}

constexpr partial_type merge_type(
    subject const& about, partial_type const& inferred, partial_type const& declared)
{
    require_mergeable(about, inferred, declared);
    return merge_compatible(inferred, declared);
}

/// Merges two lists of the same length type by type.
constexpr type_list merge_types(subject about, type_list const& inferred, type_list const& declared)
{
    type_list merged;
    for (std::size_t i = 0; i < declared.size(); ++i) {
        about.index = i;
        merged.push_back(merge_type(about, inferred[i], declared[i]));
    }
    return merged;
}

} // namespace detail

/// Merges the inferred type of an output with its declared type. Untyped, an undefined element type and an
/// unknown rank add nothing.
///
/// Errors    type_error: kinds or element types differ.  shape_error: ranks differ, or two values of one
///           dimension.
/// Source    ONNX mergeShapesAndTypes (after checkShapesAndTypes).
/// Example   tests/infer/merge.test.cpp
constexpr partial_type merge_type(partial_type const& inferred, partial_type const& declared)
{
    return detail::merge_type({"merge_type", "the type"}, inferred, declared);
}

namespace detail {

/// Returns the types of a body's inputs: the given types merged into the declared ones (untyped where the
/// body declares none). A given type that is untyped, such as that of an omitted cond, leaves the declared
/// one as it is.
///
/// Errors    type_error: not as many given as declared; as merge_type.  shape_error: as merge_type.
/// Source    ONNX GraphInferencer::doInferencing, IR version 4 and later.
/// Example   tests/infer/merge.test.cpp
constexpr type_list bind_body_inputs(type_list const& given, type_list const& declared)
{
    if (given.size() != declared.size())
        detail::fail<type_error>(
            "xloom::bind_body_inputs: a body must declare as many inputs as it is given, but it declares ",
            declared.size(), " and is given ", given.size(), ": ", given, ". Declare one for each.");
    return detail::merge_types({"bind_body_inputs", "input"}, given, declared);
}

} // namespace detail

} // namespace xloom

// ==== xloom/infer/recurrent_outputs.hpp ====
// The inference that the recurrent operators share: attributes, and the types of Y and the final states.

// ==== xloom/infer/recurrent.hpp ====
// The versions of RNN, GRU and LSTM by opset, and the element types T of their tensors.

// ==== xloom/infer/versions.hpp ====
// The names of operators, and their versions at a model's opset.

namespace xloom {

/// The newest known opset; a later one has the same versions.
inline constexpr std::int64_t latest_opset = 28;

namespace detail {

/// An operator's name as ONNX spells it, and its versions in ascending order.
struct operator_history {
    std::string_view name;
    std::span<std::int64_t const> versions;
};

/// The operators of an enumeration, in the order of its values; specialised beside each.
template <class Op>
inline constexpr std::array<operator_history, 0> histories{};

/// An enumeration of operators: control_flow, indexing or recurrent.
template <class Op>
concept operator_kind = histories<Op>.size() > 0;

/// Returns the history of an operator; that of the first one if `op` is not an enumerator.
template <operator_kind Op>
constexpr operator_history const& history_of(Op op) noexcept
{
    auto const number = static_cast<std::size_t>(op);
    return histories<Op>[number < histories<Op>.size() ? number : 0];
}

} // namespace detail

/// Returns the operator's name as ONNX spells it.
template <detail::operator_kind Op>
constexpr std::string_view name_of(Op op) noexcept
{
    return detail::history_of(op).name;
}

/// Returns the version of `op` at this opset: the largest that does not exceed it.
///
/// Types     Op: control_flow, indexing or recurrent.
/// Errors    option_error: the opset is older than the operator.
/// Source    ONNX 1.23 (opset 28); a larger opset has the newest version.
/// Example   tests/infer/type_lists.test.cpp
template <detail::operator_kind Op>
constexpr std::int64_t operator_version(Op op, std::int64_t opset)
{
    auto const& [name, versions] = detail::history_of(op);
    if (opset < versions.front())
        detail::fail<option_error>("xloom::operator_version: ", name, " begins with opset ", versions.front(),
            ", but opset is ", opset, ". Give a newer opset.");
    std::int64_t version = 0;
    for (std::int64_t const candidate : versions)
        if (candidate <= opset)
            version = candidate;
    return version;
}

} // namespace xloom

namespace xloom {

/// The recurrent operators of ONNX itself.
enum class recurrent { rnn, gru, lstm };

namespace detail {

inline constexpr std::array<std::int64_t, 4> rnn_versions{1, 7, 14, 22};
inline constexpr std::array<std::int64_t, 5> gru_versions{1, 3, 7, 14, 22};

template <>
inline constexpr std::array<operator_history, 3> histories<recurrent>{
    {{"RNN", rnn_versions}, {"GRU", gru_versions}, {"LSTM", rnn_versions}}};

} // namespace detail

/// True if `op` accepts and returns tensors of this element type at this opset: float16, float and double,
/// and from version 22 on bfloat16. sequence_lens is int32 in every version.
///
/// Errors    option_error: an opset below 1.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/recurrent.test.cpp
constexpr bool is_allowed(recurrent op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    switch (element) {
    case element_type::float16:
    case element_type::float_:
    case element_type::double_:
        return true;
    case element_type::bfloat16:
        return version >= 22;
    default:
        return false;
    }
}

} // namespace xloom

namespace xloom {

/// The attributes of RNN, GRU and LSTM that determine the shapes of their outputs.
///
/// Options   direction (forward): determines D; std::nullopt, for a name that ONNX does not define, leaves D
///           unknown. hidden_size (absent): H; unknown unless it is positive. layout (0), from opset
///           14 on: 0 for X [T, N, I], 1 for X [N, T, I]. output_sequence (false), before opset 7: without it
///           no output has a shape, since it is not known which outputs exist.
struct recurrent_attributes {
    std::int64_t opset = latest_opset;
    std::optional<xloom::direction> direction = xloom::direction::forward;
    std::optional<std::int64_t> hidden_size{};
    std::int64_t layout = 0;
    bool output_sequence = false;
};

namespace detail {

/// The type of Y, and the common type of Y_h and Y_c.
struct recurrent_outputs {
    partial_type Y{};
    partial_type state{};
};

constexpr void require_attributes(
    std::string_view function, std::int64_t version, recurrent_attributes const& attributes)
{
    if (attributes.layout != 0 && attributes.layout != 1)
        fail<option_error>("xloom::", function, ": layout must be 0 or 1, but layout is ", attributes.layout,
            ". Use 0 for [T, N, I] or 1 for [N, T, I].");
    if (version < 14 && attributes.layout != 0)
        fail<option_error>("xloom::", function, ": before opset 14 there is only layout 0, but opset is ",
            attributes.opset, " and layout is ", attributes.layout, ". Use a newer opset.");
    if (version >= 7 && attributes.output_sequence)
        fail<option_error>("xloom::", function,
            ": from opset 7 on there is no output_sequence, but opset is ", attributes.opset,
            " and output_sequence is true. Omit it.");
}

/// Rejects an X whose element type is unknown, and one whose rank is known and not 3.
constexpr void require_sequences(std::string_view function, partial_type const& X, bool is_batch_first)
{
    if (!X.is_tensor() || X.element() == element_type::undefined)
        fail<type_error>("xloom::", function, ": X must be a tensor of a known element type, but X is ", X,
            ". Give a tensor's type.");
    if (X.shape().has_rank() && X.shape().rank() != 3)
        fail<shape_error>("xloom::", function, ": X must have rank 3, but X is ", X, ". Lay it out as ",
            is_batch_first ? "[N, T, I]" : "[T, N, I]", ".");
}

/// Infers the outputs by the rule of the newest version, which reads X and three attributes only.
constexpr recurrent_outputs infer_recurrent(std::string_view function, partial_type const& X,
    std::optional<direction> const& walked, std::optional<std::int64_t> const& hidden_size,
    bool is_batch_first)
{
    require_sequences(function, X, is_batch_first);
    dim const D = walked ? dim(direction_count(*walked)) : unknown;
    dim const H = hidden_size && *hidden_size > 0 ? dim(*hidden_size) : unknown;
    bool const is_known = X.shape().has_rank();
    dim const T = is_known ? X.shape()[is_batch_first ? 1 : 0] : unknown;
    dim const N = is_known ? X.shape()[is_batch_first ? 0 : 1] : unknown;
    if (is_batch_first)
        return {X.with_shape({N, T, D, H}), X.with_shape({N, D, H})};
    return {X.with_shape({T, D, N, H}), X.with_shape({D, N, H})};
}

/// Infers the outputs by the rule of the version at this opset. GRU-1 has no rule: its outputs are untyped.
constexpr recurrent_outputs infer_recurrent(
    std::string_view function, recurrent op, partial_type const& X, recurrent_attributes const& attributes)
{
    std::int64_t const version = operator_version(op, attributes.opset);
    require_attributes(function, version, attributes);
    if (op == recurrent::gru && version == 1)
        return {};
    recurrent_outputs const outputs =
        infer_recurrent(function, X, attributes.direction, attributes.hidden_size, attributes.layout == 1);
    if (version < 7 && !attributes.output_sequence)
        return {outputs.Y.with_shape(unknown_rank), outputs.state.with_shape(unknown_rank)};
    return outputs;
}

} // namespace detail
} // namespace xloom

namespace xloom {

/// The types of AttnLSTM's inputs, in the operator's order; untyped for an input that is omitted or unknown.
struct attn_lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{}, QW{}, MW{}, V{}, M{},
        memory_seq_lens{}, AW{};
};

/// The types of AttnLSTM's outputs.
struct attn_lstm_types {
    partial_type Y{}, Y_h{}, Y_c{}, alignments{};
};

/// The attributes of AttnLSTM that the inference reads. The operator has no layout, and one version.
///
/// Options   direction (forward): determines D; std::nullopt, for a name that ONNX does not define, leaves D
///           unknown. hidden_size (absent): H; unknown unless it is positive.
struct attn_lstm_attributes {
    std::optional<xloom::direction> direction = xloom::direction::forward;
    std::optional<std::int64_t> hidden_size{};
};

namespace detail {

/// Returns S of the memory M [N, S, E].
constexpr dim memory_steps(partial_type const& M)
{
    if (!M.is_untyped() && !M.is_tensor())
        fail<type_error>(
            "xloom::infer_attn_lstm: M must be a tensor, but M is ", M, ". Give a tensor's type.");
    if (!M.shape().has_rank())
        return unknown;
    if (M.shape().rank() != 3)
        fail<shape_error>(
            "xloom::infer_attn_lstm: M must have rank 3, but M is ", M, ". Lay it out as [N, S, E].");
    return M.shape()[1];
}

} // namespace detail

/// Infers the types of AttnLSTM's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     N, S, E = M.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///     Y_c = merge_type(X.with_shape([D, N, H]), declared.Y_c)
///     alignments = merge_type(X.with_shape([T, D, N, S]), declared.alignments)
///
/// Shapes    T and N are unknown if the rank of X is, S if M is omitted or of unknown rank. N is that of X;
///           that of M is not compared. The other inputs are not read.
/// Options   attn_lstm_attributes.
/// Errors    type_error: X or M is not a tensor, or X's element type is undefined; kind or element type of a
///           declared output. shape_error: rank of X or M; rank or dimension of a declared output.
/// Differs   from ONNX Runtime, which infers element types only: Y, Y_h and Y_c follow ONNX's rule for LSTM.
///           ONNX Runtime does not have the output alignments.
/// Source    com.microsoft AttnLSTM 1; ONNX LSTM-22, layout 0. Element types are not checked.
/// Example   tests/infer/attn_lstm.test.cpp
constexpr attn_lstm_types infer_attn_lstm(attn_lstm_input_types const& inputs,
    attn_lstm_types const& declared = {}, attn_lstm_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent(
        "infer_attn_lstm", inputs.X, attributes.direction, attributes.hidden_size, /*is_batch_first*/ false);
    partial_shape alignments = inferred.Y.shape();
    alignments[3] = detail::memory_steps(inputs.M);
    return {detail::merge_type({"infer_attn_lstm", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_attn_lstm", "Y_h"}, inferred.state, declared.Y_h),
        detail::merge_type({"infer_attn_lstm", "Y_c"}, inferred.state, declared.Y_c),
        detail::merge_type(
            {"infer_attn_lstm", "alignments"}, inputs.X.with_shape(alignments), declared.alignments)};
}

} // namespace xloom

// ==== xloom/infer/gather_nd.hpp ====
// ONNX's type and shape inference of GatherND.

// ==== xloom/infer/indexing.hpp ====
// The versions of ScatterND and GatherND by opset, and the element types T of their data.

// ==== xloom/infer/type_lists.hpp ====
// The versions of If, Loop and Scan by opset, and the types of their values (V).

namespace xloom {

/// The operators with bodies.
enum class control_flow { if_, loop, scan };

namespace detail {

inline constexpr std::array<std::int64_t, 9> if_versions{1, 11, 13, 16, 19, 21, 23, 24, 25};
inline constexpr std::array<std::int64_t, 9> scan_versions{8, 9, 11, 16, 19, 21, 23, 24, 25};

/// An element type of V, with the version of the three operators that added it. None was ever removed.
struct element_type_since {
    element_type element;
    std::int64_t version;
};
inline constexpr std::array<element_type_since, 26> control_flow_elements{{
    {element_type::uint8, 1},
    {element_type::uint16, 1},
    {element_type::uint32, 1},
    {element_type::uint64, 1},
    {element_type::int8, 1},
    {element_type::int16, 1},
    {element_type::int32, 1},
    {element_type::int64, 1},
    {element_type::float16, 1},
    {element_type::float_, 1},
    {element_type::double_, 1},
    {element_type::string, 1},
    {element_type::bool_, 1},
    {element_type::complex64, 1},
    {element_type::complex128, 1},
    {element_type::bfloat16, 16},
    {element_type::float8_e4m3fn, 19},
    {element_type::float8_e4m3fnuz, 19},
    {element_type::float8_e5m2, 19},
    {element_type::float8_e5m2fnuz, 19},
    {element_type::uint4, 21},
    {element_type::int4, 21},
    {element_type::float4_e2m1, 23},
    {element_type::float8_e8m0, 24},
    {element_type::uint2, 25},
    {element_type::int2, 25},
}};

/// The versions from which on If and Loop (Scan never) accept sequences of tensors, and optional tensors and
/// optional sequences of tensors. Optional sequences have the element types of version 16 in all later
/// versions.
inline constexpr std::int64_t sequences_since = 13;
inline constexpr std::int64_t optionals_since = 16;

template <>
inline constexpr std::array<operator_history, 3> histories<control_flow>{
    {{"If", if_versions}, {"Loop", if_versions}, {"Scan", scan_versions}}};

constexpr bool is_element_at(std::int64_t version, element_type element) noexcept
{
    for (element_type_since const& known : control_flow_elements)
        if (known.element == element)
            return known.version <= version;
    return false;
}

} // namespace detail

/// True if a value of this type may be an input or output V of `op` at this opset. Shapes are ignored.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/type_lists.test.cpp
constexpr bool is_allowed(control_flow op, std::int64_t opset, partial_type const& type)
{
    std::int64_t const version = operator_version(op, opset);
    if (type.is_tensor())
        return detail::is_element_at(version, type.element());
    if (op == control_flow::scan || !type.is_wrapped())
        return false;
    partial_type const content = type.inner();
    if (type.kind() == type_kind::sequence)
        return version >= detail::sequences_since && content.is_tensor() &&
               detail::is_element_at(version, content.element());
    if (version < detail::optionals_since)
        return false;
    if (content.is_tensor())
        return detail::is_element_at(version, content.element());
    return content.kind() == type_kind::sequence && content.inner().is_tensor() &&
           detail::is_element_at(detail::optionals_since, content.element());
}

} // namespace xloom

namespace xloom {

/// The operators that index slices.
enum class indexing { scatter_nd, gather_nd };

namespace detail {

inline constexpr std::array<std::int64_t, 4> scatter_nd_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 3> gather_nd_versions{11, 12, 13};

template <>
inline constexpr std::array<operator_history, 2> histories<indexing>{
    {{"ScatterND", scatter_nd_versions}, {"GatherND", gather_nd_versions}}};

} // namespace detail

/// True if `op` accepts data (and ScatterND updates) of this element type at this opset: the types of the
/// first versions of If and Loop, and from version 13 on bfloat16. Later types were not added. The indices
/// are int64 in every version.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/indexing.test.cpp
constexpr bool is_allowed(indexing op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    if (element == element_type::bfloat16)
        return version >= 13;
    return detail::is_element_at(detail::if_versions.front(), element);
}

namespace detail {

/// Requires that data is a tensor of a known element type.
constexpr void require_data(std::string_view function, partial_type const& data)
{
    if (!data.is_tensor() || data.element() == element_type::undefined)
        fail<type_error>("xloom::", function, ": data must be a tensor of a known element type, but data is ",
            data, ". Give a tensor's type.");
}

} // namespace detail
} // namespace xloom

namespace xloom {

/// The attributes of GatherND that the inference reads.
struct gather_nd_attributes {
    std::int64_t opset = latest_opset;
    std::int64_t batch_dims = 0;
};

namespace detail {

constexpr void require_batch_dims(gather_nd_attributes const& attributes)
{
    if (attributes.batch_dims < 0)
        fail<option_error>("xloom::infer_gather_nd: batch_dims must not be negative, but batch_dims is ",
            attributes.batch_dims, ". Count the leading axes that data and indices share.");
    if (operator_version(indexing::gather_nd, attributes.opset) < 12 && attributes.batch_dims != 0)
        fail<option_error>("xloom::infer_gather_nd: before opset 12 there are no batch axes, but opset is ",
            attributes.opset, " and batch_dims is ", attributes.batch_dims, ". Use a newer opset.");
}

/// Rejects scalars, and index tuples longer than the number of axes of data after the batch axes.
constexpr void require_indexable(
    partial_shape const& data, partial_shape const& indices, std::int64_t batch_dims)
{
    if (data.rank() == 0 || indices.rank() == 0)
        fail<shape_error>(
            "xloom::infer_gather_nd: data and indices must have at least one axis, but data is ", data,
            " and indices is ", indices, ". Give each an axis.");
    dim const& k = indices[indices.rank() - 1];
    if (k.has_value() && (k.value() < 0 || k.value() > static_cast<std::int64_t>(data.rank()) - batch_dims))
        fail<shape_error>("xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank "
                          "less batch_dims, but data is ",
            data, ", indices is ", indices, " and batch_dims is ", batch_dims, ". Index fewer axes.");
}

} // namespace detail

/// Infers the shape of GatherND's output.
///
///     k = indices.shape[-1]
///     output.shape = indices.shape[:-1] ++ data.shape[batch_dims + k:]
///
/// Shapes    an unknown rank if that of data or indices is unknown, or k has no value. The batch axes of the
///           two are not compared.
/// Options   opset (latest_opset).  batch_dims (0): the number of leading batch axes, which data and indices
///           share.
/// Errors    shape_error: data or indices is a scalar; k < 0 or batch_dims + k > r; an output over max_rank.
///           option_error: the opset; batch_dims < 0, or not 0 before opset 12.
/// Differs   from ONNX: negative batch_dims and k are errors; ONNX infers a wrong shape or aborts.
/// Source    ONNX GatherND-11, 12, 13.
/// Example
/// ```cpp
/// xloom::infer_gather_nd(xloom::partial_shape{"N", 3, 4}, xloom::partial_shape{"K", 2}); // = [K, 4]
/// ```
constexpr partial_shape infer_gather_nd(
    partial_shape const& data, partial_shape const& indices, gather_nd_attributes const& attributes = {})
{
    detail::require_batch_dims(attributes);
    if (!data.has_rank() || !indices.has_rank())
        return unknown_rank;
    detail::require_indexable(data, indices, attributes.batch_dims);
    dim const k = indices[indices.rank() - 1];
    if (!k.has_value())
        return unknown_rank;
    partial_shape output = drop_axis(indices, indices.rank() - 1);
    detail::check_rank("xloom::infer_gather_nd", "output",
        output.rank() + data.rank() - static_cast<std::size_t>(attributes.batch_dims + k.value()));
    for (auto axis = static_cast<std::size_t>(attributes.batch_dims + k.value()); axis < data.rank(); ++axis)
        output.insert(output.rank(), data[axis]);
    return output;
}

/// Infers the type of GatherND's output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data.with_shape(infer_gather_nd(data.shape, indices.shape)), declared)
///
/// Shapes    as for partial_shape; only the shape of indices is read.
/// Options   as for partial_shape.
/// Errors    as for partial_shape.  type_error: data is not a tensor, or its element type is undefined; kind
///           or element type of the declared output. shape_error: rank or dimension of the declared output.
/// Differs   as for partial_shape.  Every error is reported; ONNX's default mode suppresses it. The kind of
///           data is checked.
/// Source    ONNX GatherND-11, 12, 13. Element types are not checked; is_allowed checks that of data.
/// Example   tests/infer/gather_nd.test.cpp
constexpr partial_type infer_gather_nd(partial_type const& data, partial_type const& indices,
    partial_type const& declared = untyped, gather_nd_attributes const& attributes = {})
{
    detail::require_data("infer_gather_nd", data);
    partial_type const inferred = data.with_shape(infer_gather_nd(data.shape(), indices.shape(), attributes));
    return detail::merge_type({"infer_gather_nd", "output"}, inferred, declared);
}

} // namespace xloom

// ==== xloom/infer/gru.hpp ====
// ONNX's type and shape inference of GRU.

namespace xloom {

/// The types of GRU's inputs, in ONNX's order; untyped for an input that is omitted or unknown.
struct gru_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{};
};

/// The types of GRU's outputs.
struct gru_types {
    partial_type Y{}, Y_h{};
};

/// Infers the types of GRU's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h [N, D, H]. T and N are unknown if the rank of X is.
///           The other inputs are not read: without hidden_size, H is unknown even if R has it. Before opset
///           7, without output_sequence: unknown ranks. Before opset 3: the declared types, whatever X is.
/// Options   recurrent_attributes.
/// Errors    type_error: X is not a tensor, or its element type is undefined; kind or element type of a
///           declared output. shape_error: X's rank; rank or dimension of a declared output. option_error:
///           the opset; a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of X is checked.
///           An attribute that the version does not have is an error; ONNX ignores it. Layout 2 is an error;
///           ONNX treats it as 1.
/// Source    ONNX GRU-3, 7, 14, 22; GRU-1 has no inference. Element types are not checked; is_allowed checks
///           that of X.
/// Example   tests/infer/gru.test.cpp
constexpr gru_types infer_gru(gru_input_types const& inputs, gru_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_gru", recurrent::gru, inputs.X, attributes);
    return {detail::merge_type({"infer_gru", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_gru", "Y_h"}, inferred.state, declared.Y_h)};
}

} // namespace xloom

// ==== xloom/infer/if.hpp ====
// ONNX's type and shape inference of If.

// ==== xloom/infer/union.hpp ====
// The union of two types: the type of a value that has one of them. Shapes always have a union; kinds and
// element types may conflict.

namespace xloom {

/// Returns the union of two shapes: a dimension is kept if both have the same value or the same symbol, the
/// rank if both have the same.
///
/// Source    ONNX UnionShapeInfo.
/// Example   tests/infer/union.test.cpp
constexpr partial_shape union_shape(partial_shape const& a, partial_shape const& b)
{
    if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
        return unknown_rank;
    partial_shape both = a;
    for (std::size_t axis = 0; axis < both.rank(); ++axis)
        if (a[axis] != b[axis])
            both[axis] = unknown;
    return both;
}

namespace detail {

/// Returns the reason why two types have no union: kind, element, or unknown_type for a sequence or optional
/// whose content is untyped; none if they have one.
constexpr conflict find_union_conflict(partial_type const& a, partial_type const& b)
{
    if (a.kind() != b.kind())
        return conflict::kind;
    if (a.is_wrapped()) {
        bool const known = !a.inner().is_untyped() && !b.inner().is_untyped();
        return known ? find_union_conflict(a.inner(), b.inner()) : conflict::unknown_type;
    }
    return a.element() != b.element() ? conflict::element : conflict::none;
}

} // namespace detail

/// Returns the union of two types: their common kind and element type, and the union of their shapes.
///
/// Errors    type_error: kinds or element types differ, or a sequence's or optional's content is untyped.
/// Source    ONNX UnionTypeInfo.
/// Example   tests/infer/union.test.cpp
constexpr partial_type union_type(partial_type const& a, partial_type const& b)
{
    switch (detail::find_union_conflict(a, b)) {
    case conflict::kind:
        detail::fail<type_error>("xloom::union_type: the two types must be of one kind, but a is ", a,
            " and b is ", b, ". Give both as tensors, sequences or optionals.");
    case conflict::element:
        detail::fail<type_error>("xloom::union_type: the two types must have one element type, but a is ", a,
            " and b is ", b, ". Cast one of them.");
    case conflict::unknown_type:
        detail::fail<type_error>(
            "xloom::union_type: the content of a sequence or optional must have a type, but a is ", a,
            " and b is ", b, ". Give the type of the content.");
    default:
        return a.with_shape(union_shape(a.shape(), b.shape()));
    }
}

} // namespace xloom

namespace xloom {

/// The attributes of If that the inference reads, and its strictness.
struct if_attributes {
    std::int64_t opset = latest_opset;
    bool strict = false;
};

namespace detail {

constexpr void require_if_counts(std::size_t then_count, std::size_t else_count, std::size_t output_count)
{
    if (then_count != else_count || then_count != output_count)
        fail<type_error>("xloom::infer_if: both branches must give as many outputs as the node has, but "
                         "then_branch gives ",
            then_count, ", else_branch ", else_count, ", and the node has ", output_count,
            ". Make the three counts equal.");
}

/// Rejects branches whose kinds or element types differ. Before If-13 the contents of sequences and optionals
/// are not compared.
constexpr void require_one_type(
    std::size_t i, partial_type const& then_type, partial_type const& else_type, std::int64_t version)
{
    conflict found = find_union_conflict(then_type, else_type);
    if (version < 13 && !then_type.is_tensor() && then_type.kind() == else_type.kind())
        found = conflict::none;
    if (found == conflict::kind)
        fail<type_error>("xloom::infer_if: both branches must give values of one kind, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type,
            " by else_branch. Give both as tensors, sequences or optionals.");
    if (found == conflict::element)
        fail<type_error>("xloom::infer_if: both branches must give the same element type, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type, " by else_branch. Cast one of them.");
    if (found == conflict::unknown_type)
        fail<type_error>(
            "xloom::infer_if: the content of a sequence or optional must have a type, but output[", i,
            "] is ", then_type, " by then_branch and ", else_type,
            " by else_branch. Give the type of the content.");
}

/// Merges the shapes of both branches, as If-1 does.
constexpr partial_shape merge_branches(
    std::size_t i, partial_shape const& then_shape, partial_shape const& else_shape)
{
    if (find_conflict(else_shape, then_shape) != conflict::none)
        fail<shape_error>(
            "xloom::infer_if: before opset 11 both branches must give the same shape, but output[", i,
            "] is ", then_shape, " by then_branch and ", else_shape,
            " by else_branch. Give one shape, or use opset 11.");
    return merge_shape(else_shape, then_shape);
}

constexpr partial_shape join_branches(
    std::size_t i, partial_shape const& then_shape, partial_shape const& else_shape, std::int64_t version)
{
    if (version < 11)
        return merge_branches(i, then_shape, else_shape);
    // If-11 treats an else branch without a shape as a scalar.
    if (version < 13 && !else_shape.has_rank())
        return union_shape(then_shape, partial_shape{});
    return union_shape(then_shape, else_shape);
}

constexpr partial_type join_branches(
    std::size_t i, partial_type const& then_type, partial_type const& else_type, std::int64_t version)
{
    require_one_type(i, then_type, else_type, version);
    if (version < 13 && !then_type.is_tensor())
        return then_type;
    return then_type.with_shape(join_branches(i, then_type.shape(), else_type.shape(), version));
}

constexpr bool has_symbol(type_list const& types, std::string_view symbol)
{
    for (partial_type const& type : types)
        for (dim const& d : type.shape())
            if (d.symbol() == symbol)
                return true;
    return false;
}

/// True if everything in `declared` follows from the branches. A symbol that neither branch uses is only a
/// name. Requires that declared and inferred can be merged.
constexpr bool is_sound(partial_shape const& declared, partial_shape const& inferred,
    type_list const& then_types, type_list const& else_types)
{
    if (!declared.has_rank())
        return true;
    if (!inferred.has_rank())
        return false;
    for (std::size_t axis = 0; axis < declared.rank(); ++axis) {
        dim const& claim = declared[axis];
        bool const is_name = claim.has_symbol() && !has_symbol(then_types, claim.symbol()) &&
                             !has_symbol(else_types, claim.symbol());
        if (claim != inferred[axis] && !claim.is_unknown() && !is_name)
            return false;
    }
    return true;
}

} // namespace detail

/// Infers the types of If's outputs from those of its branches. A branch is called with an empty type_list
/// and returns a type_list; `outputs` has one type per output of the node, untyped where none is declared.
///
///     then_types, else_types = then_branch([]), else_branch([])
///     for i in outputs: merge_type(union_type(then_types[i], else_types[i]), outputs[i])
///
/// Shapes    If-13 and later: the union: [2] and [3] give [?], different ranks an unknown rank. If-11: the
///           union for tensors, where an else branch without a shape is treated as a scalar; for other kinds
///           the type of then_branch. If-1: the shapes are merged: [2] and [3] are an error, [N] and [3] give
///           [3].
/// Options   opset (latest_opset).  strict (false): a declared shape that does not hold for both branches,
///           such as [2] for [2] and [3], is an error; no shape, [?] and a symbol that no branch uses are
///           allowed. If false, the declared shape is kept.
/// Errors    type_error: numbers of outputs; kinds or element types of the branches, or of a declared output.
///           shape_error: If-1's shapes; rank or dimension of a declared output.  option_error: the opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. strict is required by the
///           text of If, not by its inference.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX If-1, 11, 13 .. 25. The condition is not checked; is_allowed checks the types.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const two = [](xloom::type_list const&) {
///     return xloom::type_list{xloom::tensor_type(element::float_, {2, 4})};
/// };
/// auto const three = [](xloom::type_list const&) {
///     return xloom::type_list{xloom::tensor_type(element::float_, {3, 4})};
/// };
/// xloom::infer_if(two, three, {xloom::untyped}); // = [float[?, 4]]
/// ```
template <class Then, class Else>
constexpr type_list infer_if(
    Then&& then_branch, Else&& else_branch, type_list const& outputs, if_attributes const& attributes = {})
{
    std::int64_t const version = operator_version(control_flow::if_, attributes.opset);
    type_list const then_types = then_branch(type_list{});
    type_list const else_types = else_branch(type_list{});
    detail::require_if_counts(then_types.size(), else_types.size(), outputs.size());
    type_list result;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        partial_type const inferred = detail::join_branches(i, then_types[i], else_types[i], version);
        partial_type const merged = detail::merge_type({"infer_if", "output", i}, inferred, outputs[i]);
        if (attributes.strict &&
            !detail::is_sound(outputs[i].shape(), inferred.shape(), then_types, else_types))
            detail::fail<shape_error>(
                "xloom::infer_if: a declared output must hold for both branches, but output[", i,
                "] is declared as ", outputs[i], ", then_branch gives ", then_types[i], " and else_branch ",
                else_types[i], ". Declare no shape, or unknown dimensions, or new symbols.");
        result.push_back(merged);
    }
    return result;
}

} // namespace xloom

// ==== xloom/infer/loop.hpp ====
// ONNX's type and shape inference of Loop.

// ==== xloom/infer/propagate.hpp ====
// Propagation of an element type from one value to another, without the tensor's shape.

namespace xloom {

namespace detail {

/// True if `source` has an element type to propagate: that of a tensor, or the content of a sequence or
/// optional.
constexpr bool has_element_type(partial_type const& source)
{
    return source.is_wrapped() ? !source.inner().is_untyped() : source.element() != element_type::undefined;
}

/// Returns the reason why the element type of `source` cannot be propagated to `target`: unknown_type (of
/// source), kind or element; none if it can.
constexpr conflict find_propagation_conflict(partial_type const& source, partial_type const& target)
{
    if (!has_element_type(source))
        return conflict::unknown_type;
    if (source.is_wrapped())
        return find_propagation_conflict(
            source.inner(), target.kind() == source.kind() ? target.inner() : untyped);
    if (target.is_wrapped())
        return conflict::kind;
    bool const known = target.element() != element_type::undefined;
    return known && target.element() != source.element() ? conflict::element : conflict::none;
}

/// Propagates an element type. Requires that there is no propagation conflict.
constexpr partial_type propagate_compatible(partial_type const& source, partial_type const& target)
{
    if (source.is_wrapped()) {
        partial_type const content = target.kind() == source.kind() ? target.inner() : untyped;
        return propagate_compatible(source.inner(), content).wrapped_in(source.kind());
    }
    return target.is_untyped() ? source.with_shape(unknown_rank) : target.with_element(source.element());
}

} // namespace detail

/// Returns the type of an output that has the element type of `source`: a tensor without its shape. A
/// sequence or optional is returned unchanged, including the shape of its tensor.
///
/// Errors    type_error: source is untyped, or its element type is undefined.
/// Source    ONNX propagateElemTypeFromInputToOutput.
/// Example   tests/infer/propagate.test.cpp
constexpr partial_type propagate_element_type(partial_type const& source)
{
    if (!detail::has_element_type(source))
        detail::fail<type_error>(
            "xloom::propagate_element_type: the element type must be known, but source is ", source,
            ". Give its type.");
    return source.is_wrapped() ? source : source.with_shape(unknown_rank);
}

/// Returns `target` with the element type of `source`, which must not contradict it; the shape of `target` is
/// kept. In a sequence or optional the content is propagated. A target of another kind than such a source is
/// replaced, so that a value that Loop carries may begin as an optional and end as a sequence.
///
/// Errors    type_error: source or its content is untyped; source is a tensor and target a sequence or
///           optional; element types differ.
/// Source    ONNX propagateElemTypeWithValidation.
/// Example   tests/infer/propagate.test.cpp
constexpr partial_type propagate_element_type(partial_type const& source, partial_type const& target)
{
    switch (detail::find_propagation_conflict(source, target)) {
    case conflict::unknown_type:
        detail::fail<type_error>(
            "xloom::propagate_element_type: the element type must be known, but source is ", source,
            ". Give its type.");
    case conflict::kind:
        detail::fail<type_error>(
            "xloom::propagate_element_type: a tensor can't become a sequence or optional, but source is ",
            source, " and target is ", target, ". Give both as tensors.");
    case conflict::element:
        detail::fail<type_error>(
            "xloom::propagate_element_type: an element type that is set must stay the same, but source is ",
            source, " and target is ", target, ". Cast one of them.");
    default:
        return detail::propagate_compatible(source, target);
    }
}

} // namespace xloom

namespace xloom {

/// The attributes of Loop that the inference reads.
struct loop_attributes {
    std::int64_t opset = latest_opset;
};

namespace detail {

/// The number of Loop's inputs before the carried values: M and cond.
inline constexpr std::size_t loop_leading_inputs = 2;

constexpr void require_loop_counts(std::size_t input_count, std::size_t output_count)
{
    if (input_count < loop_leading_inputs)
        fail<type_error>("xloom::infer_loop: the inputs must begin with M and cond, untyped where omitted, "
                         "but inputs has ",
            counted{input_count, "type"}, ". Give both.");
    if (input_count - loop_leading_inputs > output_count)
        fail<type_error>("xloom::infer_loop: every carried value must have an output, but inputs has ",
            counted{input_count - loop_leading_inputs, "carried value"}, " and outputs has ",
            counted{output_count, "type"}, ". Give an output for each.");
}

constexpr void require_carried(std::size_t i, partial_type const& type, std::int64_t version)
{
    if (!has_element_type(type))
        fail<type_error>("xloom::infer_loop: a carried value must have a known element type, but input[", i,
            "] is ", type, ". Give its type.");
    if (version < 13 && !type.is_tensor())
        fail<type_error>("xloom::infer_loop: before opset 13 a carried value must be a tensor, but input[", i,
            "] is ", type, ". Use a newer opset.");
}

/// Returns the types of the body's inputs: iteration, cond, and the carried values without their shapes,
/// which may change.
constexpr type_list loop_body_inputs(type_list const& inputs, std::int64_t version)
{
    type_list given{tensor_type(element_type::int64), inputs[1]};
    for (std::size_t i = loop_leading_inputs; i < inputs.size(); ++i) {
        require_carried(i, inputs[i], version);
        given.push_back(inputs[i].with_shape(unknown_rank));
    }
    return given;
}

/// Rejects a body output of a kind that Loop does not have at this version. `i` counts without cond.
constexpr void require_body_kind(
    std::size_t i, partial_type const& type, bool is_carried, std::int64_t version)
{
    type_kind const kind = type.kind();
    bool const is_known_kind = kind == type_kind::tensor ||
                               (version >= sequences_since && kind == type_kind::sequence) ||
                               (version >= optionals_since && kind == type_kind::optional);
    if (!is_known_kind)
        fail<type_error>("xloom::infer_loop: the body must return tensors (from opset 13 also sequences, "
                         "from 16 optionals), but output[",
            i, "] is ", type, ". Return another kind, or give its type.");
    if (!is_carried && kind != type_kind::tensor)
        fail<type_error>("xloom::infer_loop: a scan output must be a tensor, but the body returned ", type,
            " for output[", i, "]. Carry it instead.");
}

constexpr partial_type carry(std::size_t i, partial_type const& initial, partial_type const& returned)
{
    partial_type const carried = propagate_element_type(initial);
    switch (find_propagation_conflict(returned, carried)) {
    case conflict::none:
        return propagate_element_type(returned, carried);
    case conflict::unknown_type:
        fail<type_error>("xloom::infer_loop: the body must return known element types, but output[", i,
            "] is ", returned, ". Give its type.");
    case conflict::kind:
        fail<type_error>("xloom::infer_loop: a carried value must keep its kind, but output[", i,
            "] begins as ", initial, " and the body returned ", returned,
            ". Return the kind that the value begins with.");
    default:
        fail<type_error>("xloom::infer_loop: a carried value must keep its element type, but output[", i,
            "] begins as ", initial, " and the body returned ", returned, ". Cast it back in the body.");
    }
}

/// Returns the type of the iterations' elements stacked along a new first axis of unknown length.
constexpr partial_type stack_iterations(std::size_t i, partial_type const& element)
{
    if (!has_element_type(element))
        fail<type_error>("xloom::infer_loop: the body must return known element types, but output[", i,
            "] is ", element, ". Give its type.");
    check_rank("xloom::infer_loop", "output", element.shape().rank() + 1, i);
    return element.shape().has_rank() ? element.with_shape(insert_axis(element.shape(), 0, unknown))
                                      : element;
}

constexpr void require_loop_results(type_list const& returned, std::size_t output_count)
{
    if (!returned.empty() && returned.size() != output_count + 1)
        fail<type_error>(
            "xloom::infer_loop: the body must return cond and one value for each output, but outputs has ",
            counted{output_count, "type"}, " and the body returned ", returned.size(), ". Return ",
            output_count + 1, ".");
}

/// Returns the types of the outputs by those that the body returned, before they are merged with the declared
/// ones.
constexpr type_list loop_outputs(
    type_list const& inputs, type_list const& returned, std::size_t output_count, std::int64_t version)
{
    require_loop_results(returned, output_count);
    std::size_t const carried_count = inputs.size() - loop_leading_inputs;
    type_list inferred(output_count, untyped);
    for (std::size_t i = 0; i < carried_count; ++i)
        inferred[i] = propagate_element_type(inputs[loop_leading_inputs + i]);
    for (std::size_t i = 0; i + 1 < returned.size(); ++i) {
        bool const is_carried = i < carried_count;
        require_body_kind(i, returned[i + 1], is_carried, version);
        inferred[i] = is_carried ? carry(i, inputs[loop_leading_inputs + i], returned[i + 1])
                                 : stack_iterations(i, returned[i + 1]);
    }
    return inferred;
}

} // namespace detail

/// Infers the types of Loop's outputs from those of its inputs (M and cond, both untyped if omitted, then
/// v_initial...) and its body. The body is called with a type_list (iteration, cond, carried...) and returns
/// one (cond, carried..., elements...); if that is empty, what depends on the body stays unknown. `outputs`
/// has one type per output of the node, untyped where none is declared.
///
///     given = [int64, cond] ++ [v without shape for v in v_initial]
///     cond, *finals, *elements = body(given)
///     outputs = [v_initial[i]'s element type] ++ [[?] ++ element for element in elements]
///
/// Shapes    a carried tensor has an unknown rank, before the body and after the loop, even if the body keeps
///           its shape; in a sequence or optional the tensor's initial shape is kept. A scan output is [?] ++
///           the element's shape; M's value is not used.
/// Options   opset (latest_opset).
/// Errors    type_error: a carried value is untyped, changes its kind or element type, or is of a kind that
///           the version does not have; numbers of inputs, of outputs, or of the body's outputs; a scan
///           output that is not a tensor; kind or element type of a declared output. shape_error: rank or
///           dimension of a declared output. option_error: the opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. Numbers of inputs and
///           outputs are checked.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX Loop-1, 11, 13, 16 .. 25. The types of M and cond are not checked; is_allowed checks the
///           others.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const body = [](xloom::type_list const& given) {
///     return xloom::type_list{given[1], given[2], xloom::tensor_type(element::int64, {2})};
/// };
/// xloom::type_list const inputs = {
///     xloom::untyped, xloom::tensor_type(element::bool_, {}), xloom::tensor_type(element::float_, {3})};
/// xloom::infer_loop(inputs, body, {xloom::untyped, xloom::untyped}); // = [float[...], int64[?, 2]]
/// ```
template <class Body>
constexpr type_list infer_loop(
    type_list const& inputs, Body&& body, type_list const& outputs, loop_attributes const& attributes = {})
{
    std::int64_t const version = operator_version(control_flow::loop, attributes.opset);
    detail::require_loop_counts(inputs.size(), outputs.size());
    type_list const returned = body(detail::loop_body_inputs(inputs, version));
    return detail::merge_types(
        {"infer_loop", "output"}, detail::loop_outputs(inputs, returned, outputs.size(), version), outputs);
}

} // namespace xloom

// ==== xloom/infer/lstm.hpp ====
// ONNX's type and shape inference of LSTM.

namespace xloom {

/// The types of LSTM's inputs, in ONNX's order; untyped for an input that is omitted or unknown.
struct lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{};
};

/// The types of LSTM's outputs.
struct lstm_types {
    partial_type Y{}, Y_h{}, Y_c{};
};

/// Infers the types of LSTM's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///     Y_c = merge_type(X.with_shape([D, N, H]), declared.Y_c)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h and Y_c [N, D, H]. T and N are unknown if the rank
///           of X is. The other inputs are not read: without hidden_size, H is unknown even if R has it.
///           Before opset 7, without output_sequence: unknown ranks.
/// Options   recurrent_attributes.
/// Errors    type_error: X is not a tensor, or its element type is undefined; kind or element type of a
///           declared output. shape_error: X's rank; rank or dimension of a declared output. option_error:
///           the opset; a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of X is checked.
///           An attribute that the version does not have is an error; ONNX ignores it. Layout 2 is an error;
///           ONNX treats it as 1.
/// Source    ONNX LSTM-1, 7, 14, 22. Element types are not checked; is_allowed checks that of X.
/// Example
/// ```cpp
/// auto const X = xloom::tensor_type(xloom::element_type::float_, {"T", "N", 8});
/// auto const types = xloom::infer_lstm({.X = X}, {}, {.hidden_size = 16});
/// types.Y; // = float[T, 1, N, 16]
/// types.Y_h; // = float[1, N, 16]
/// ```
constexpr lstm_types infer_lstm(lstm_input_types const& inputs, lstm_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_lstm", recurrent::lstm, inputs.X, attributes);
    return {detail::merge_type({"infer_lstm", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_lstm", "Y_h"}, inferred.state, declared.Y_h),
        detail::merge_type({"infer_lstm", "Y_c"}, inferred.state, declared.Y_c)};
}

} // namespace xloom

// ==== xloom/infer/rnn.hpp ====
// ONNX's type and shape inference of RNN.

namespace xloom {

/// The types of RNN's inputs, in ONNX's order; untyped for an input that is omitted or unknown.
struct rnn_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{};
};

/// The types of RNN's outputs.
struct rnn_types {
    partial_type Y{}, Y_h{};
};

/// Infers the types of RNN's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h [N, D, H]. T and N are unknown if the rank of X is.
///           The other inputs are not read: without hidden_size, H is unknown even if R has it. Before opset
///           7, without output_sequence: unknown ranks.
/// Options   recurrent_attributes.
/// Errors    type_error: X is not a tensor, or its element type is undefined; kind or element type of a
///           declared output. shape_error: X's rank; rank or dimension of a declared output. option_error:
///           the opset; a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of X is checked.
///           An attribute that the version does not have is an error; ONNX ignores it. Layout 2 is an error;
///           ONNX treats it as 1.
/// Source    ONNX RNN-1, 7, 14, 22. Element types are not checked; is_allowed checks that of X.
/// Example   tests/infer/rnn.test.cpp
constexpr rnn_types infer_rnn(rnn_input_types const& inputs, rnn_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_rnn", recurrent::rnn, inputs.X, attributes);
    return {detail::merge_type({"infer_rnn", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_rnn", "Y_h"}, inferred.state, declared.Y_h)};
}

} // namespace xloom

// ==== xloom/infer/scan.hpp ====
// ONNX's type and shape inference of Scan.

namespace xloom {

/// The attributes of Scan that the inference reads; std::nullopt is an absent attribute. Directions are not
/// checked.
struct scan_attributes {
    std::int64_t opset = latest_opset;
    std::optional<std::int64_t> num_scan_inputs{};
    std::optional<axes> scan_input_axes{};
    std::optional<axes> scan_output_axes{};
};

namespace detail {

/// The division of a node's inputs into sequence_lens (Scan-8), states and scan inputs, and of its outputs
/// into states and scan outputs.
struct scan_layout {
    std::size_t leading_inputs;
    std::size_t states;
    std::size_t scan_inputs;
    std::size_t scan_outputs;

    constexpr std::size_t first_scan_input() const noexcept { return leading_inputs + states; }
};

constexpr std::size_t count_scan_inputs(
    std::optional<std::int64_t> const& num_scan_inputs, std::size_t available)
{
    if (!num_scan_inputs)
        fail<option_error>(
            "xloom::infer_scan: num_scan_inputs is required, but it is absent. Give the number "
            "of scan inputs.");
    if (*num_scan_inputs < 0)
        fail<option_error>("xloom::infer_scan: num_scan_inputs must not be negative, but num_scan_inputs is ",
            *num_scan_inputs, ". Give the number of scan inputs.");
    if (static_cast<std::uint64_t>(*num_scan_inputs) > available)
        fail<option_error>("xloom::infer_scan: num_scan_inputs must not exceed the number of states and scan "
                           "inputs, but num_scan_inputs is ",
            *num_scan_inputs, " and there are ", available, ". Count only the scan inputs.");
    return static_cast<std::size_t>(*num_scan_inputs);
}

constexpr scan_layout divide_scan(
    std::size_t input_count, std::size_t output_count, scan_attributes const& attributes, bool is_batched)
{
    std::size_t const leading = is_batched ? 1 : 0;
    std::size_t const scan_inputs =
        count_scan_inputs(attributes.num_scan_inputs, input_count < leading ? 0 : input_count - leading);
    if (input_count < leading)
        fail<type_error>(
            "xloom::infer_scan: the inputs of Scan-8 must begin with sequence_lens, but there are none. "
            "Give it, untyped if it is omitted.");
    std::size_t const states = input_count - leading - scan_inputs;
    if (states > output_count)
        fail<type_error>("xloom::infer_scan: every state must have an output, but there are ",
            counted{states, "loop state variable"}, " (inputs less num_scan_inputs) and ",
            counted{output_count, "output"}, ". Give an output for each.");
    return {leading, states, scan_inputs, output_count - states};
}

constexpr void require_axis_count(
    std::string_view attribute, std::optional<axes> const& given, std::size_t count, std::string_view operand)
{
    if (given && given->given() > given->capacity())
        fail<option_error>("xloom::infer_scan: ", attribute, " may have at most ", given->capacity(),
            " axes (max_operands), but it has ", given->given(), ". Leave the attribute out for axis 0.");
    if (given && given->size() != count)
        fail<option_error>("xloom::infer_scan: ", attribute, " must hold one axis for each, but it holds ",
            given->size(), ": ", *given, ", for ", counted{count, operand}, ". Give ", count,
            ", or leave the attribute out.");
}

/// Returns axis `i` of an attribute, counted from the front; axis 0 if the attribute is absent.
constexpr std::size_t scan_axis(
    std::string_view attribute, std::optional<axes> const& given, std::size_t i, std::size_t rank)
{
    std::int64_t const axis = given ? (*given)[i] : 0;
    if (!is_axis(axis, rank))
        fail<shape_error>("xloom::infer_scan: an axis must be in [-r, r-1] for rank r, but ", attribute, "[",
            i, "] is ", axis, " and the rank is ", rank, ". Name an axis that exists.");
    return wrap_axis(axis, rank);
}

constexpr void require_tensors(type_list const& inputs, std::size_t first)
{
    for (std::size_t i = first; i < inputs.size(); ++i)
        if (!inputs[i].is_tensor())
            fail<type_error>("xloom::infer_scan: states and scan inputs must be tensors, but input[", i,
                "] is ", inputs[i], ". Give a tensor, with its type.");
}

/// Merges the values that the scan inputs have for a common dimension.
constexpr dim merge_shared(std::string_view name, std::vector<dim> const& dims)
{
    dim shared = unknown;
    for (dim const& d : dims) {
        if (find_conflict(d, shared) != conflict::none)
            fail<shape_error>("xloom::infer_scan: all scan inputs must agree on the ", name,
                ", but theirs are ", dims, ". Give inputs of one length.");
        shared = merge_dim(d, shared);
    }
    return shared;
}

/// The types of the body's inputs, and the batch size and sequence length of the scan inputs.
struct scan_elements {
    type_list body_inputs;
    dim batch_size{};
    dim length{};
};

/// Returns the body's inputs of Scan-9 and later: without the axis of scan_input_axes, which is the sequence.
constexpr scan_elements take_unbatched_elements(
    type_list const& inputs, scan_layout const& layout, std::optional<axes> const& scan_input_axes)
{
    scan_elements taken{inputs};
    std::vector<dim> lengths;
    for (std::size_t k = 0; k < layout.scan_inputs; ++k) {
        partial_type& type = taken.body_inputs[layout.states + k];
        if (!type.shape().has_rank())
            continue;
        std::size_t const axis = scan_axis("scan_input_axes", scan_input_axes, k, type.shape().rank());
        lengths.push_back(type.shape()[axis]);
        type = type.with_shape(drop_axis(type.shape(), axis));
    }
    taken.length = merge_shared("sequence length", lengths);
    return taken;
}

constexpr partial_type drop_leading(partial_type const& type, std::size_t count)
{
    partial_shape dims = type.shape();
    for (std::size_t k = 0; k < count && dims.rank() > 0; ++k)
        dims.erase(0);
    return type.with_shape(dims);
}

constexpr void require_batch_size(type_list const& inputs, scan_layout const& layout, dim const& batch_size)
{
    for (std::size_t i = 0; i < layout.states; ++i) {
        partial_shape const& state = inputs[layout.leading_inputs + i].shape();
        if (state.rank() > 0 && find_conflict(state[0], batch_size) != conflict::none)
            fail<shape_error>(
                "xloom::infer_scan: a state must have the batch size of the scan inputs, but state[", i,
                "] is ", state, " and their batch size is ", batch_size,
                ". Give a state of that batch size.");
    }
}

/// Returns the body's inputs of Scan-8: without axis 0, the batch, and without axis 1 of scan inputs, the
/// sequence. Neither size is read from a scan input of scalar elements.
constexpr scan_elements take_batched_elements(type_list const& inputs, scan_layout const& layout)
{
    scan_elements taken;
    std::vector<dim> batch_sizes, lengths;
    for (std::size_t i = layout.leading_inputs; i < inputs.size(); ++i) {
        bool const is_state = i < layout.first_scan_input();
        taken.body_inputs.push_back(drop_leading(inputs[i], is_state ? 1 : 2));
        if (!is_state && inputs[i].shape().rank() > 2) {
            batch_sizes.push_back(inputs[i].shape()[0]);
            lengths.push_back(inputs[i].shape()[1]);
        }
    }
    taken.batch_size = merge_shared("batch size", batch_sizes);
    taken.length = merge_shared("sequence length", lengths);
    require_batch_size(inputs, layout, taken.batch_size);
    return taken;
}

constexpr scan_elements take_elements(type_list const& inputs, scan_layout const& layout, bool is_batched,
    std::optional<axes> const& scan_input_axes)
{
    if (is_batched)
        return take_batched_elements(inputs, layout);
    return take_unbatched_elements(inputs, layout, scan_input_axes);
}

/// Returns the type of a state's output: the initial type, its shape merged with that of the body's result.
constexpr partial_type keep_state(std::size_t i, partial_type const& initial, partial_shape const& result)
{
    if (find_conflict(result, initial.shape()) != conflict::none)
        fail<shape_error>("xloom::infer_scan: a state must keep its shape, but state[", i, "] is ",
            initial.shape(), " and the body makes it ", result,
            ". Return a state shaped like the initial one.");
    return initial.with_shape(merge_shape(result, initial.shape()));
}

constexpr partial_shape with_leading(partial_shape dims, dim const& leading)
{
    if (dims.has_rank())
        dims.insert(0, leading);
    return dims;
}

constexpr void require_body_outputs(type_list const& returned, std::size_t output_count)
{
    if (returned.size() != output_count)
        fail<type_error>(
            "xloom::infer_scan: the body must return one value for each output, but outputs has ",
            counted{output_count, "type"}, " and the body returned ", returned.size(), ". Return ",
            output_count, ".");
    for (std::size_t i = 0; i < returned.size(); ++i)
        if (!returned[i].is_tensor())
            fail<type_error>("xloom::infer_scan: the body must return tensors, but output[", i, "] is ",
                returned[i], ". Return a tensor.");
}

/// Returns the shape of stacked elements.
constexpr partial_shape stack_elements(partial_shape const& element, std::size_t output, std::size_t k,
    std::optional<axes> const& scan_output_axes, bool is_batched, scan_elements const& taken)
{
    if (!element.has_rank())
        return element;
    check_rank("xloom::infer_scan", "output", element.rank() + (is_batched ? 2 : 1), output);
    if (is_batched)
        return with_leading(with_leading(element, taken.length), taken.batch_size);
    return insert_axis(
        element, scan_axis("scan_output_axes", scan_output_axes, k, element.rank() + 1), taken.length);
}

/// Returns the types of the outputs before the body is called: those of the initial states for states,
/// untyped for scan outputs.
constexpr type_list initial_outputs(type_list const& inputs, scan_layout const& layout)
{
    type_list outputs(layout.states + layout.scan_outputs, untyped);
    for (std::size_t i = 0; i < layout.states; ++i) {
        outputs[i] = inputs[layout.leading_inputs + i];
        if (!has_element_type(outputs[i]))
            fail<type_error>("xloom::infer_scan: a state must have a known element type, but state[", i,
                "] is ", outputs[i], ". Give its element type.");
    }
    return outputs;
}

/// Returns the types of the outputs by those that the body returned, before they are merged with the declared
/// ones.
constexpr type_list scan_outputs(type_list inferred, type_list const& returned, scan_layout const& layout,
    scan_elements const& taken, bool is_batched, std::optional<axes> const& scan_output_axes)
{
    if (!returned.empty())
        require_body_outputs(returned, inferred.size());
    for (std::size_t i = 0; i < returned.size(); ++i) {
        partial_shape const& result = returned[i].shape();
        if (i < layout.states && is_batched)
            check_rank("xloom::infer_scan", "output", result.rank() + 1, i);
        inferred[i] =
            i < layout.states
                ? keep_state(i, inferred[i], is_batched ? with_leading(result, taken.batch_size) : result)
                : returned[i].with_shape(
                      stack_elements(result, i, i - layout.states, scan_output_axes, is_batched, taken));
    }
    return inferred;
}

} // namespace detail

/// Infers the types of Scan's outputs from those of its inputs (states..., scan inputs...; Scan-8:
/// sequence_lens, untyped if omitted, before them) and its body. The body is called with a type_list
/// (states..., elements...) and returns one (states..., elements...); if that is empty, what depends on the
/// body stays unknown. `outputs` has one type per output of the node, untyped where none is declared.
///
///     given = states ++ [x without axis scan_input_axes[k] for k, x in enumerate(scan_inputs)]
///     T = all x.shape[scan_input_axes[k]], merged
///     *finals, *elements = body(given)
///     outputs = [finals[i] merged into states[i]] ++
///               [e with T inserted at scan_output_axes[k] for k, e in enumerate(elements)]
///
/// Shapes    a state keeps its shape. A scan output is the element's shape with T as a new axis; axes may be
///           negative, and refer to the rank with T. T is not read from a scan input of unknown rank. Scan-8:
///           state [N, ...], scan input and scan output [N, T, ...]; the body's elements have neither N nor
///           T. N and T are read only from scan inputs of rank 3 and more; a shape of a lower rank gives a
///           scalar.
/// Options   opset (latest_opset).  num_scan_inputs: required.  scan_input_axes, scan_output_axes (axis 0 for
///           all): not read by Scan-8.
/// Errors    shape_error: an axis outside its rank; lengths or batch sizes that differ; a state that changes
///           its shape; an output over max_rank; rank or dimension of a declared output. type_error: more
///           states than outputs, no sequence_lens, the body's number of outputs; an input or body output
///           that is not a tensor; an undefined element type of a state; kind or element type of a declared
///           output. option_error: the opset; num_scan_inputs; numbers of axes.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. In Scan-8, too, there
///           must be an output for each state. The states of Scan-8 must have the scan inputs' batch size,
///           even if the body returns no shapes for them.
/// Cost      at most 4 KiB of stack for each level of nested bodies, besides that of the body; the lists are
///           allocated on the heap.
/// Source    ONNX Scan-8, 9, 11, 16 .. 25. A body may change a state's element type: the initial one is kept.
/// Example
/// ```cpp
/// auto const body = [](xloom::type_list const& given) { return xloom::type_list{given[0], given[1]}; };
/// using element = xloom::element_type;
/// xloom::type_list const inputs = {
///     xloom::tensor_type(element::float_, {3}), xloom::tensor_type(element::float_, {"T", 2})};
/// xloom::infer_scan(inputs, body, {xloom::untyped, xloom::untyped},
///     {.num_scan_inputs = 1}); // = [float[3], float[T, 2]]
/// ```
template <class Body>
constexpr type_list infer_scan(
    type_list const& inputs, Body&& body, type_list const& outputs, scan_attributes const& attributes)
{
    bool const is_batched = operator_version(control_flow::scan, attributes.opset) == 8;
    detail::scan_layout const layout =
        detail::divide_scan(inputs.size(), outputs.size(), attributes, is_batched);
    if (!is_batched) {
        detail::require_axis_count(
            "scan_input_axes", attributes.scan_input_axes, layout.scan_inputs, "scan input");
        detail::require_axis_count(
            "scan_output_axes", attributes.scan_output_axes, layout.scan_outputs, "scan output");
    }
    detail::require_tensors(inputs, layout.leading_inputs);
    type_list inferred = detail::initial_outputs(inputs, layout);
    detail::scan_elements const taken =
        detail::take_elements(inputs, layout, is_batched, attributes.scan_input_axes);
    type_list const returned = body(taken.body_inputs);
    inferred = detail::scan_outputs(
        std::move(inferred), returned, layout, taken, is_batched, attributes.scan_output_axes);
    return detail::merge_types({"infer_scan", "output"}, inferred, outputs);
}

} // namespace xloom

// ==== xloom/infer/scatter_nd.hpp ====
// ONNX's type and shape inference of ScatterND.

namespace xloom {

/// The attributes of ScatterND that the inference reads.
struct scatter_nd_attributes {
    std::int64_t opset = latest_opset;
    xloom::reduction reduction = xloom::reduction::none;
};

/// True if ScatterND has this reduction at this opset. ONNX does not have the mean.
///
/// Errors    option_error: the opset is older than ScatterND.
/// Source    ONNX ScatterND-11, 13, 16, 18.
/// Example   tests/infer/scatter_nd.test.cpp
constexpr bool has_reduction(std::int64_t opset, reduction kind)
{
    std::int64_t const version = operator_version(indexing::scatter_nd, opset);
    switch (kind) {
    case reduction::none:
        return true;
    case reduction::add:
    case reduction::mul:
        return version >= 16;
    case reduction::max:
    case reduction::min:
        return version >= 18;
    default:
        return false;
    }
}

namespace detail {

constexpr void require_reduction(scatter_nd_attributes const& attributes)
{
    if (!has_reduction(attributes.opset, attributes.reduction))
        fail<option_error>("xloom::infer_scatter_nd: ONNX's reductions are none, from opset 16 on add and "
                           "mul, from 18 on max and min, but "
                           "reduction is ",
            name_of(attributes.reduction), " and opset is ", attributes.opset,
            has_reduction(latest_opset, attributes.reduction) ? ". Use a newer opset."
                                                              : ". Use one of these.");
}

} // namespace detail

/// Infers the type of ScatterND's output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data, declared)
///
/// Shapes    as data. indices and updates are not read: their types may be wrong, or have a rank that data
///           does not have.
/// Options   opset (latest_opset).  reduction (none).
/// Errors    type_error: data is not a tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output.  option_error: the
///           opset; a reduction that the opset does not have.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of data and the
///           reduction are checked.
/// Source    ONNX ScatterND-11, 13, 16, 18. Element types are not checked; is_allowed checks that of data.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const data = xloom::tensor_type(element::float_, {"N", 4});
/// auto const updates = xloom::tensor_type(element::float_, {"K", 4});
/// xloom::infer_scatter_nd(data, xloom::tensor_type(element::int64, {"K", 1}), updates); // = float[N, 4]
/// ```
constexpr partial_type infer_scatter_nd(partial_type const& data,
    [[maybe_unused]] partial_type const& indices, [[maybe_unused]] partial_type const& updates,
    partial_type const& declared = untyped, scatter_nd_attributes const& attributes = {})
{
    detail::require_reduction(attributes);
    detail::require_data("infer_scatter_nd", data);
    return detail::merge_type({"infer_scatter_nd", "output"}, data, declared);
}

} // namespace xloom

// ==== xloom/loop.hpp ====
// The Loop operator: runs a body while a condition holds, carries values of any shape and stacks outputs.
// Includes loop_into.

// ==== xloom/loop_into.hpp ====
// Loop in place: the body updates the caller's carried values and writes the caller's outputs.

// ==== xloom/run/scan/loop_control.hpp ====
// The termination of a loop: the test for another iteration.

// ==== xloom/check/loop.hpp ====
// Requirements of Loop: its termination conditions, and the lengths of its outputs.

namespace xloom::detail {

/// Returns the largest number of iterations: max_trip_count, 0 if it is negative, the largest integer if it
/// is absent.
///
/// Errors    option_error: a loop that cannot end, with no trip count, no condition and no stop state.
/// Source    ONNX Loop-25: without M and cond the loop never ends, and the body's cond is ignored.
constexpr std::int64_t check_loop(std::string_view op, std::optional<std::int64_t> max_trip_count,
    std::optional<bool> cond, bool can_be_stopped)
{
    if (!max_trip_count && !cond && !can_be_stopped)
        fail<option_error>(op, ": a loop must be able to end, but max_trip_count and cond are both "
                               "absent and options.stop can never be requested. Give one of them.");
    if (!max_trip_count)
        return (std::numeric_limits<std::int64_t>::max)();
    return *max_trip_count < 0 ? 0 : *max_trip_count;
}

/// Returns the length of the leading axis, at most the largest integer.
constexpr std::int64_t room_of(shape const& dims)
{
    constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
    return dims[0] > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(dims[0]);
}

/// Lists the outputs whose leading axis is shorter than `needed` iterations.
inline fact_list describe_room(std::span<shape const> outputs, std::int64_t needed)
{
    fact_list full;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (room_of(outputs[i]) < needed)
            full.add("scan_outputs[", i, "] has room for ", outputs[i][0]);
    return full;
}

/// Throws shape_error for an iteration whose results do not fit into the outputs.
[[noreturn]] inline void fail_full(
    std::string_view op, std::span<shape const> outputs, std::int64_t iteration)
{
    fail<shape_error>(op, ": a scan output must have room for every iteration, but ",
        describe_room(outputs, iteration + 1), " and the loop continues at iteration ", iteration,
        ". Give it a longer leading axis.");
}

/// Returns the number of iterations whose results fit into all outputs along axis 0; the largest integer
/// without outputs.
///
/// Errors    shape_error: rank 0; axis 0 shorter than `needed`, the guaranteed number of iterations.
constexpr std::int64_t check_loop_outputs(
    std::string_view op, std::span<shape const> outputs, std::int64_t needed)
{
    check_time_axes(op, "scan_outputs", outputs, "scan_output_axes", {});
    std::int64_t room = (std::numeric_limits<std::int64_t>::max)();
    for (shape const& dims : outputs)
        room = (std::min)(room, room_of(dims));
    if (room < needed)
        fail<shape_error>(op, ": a scan output must have room for every iteration, but ",
            describe_room(outputs, needed), " and there will be ", needed,
            ". Give it a longer leading axis.");
    return room;
}

} // namespace xloom::detail

// ==== xloom/loop_options.hpp ====
// The options of loop, loop_into and loop_list, and what a loop returns beside its values.

// ==== xloom/core/stop_token.hpp ====
// std::stop_token, or a substitute if the standard library has none (libc++ before 20).

#ifdef __cpp_lib_jthread

#include <stop_token>

namespace xloom {

using std::stop_token;

} // namespace xloom

#else

namespace xloom {

/// A stop token for which stop is never requested.
struct stop_token {
    static constexpr bool stop_possible() noexcept { return false; }
    static constexpr bool stop_requested() noexcept { return false; }
};

} // namespace xloom

#endif

namespace xloom {

/// The conditions that end a loop. ONNX's omitted inputs are std::nullopt.
struct loop_options {
    std::optional<std::int64_t> max_trip_count{}; ///< maximum number of iterations; negative counts as 0
    std::optional<bool> cond =
        true; ///< tested before each iteration; std::nullopt: true, and the body's condition is ignored
    stop_token stop{}; ///< polled before each iteration
};

/// The status of a loop at its end. `cond` is the last condition, true if it was omitted; `stopped` is true
/// if options.stop ended the loop.
struct loop_status {
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

} // namespace xloom

namespace xloom::detail {

/// The state of a running loop, which decides whether another iteration follows.
class loop_control {
public:
    /// Requires a `limit` from check_loop. Why check_loop is not called here: a constructor that is not
    /// inlined keeps the members in memory during the whole loop.
    loop_control(std::int64_t limit, loop_options const& options)
        : limit_(limit),
          has_cond_(options.cond.has_value()),
          can_stop_(options.stop.stop_possible()),
          is_certain_(options.max_trip_count && !has_cond_ && !can_stop_),
          stop_(options.stop),
          cond_(options.cond.value_or(true))
    {}

    /// True if another iteration follows, among the first `end`. Polls the stop token.
    bool next(std::int64_t end)
    {
        if (!may_continue(end))
            return false;
        stopped_ = stop_.stop_requested();
        return !stopped_;
    }

    /// Like next(), without polling; false if the loop has a stop token.
    ///
    /// Why: an inner loop on this condition has no atomic operation, after which the compiler would reload
    /// all values in memory.
    bool next_without_stop_token(std::int64_t end) const { return !can_stop_ && may_continue(end); }

    void finish_iteration(bool cond)
    {
        cond_ = cond || !has_cond_;
        ++trip_count_;
    }

    std::int64_t limit() const { return limit_; }
    /// Returns the number of iterations that are guaranteed: 0 if a condition or a stop token can end the
    /// loop.
    std::int64_t guaranteed_trips() const { return is_certain_ ? limit_ : 0; }
    loop_status status() const { return {cond_, trip_count_, stopped_}; }

private:
    bool may_continue(std::int64_t end) const { return trip_count_ < end && cond_; }

    std::int64_t limit_;
    bool has_cond_;
    bool can_stop_;
    bool is_certain_;
    stop_token const& stop_;
    bool cond_;
    std::int64_t trip_count_ = 0;
    bool stopped_ = false;
};

/// Checks the options and returns the maximum number of iterations.
inline std::int64_t limit_of(std::string_view op, loop_options const& options)
{
    return check_loop(op, options.max_trip_count, options.cond, options.stop.stop_possible());
}

} // namespace xloom::detail

// ==== xloom/run/scan/loop_types.hpp ====
// The requirements on the types of a call of loop or loop_into, with their compile-time errors.

// ==== xloom/run/scan/loop_body.hpp ====
// The step and the result of a pure loop.

namespace xloom {

/// The value that the body of loop returns: whether to continue, the next carried values, and this
/// iteration's outputs. Construction evaluates lazy xtensor expressions inside the body, so that none of them
/// outlives the body's variables.
template <class State, class ScanOutputs = std::tuple<>>
struct loop_step {
    bool cond;
    State state;
    ScanOutputs scan_outputs{};
};
template <class State>
loop_step(bool, State&&) -> loop_step<detail::stored_t<State>>;
template <class State, class ScanOutputs>
loop_step(bool, State&&, ScanOutputs&&) -> loop_step<detail::stored_t<State>, detail::stored_t<ScanOutputs>>;

/// The step deduced from four or more values, which loop rejects: carried values and outputs cannot be
/// distinguished.
template <>
struct loop_step<detail::loose_values> {
    explicit loop_step(auto const&...) {}
};
template <class A, class B, class C, class... More>
loop_step(bool, A const&, B const&, C const&, More const&...) -> loop_step<detail::loose_values>;

/// The step deduced from a condition that is not a bool, such as a tensor of rank 0; loop rejects it.
template <>
struct loop_step<detail::no_bool> {
    explicit loop_step(auto const&...) {}
};
/// Deduces the step that loop rejects.
template <class Cond, class... Values>
    requires(!std::is_convertible_v<Cond const&, bool>)
loop_step(Cond const&, Values const&...) -> loop_step<detail::no_bool>;

/// The result of loop: the carried values at its end, the stacked outputs, and the members of loop_status.
template <class State, class ScanOutputs>
struct loop_result {
    State final_state;
    ScanOutputs scan_outputs;
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

template <class T>
inline constexpr bool is_loop_step = false;
template <class State, class ScanOutputs>
inline constexpr bool is_loop_step<loop_step<State, ScanOutputs>> = true;
template <>
inline constexpr bool is_loop_step<loop_step<loose_values>> = false;
template <>
inline constexpr bool is_loop_step<loop_step<no_bool>> = false;

} // namespace detail
} // namespace xloom

// ==== xloom/run/scan/step_types.hpp ====
// The requirements of scan, scan_batched and loop on the types that a body returns, with their compile-time
// errors.

namespace xloom::detail {

/// True for a reference, and for a tuple that contains one.
template <class T>
inline constexpr bool is_or_has_reference = std::is_reference_v<T>;
template <class... Ts>
inline constexpr bool is_or_has_reference<std::tuple<Ts...>> = (std::is_reference_v<Ts> || ...);

/// True if the containers that stack values of type Y can construct, copy and align its items; xtensor with
/// xsimd uses one alignment for all items.
template <class Y>
inline constexpr bool every_item_stacks =
    std::is_default_constructible_v<item_t<Y>> && std::is_copy_constructible_v<item_t<Y>> &&
    std::is_copy_assignable_v<item_t<Y>> &&
    (XTENSOR_DEFAULT_ALIGNMENT == 0 || alignof(item_t<Y>) <= XTENSOR_DEFAULT_ALIGNMENT ||
        (tensor<Y> && !expression<Y>));
template <class... Ys>
inline constexpr bool every_item_stacks<std::tuple<Ys...>> = (every_item_stacks<Ys> && ...);

/// The replacement of a carried value of type To by a value of type From: what the two types have in common.
/// The value of an optional can be replaced without the optional.
template <class To, class From>
struct replacement {
    static constexpr bool keeps_kind =
        std::is_same_v<To, From> || !(tensor<To> || has_sequence<To> || tensor<From> || has_sequence<From>);
    static constexpr bool keeps_item_type = std::is_same_v<item_t<To>, item_t<From>>;
    static constexpr bool keeps_rank = true;
    static constexpr bool keeps_shape = true;
};
template <tensor To, tensor From>
struct replacement<To, From> {
    static constexpr std::size_t to_rank = enable_tensor<To>::rank;
    static constexpr std::size_t from_rank = enable_tensor<From>::rank;

    static constexpr bool keeps_kind = true;
    static constexpr bool keeps_item_type = std::is_same_v<item_t<To>, item_t<From>>;
    static constexpr bool keeps_rank =
        to_rank == from_rank || to_rank == dynamic_rank || from_rank == dynamic_rank;
    static constexpr bool keeps_shape = !is_fixed_shape<shape_type_t<To>> ||
                                        !is_fixed_shape<shape_type_t<From>> ||
                                        std::is_same_v<shape_type_t<To>, shape_type_t<From>>;
};
template <class To, class From>
struct replacement<std::optional<To>, From> : replacement<To, From> {};
template <class To, class From>
struct replacement<std::optional<To>, std::optional<From>> : replacement<To, From> {};
template <class To>
struct replacement<std::optional<To>, std::nullopt_t> : replacement<To, To> {};

template <class Replacement>
inline constexpr bool is_valid_replacement = Replacement::keeps_kind && Replacement::keeps_item_type &&
                                             Replacement::keeps_rank && Replacement::keeps_shape;

/// A carried value's index, its initial type and the type that the body returned. A compiler prints these in
/// the error of a static_assert on never<carried_state>.
template <std::size_t StateNumber, class InitialType, class ReturnedType>
struct carried_state {};

/// The first invalid replacement among carried values, which have the indices from I; a valid one if there is
/// none. Its `shown` holds the types of the items where these differ, otherwise those of the values.
template <class To, class From, std::size_t I = 0>
struct first_invalid : replacement<int, int> {};
template <class To, class... Tos, class From, class... Froms, std::size_t I>
    requires is_valid_replacement<replacement<To, From>>
struct first_invalid<std::tuple<To&, Tos&...>, std::tuple<From&, Froms&...>, I>
    : first_invalid<std::tuple<Tos&...>, std::tuple<Froms&...>, I + 1> {};
template <class To, class... Tos, class From, class... Froms, std::size_t I>
    requires(!is_valid_replacement<replacement<To, From>>)
struct first_invalid<std::tuple<To&, Tos&...>, std::tuple<From&, Froms&...>, I> : replacement<To, From> {
    using types = replacement<To, From>;
    using shown = std::conditional_t<types::keeps_kind && !types::keeps_item_type,
        carried_state<I, item_t<To>, item_t<From>>, carried_state<I, To, From>>;
};

// The message of a static_assert is a literal, so only the preprocessor can insert an operator's sentences.
// The macro defines function<State, Step>(): true if the outputs of a Step can be stacked and its state can
// replace State, otherwise a compile-time error of one sentence.
#define XLOOM_STEP_TYPES(function, op, step, output, count, kind, item_type, rank, shape)                    \
    template <class State, class Step>                                                                       \
    consteval bool function()                                                                                \
    {                                                                                                        \
        using state = decltype(Step::state);                                                                 \
        using outputs = decltype(Step::scan_outputs);                                                        \
        using invalid = first_invalid<leaves_t<State>, leaves_t<state>>;                                     \
        if constexpr (is_or_has_reference<state> || is_or_has_reference<outputs>)                            \
            static_assert(never<Step>,                                                                       \
                op ": the body returned references, which could outlive the body's variables; return " step  \
                   "{...} without template arguments");                                                      \
        else if constexpr (!is_self_contained<state> || !is_self_contained<outputs>)                         \
            static_assert(never<Step>, op ": the body returned a lazy xtensor expression or a view, which "  \
                                          "would refer to the body's dead local variables; return " step     \
                                          "{...} without template arguments, or a container");               \
        else if constexpr (!is_stackable<outputs>)                                                           \
            static_assert(never<Step>, op ": " output);                                                      \
        else if constexpr (!every_item_stacks<outputs>)                                                      \
            static_assert(never<Step>,                                                                       \
                op ": the items of a scan output must be default-constructible, copyable and no more "       \
                   "aligned than xtensor aligns items; hold others by std::shared_ptr");                     \
        else if constexpr (leaf_count<State> != leaf_count<state>)                                           \
            static_assert(never<Step>, op ": " count);                                                       \
        else if constexpr (!invalid::keeps_kind)                                                             \
            static_assert(detail::never<typename invalid::shown>, op ": " kind);                             \
        else if constexpr (!invalid::keeps_item_type)                                                        \
            static_assert(detail::never<typename invalid::shown>,                                            \
                op ": " item_type                                                                            \
                   "; convert what the body returns, or give init that type (0.0, not 0, for a double)");    \
        else if constexpr (!invalid::keeps_rank)                                                             \
            static_assert(detail::never<typename invalid::shown>, op ": " rank);                             \
        else if constexpr (!invalid::keeps_shape)                                                            \
            static_assert(detail::never<typename invalid::shown>, op ": " shape);                            \
        else                                                                                                 \
            return true;                                                                                     \
        return false;                                                                                        \
    }

XLOOM_STEP_TYPES(is_valid_scan_step, "xloom::scan", "xloom::scan_step",
    "a scan output must be a tensor or a scalar", "the body must return as many states as init has",
    "a state that is a tensor must be replaced by a tensor, a scalar by a scalar",
    "a state must keep its element type", "a state must keep its rank", "a state must keep its shape")

XLOOM_STEP_TYPES(is_valid_scan_batched_step, "xloom::scan_batched", "xloom::scan_step",
    "a scan output must be a tensor or a scalar", "the body must return as many states as init has",
    "a row of a state that is a tensor must be replaced by a tensor, a scalar one by a scalar",
    "a state must keep its element type", "a row of a state must keep its rank",
    "a row of a state must keep its shape")

XLOOM_STEP_TYPES(is_valid_loop_step, "xloom::loop", "xloom::loop_step",
    "a scan output must be a tensor or a scalar; carry a sequence as a state instead",
    "the body must return as many carried values as init has",
    "a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence",
    "a carried value may change its shape, but never its element type",
    "a carried value of a static rank must keep it; carry an xt::xarray to change the rank",
    "a carried value of a fixed shape must keep it; carry an xt::xtensor to change the shape")

#undef XLOOM_STEP_TYPES

} // namespace xloom::detail

namespace xloom::detail {

/// True for a carried value of loop_into: any value but a lazy expression.
template <class X>
using is_loop_state = std::bool_constant<!lazy<X>>;

/// The call of loop's body: body(iteration, cond, carried value const&...).
template <class Body, class State>
using loop_call = call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>>>;

/// The call of loop_into's body: body(iteration, carried value&..., output&...).
template <class Body, class States, class Outputs>
using loop_into_call = call_of<Body, joined_t<std::tuple<std::int64_t>, leaves_t<States>,
                                         typename cursor_set<leaves_t<Outputs>, true>::output_arguments>>;

/// True if the types of a call of loop are valid, otherwise a compile-time error of one sentence.
template <class Body, class State>
consteval bool is_valid_loop()
{
    if constexpr (!is_flat<State>)
        static_assert(never<State>, "xloom::loop: a pack is one value or a flat std::tuple of values, but a "
                                    "std::tuple is inside a std::tuple");
    else if constexpr (!loop_call<Body, State>::is_valid)
        static_assert(never<Body>,
            "xloom::loop: the body must be callable as body(iteration, cond, carried value const&...)");
    else {
        using step = bare<typename loop_call<Body, State>::result>;
        if constexpr (std::is_same_v<step, loop_step<loose_values>>)
            static_assert(never<Body>,
                "xloom::loop: a step holds a condition, one state and one scan output, each a "
                "value or a std::tuple of values; return loop_step{cond, std::tuple{a, b}, y}, "
                "or loop_step{cond, a, std::tuple{y, z}}");
        else if constexpr (std::is_same_v<step, loop_step<no_bool>>)
            static_assert(never<Body>, "xloom::loop: the condition of a step must be a bool; of a tensor of "
                                       "rank 0 give the item, as in loop_step{cond(), state}");
        else if constexpr (!is_loop_step<step>)
            static_assert(
                never<Body>, "xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}");
        else
            return is_valid_loop_step<State, step>();
    }
    return false;
}

/// True if the types of a call of loop_into are valid, otherwise a compile-time error of one sentence.
template <class Body, class States, class Outputs>
consteval bool is_valid_loop_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::loop_into: a pack is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_loop_state, states>)
        static_assert(never<States>, "xloom::loop_into: a carried value must be a variable that can be "
                                     "written, but a lazy xtensor expression was passed");
    else if constexpr (!every_leaf<is_writable, states>)
        static_assert(
            never<States>, "xloom::loop_into: a carried value is updated in place, so it must not be const");
    else if constexpr (!outlives_call<States>)
        static_assert(never<States>, "xloom::loop_into: a carried value is updated in place, so it must be a "
                                     "variable or a view of one; pass several as std::tie(v, n)");
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        static_assert(never<Outputs>,
            "xloom::loop_into: a scan output is a tensor in memory with a leading axis to write along");
    else if constexpr (!every_leaf<is_writable, outputs>)
        static_assert(never<Outputs>, "xloom::loop_into: a scan output is written, so it must not be const");
    else if constexpr (!outlives_call<Outputs>)
        static_assert(never<Outputs>, "xloom::loop_into: a scan output is written in place, so it must be a "
                                      "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (!loop_into_call<Body, States, Outputs>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_into: the body must be callable as body(iteration, carried value&..., output&...)");
    else if constexpr (!std::is_same_v<typename loop_into_call<Body, States, Outputs>::result, bool>)
        static_assert(never<Body>, "xloom::loop_into: the body must return bool: whether to go on");
    else
        return true;
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

template <class Body, class... States, class... Outputs>
loop_status run_loop_into(
    Body& body, std::tuple<States&...> states, std::tuple<Outputs&...> outputs, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop_into";
    loop_control control(limit_of(op, options), options);
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_outputs", outputs);
    std::int64_t const room = check_loop_outputs(op, detail::shapes_of(outputs), control.guaranteed_trips());
    auto const places = detail::places_of(outputs);
    check_overlap(op, detail::places_of(states), {}, places);

    auto y = cursor_set<std::tuple<Outputs&...>, true>::start(outputs, places, kernel::all_iterations(0));
    std::int64_t const end = (std::min)(control.limit(), room);
    {
        local_states held(states);
        auto const current = held.get();
        auto const iteration = [&] { return control.status().trip_count; };
        detail::run_bodies(op, y, iteration, [&] {
            while (control.next(end))
                do {
                    detail::enter_all(y);
                    detail::for_each_leaf(y, [](auto, auto& cursor) { detail::poison(cursor.element()); });
                    bool const cond =
                        detail::call_body(body, std::tuple<std::int64_t>(control.status().trip_count),
                            current, detail::output_elements(y));
                    detail::leave_all(y);
                    control.finish_iteration(cond);
                } while (control.next_without_stop_token(end));
        });
    }
    if (control.next(control.limit()))
        fail_full(op, detail::shapes_of(outputs), room);
    return control.status();
}

} // namespace detail

/// Runs a loop in place: the body updates the caller's carried values and writes the caller's outputs.
///
/// body(std::int64_t iteration, carried value&..., output&...) -> bool, true to continue. A carried value is
/// the caller's variable (a scalar is a copy of it, written back at the end) and may change its shape. The
/// leading axis of an output is its capacity in iterations, of which the first status.trip_count are written;
/// an output element is as in scan_into.
///
/// Errors    before the first write: option_error, overlap_error, shape_error if the capacity is too small
///           for the guaranteed iterations. shape_error: the capacity is used up and the loop continues.
///           body_error: an output element was assigned another shape. After these, and after an exception of
///           the body, carried values and outputs hold the values written so far; the element of that
///           iteration may be unwritten.
/// Aliasing  any overlap is an overlap_error. A body that captures an output's tensor reads the elements of
///           earlier iterations from it; the current element in it is unspecified.
/// Cost      that of a hand-written loop over the same body; nothing is allocated after set-up.
/// Source    ONNX Loop-1 to 25.
/// Example
/// ```cpp
/// double v = 6;
/// auto y = xt::xtensor<double, 1>::from_shape({10});
/// auto const halve = [](std::int64_t, double& value, double& y_t) {
///     y_t = value;
///     return (value /= 2) > 1;
/// };
/// auto const status = xloom::loop_into(halve, v, y);
/// v; // = 0.75
/// status.trip_count; // = 3
/// ```
template <class Body, class States, class Outputs = std::tuple<>>
loop_status loop_into(
    Body&& body, States&& states, Outputs&& scan_outputs = {}, loop_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_loop_into<Body, States, Outputs>())
        return run_loop_into(body, detail::leaves(states), detail::leaves(scan_outputs), options);
    else
        return {}; // a value, so that one mistake gives one error
}

} // namespace xloom

// ==== xloom/run/scan/growable_outputs.hpp ====
// Stacked outputs of a loop whose number of iterations is unknown until its end.

namespace xloom::detail {

/// Scan outputs stacked along axis 0, for at most `limit` iterations.
///
/// The full capacity is allocated at once if the iterations are guaranteed, or if it is at most 1 MiB of
/// uninitialised memory: a loop that reaches such a limit copies nothing. Otherwise the capacity starts small
/// and doubles, with at most 3 times the final size allocated at any time, because a limit is often far above
/// the actual number of iterations.
template <class Outputs>
class growable_outputs {
public:
    using type = typename stacked_outputs<Outputs, dynamic_length>::type;

    growable_outputs(std::string_view op, std::int64_t limit, std::int64_t certain)
        : op_(op),
          limit_(static_cast<std::size_t>(std::min<std::uint64_t>(
              static_cast<std::uint64_t>(limit), (std::numeric_limits<std::size_t>::max)()))),
          is_certain_(certain == limit)
    {}

    /// Appends the outputs of one iteration, a tuple of references.
    template <class Values>
    void push(Values const& values, std::int64_t iteration)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t == 0) {
            room_ = is_certain_ || is_cheap_to_reserve(values)
                        ? limit_
                        : std::min<std::size_t>(limit_, tuning::reserved_iterations);
            stack_.open(op_, values, room_, {});
        } else if (t == room_) {
            room_ = room_ <= limit_ / 2 ? 2 * room_ : limit_;
            stack_.resize(op_, room_, t);
        }
        stack_.push(op_, values, t);
    }

    type finish(std::int64_t trip_count) &&
    {
        auto const length = static_cast<std::size_t>(trip_count);
        if (length == 0)
            stack_.open_empty(op_, {});
        else if (length != room_)
            stack_.resize(op_, length, length);
        return std::move(stack_).finish();
    }

private:
    /// True if the full capacity is at most 1 MiB of uninitialised memory; xtensor does not initialise items
    /// of trivial types.
    template <class Values>
    bool is_cheap_to_reserve(Values const& values) const
    {
        std::size_t bytes = 1;
        bool is_unwritten = true;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using item = item_t<decltype(value)>;
            bytes += element_count(output_element_shape(op_, k, value)) * sizeof(item);
            is_unwritten = is_unwritten && std::is_trivially_default_constructible_v<item> &&
                           expression<stacked_t<bare<decltype(value)>, dynamic_length>>;
        });
        return is_unwritten && limit_ <= tuning::reserved_output_bytes / bytes;
    }

    std::string_view op_;
    std::size_t limit_;
    bool is_certain_;
    std::size_t room_ = 0;
    stacked_outputs<Outputs, dynamic_length> stack_;
};

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// Requires that a carried value's type can hold the new shape: a fixed shape and a static rank cannot
/// change.
template <class To, class From>
void require_room(std::string_view op, std::size_t i, To const& to, From const& from, std::int64_t iteration)
{
    if (!detail::has_room_for(to, from))
        fail<body_error>(op,
            ": a state of a fixed shape or rank must keep it in every iteration, but states[", i, "] was ",
            detail::shape_of(to), " and the body made it ", detail::shape_of(from), " at iteration ",
            iteration, ". Carry an xt::xarray to change it.");
}

template <class Step, class Body, class State>
auto run_loop(std::string_view op, Body& body, State state, loop_options const& options)
{
    using stack = growable_outputs<decltype(Step::scan_outputs)>;
    loop_control control(limit_of(op, options), options);
    auto const carried = detail::leaves(state);
    detail::check_ranks(op, "init", carried);
    stack outputs(op, control.limit(), control.guaranteed_trips());
    step_memory_pool recycled;
    while (control.next(control.limit())) {
        loop_status const now = control.status();
        Step step = detail::call_body(
            body, std::tuple<std::int64_t, bool>(now.trip_count, now.cond), detail::const_leaves(carried));
        detail::check_ranks(op, "states", detail::leaves(step.state));
        detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto const& value) {
            detail::require_room(op, i, std::get<i>(carried), value, now.trip_count);
        });
        outputs.push(detail::leaves(step.scan_outputs), now.trip_count);
        detail::for_each_leaf(detail::leaves(step.state),
            [&](auto i, auto& value) { detail::assign_carried(std::get<i>(carried), value); });
        control.finish_iteration(step.cond);
    }
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<State, typename stack::type>{
        std::move(state), std::move(outputs).finish(trip_count), cond, trip_count, stopped};
}

} // namespace detail

/// Runs `body` while a condition holds, carries values and stacks its scan outputs.
///
///     states, cond = init, options.cond
///     for iteration in range(max_trip_count):
///         if not cond: break
///         cond, states, y_t = body(iteration, cond, states)
///         y[iteration] = y_t
///     return states, y, cond, iteration
///
/// body(std::int64_t iteration, bool cond, carried value const&...) -> loop_step. init and the members of a
/// step are each one value or a flat std::tuple of values; a value is a tensor, a scalar, a sequence
/// (std::vector) or a std::optional. Other values are captured.
///
/// Shapes    carried values may change their shapes from one iteration to the next, never their item types.
///           Output k: [trips, element...].
/// Options   max_trip_count (none), cond (true; std::nullopt ignores the body's condition), stop (never): see
///           loop_options.
/// Errors    option_error: nothing can end the loop. body_error: an output element changed its shape.
///           Exceptions of the body propagate.
/// Order     cond is tested before each iteration, also the first; a trip count <= 0 means no iteration:
///           states = init, outputs of length 0, dimensions that no type fixes 0, an xarray's shape [0].
/// Cost      outputs: max_trip_count iterations are allocated at once if they are guaranteed or take at most
///           1 MiB; otherwise the capacity doubles, with at most 3 times the final size allocated.
/// Differs   from ONNX Runtime, which applies the body's cond where cond is omitted: by ONNX it is ignored.
/// Source    ONNX Loop-1 to 25; infer_loop has the shape rule.
/// Example
/// ```cpp
/// auto const halve = [](std::int64_t, bool, double v) { return xloom::loop_step{v / 2 > 1, v / 2, v}; };
/// auto const result = xloom::loop(halve, 6.0, {.max_trip_count = 10});
/// result.final_state; // = 0.75
/// result.scan_outputs; // = [6, 3, 1.5]
/// result.trip_count; // = 3
/// ```
template <class Body, class Init>
auto loop(Body&& body, Init&& init, loop_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    if constexpr (is_valid_loop<Body, state>()) {
        using step = bare<typename loop_call<Body, state>::result>;
        return run_loop<step>("xloom::loop", body, state(static_cast<Init&&>(init)), options);
    } else {
        return loop_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/loop_list.hpp ====
// Loop over lists, whose numbers of carried values and outputs are known at run time only.

// ==== xloom/run/scan/list_outputs.hpp ====
// The scan outputs of operators over lists, whose number is known at run time only.

namespace xloom::detail {

/// True for lists of tensors that own their items.
template <class T>
inline constexpr bool is_output_list = false;
template <tensor Y>
inline constexpr bool is_output_list<std::vector<Y>> = is_self_contained<Y>;

/// Requires that a body returned as many values as expected.
inline void check_list_count(std::string_view op, std::string_view what, std::size_t returned,
    std::size_t expected, std::size_t iteration)
{
    if (returned != expected)
        fail<body_error>(op, ": the body must return a list of ", expected, " ", what, ", but it returned ",
            returned, " at iteration ", iteration, ". Return as many in every iteration.");
}

/// The scan outputs of a list, allocated when the first elements determine the shapes.
template <tensor Y>
class list_outputs {
public:
    using stacked = stacked_t<Y, dynamic_length>;

    list_outputs(std::string_view op, std::size_t count, std::size_t length, scan_options const& options)
        : op_(op), length_(length), options_(options), results_(count)
    {}

    void push(std::vector<Y> const& values, std::size_t t)
    {
        check_list_count(op_, "scan outputs", values.size(), results_.size(), t);
        if (t == 0)
            open(values);
        for (std::size_t k = 0; k < values.size(); ++k)
            if (!detail::is_shaped_like(values[k], writers_[k].element_shape()))
                detail::fail_reshaped(op_, "scan_outputs", k, writers_[k].element_shape(),
                    detail::describe_shape(values[k]), t);
        for (std::size_t k = 0; k < values.size(); ++k)
            writers_[k].push(values[k]);
    }

    /// Returns the outputs. After zero iterations the dimensions that the type does not fix are 0; a dynamic
    /// rank gives [0].
    std::vector<stacked> finish() &&
    {
        if (length_ == 0)
            for (std::size_t k = 0; k < results_.size(); ++k)
                detail::make_shape(results_[k],
                    enable_tensor<stacked>::rank == dynamic_rank
                        ? shape{0}
                        : stacked_shape(op_, k, shape_of_type<Y>(), 0, sizeof(item_t<stacked>), options_));
        return std::move(results_);
    }

private:
    void open(std::vector<Y> const& values)
    {
        std::vector<shape> dims;
        for (std::size_t k = 0; k < values.size(); ++k)
            dims.push_back(stacked_shape(
                op_, k, output_element_shape(op_, k, values[k]), length_, sizeof(item_t<stacked>), options_));
        for (std::size_t k = 0; k < values.size(); ++k) {
            detail::make_shape(results_[k], dims[k]);
            std::size_t const axis = wrap_axis(axis_option(options_.scan_output_axes, k), dims[k].size());
            writers_.emplace_back(enable_tensor<stacked>::data(results_[k]),
                kernel::time_axis(detail::layout_of(results_[k]), axis, length_,
                    is_reverse(options_.scan_output_directions, k)));
        }
    }

    std::string_view op_;
    std::size_t length_;
    scan_options const& options_;
    std::vector<stacked> results_;
    std::vector<output_writer<item_t<stacked>>> writers_{};
};

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// The call of loop_list's body: body(iteration, cond, carried values).
template <class Body, class V>
using loop_list_call = call_of<Body, std::tuple<std::int64_t, bool, std::span<V const>>>;

/// True for a step of lists: of carried values of type V, and of tensors that own their items.
template <class Step, class V>
inline constexpr bool is_loop_list_step = false;
template <class V, class Outputs>
inline constexpr bool is_loop_list_step<loop_step<std::vector<V>, Outputs>, V> = is_output_list<Outputs>;

/// True if the types of a call of loop_list are valid, otherwise a compile-time error of one sentence.
template <class Body, class V>
consteval bool is_valid_loop_list()
{
    if constexpr (!loop_list_call<Body, V>::is_valid)
        static_assert(never<Body>, "xloom::loop_list: the body must be callable as body(iteration, cond, "
                                   "std::span<carried value const>)");
    else if constexpr (!is_loop_list_step<bare<typename loop_list_call<Body, V>::result>, V>)
        static_assert(never<Body>, "xloom::loop_list: the body must return xloom::loop_step{cond, "
                                   "std::vector of carried values, std::vector of outputs}");
    else
        return true;
    return false;
}

template <class Step, class Body, class V>
auto run_loop_list(Body& body, std::vector<V> carried, std::size_t outputs, loop_options const& options)
{
    static constexpr std::string_view op = "xloom::loop_list";
    using output = typename decltype(Step::scan_outputs)::value_type;
    loop_control control(limit_of(op, options), options);
    detail::check_ranks(op, "init", carried);
    std::vector<std::vector<output>> elements; // of each iteration
    while (control.next(control.limit())) {
        loop_status const now = control.status();
        auto const t = static_cast<std::size_t>(now.trip_count);
        Step step = body(now.trip_count, now.cond, std::span<V const>(carried));
        check_list_count(op, "carried values", step.state.size(), carried.size(), t);
        check_list_count(op, "scan outputs", step.scan_outputs.size(), outputs, t);
        detail::check_ranks(op, "states", step.state);
        detail::check_ranks(op, "scan_outputs", step.scan_outputs);
        for (std::size_t k = 0; k < outputs && t != 0; ++k)
            if (!detail::have_same_shape(elements[0][k], step.scan_outputs[k]))
                detail::fail_reshaped(op, "scan_outputs", k, detail::shape_of(elements[0][k]),
                    detail::describe_shape(step.scan_outputs[k]), t);
        elements.push_back(std::move(step.scan_outputs));
        carried = std::move(step.state);
        control.finish_iteration(step.cond);
    }
    scan_options const along_axis_0;
    list_outputs<output> stack(op, outputs, elements.size(), along_axis_0);
    for (std::size_t t = 0; t < elements.size(); ++t)
        stack.push(std::exchange(elements[t], {}), t);
    using stacked = typename list_outputs<output>::stacked;
    auto const [cond, trip_count, stopped] = control.status();
    return loop_result<std::vector<V>, std::vector<stacked>>{
        std::move(carried), std::move(stack).finish(), cond, trip_count, stopped};
}

} // namespace detail

/// Runs loop over lists in place of tuples: the numbers of carried values and outputs are known at run time
/// only. For interpreters; loop costs less if the numbers are known at compile time.
///
///     while iteration < max_trip_count and cond:
///         cond, states, y_t = body(iteration, cond, states)
///         for k: y[k].append(y_t[k])
///     return states, [stack(y_k) for y_k in y], cond, iteration
///
/// body(std::int64_t iteration, bool cond, std::span<V const> states) -> loop_step{bool, std::vector<V>,
/// std::vector<Y>}. All carried values are of one type, such as a std::variant, whose alternative may change.
/// All outputs are of one type.
///
/// Shapes    as loop. `outputs` is the number of outputs; required because no body may run.
/// Types     V any type that can be moved; Y a tensor.
/// Errors    as loop; body_error: a different number of carried values or outputs.
/// Order     as loop.
/// Cost      the outputs' elements are kept until the end and then stacked, which briefly doubles their
///           memory.
/// Source    ONNX Loop-1 to 25.
/// Example
/// ```cpp
/// using list = std::vector<xt::xarray<double>>;
/// auto const twice = [](std::int64_t, bool, auto states) {
///     return xloom::loop_step{true, list{2 * states[0]}, list{states[0]}};
/// };
/// auto const result = xloom::loop_list(twice, list{1.0}, 1, {.max_trip_count = 3});
/// result.final_state; // = [8]
/// result.scan_outputs; // = [[1, 2, 4]]
/// ```
template <class Body, class V>
auto loop_list(Body&& body, std::vector<V> init, std::size_t outputs, loop_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_loop_list<Body, V>()) {
        using step = bare<typename loop_list_call<Body, V>::result>;
        return run_loop_list<step>(body, std::move(init), outputs, options);
    } else {
        return loop_result<std::vector<V>, std::vector<V>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/loop_vjp.hpp ====
// The vector-Jacobian product of a loop: its results, and a function from their cotangents to those of its
// operands.

// ==== xloom/run/scan/loop_vjp_types.hpp ====
// The requirements on the types of a call of loop_vjp, with their compile-time errors.

namespace xloom::detail {

/// The call of a loop's body with parameters: body(iteration, cond, carried value const&..., param const&...).
template <class Body, class State, class Params>
using loop_param_call =
    call_of<Body, joined_t<std::tuple<std::int64_t, bool>, leaves_t<State const>, const_leaves_t<Params>>>;

/// The call of the VJP of a loop's body.
template <class BodyVjp, class State, class Params, class CtOutputs>
using loop_vjp_call = call_of<BodyVjp,
    joined_t<std::tuple<std::int64_t>, leaves_t<State const>, const_leaves_t<Params>,
        typename cursor_set<CtOutputs, true>::input_arguments, leaves_t<State>, leaves_t<owned_t<Params>>>>;

/// True if the types of a call of loop_vjp are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Params>
consteval bool is_valid_loop_vjp()
{
    if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>, "xloom::loop_vjp: params is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_zero, const_leaves_t<Params>>)
        static_assert(never<Params>,
            "xloom::loop_vjp: a parameter is a tensor or a scalar, whose cotangent can begin as 0");
    else if constexpr (!loop_param_call<Body, State, Params>::is_valid)
        static_assert(never<Body>,
            "xloom::loop_vjp: the body must be callable as body(std::int64_t iteration, bool cond, carried "
            "value const&..., param const&...); the arguments are loop_vjp(body, body_vjp, init[, params][, "
            "checkpoints][, options])");
    else {
        using step = typename loop_param_call<Body, State, Params>::result;
        return is_valid_loop<callable_returning<step>, State>(); // the other requirements
    }
    return false;
}

/// True if the types of a call of a loop's pullback are valid, otherwise a compile-time error of one sentence.
template <class Step, class BodyVjp, class State, class Params, class CtStates, class CtOutputs>
consteval bool is_valid_loop_pullback()
{
    using ct_outputs = decltype(detail::evaluated_inputs(std::declval<CtOutputs const&>()));
    if constexpr (!std::is_constructible_v<State, CtStates const&>)
        static_assert(never<CtStates>, "xloom::loop_vjp: the pullback's arguments are pullback(ct_states, "
                                       "ct_outputs), ct_states of the types of the carried values");
    else if constexpr (!every_leaf<is_scan_input, ct_outputs> ||
                       !have_same_items<leaves_t<decltype(Step::scan_outputs)>, ct_outputs>)
        static_assert(never<CtOutputs>,
            "xloom::loop_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with "
            "a "
            "tensor for each scan output, with items of its type; std::tuple() where there are none");
    else if constexpr (!loop_vjp_call<BodyVjp, State, Params, ct_outputs>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::loop_vjp: the VJP must be callable as body_vjp(std::int64_t iteration, carried value "
            "const&..., param const&..., output cotangent const&..., carried value's cotangent&..., param "
            "cotangent&...)");
    else
        return true;
    return false;
}

} // namespace xloom::detail

// ==== xloom/run/scan/scan_backward.hpp ====
// The backward pass of a scan: runs the body's VJP over the iterations from the last to the first.

// ==== xloom/run/scan/kept_states.hpp ====
// The states that a forward pass keeps, and the backward pass over the iterations between them.

// ==== xloom/core/checkpoint.hpp ====
// The choice of the states that the forward pass of a derivative keeps, and the order in which the backward
// pass computes the others again.

namespace xloom {

/// The choice of the states that a forward pass keeps. Its backward pass needs the state before every
/// iteration, from the last to the first, and computes those that were not kept again, from the nearest one
/// before them. The results have the same bits for every choice.
///
///     checkpoint       states at most        runs of the body for T iterations, at most
///     all()            T                     T
///     sqrt()           2 sqrt(T) + 2         2 T
///     binomial(n)      n                     (r + 1) T, with the smallest r for which C(n + r, r) >= T
///     online(n)        n                     (r + 1) T, with the smallest r >= 1 for which C(n/2 + 1 + r, r) >= 4 T / n
///
/// all() and online(n) need not know T in advance; binomial(n) and sqrt() do.
///
/// Source    A. Griewank, A. Walther, Algorithm 799: revolve, ACM TOMS 26 (2000), for binomial(n).
/// Example
/// ```cpp
/// xloom::checkpoint::binomial(8).count(); // = 8
/// ```
class checkpoint {
public:
    enum class kind : unsigned char { all, sqrt, binomial, online };

    static constexpr checkpoint all() noexcept { return {kind::all, 0}; }
    static constexpr checkpoint sqrt() noexcept { return {kind::sqrt, 0}; }
    /// Errors    option_error: no state.
    static constexpr checkpoint binomial(std::size_t count) { return counted(kind::binomial, count); }
    /// Errors    option_error: no state.
    static constexpr checkpoint online(std::size_t count) { return counted(kind::online, count); }

    constexpr checkpoint::kind policy() const noexcept { return policy_; }
    /// Returns the number of states of binomial and online, otherwise 0.
    constexpr std::size_t count() const noexcept { return count_; }

private:
    constexpr checkpoint(checkpoint::kind policy, std::size_t count) noexcept : policy_(policy), count_(count)
    {}

    static constexpr checkpoint counted(checkpoint::kind policy, std::size_t count)
    {
        if (count == 0)
            detail::fail<option_error>(
                "xloom::checkpoint::", policy == kind::binomial ? "binomial" : "online",
                ": at least one state must be kept, but count is 0. Give it 1 or more.");
        return {policy, count};
    }

    checkpoint::kind policy_;
    std::size_t count_;
};

namespace detail {

/// Returns C(states + repeats, repeats), the number of iterations that can be reversed with this many states
/// if no iteration is repeated more often; the largest number if it overflows.
constexpr std::size_t reversible_iterations(std::size_t states, std::size_t repeats) noexcept
{
    constexpr double most = 9e15; // every integer up to here is a double
    double count = 1;
    for (std::size_t i = 1; i <= repeats && count < most; ++i)
        count = count * static_cast<double>(states + i) / static_cast<double>(i);
    return count < most ? static_cast<std::size_t>(count + 0.5) : std::numeric_limits<std::size_t>::max();
}

/// Returns how far to advance from the kept state before `length` iterations that are to be reversed, to the
/// next state to keep, with memory for `states` states including the first. The total of repeated iterations
/// is then the smallest. Requires length >= 2 and states >= 2.
constexpr std::size_t binomial_advance(std::size_t length, std::size_t states) noexcept
{
    if (states >= length)
        return 1;
    std::size_t repeats = 1;
    while (reversible_iterations(states, repeats) < length)
        ++repeats;
    // The first part is reversed last, with all states and one repeat less.
    std::size_t const behind = reversible_iterations(states - 1, repeats);
    std::size_t const least = length > behind ? length - behind : 1;
    std::size_t const most = reversible_iterations(states, repeats - 1);
    std::size_t const reserved = reversible_iterations(states - 1, repeats - 1);
    std::size_t const wanted = length > reserved ? (std::min)(most, length - reserved) : 1;
    return std::clamp<std::size_t>((std::max)(wanted, least), 1, length - 1);
}

/// Returns the smallest integer whose square is at least `value`.
constexpr std::size_t ceil_sqrt(std::size_t value) noexcept
{
    std::size_t root = 0, bit = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2 - 1);
    for (; bit != 0; bit /= 2)
        if ((root + bit) <= (value == 0 ? 0 : (value - 1) / (root + bit)))
            root += bit;
    return value == 0 ? 0 : root + 1;
}

} // namespace detail
} // namespace xloom

// ==== xloom/run/scan/state_slots.hpp ====
// Memory for several values of one state.

namespace xloom::detail {

/// Slots for values of a state whose shape does not change: the items of all values in one block.
template <class State>
class packed_slots {
    using item = item_t<State>;

public:
    /// Allocates memory for `count` values of this shape, if it is not there. Existing values are lost.
    void reserve(std::string_view op, std::size_t count, State const& like)
    {
        shape_ = detail::shape_of(like);
        size_ = element_count(shape_);
        if (!has_strides({count, size_}, sizeof(item)))
            fail<option_error>(op, ": the states that are kept must fit in memory, but there are ", count,
                " of the shape ", shape_, ". Keep fewer, for example with checkpoint::sqrt().");
        if (items_.size() < count * size_)
            items_.resize(count * size_);
    }

    shape const& state_shape() const { return shape_; }
    std::size_t bytes() const { return items_.size() * sizeof(item); }

    template <class Value>
    void save(std::size_t slot, Value const& value)
    {
        if constexpr (!tensor<Value>)
            items_[slot] = value;
        else if constexpr (is_always_row_major<Value>)
            std::copy_n(enable_tensor<Value>::data(value), size_, at(slot));
        else
            kernel::strided_copy(shape_, detail::layout_of(value).strides, row_major_strides(shape_))(
                enable_tensor<Value>::data(value), at(slot));
    }

    void load(std::size_t slot, State& value)
    {
        if constexpr (!tensor<State>)
            value = items_[slot];
        else if constexpr (is_always_row_major<State>)
            std::copy_n(at(slot), size_, enable_tensor<State>::data(value));
        else
            kernel::strided_copy(shape_, row_major_strides(shape_), detail::layout_of(value).strides)(
                static_cast<item const*>(at(slot)), enable_tensor<State>::data(value));
    }

    /// Requires that a state has the shape of the slots after an iteration that was run again.
    void require_shape(std::string_view op, std::size_t i, State const& value) const
    {
        if (!detail::is_shaped_like(value, shape_))
            fail<body_error>(op, ": a body that runs an iteration again must do the same, but states[", i,
                "] was ", shape_, " and the body made it ", detail::describe_shape(value),
                ". Return a value of the original shape.");
    }

    /// Moves the value of one slot to an earlier one.
    void move(std::size_t from, std::size_t to) { std::copy_n(at(from), size_, at(to)); }

private:
    item* at(std::size_t slot) { return items_.data() + slot * size_; }

    shape shape_{};
    std::size_t size_ = 0;
    item_buffer<item> items_{};
};

/// Slots for values of any type, whose shapes may change: a loop's carried values.
template <class State>
class value_slots {
public:
    void reserve(std::string_view, std::size_t, State const&) {}

    void save(std::size_t slot, State const& value)
    {
        if (slot == values_.size())
            values_.push_back(value);
        else
            values_[slot] = value;
    }
    void load(std::size_t slot, State& value) { value = values_[slot]; }
    void require_shape(std::string_view, std::size_t, State const&) const {}
    void move(std::size_t from, std::size_t to) { values_[to] = std::move(values_[from]); }

private:
    std::vector<State> values_{};
};

} // namespace xloom::detail

namespace xloom::detail {

template <template <class> class Slots, class Leaves>
struct slots_of_leaves;
template <template <class> class Slots, class... Xs>
struct slots_of_leaves<Slots, std::tuple<Xs&...>> {
    using type = std::tuple<Slots<Xs>...>;
};

/// The states before some iterations of a forward pass, by the rules of a checkpoint. State is a pack of
/// owned values, Slots the memory of one of them.
template <template <class> class Slots, class State>
class kept_states {
    using slot_tuple = typename slots_of_leaves<Slots, leaves_t<State>>::type;
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

public:
    explicit kept_states(checkpoint const& policy) : policy_(policy) {}

    /// Begins a forward pass of `length` iterations or, if that is not exact, of at most that many.
    void start(std::string_view op, std::size_t length, bool is_exact)
    {
        op_ = op;
        is_finished_ = false;
        length_ = length;
        iteration_ = next_ = kept_ = 0;
        stride_ = policy_.policy() == checkpoint::kind::sqrt ? ceil_sqrt(length) : 1;
        capacity_ = capacity_for(length);
        is_exact_ = is_exact;
    }

    /// Notes the states before the next iteration.
    template <class... Xs>
    void visit(std::tuple<Xs...> const& states)
    {
        if (iteration_ == next_)
            keep(states);
        ++iteration_;
    }

    /// Ends the forward pass.
    void finish()
    {
        length_ = iteration_;
        is_finished_ = true;
    }

    bool is_finished() const { return is_finished_; }
    /// Returns the number of iterations of the forward pass.
    std::size_t length() const { return length_; }
    slot_tuple const& slots() const { return slots_; }

    /// Calls pull(t, states before iteration t) for every iteration t, from the last to the first.
    /// advance(states, begin, end) must run the iterations begin .. end - 1 on the states. Afterwards only the
    /// initial states are kept.
    template <class Advance, class Pull>
    void reverse(Advance const& advance, Pull const& pull)
    {
        std::size_t loaded = none; // the iteration before which the states in current_ are
        for (std::size_t end = length_; end != 0;) {
            std::size_t const begin = iterations_[kept_ - 1];
            State& current = *current_;
            if (loaded != begin)
                load_newest();
            loaded = none; // until nothing has thrown
            if (end - begin == 1) {
                pull(begin, std::as_const(current));
                loaded = begin;
                --end;
                if (begin != 0)
                    --kept_;
            } else if (kept_ == capacity_ || end - begin == 2) {
                --end;
                advance(current, begin, end);
                require_shapes();
                pull(end, std::as_const(current));
            } else {
                loaded = begin + binomial_advance(end - begin, capacity_ - kept_ + 1);
                advance(current, begin, loaded);
                require_shapes();
                save(loaded, detail::leaves(current));
            }
        }
    }

private:
    std::size_t capacity_for(std::size_t length) const
    {
        switch (policy_.policy()) {
        case checkpoint::kind::all:
            return length;
        case checkpoint::kind::sqrt:
            return length == 0 ? 0 : (length + stride_ - 1) / stride_ + stride_ - 1;
        default:
            return (std::min)(policy_.count(), length);
        }
    }

    template <class... Xs>
    void keep(std::tuple<Xs...> const& states)
    {
        if (kept_ == 0)
            open(states);
        if (policy_.policy() == checkpoint::kind::online && kept_ == (capacity_ + 1) / 2) {
            halve();
            if (iteration_ % stride_ != 0) {
                next_ = iteration_ - iteration_ % stride_ + stride_;
                return;
            }
        }
        save(iteration_, states);
        next_ = next_kept();
    }

    /// Drops every second state, so that half of the memory stays free for the iterations between two.
    void halve()
    {
        for (std::size_t i = 1; 2 * i < kept_; ++i) {
            detail::for_each_leaf(slots_, [&](auto, auto& slots) { slots.move(2 * i, i); });
            iterations_[i] = iterations_[2 * i];
        }
        kept_ = (kept_ + 1) / 2;
        stride_ *= 2;
    }

    std::size_t next_kept() const
    {
        if (policy_.policy() != checkpoint::kind::binomial)
            return iteration_ + stride_;
        std::size_t const left = length_ - iteration_;
        if (kept_ == capacity_ || left < 2)
            return none;
        return iteration_ + binomial_advance(left, capacity_ - kept_ + 1);
    }

    template <class... Xs>
    void open(std::tuple<Xs...> const& states)
    {
        std::apply([&](auto const&... state) { current_.emplace(state...); }, states);
        detail::for_each_leaf(slots_, [&](auto i, auto& slots) {
            slots.reserve(op_, capacity_, std::get<i>(detail::leaves(*current_)));
        });
        if (is_exact_)
            iterations_.reserve(capacity_); // the loop allocates nothing
    }

    template <class... Xs>
    void save(std::size_t iteration, std::tuple<Xs...> const& states)
    {
        detail::for_each_leaf(slots_, [&](auto i, auto& slots) { slots.save(kept_, std::get<i>(states)); });
        if (kept_ == iterations_.size())
            iterations_.push_back(iteration);
        else
            iterations_[kept_] = iteration;
        ++kept_;
    }

    void require_shapes() const
    {
        detail::for_each_leaf(slots_, [&](auto i, auto const& slots) {
            slots.require_shape(op_, i, std::get<i>(detail::leaves(*current_)));
        });
    }

    void load_newest()
    {
        detail::for_each_leaf(slots_,
            [&](auto i, auto& slots) { slots.load(kept_ - 1, std::get<i>(detail::leaves(*current_))); });
    }

    checkpoint policy_;
    std::string_view op_{};
    slot_tuple slots_{};
    std::vector<std::size_t> iterations_{}; ///< before which the states of the slots are
    std::optional<State> current_{};
    std::size_t capacity_ = 0;
    std::size_t kept_ = 0;
    std::size_t length_ = 0;
    std::size_t stride_ = 1;
    std::size_t iteration_ = 0; ///< the next one of the forward pass
    std::size_t next_ = 0;      ///< the next iteration before which the states are kept
    bool is_exact_ = true;
    bool is_finished_ = false;
};

} // namespace xloom::detail

namespace xloom::detail {

/// Sets the items of an element of a cotangent, or of a whole one, to 0.
template <class T>
void set_to_zero(T& value)
{
    if constexpr (tensor<T>) {
        auto* const first = enable_tensor<T>::data(value);
        std::fill_n(first, element_count(detail::shape_of(value)), item_t<T>(0));
    } else {
        value = T(0);
    }
}

/// Elements for outputs that a body writes and nobody reads, of the shapes of the elements of `outputs`.
template <class Outputs, bool LeadingAxis>
class discarded_elements;
template <class... Ys, bool LeadingAxis>
class discarded_elements<std::tuple<Ys...>, LeadingAxis> {
    template <class Y>
    using cursor = element_cursor<item_t<Y>,
        typename element_shape<shape_type_t<bare<Y>>, LeadingAxis || fixed_rank<bare<Y>> != 0>::type>;

public:
    template <std::size_t K>
    explicit discarded_elements(std::array<placed_operand, K> const& places)
        : buffers_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(buffers_){item_buffer<item_t<Ys>>(element_count(element(places[I])))...};
          }(std::index_sequence_for<Ys...>{})),
          cursors_([&]<std::size_t... I>(std::index_sequence<I...>) {
              return decltype(cursors_){
                  cursor<Ys>(std::get<I>(buffers_).data(), in_one_place(element(places[I])), 1)...};
          }(std::index_sequence_for<Ys...>{}))
    {
        detail::enter_all(cursors_);
    }

    discarded_elements(discarded_elements const&) = delete;
    discarded_elements& operator=(discarded_elements const&) = delete;

    auto elements() { return detail::output_elements(cursors_); }

private:
    static shape element(placed_operand const& place)
    {
        return drop_axis(place.memory.layout.dims, place.axis);
    }
    static kernel::time_axis in_one_place(shape const& dims)
    {
        return {
            strided_layout{insert_axis(dims, 0, 1), insert_axis(row_major_strides(dims), 0, 0)}, 0, 1, false};
    }

    std::tuple<item_buffer<item_t<Ys>>...> buffers_;
    std::tuple<cursor<Ys>...> cursors_;
};

/// Returns the same operands with time reversed.
template <std::size_t N>
std::array<placed_operand, N> reversed(std::array<placed_operand, N> places)
{
    for (placed_operand& place : places)
        place.reverse = !place.reverse;
    return places;
}

/// The operands of a backward pass: tuples of references.
template <class Inputs, class Params, class CtOutputs, class CtStates, class CtInputs, class CtParams>
struct backward_operands {
    Inputs inputs;
    Params params;
    CtOutputs ct_outputs;
    CtStates ct_states;
    CtInputs ct_inputs;
    CtParams ct_params;
};
template <class... Tuples>
backward_operands(Tuples...) -> backward_operands<Tuples...>;

/// Checks the operands of a backward pass. `output_shapes` are those of the forward pass.
template <class Kept, class Operands>
void check_scan_backward(std::string_view op, Kept const& kept, std::span<shape const> output_shapes,
    Operands const& operands, scan_options const& options)
{
    auto const& [inputs, params, ct_outputs, ct_states, ct_inputs, ct_params] = operands;
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "params", params);
    detail::check_ranks(op, "ct_outputs", ct_outputs);
    detail::check_ranks(op, "ct_states", ct_states);
    detail::check_ranks(op, "ct_inputs", ct_inputs);
    detail::check_ranks(op, "ct_params", ct_params);
    if (!kept.is_finished())
        fail<option_error>(op, ": the residuals must be those of a forward pass, but none has finished with "
                               "them. Call scan_forward_into first.");
    auto const input_shapes = detail::shapes_of(inputs);
    std::size_t const length = check_scan(op, input_shapes, output_shapes.size(), options);
    if (length != kept.length())
        fail<shape_error>(op, ": the residuals must be those of a forward pass of the same length, but ",
            "scan_inputs have ", length, " elements and the forward pass had ", kept.length(),
            " iterations. Give both the same scan inputs.");
    detail::check_cotangents(op, "ct_outputs", detail::shapes_of(ct_outputs), "scan_outputs", output_shapes);
    if (length != 0) {
        auto const state_shapes = std::apply(
            [](auto const&... slots) { return std::array<shape, sizeof...(slots)>{slots.state_shape()...}; },
            kept.slots());
        detail::check_cotangents(op, "ct_states", detail::shapes_of(ct_states), "states", state_shapes);
    }
    detail::check_cotangents(op, "ct_inputs", detail::shapes_of(ct_inputs), "scan_inputs", input_shapes);
    detail::check_cotangents(
        op, "ct_params", detail::shapes_of(ct_params), "params", detail::shapes_of(params));
    auto const read =
        std::tuple(detail::places_of(inputs), detail::places_of(params), detail::places_of(ct_outputs));
    auto const written =
        std::tuple(detail::places_of(ct_states), detail::places_of(ct_inputs), detail::places_of(ct_params));
    detail::check_exclusive(op,
        std::array{named_places{"ct_states", std::get<0>(written)},
            named_places{"ct_inputs", std::get<1>(written)}, named_places{"ct_params", std::get<2>(written)}},
        std::array{named_places{"scan_inputs", std::get<0>(read)}, named_places{"params", std::get<1>(read)},
            named_places{"ct_outputs", std::get<2>(read)}});
}

/// Runs a backward pass. Requires check_scan_backward. run_body(states, elements of inputs, params, elements for
/// outputs) runs one iteration of the forward pass on states.
template <bool LeadingAxis, class Kept, class RunBody, class BodyVjp, class... Xs, class Params, class... Ys,
    class... States, class... CtXs, class CtParams>
void run_scan_backward(std::string_view op, Kept& kept, RunBody const& run_body, BodyVjp& body_vjp,
    backward_operands<std::tuple<Xs...>, Params, std::tuple<Ys...>, std::tuple<States&...>,
        std::tuple<CtXs&...>, CtParams> const& operands,
    scan_options const& options)
{
    if constexpr (!LeadingAxis) {
        check_fixed_axes(op, "scan_inputs", fixed_ranks<std::tuple<Xs...>>::value, "scan_input_axes",
            options.scan_input_axes);
        check_fixed_axes(op, "ct_inputs", fixed_ranks<std::tuple<CtXs...>>::value, "scan_input_axes",
            options.scan_input_axes);
        check_fixed_axes(op, "ct_outputs", fixed_ranks<std::tuple<Ys...>>::value, "scan_output_axes",
            options.scan_output_axes);
    }
    kernel::iterations const all = kernel::all_iterations(kept.length());
    auto input_places = detail::places_of(operands.inputs);
    auto ct_input_places = detail::places_of(operands.ct_inputs);
    auto ct_output_places = detail::places_of(operands.ct_outputs);
    detail::place_in_time(input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(ct_input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(ct_output_places, options.scan_output_axes, options.scan_output_directions);

    using input_cursors = cursor_set<std::tuple<Xs...>, LeadingAxis>;
    auto x_forward = input_cursors::start(operands.inputs, input_places, all);
    auto x = input_cursors::start(operands.inputs, detail::reversed(input_places), all);
    auto ct_x = cursor_set<std::tuple<CtXs&...>, LeadingAxis>::start(
        operands.ct_inputs, detail::reversed(ct_input_places), all);
    auto ct_y = cursor_set<std::tuple<Ys...>, LeadingAxis>::start(
        operands.ct_outputs, detail::reversed(ct_output_places), all);
    discarded_elements<std::tuple<Ys...>, LeadingAxis> discarded(ct_output_places);

    auto const advance = [&](auto& states, std::size_t begin, std::size_t end) {
        std::apply([&](auto&... cursor) { (cursor.seek(begin), ...); }, x_forward);
        local_states current(detail::leaves(states));
        for (std::size_t t = begin; t < end; ++t) {
            detail::enter_all(x_forward);
            run_body(current.get(), detail::input_elements(x_forward), operands.params, discarded.elements());
            detail::leave_all(x_forward);
        }
    };
    local_states ct_current(operands.ct_states);
    kept.reverse(advance, [&](std::size_t, auto const& states) {
        detail::enter_all(x);
        detail::enter_all(ct_y);
        detail::enter_all(ct_x);
        detail::for_each_leaf(ct_x, [](auto, auto& cursor) { detail::set_to_zero(cursor.element()); });
        detail::call_body(body_vjp, detail::leaves(states), detail::input_elements(x), operands.params,
            detail::input_elements(ct_y), ct_current.get(), detail::output_elements(ct_x),
            operands.ct_params);
        detail::leave_all(x);
        detail::leave_all(ct_y);
        detail::leave_all(ct_x);
    });
}

} // namespace xloom::detail

// ==== xloom/run/scan/vjp_body.hpp ====
// A body with parameters, and the recording of its states in a forward pass.

namespace xloom::detail {

/// A body for scan, scan_into or loop that calls a body with parameters, and first notes the states of the
/// iteration. The arguments are those of the operator: States of them from FirstState on are states, and the
/// parameters are inserted after the first Before ones.
template <std::size_t FirstState, std::size_t States, std::size_t Before, class Kept, class Body,
    class Params>
class recording_body {
    template <class... Arguments>
    static constexpr bool is_callable()
    {
        using arguments = std::tuple<Arguments...>;
        if constexpr (sizeof...(Arguments) < Before)
            return false;
        else
            return []<std::size_t... I, std::size_t... J, class... Ps>(
                       std::index_sequence<I...>, std::index_sequence<J...>, std::tuple<Ps...> const*) {
                return std::is_invocable_v<Body&, std::tuple_element_t<I, arguments>..., Ps...,
                    std::tuple_element_t<Before + J, arguments>...>;
            }(std::make_index_sequence<Before>{}, std::make_index_sequence<sizeof...(Arguments) - Before>{},
                       static_cast<Params const*>(nullptr));
    }

public:
    recording_body(Kept& kept, Body& body, Params const& params) : kept_(kept), body_(body), params_(params)
    {}

    template <class... Arguments>
        requires(is_callable<Arguments...>())
    decltype(auto) operator()(Arguments&&... arguments)
    {
        std::tuple<Arguments&&...> all(static_cast<Arguments&&>(arguments)...);
        return [&]<std::size_t... S, std::size_t... I, std::size_t... J>(std::index_sequence<S...>,
                   std::index_sequence<I...>,
                   std::index_sequence<J...>) -> decltype(auto) {
            kept_.visit(std::tie(std::as_const(std::get<FirstState + S>(all))...));
            return std::apply(
                body_, std::tuple_cat(std::forward_as_tuple(std::get<I>(std::move(all))...), params_,
                           std::forward_as_tuple(std::get<Before + J>(std::move(all))...)));
        }(std::make_index_sequence<States>{}, std::make_index_sequence<Before>{},
                                                  std::make_index_sequence<sizeof...(Arguments) - Before>{});
    }

private:
    Kept& kept_;
    Body& body_;
    Params const& params_; ///< a tuple of references
};

} // namespace xloom::detail

namespace xloom {

/// The cotangents that a loop's pullback returns.
template <class State, class Params>
struct loop_cotangents {
    State init;
    Params params;
};

/// The result of loop_vjp: those of loop, and the pullback.
template <class State, class ScanOutputs, class Pullback>
struct loop_vjp_result {
    State final_state;
    ScanOutputs scan_outputs;
    Pullback pullback;
    bool cond;
    std::int64_t trip_count;
    bool stopped;
};

namespace detail {

/// Requires a number of iterations that is known in advance where the checkpoint reads it.
inline std::size_t known_length(
    std::string_view op, checkpoint const& checkpoints, std::int64_t limit, loop_options const& options)
{
    bool const reads_length =
        checkpoints.policy() == checkpoint::kind::sqrt || checkpoints.policy() == checkpoint::kind::binomial;
    if (reads_length && !options.max_trip_count)
        fail<option_error>(op, ": checkpoint::sqrt and checkpoint::binomial need the number of iterations in "
                               "advance, but options.max_trip_count is empty. Give it, or choose "
                               "checkpoint::online or checkpoint::all.");
    return static_cast<std::size_t>((std::max)(limit, std::int64_t{0}));
}

/// The function from the cotangents of a loop's results to those of its operands.
template <class Step, class Body, class BodyVjp, class Init, class Params>
class loop_pullback {
    using state = owned_t<Init>;
    using cotangents = loop_cotangents<state, owned_t<Params>>;
    static constexpr std::string_view op = "xloom::loop_vjp";

public:
    loop_pullback(Body body, BodyVjp body_vjp, held_pack_t<Params> params, checkpoint const& checkpoints)
        : body_(std::move(body)),
          body_vjp_(std::move(body_vjp)),
          params_(std::move(params)),
          checkpoints_(checkpoints),
          kept_(checkpoints)
    {}

    /// Runs the loop.
    auto run_forward(state init, loop_options const& options)
    {
        auto const params = detail::const_leaves(detail::leaves(params_));
        kept_.start(op, known_length(op, checkpoints_, limit_of(op, options), options), /*is_exact*/ false);
        constexpr std::size_t states = leaf_count<state>;
        recording_body<2, states, 2 + states, bare<decltype(kept_)>, Body, bare<decltype(params)>> recording(
            kept_, body_, params);
        auto result = run_loop<Step>(op, recording, std::move(init), options);
        auto const of_outputs = detail::shapes_of(detail::leaves(result.scan_outputs));
        output_shapes_.assign(of_outputs.begin(), of_outputs.end());
        state_shapes_ = shapes_if_tensors(detail::leaves(result.final_state));
        kept_.finish();
        return result;
    }

    /// Returns the cotangents of init and params.
    template <class CtStates, class CtOutputs>
    cotangents operator()(CtStates const& ct_states, CtOutputs const& ct_outputs)
    {
        auto const params = detail::const_leaves(detail::leaves(params_));
        decltype(auto) body_vjp =
            detail::loop_vjp_of<leaf_count<state>, std::tuple_size_v<bare<decltype(params)>>>(
                body_, body_vjp_);
        if constexpr (is_valid_loop_pullback<Step, bare<decltype(body_vjp)>, state, Params, CtStates,
                          CtOutputs>()) {
            cotangents result{state(ct_states), detail::zeros_like_pack<Params>(params)};
            auto const evaluated = detail::evaluated_inputs(ct_outputs);
            auto const ct_ys = detail::const_leaves(detail::leaves(evaluated));
            detail::check_ranks(op, "ct_outputs", ct_ys);
            detail::check_cotangents(
                op, "ct_outputs", detail::shapes_of(ct_ys), "scan_outputs", output_shapes_);
            detail::check_cotangents(
                op, "ct_states", shapes_if_tensors(detail::leaves(result.init)), "states", state_shapes_);
            run_backward(body_vjp, ct_ys, params, result);
            return result;
        } else {
            return {}; // a value, so that one mistake gives one error
        }
    }

private:
    /// Returns the shapes of the tensors among the values, and empty shapes for the others.
    template <class... Xs>
    static std::vector<shape> shapes_if_tensors(std::tuple<Xs&...> const& values)
    {
        std::vector<shape> shapes;
        detail::for_each_leaf(values, [&]<class X>(auto i, X const& value) {
            if constexpr (tensor<X>) {
                detail::check_rank(op, "ct_states", detail::rank_of(value), i);
                shapes.push_back(detail::shape_of(value));
            } else {
                shapes.push_back({});
            }
        });
        return shapes;
    }

    template <class Vjp, class CtOutputs, class Parameters>
    void run_backward(
        Vjp& body_vjp, CtOutputs const& ct_outputs, Parameters const& params, cotangents& result)
    {
        auto const places = detail::reversed(detail::places_of(ct_outputs));
        auto ct_y =
            cursor_set<CtOutputs, true>::start(ct_outputs, places, kernel::all_iterations(kept_.length()));
        auto const advance = [&](state& states, std::size_t begin, std::size_t end) {
            auto const carried = detail::leaves(states);
            for (std::size_t t = begin; t < end; ++t) {
                Step step = detail::call_body(body_,
                    std::tuple<std::int64_t, bool>(static_cast<std::int64_t>(t), true),
                    detail::const_leaves(carried), params);
                detail::for_each_leaf(detail::leaves(step.state), [&](auto i, auto& value) {
                    detail::require_room(op, i, std::get<i>(carried), value, static_cast<std::int64_t>(t));
                    detail::assign_carried(std::get<i>(carried), value);
                });
            }
        };
        kept_.reverse(advance, [&](std::size_t t, state const& states) {
            detail::enter_all(ct_y);
            detail::call_body(body_vjp, std::tuple<std::int64_t>(static_cast<std::int64_t>(t)),
                detail::leaves(states), params, detail::input_elements(ct_y), detail::leaves(result.init),
                detail::leaves(result.params));
            detail::leave_all(ct_y);
        });
    }

    Body body_;
    BodyVjp body_vjp_;
    held_pack_t<Params> params_;
    checkpoint checkpoints_;
    kept_states<value_slots, state> kept_;
    std::vector<shape> output_shapes_{};
    std::vector<shape> state_shapes_{};
};

} // namespace detail

/// Runs loop with a body that has parameters, and returns its results with a pullback, the function from
/// their cotangents to the cotangents of init and params. The number of iterations need not be known.
///
///     final_state, scan_outputs = loop(lambda *args: body(*args, *params), init)
///     pullback(ct_states, ct_outputs) = ct_init, ct_params
///
/// body(std::int64_t iteration, bool cond, carried value const&..., param const&...) -> loop_step, as in loop.
/// body_vjp(std::int64_t iteration, carried value const&..., param const&..., output cotangent const&...,
/// carried value's cotangent&..., param cotangent&...) -> void receives the carried values before the
/// iteration. It replaces the cotangents of the carried values after the iteration by those of the values
/// before it, whose shapes may differ, and adds to those of the parameters. recorded_with<Tape>() in its place derives
/// it from a generic body. The number of iterations has no derivative.
///
/// Shapes    each cotangent as its value; ct_outputs [trips, element...].
/// Types     as loop; the cotangent of a carried value has the value's type. A parameter is a tensor, or a
///           scalar that 0 can be converted to.
/// Options   checkpoints (all): which carried values are kept until the pullback is called; sqrt and binomial
///           need options.max_trip_count. loop_options.
/// Errors    as loop; option_error: a checkpoint that needs max_trip_count. The pullback: shape_error: a
///           cotangent's shape. Exceptions of the bodies propagate.
/// Order     the body_vjp runs from the last iteration to the first; same bits for every checkpoint.
/// Cost      as loop, a copy of every carried value that is kept; the pullback: trips runs of body_vjp, and
///           the runs of the body that the checkpoint states.
/// Aliasing  parameters that are variables of tensor types are not copied: they must live, unchanged, until
///           the last call of the pullback. Other operands and both callables are kept in the pullback.
/// Source    JAX has no reverse mode of while_loop; P. Stumm, A. Walther, New algorithms for optimal online
///           checkpointing, SIAM J. Sci. Comput. 32 (2010).
/// Example
/// ```cpp
/// auto const body = [](std::int64_t, bool, double v, double w) { return xloom::loop_step{w * v > 1, w * v}; };
/// auto const body_vjp = [](std::int64_t, double v, double w, double& ct_v, double& ct_w) {
///     ct_w += ct_v * v;
///     ct_v *= w;
/// };
/// auto result = xloom::loop_vjp(body, body_vjp, 6.0, 0.5, xloom::checkpoint::online(2));
/// result.final_state; // = 0.75
/// auto const [ct_v, ct_w] = result.pullback(1.0, std::tuple());
/// ct_v; // = 0.125
/// ct_w; // = 4.5
/// ```
template <class Body, class BodyVjp, class Init, class Params = std::tuple<>>
auto loop_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Params&& params = {},
    checkpoint const& checkpoints = checkpoint::all(), loop_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    if constexpr (is_valid_loop_vjp<std::remove_reference_t<Body>, state, Params>()) {
        using step = bare<typename loop_param_call<std::remove_reference_t<Body>, state, Params>::result>;
        loop_pullback<step, std::decay_t<Body>, std::decay_t<BodyVjp>, Init, Params> pullback(
            static_cast<Body&&>(body), static_cast<BodyVjp&&>(body_vjp),
            detail::hold(static_cast<Params&&>(params)), checkpoints);
        auto result = pullback.run_forward(state(static_cast<Init&&>(init)), options);
        return loop_vjp_result<state, decltype(result.scan_outputs), decltype(pullback)>{
            std::move(result.final_state), std::move(result.scan_outputs), std::move(pullback), result.cond,
            result.trip_count, result.stopped};
    } else {
        return loop_vjp_result<state, std::tuple<>,
            no_pullback>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/lstm.hpp ====
// ONNX's LSTM over a batch of sequences.

namespace xloom {

/// The inputs of an LSTM under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct lstm_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
};

/// The inputs of an LSTM that are constant over calls.
template <class Item>
struct lstm_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
};

/// The inputs of an LSTM, except X, that vary from call to call.
template <class Item>
struct lstm_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
};

/// The outputs of lstm_into; {} omits one.
template <class Item>
struct lstm_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_c> Y_c{};
};

/// The outputs of lstm, in the shapes given there.
template <class Item>
struct lstm_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h, Y_c;
};

/// ONNX's attributes of an LSTM. Names and lists are read only during the call that they are passed to.
struct lstm_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};
    std::optional<double> clip{};              ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{}; ///< H, to be checked if given
    bool input_forget = false;                 ///< f = 1 - i
    std::int64_t layout = 0;                   ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of an LSTM, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as lstm.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class lstm_weights : public detail::packed_weights<detail::lstm_family, detail::compute_t<Item>> {
public:
    lstm_weights(lstm_constants<Item> const& constants, lstm_options const& options = {})
        : lstm_weights({"xloom::lstm_weights"}, constants, options)
    {}
    lstm_weights(
        detail::operator_name const& op, lstm_constants<Item> const& constants, lstm_options const& options)
        : lstm_weights::packed_weights(op, constants, options)
    {}
};

namespace detail {

/// The initial and final states of an LSTM's rows.
template <class Item>
struct lstm_states {
    using T = compute_t<Item>;

    lstm_weights<Item> const& weights;
    state_rows<Item const> initial_h, initial_c;
    state_rows<Item> Y_h, Y_c;

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        return kernel::lstm_rows<T>(detail::parameters_of(weights, part.d), part.count, memory);
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            load_state(initial_h, part.d, part.first[r].row, rows.H(), rows.h(r));
            load_state(initial_c, part.d, part.first[r].row, rows.H(), rows.c(r));
        }
    }
    template <class Part, class Rows>
    void finish(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            store_state(rows.h(r), rows.H(), Y_h, part.d, part.first[r].row);
            store_state(rows.c(r), rows.H(), Y_c, part.d, part.first[r].row);
        }
    }
};

template <class Item>
batch_sizes check_lstm_call(std::string_view op, input_ref<Item> const& X, lstm_weights<Item> const& weights,
    lstm_start<Item> const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h, start.initial_c);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), weights.layout());
    check_states(op, weights, batch,
        std::array{named_shape{"initial_h", shape_if_given(start.initial_h)},
            named_shape{"initial_c", shape_if_given(start.initial_c)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return batch;
}

template <class Item>
void check_lstm_outputs(std::string_view op, lstm_weights<Item> const& weights, batch_sizes const& batch,
    input_ref<Item> const& X, lstm_start<Item> const& start, lstm_outputs<Item> const& outputs)
{
    std::int64_t const layout = weights.layout();
    shape const state = state_shape(weights.sizes(), batch, layout);
    check_outputs<Item>(
        op, [&] { return describe(weights.sizes(), batch); },
        std::array{
            output_requirement<Item>{
                "Y", output_letters(layout), output_shape(weights.sizes(), batch, layout), outputs.Y},
            output_requirement<Item>{"Y_h", state_letters(layout), state, outputs.Y_h, "initial_h"},
            output_requirement<Item>{"Y_c", state_letters(layout), state, outputs.Y_c, "initial_c"},
        },
        blocks_of(X, start.sequence_lens, start.initial_h, start.initial_c));
}

template <class Item, class Policy>
void run_lstm(input_ref<Item> const& X, lstm_weights<Item> const& weights, batch_sizes const& batch,
    lstm_start<Item> const& start, lstm_outputs<Item> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy)
{
    std::int64_t const layout = weights.layout();
    lstm_states<Item> const states{weights, {start.initial_h, layout}, {start.initial_c, layout},
        {outputs.Y_h, layout}, {outputs.Y_c, layout}};
    run_recurrent<Item>(weights, states, X, start.sequence_lens, outputs.Y, batch, workspace, policy);
}

} // namespace detail

/// Computes ONNX's LSTM.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         i, o, f, g = split(W[d] x_t + Wb[d] + R[d] h + Rb[d], 4)
///         i, f = act_f(i + Pi[d] * c), act_f(f + Pf[d] * c)
///         c = f * c + i * act_g(g)
///         h = act_f(o + Po[d] * c) * act_h(c)
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 4H, I], R [D, 4H, H], B [D, 8H] = [Wb, Rb], sequence_lens [N], initial_h and
///           initial_c [D, N, H], P [D, 3H] -> Y [T, D, N, H], Y_h and Y_c [D, N, H]; gates in the order i,
///           o, f, g, peepholes i, o, f. Layout 1: X [N, T, I], Y [N, T, D, H], states [N, D, H]. D is 2 for
///           bidirectional, else 1. Any strides.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in Y,
///           Y_h and Y_c only; user-defined scalars.
/// Options   lstm_options; if the weights are packed, those given to lstm_weights.
/// Policy    serial, or one with threads (xloom/tbb.hpp): each thread has its own rows and directions.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     each sum is bias, then the products of W, then those of R, in dependency chains of 128 products.
///           So the bits of a row depend only on the row: not on the batch, the threads, or how a sequence is
///           split into calls (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X in +-1, independent: 2e-6.
///           NaN stays NaN. Steps beyond a row's length are not read.
/// Cost      T N D 4H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights;
///           lstm_weights are packed once. Memory: X and the sums of up to 96 rows or of one step.
/// Differs   from ONNX: nothing known. Unspecified there: clip does not apply to c, and a row of length 0
///           keeps its states.
/// Source    ONNX LSTM-1, 7, 14, 22; infer_lstm has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 4, 1});
/// auto const [Y, Y_h, Y_c] = xloom::lstm(X, {.W = W, .R = R});
/// Y; // = [[[[0.17427]]], [[[0.613983]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
lstm_result<Item> lstm(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start = {}, Policy const& policy = {})
{
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_lstm_call("xloom::lstm", input, weights, start);
    detail::recurrent_widths const& sizes = weights.sizes();
    lstm_result<Item> result{detail::make_output<Item>(sizes, batch, weights.layout()),
        detail::make_state<Item>(sizes, batch, weights.layout()),
        detail::make_state<Item>(sizes, batch, weights.layout())};
    recurrent_workspace<Item> workspace;
    detail::run_lstm<Item>(
        input, weights, batch, start, {result.Y, result.Y_h, result.Y_c}, workspace, policy);
    return result;
}

/// Computes ONNX's LSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
lstm_result<Item> lstm(Input const& X, std::type_identity_t<lstm_inputs<Item>> const& inputs,
    lstm_options const& options = {}, Policy const& policy = {})
{
    lstm_weights<Item> const weights(
        detail::operator_name{"xloom::lstm"}, {inputs.W, inputs.R, inputs.B, inputs.P}, options);
    return lstm(X, weights, {inputs.sequence_lens, inputs.initial_h, inputs.initial_c}, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
lstm_result<Item> lstm(Input const&, lstm_weights<Item> const&, Policy const&,
    std::type_identity_t<lstm_start<Item>> const& = {})
{
    static_assert(
        detail::never<Policy>, "xloom::lstm: the arguments are lstm(X, weights[, start][, policy])");
    return {};
}

/// Rejects a policy that is not last.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
lstm_result<Item> lstm(
    Input const&, std::type_identity_t<lstm_inputs<Item>> const&, Policy const&, lstm_options const& = {})
{
    static_assert(
        detail::never<Policy>, "xloom::lstm: the arguments are lstm(X, inputs[, options][, policy])");
    return {};
}

/// Computes ONNX's LSTM into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as lstm; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h and Y_c may be the same tensors as initial_h and initial_c, so that a stream
///           updates its state in place.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void lstm_into(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::lstm_into";
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_lstm_call(op, input, weights, start);
    detail::check_lstm_outputs(op, weights, batch, input, start, outputs);
    detail::run_lstm<Item>(input, weights, batch, start, outputs, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void lstm_into(Input const&, lstm_weights<Item> const&, std::type_identity_t<lstm_start<Item>> const&,
    std::type_identity_t<lstm_outputs<Item>> const&, Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>,
        "xloom::lstm_into: the arguments are lstm_into(X, weights, start, outputs, workspace[, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows and the policy's
/// threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> lstm_workspace(
    lstm_weights<Item> const& weights, detail::batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>(
        "xloom::lstm_workspace", weights, detail::lstm_states<Item>{weights, {}, {}, {}, {}}, batch, policy);
}

} // namespace xloom

// ==== xloom/lstm_cell.hpp ====
// One step of the LSTM, for streams and as a scan's body.

namespace xloom {

/// One step of one direction of ONNX's LSTM for N rows, bitwise equal to a step of lstm.
///
///     i, o, f, g = split(W x_t + Wb + R h + Rb, 4)
///     c = act_f(f + Pf * c) * c + act_f(i + Pi * c) * act_g(g)
///     h = act_f(o + Po * c) * act_h(c)
///     y_t = h
///
/// Shapes    h, c and y_t [N, H], x_t [N, I]: spans, containers, row-major tensors and views whose items are
///           contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows.
/// Cost      N 4H (I + H) multiply-adds a step. A step allocates nothing.
/// Aliasing  x_t may be h or c, y_t may be h; h and c must not overlap.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    ONNX LSTM-22.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}, R = xt::zeros<float>({1, 4, 1});
/// xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = W, .R = R}));
/// xt::xtensor<float, 1> h = {0}, c = {0};
/// cell(h, c, xt::xtensor<float, 1>{1});
/// cell(h, c, xt::xtensor<float, 1>{3});
/// h; // = [0.613983]
/// ```
template <class Item>
class lstm_cell {
    using T = detail::compute_t<Item>;

public:
    /// Constructs a cell for N rows with the weights of direction d. An N that cannot be counted in bytes is
    /// a shape_error, a d that is no direction of the weights an option_error.
    explicit lstm_cell(lstm_weights<Item> weights, std::size_t N = 1, std::size_t d = 0)
        : weights_(std::move(weights)), N_(N), d_(d)
    {
        if (d >= weights_.sizes().D)
            detail::fail<option_error>(name, ": d must be less than D = ", weights_.sizes().D, ", but d is ",
                d, ". Choose one of the weights' directions.");
        detail::check_rows(name, weights_.sizes(), N);
        kernel::arena<T> size;
        take_memory(size);
        numbers_.resize(size.used() + 1);
    }

    lstm_cell(lstm_cell const&) = default;
    lstm_cell(lstm_cell&&) = default;
    lstm_cell& operator=(lstm_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    lstm_cell& operator=(lstm_cell const& other) { return *this = lstm_cell(other); }

    /// Updates h and c to the next state.
    template <class Hidden, class Cell, class Element>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_x_t<Item, Element>()) {
            auto const& [D, I, H] = weights_.sizes();
            using namespace detail;
            check_step(name, {detail::sized("h", "N H", N_ * H, h), detail::sized("c", "N H", N_ * H, c),
                                 detail::sized("x_t", "N I", N_ * I, x_t)});
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t), nullptr);
        }
    }

    /// Updates h and c to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Element, class Output>
    void operator()(Hidden&& h, Cell&& c, Element const& x_t, Output&& y_t)
    {
        if constexpr (detail::is_cell_h<Item, Hidden>() && detail::is_cell_c<Item, Cell>() &&
                      detail::is_cell_x_t<Item, Element>() && detail::is_cell_y_t<Item, Output>()) {
            auto const& [D, I, H] = weights_.sizes();
            using namespace detail;
            check_step(name,
                {detail::sized("h", "N H", N_ * H, h), detail::sized("c", "N H", N_ * H, c),
                    detail::sized("x_t", "N I", N_ * I, x_t), detail::sized("y_t", "N H", N_ * H, y_t)});
            step(detail::first_item(h), detail::first_item(c), detail::first_item(x_t),
                detail::first_item(y_t));
        }
    }

private:
    static constexpr std::string_view name = "xloom::lstm_cell";

    detail::cell_scratch<T, kernel::lstm_rows<T>> take_memory(kernel::arena<T>& memory) const
    {
        kernel::lstm_rows<T> const rows(detail::parameters_of(weights_, d_), N_, memory);
        return {rows, N_, memory};
    }

    void step(Item* h, Item* c, Item const* x_t, Item* y_t)
    {
        kernel::arena<T> memory(numbers_.data());
        detail::run_step(take_memory(memory), N_, h, c, x_t, y_t);
    }

    lstm_weights<Item> weights_;
    detail::row_count N_;
    std::size_t d_;
    detail::aligned_vector<T> numbers_;
};

} // namespace xloom

// ==== xloom/packed_matrix.hpp ====
// Products with a constant matrix, on the kernel of the recurrent operators.

namespace xloom {

/// A constant matrix B and a bias, packed once for products with many rows, few rows, or one.
///
///     C = A B + bias
///
/// Shapes    B [K, J], bias [J], A [M, K] -> C [M, J]; rows of A and of C at a stride each, rows of A may
///           overlap (the windows of a convolution). B and bias of any strides.
/// Types     float, double, user-defined scalars.
/// Errors    shape_error: the rank of B, the shape of bias, sizes that cannot be counted in bytes.
/// Order     each sum is bias, then the products along K in dependency chains of 128: its bits do not depend
///           on M.
/// Cost      M K J multiply-adds; for three rows or more near the processor's peak, for fewer limited by
///           cache bandwidth. Allocates nothing.
/// Aliasing  C must overlap neither A nor the matrix.
/// Threads   const members are thread-safe. Copies share the memory, moves copy.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const B = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<float, 1> const bias = {10, 20, 30};
/// xloom::packed_matrix<float> const multiply(B, bias);
/// xt::xtensor<float, 2> const A = {{1, 0}, {1, 1}};
/// auto C = xt::xtensor<float, 2>::from_shape({2, 3});
/// multiply(2, A.data(), 2, C.data(), 3);
/// C; // = [[11, 22, 33], [15, 27, 39]]
/// ```
template <class T>
class packed_matrix {
public:
    explicit packed_matrix(detail::named_ref<tensor_ref<T const>, detail::names::B> const& B,
        detail::named_ref<tensor_ref<T const>, detail::names::bias> const& bias = {})
        : packed_(pack(B, bias))
    {}

    std::size_t depth() const noexcept { return matrix().depth; }
    std::size_t columns() const noexcept { return matrix().columns; }

    /// Multiplies `rows` rows of A, at a stride of a_step, into rows of C, at a stride of c_step.
    void operator()(std::size_t rows, T const* A, std::size_t a_step, T* C, std::size_t c_step) const noexcept
    {
        constexpr std::size_t width = kernel::panel_width<T>, most = kernel::block_rows<T>;
        auto const& [panels, K, J] = matrix();
        T const* const bias = packed_[0].bias;
        std::size_t const rest = J % kernel::batch_size<T> == 0 ? 0 : J % width, whole = J - rest;
        kernel::multiply<T>(rows, {A, a_step}, {panels, K, whole}, {bias, 0}, {C, c_step});
        if (rest == 0)
            return;
        // The last panel is wider than the remaining columns of C.
        std::array<T, most * width> last;
        for (std::size_t row = 0; row < rows; row += most) {
            std::size_t const count = (std::min)(most, rows - row);
            kernel::multiply<T>(count, {A + row * a_step, a_step}, {panels + whole * K, K, rest},
                {bias + whole, 0}, {last.data(), width});
            for (std::size_t r = 0; r < count; ++r)
                std::copy_n(last.data() + r * width, rest, C + (row + r) * c_step + whole);
        }
    }

private:
    struct parameters {
        using number = T;

        kernel::panels<T> B;
        T const* bias;
    };

    static detail::shared_parameters<parameters> pack(
        detail::named_ref<tensor_ref<T const>, detail::names::B> const& B,
        detail::named_ref<tensor_ref<T const>, detail::names::bias> const& bias)
    {
        static constexpr std::string_view op = "xloom::packed_matrix";
        detail::check_ranks(op, B, bias);
        detail::check_given(op, "B", detail::shape_if_given(B), 2);
        std::size_t const K = B.shape()[0], J = B.shape()[1];
        if (!has_strides({K, J}, detail::padded_bytes))
            detail::fail<shape_error>(
                op, ": B must fit in memory, but it is ", B.shape(), ". Reduce its dimensions.");
        detail::check_shapes(op,
            std::array{detail::shape_requirement{"bias", "[J]", {J}, detail::shape_if_given(bias)}},
            [&] { return detail::concat("K = ", K, " and J = ", J); });
        return {1, [&](std::size_t, kernel::arena<T>& memory) {
                    kernel::unpacked_panels<T> const panels{memory.take(kernel::panel_items<T>(K, J)), K, J};
                    T* const row = memory.take(kernel::whole_batches<T>(J));
                    if (!memory.only_counts()) {
                        kernel::pack_panels<T, T>({B.data(), B.step(0), B.step(1)}, K, J, panels);
                        for (std::size_t j = 0; j < J && bias.is_given(); ++j)
                            row[j] = bias.data()[static_cast<std::ptrdiff_t>(j) * bias.step(0)];
                    }
                    return parameters{panels.packed(), row};
                }};
    }

    kernel::panels<T> const& matrix() const noexcept { return packed_[0].B; }

    detail::shared_parameters<parameters> packed_;
};

} // namespace xloom

// ==== xloom/rnn.hpp ====
// ONNX's RNN, the simple recurrent network, over a batch of sequences.

// ==== xloom/run/recurrent/rnn_weights.hpp ====
// The constants of an RNN: checked, and packed for its kernel.

// ==== xloom/kernel/rnn.hpp ====
// A time step of the simple recurrent network for a batch of rows, on raw data.

namespace xloom::kernel {

template <class T>
struct rnn_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    panels<T> W;           ///< [I, gate_step]
    panels<T> R;           ///< [H, gate_step]
    T const* bias;         ///< laid out as a row of sums
    gate<T> f;

    std::size_t sums_step() const noexcept { return row_step<T>(gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + R.depth * R.columns; }
};

template <class T>
class rnn_rows {
public:
    rnn_rows(rnn_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p), h_(memory.take(rows * p.gate_step)), interleaved_(memory.take(rows * p.gate_step))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.gate_step; }

    panels<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_step() const noexcept { return p_.sums_step(); }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const noexcept
    {
        auto const h_of_all = interleave(rows, {h_, p_.gate_step}, p_.H, interleaved_);
        multiply<T>(rows, h_of_all, p_.R, {sums, sums_step()}, {sums, sums_step()}, order_of_step(t));
        for (std::size_t row = 0; row < rows; ++row) {
            p_.f(sums + row * sums_step(), p_.H);
            std::copy_n(sums + row * sums_step(), p_.gate_step, h(row));
        }
    }

private:
    rnn_parameters<T> const& p_;
    T* h_;
    T* interleaved_;
};

} // namespace xloom::kernel

namespace xloom::detail {

inline constexpr std::array<std::string_view, 1> rnn_activations{"Tanh"};

/// Checks W [D, H, I], R [D, H, H] and B [D, 2H], and returns their sizes.
template <class Constants, class Options>
recurrent_widths check_rnn_constants(std::string_view op, Constants const& in, Options const& options)
{
    check_ranks(op, in.W, in.R, in.B);
    check_options(op, options);
    check_not_transposed(op, 1, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(op, options, shape_if_given(in.W), shape_if_given(in.R));
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    check_shapes(op,
        std::array{
            shape_requirement{"W", "[D, H, I]", {D, H, I}, in.W.shape()},
            shape_requirement{"R", "[D, H, H]", {D, H, H}, in.R.shape()},
            shape_requirement{"B", "[D, 2H]", {D, 2 * H}, shape_if_given(in.B)},
        },
        [&] { return describe(sizes); });
    return sizes;
}

/// Returns the options with one Tanh in place of [Tanh, Tanh] if there is one direction: ONNX's schema has
/// that default for one direction too.
template <class Options>
Options without_schema_default(Options options)
{
    auto& names = options.activations;
    if (options.direction != direction::bidirectional && names.size() == 2 &&
        is_same_name(names[0], "Tanh") && is_same_name(names[1], "Tanh"))
        names.resize(1);
    return options;
}

/// The weights of an RNN, as packed_weights needs them.
struct rnn_family {
    using checked = checked_weights;
    template <class T>
    using parameters = kernel::rnn_parameters<T>;

    template <class Constants, class Options>
    static checked check(std::string_view op, Constants const& in, Options const& options)
    {
        return {check_rnn_constants(op, in, options), check_activations(op, without_schema_default(options),
                                                          rnn_activations, activation_dialect::onnx)};
    }

    /// Packs direction d. The functions are f of each direction.
    template <class T, class Constants, class Options>
    static parameters<T> pack(Constants const& in, checked_weights const& checked, Options const& options,
        std::size_t d, kernel::arena<T>& memory)
    {
        auto const& [sizes, functions] = checked;
        std::size_t const I = sizes.I, H = sizes.H, step = kernel::whole_batches<T>(H);
        auto const W = take_panels(I, step, memory), R = take_panels(H, step, memory);
        T* const bias = memory.take(step);
        if (!memory.only_counts()) {
            pack_panels(across(in.W, d, 0, 0), I, H, W);
            pack_panels(across(in.R, d, 0, 0), H, H, R);
            load_bias(in.B, d, 0, H, H, bias);
        }
        return {.I = I,
            .H = H,
            .gate_step = step,
            .W = W.packed(),
            .R = R.packed(),
            .bias = bias,
            .f = gate_of<T>(functions[d], options.clip)};
    }
};

} // namespace xloom::detail

namespace xloom {

/// The inputs of an RNN under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct rnn_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The inputs of an RNN that are constant over calls.
template <class Item>
struct rnn_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
};

/// The inputs of an RNN, except X, that vary from call to call.
template <class Item>
struct rnn_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The outputs of rnn_into; {} omits one.
template <class Item>
struct rnn_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
};

/// The outputs of rnn, in the shapes given there.
template <class Item>
struct rnn_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// ONNX's attributes of an RNN. Names and lists are read only during the call that they are passed to.
struct rnn_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations> activations{}; ///< f of each direction; none: Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};
    std::optional<double> clip{};              ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{}; ///< H, to be checked if given
    std::int64_t layout = 0;                   ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of an RNN, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as rnn.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class rnn_weights : public detail::packed_weights<detail::rnn_family, detail::compute_t<Item>> {
public:
    rnn_weights(rnn_constants<Item> const& constants, rnn_options const& options = {})
        : rnn_weights({"xloom::rnn_weights"}, constants, options)
    {}
    rnn_weights(
        detail::operator_name const& op, rnn_constants<Item> const& constants, rnn_options const& options)
        : rnn_weights::packed_weights(op, constants, options)
    {}
};

/// Computes ONNX's RNN.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         h = act_f(W[d] x_t + Wb[d] + R[d] h + Rb[d])
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, H, I], R [D, H, H], B [D, 2H] = [Wb, Rb], sequence_lens [N], initial_h [D, N,
///           H] -> Y [T, D, N, H], Y_h [D, N, H]. Layout 1: X [N, T, I], Y [N, T, D, H], states [N, D, H].
///           Any strides.
/// Types     as lstm.
/// Options   rnn_options; if the weights are packed, those given to rnn_weights.
/// Policy    serial, or one with threads (xloom/tbb.hpp): each thread has its own rows and directions.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     as lstm: the bits of a row depend only on the row.
/// Cost      T N D H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights.
/// Differs   from ONNX: nothing known. A row of length 0 keeps its initial state.
/// Source    ONNX RNN-1, 7, 14, 22; infer_rnn has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}}}, R = {{{1}}}; // H = 1
/// auto const [Y, Y_h] = xloom::rnn(X, {.W = W, .R = R});
/// Y; // = [[[[0.462117]]], [[[0.961251]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
rnn_result<Item> rnn(Input const& X, rnn_weights<Item> const& weights,
    std::type_identity_t<rnn_start<Item>> const& start = {}, Policy const& policy = {})
{
    return detail::run_hidden<rnn_result<Item>, rnn_outputs<Item>, kernel::rnn_rows<detail::compute_t<Item>>,
        Item>("xloom::rnn", X, weights, start, policy);
}

/// Computes ONNX's RNN with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
rnn_result<Item> rnn(Input const& X, std::type_identity_t<rnn_inputs<Item>> const& inputs,
    rnn_options const& options = {}, Policy const& policy = {})
{
    rnn_weights<Item> const weights(
        detail::operator_name{"xloom::rnn"}, {inputs.W, inputs.R, inputs.B}, options);
    return rnn(X, weights, {inputs.sequence_lens, inputs.initial_h}, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
rnn_result<Item> rnn(
    Input const&, rnn_weights<Item> const&, Policy const&, std::type_identity_t<rnn_start<Item>> const& = {})
{
    static_assert(detail::never<Policy>, "xloom::rnn: the arguments are rnn(X, weights[, start][, policy])");
    return {};
}

/// Rejects a policy that is not last.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
rnn_result<Item> rnn(
    Input const&, std::type_identity_t<rnn_inputs<Item>> const&, Policy const&, rnn_options const& = {})
{
    static_assert(detail::never<Policy>, "xloom::rnn: the arguments are rnn(X, inputs[, options][, policy])");
    return {};
}

/// Computes ONNX's RNN into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as rnn; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h may be the same tensor as initial_h.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void rnn_into(Input const& X, rnn_weights<Item> const& weights,
    std::type_identity_t<rnn_start<Item>> const& start,
    std::type_identity_t<rnn_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::rnn_into";
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_hidden_call<Item>(op, input, weights, start);
    detail::check_hidden_outputs<Item>(op, weights, batch, input, start, outputs);
    detail::run_hidden_into<kernel::rnn_rows<detail::compute_t<Item>>>(
        input, weights, batch, start, outputs, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void rnn_into(Input const&, rnn_weights<Item> const&, std::type_identity_t<rnn_start<Item>> const&,
    std::type_identity_t<rnn_outputs<Item>> const&, Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>,
        "xloom::rnn_into: the arguments are rnn_into(X, weights, start, outputs, workspace[, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows and the policy's
/// threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> rnn_workspace(
    rnn_weights<Item> const& weights, detail::batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>("xloom::rnn_workspace", weights,
        detail::hidden_states<Item, kernel::rnn_rows<detail::compute_t<Item>>, rnn_weights<Item>>{
            weights, {}, {}},
        batch, policy);
}

} // namespace xloom

// ==== xloom/scan.hpp ====
// The Scan operator: runs a body over the elements of its inputs in order, carries states and stacks outputs.
// Includes scan_into and scan_batched.

// ==== xloom/run/scan/scan_types.hpp ====
// The requirements on the types of a call of scan or scan_into, with their compile-time errors.

namespace xloom::detail {

/// The call of scan's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs, bool LeadingAxis>
using scan_call =
    call_of<Body, joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments>>;

/// The call of scan_into's body: body(state&..., element const&..., output&...).
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis>
using scan_into_call =
    call_of<Body, joined_t<leaves_t<States>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
                      typename cursor_set<leaves_t<Outputs>, LeadingAxis>::output_arguments>>;

/// True if the types of a call of scan are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, bool LeadingAxis>
consteval bool is_valid_scan()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        static_assert(never<State>, "xloom::scan: a pack is one value or a flat std::tuple of values, but a "
                                    "std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_state, leaves_t<State>>)
        static_assert(never<State>,
            "xloom::scan: a state is a tensor or a scalar; carry sequences and optionals with xloom::loop");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan: a scan input must be a tensor of xtensor; wrap a std::vector or an "
            "Eigen matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan: a scan input is a tensor with at least one axis; capture other values in the body");
    else if constexpr (LeadingAxis && !static_length<Inputs>::agrees)
        static_assert(never<Inputs>, "xloom::scan: all scan inputs must have the same sequence length");
    else if constexpr (!scan_call<Body, State, Inputs, LeadingAxis>::is_valid)
        static_assert(never<Body>,
            "xloom::scan: the body must be callable as body(state const&..., element const&...)");
    else {
        using step = bare<typename scan_call<Body, State, Inputs, LeadingAxis>::result>;
        if constexpr (std::is_same_v<step, scan_step<loose_values>>)
            static_assert(never<Body>,
                "xloom::scan: a step holds one state and one scan output, each a value or a std::tuple of "
                "values; return scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
        else if constexpr (!is_scan_step<step>)
            static_assert(
                never<Body>, "xloom::scan: the body must return xloom::scan_step{state, scan_outputs}");
        else
            return is_valid_scan_step<State, step>();
    }
    return false;
}

/// True if the types of a call of scan_into are valid, otherwise a compile-time error of one sentence.
template <class Body, class States, class Inputs, class Outputs, bool LeadingAxis>
consteval bool is_valid_scan_into()
{
    using states = leaves_t<States>;
    using outputs = leaves_t<Outputs>;
    if constexpr (!is_flat<bare<States>> || !is_flat<Inputs> || !is_flat<bare<Outputs>>)
        static_assert(never<States>, "xloom::scan_into: a pack is one value or a flat std::tuple of values, "
                                     "but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_state, states>)
        static_assert(never<States>, "xloom::scan_into: a state is a tensor or a scalar; carry sequences and "
                                     "optionals with xloom::loop_into");
    else if constexpr (!every_leaf<is_writable, states>)
        static_assert(never<States>,
            "xloom::scan_into: a state is updated in place, so it must not be const; the arguments are "
            "scan_into(body, states, scan_inputs, scan_outputs), with std::tuple() where there is no state");
    else if constexpr (!outlives_call<States>)
        static_assert(never<States>, "xloom::scan_into: a state is updated in place, so it must be a "
                                     "variable or a view of one; pass several as std::tie(h, c)");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs> ||
                       !every_leaf<is_no_foreign_memory, outputs>)
        static_assert(never<Inputs>,
            "xloom::scan_into: a scan input or output must be a tensor of xtensor; wrap a std::vector or an "
            "Eigen matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<is_scan_input, Inputs>)
        static_assert(never<Inputs>, "xloom::scan_into: a scan input is a tensor with at least one axis; "
                                     "capture other values in the body");
    else if constexpr (!every_leaf<is_scan_output, outputs>)
        static_assert(
            never<Outputs>, "xloom::scan_into: a scan output is a tensor in memory with at least one axis");
    else if constexpr (!every_leaf<is_writable, outputs>)
        static_assert(never<Outputs>, "xloom::scan_into: a scan output is written, so it must not be const");
    else if constexpr (!outlives_call<Outputs>)
        static_assert(never<Outputs>, "xloom::scan_into: a scan output is written in place, so it must be a "
                                      "variable or a view of one; pass several as std::tie(y, z)");
    else if constexpr (LeadingAxis && !static_length<joined_t<Inputs, outputs>>::agrees)
        static_assert(never<Inputs>,
            "xloom::scan_into: all scan inputs and outputs must have the same sequence length");
    else if constexpr (!scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>::is_valid)
        static_assert(never<Body>, "xloom::scan_into: the body must be callable as body(state&..., element "
                                   "const&..., output&...); the arguments are scan_into(body, states, "
                                   "scan_inputs, scan_outputs), with std::tuple() where there is no state");
    else if constexpr (!std::is_void_v<
                           typename scan_into_call<Body, States, Inputs, Outputs, LeadingAxis>::result>)
        static_assert(
            never<Body>, "xloom::scan_into: the body writes through its references and must return void");
    else
        return true;
    return false;
}

} // namespace xloom::detail

// ==== xloom/scan_batched.hpp ====
// Scan-8: a batch of scans, each row with its own states and its own length.

// ==== xloom/check/scan_batched.hpp ====
// Shape requirements of Scan-8: axis 0 is the batch, axis 1 of inputs and outputs is time.

namespace xloom::detail {

/// The batch size N and the sequence length T of a batched scan.
struct batch_extent {
    std::size_t batch = 0;
    std::size_t length = 0;
};

inline fact_list describe_low_ranks(std::span<shape const> states, std::span<shape const> inputs)
{
    fact_list wrong;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].empty())
            wrong.add("init[", i, "] has the shape ", states[i]);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].size() < 2)
            wrong.add("scan_inputs[", i, "] has the shape ", inputs[i]);
    return wrong;
}

/// Requires that states have a batch axis, and scan inputs a batch and a sequence axis.
constexpr void check_batch_ranks(
    std::string_view op, std::span<shape const> states, std::span<shape const> inputs)
{
    bool agree = true;
    for (shape const& state : states)
        agree = agree && !state.empty();
    for (shape const& input : inputs)
        agree = agree && input.size() >= 2;
    if (!agree)
        fail<shape_error>(op,
            ": axis 0 of every operand must be the batch and axis 1 of a scan input its sequence, but ",
            describe_low_ranks(states, inputs), ". Give it the axes, of size 1 if need be.");
}

inline fact_list describe_batches(std::span<shape const> states, std::span<shape const> inputs)
{
    std::size_t const first = states.empty() ? inputs[0][0] : states[0][0];
    bool const is_each_listed = are_all_listed(states.size() + inputs.size());
    fact_list batches;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (is_each_listed || i == 0 || states[i][0] != first)
            batches.add("init[", i, "] has ", states[i][0]);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (is_each_listed || (i == 0 && states.empty()) || inputs[i][0] != first)
            batches.add("scan_inputs[", i, "] has ", inputs[i][0]);
    return batches;
}

/// Returns the common batch size of all operands; none without operands. Requires check_batch_ranks.
constexpr std::optional<std::size_t> check_batch(
    std::string_view op, std::span<shape const> states, std::span<shape const> inputs)
{
    std::optional<std::size_t> batch;
    bool agree = true;
    for (std::span<shape const> const operands : {states, inputs})
        for (shape const& dims : operands) {
            agree = agree && dims[0] == batch.value_or(dims[0]);
            batch = dims[0];
        }
    if (!agree)
        fail<shape_error>(op, ": all operands must have the same batch size along axis 0, but ",
            describe_batches(states, inputs), ". Cut them to the same rows.");
    return batch;
}

/// Checks the operands and options of Scan-8 and returns N and T.
///
/// Errors    option_error: more than max_operands; number of directions; an invalid direction; no operands;
///           no length or another one than that of the inputs. shape_error: ranks, unequal batch sizes or
///           sequence lengths.
/// Source    ONNX Scan-8.
constexpr batch_extent check_scan_batched(std::string_view op, std::span<shape const> states,
    std::span<shape const> inputs, scan_batched_options const& options)
{
    check_count(op, inputs.size(), "scan inputs");
    check_entries(op, "directions", options.directions, inputs.size(), "scan inputs");
    check_directions(op, "directions", options.directions);
    check_batch_ranks(op, states, inputs);
    std::optional<std::size_t> const batch = check_batch(op, states, inputs);
    if (!batch)
        fail<option_error>(op, ": the batch size comes from the operands, but there are no states "
                               "and no scan inputs. Give one of them.");

    axes const time(inputs.size(), 1);
    std::optional<std::size_t> length;
    bool agree = true;
    for (shape const& input : inputs) {
        agree = agree && input[1] == length.value_or(input[1]);
        length = input[1];
    }
    if (!agree)
        fail<shape_error>(op, ": all scan inputs must have the same sequence length, but ",
            describe_lengths("scan_inputs", inputs, time),
            ". Pad them, and say in sequence_lens how long each row is.");
    if (!length && !options.length)
        fail<option_error>(op,
            ": without scan inputs the sequence length must be given, but options.length is empty. Set it.");
    if (length && options.length && *length != *options.length)
        fail<option_error>(op, ": options.length must be the scan inputs' sequence length, but it is ",
            *options.length, " and ", describe_lengths("scan_inputs", inputs, time), ". Leave it empty.");
    return {*batch, length ? *length : *options.length};
}

} // namespace xloom::detail

// ==== xloom/run/scan/batch_rows.hpp ====
// The rows of a batch: their states, cursors over their inputs, and their stacked outputs.

namespace xloom::detail {

/// The shape type of one row of a batch.
template <tensor X>
using row_shape_t = typename element_shape<shape_type_t<X>, true>::type;

template <tensor X>
consteval auto row_type()
{
    if constexpr (std::is_same_v<row_shape_t<X>, item_element>)
        return std::type_identity<item_t<X>>{};
    else
        return std::type_identity<typename temporary_of<item_t<X>, row_shape_t<X>>::type>{};
}

/// The std::tuple of one row of each state, as the body carries it.
template <class Leaves>
struct row_tuple;
template <class... Xs>
struct row_tuple<std::tuple<Xs...>> {
    using type = std::tuple<typename decltype(row_type<bare<Xs>>())::type...>;
};

/// Returns a pointer to row b of an operand, and the axis of its rows, which holds the layout of each row.
template <class X>
auto row_of(X& operand, std::size_t b)
{
    kernel::time_axis const rows(detail::layout_of(operand), 0, 1, false);
    return std::pair(
        enable_tensor<bare<X>>::data(operand) + static_cast<std::ptrdiff_t>(b) * rows.step, rows);
}

template <class State, class Row>
void load_row(State const& state, std::size_t b, Row& row)
{
    auto const [first, rows] = detail::row_of(state, b);
    if constexpr (tensor<Row>) {
        detail::make_shape(row, rows.element.dims);
        kernel::strided_copy(rows.element.dims, rows.element.strides, detail::layout_of(row).strides)(
            first, enable_tensor<Row>::data(row));
    } else {
        row = *first;
    }
}

template <class State, class Row>
void store_row(State& state, std::size_t b, Row const& row)
{
    auto const [first, rows] = detail::row_of(state, b);
    output_writer<item_t<State>>(first, rows).push(row);
}

/// Cursors over one row of each input; the elements have neither the batch axis nor the time axis.
template <class Leaves>
struct batch_cursors;
template <class... Xs>
struct batch_cursors<std::tuple<Xs...>> {
    template <class X>
    using cursor_type = cursor_over<item_t<X> const, typename element_shape<row_shape_t<bare<X>>, true>::type,
        is_always_row_major<bare<X>>>;

    using cursors = std::tuple<cursor_type<Xs>...>;
    using input_arguments =
        std::tuple<decltype(std::as_const(std::declval<cursor_type<Xs>&>().element()))...>;

    static cursors start(
        std::tuple<Xs...> const& inputs, std::size_t b, std::size_t length, scan_directions const& directions)
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return cursors{start_one<Xs>(std::get<I>(inputs), b, length, is_reverse(directions, I))...};
        }(std::index_sequence_for<Xs...>{});
    }

private:
    template <class X>
    static cursor_type<X> start_one(bare<X> const& input, std::size_t b, std::size_t length, bool reverse)
    {
        auto const [first, rows] = detail::row_of(input, b);
        return {first, kernel::time_axis(rows.element, 0, length, reverse), length};
    }
};

/// The scan outputs of a batch: [N, T, element...], zeros after the end of a shorter row.
template <class Outputs>
class batch_outputs;
template <class... Ys>
class batch_outputs<std::tuple<Ys...>> {
public:
    using type = std::tuple<stacked_t<stacked_t<Ys, dynamic_length>, dynamic_length>...>;

    batch_outputs(std::string_view op, batch_extent extent) : op_(op), extent_(extent) {}

    void start_row(std::size_t b)
    {
        row_ = b;
        if (is_open_)
            detail::for_each_leaf(results_, [&](auto k, auto& result) {
                auto const [first, rows] = detail::row_of(result, b);
                std::get<k>(writers_) = {first, kernel::time_axis(rows.element, 0, extent_.length, false)};
            });
    }

    template <class Values>
    void push(Values const& values, std::size_t t)
    {
        if (!is_open_) {
            detail::for_each_leaf(
                values, [&](auto k, auto const& value) { open(k, output_element_shape(op_, k, value)); });
            is_open_ = true;
            start_row(row_);
        }
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            auto const& writer = std::get<k>(writers_);
            if (!detail::is_shaped_like(value, writer.element_shape()))
                detail::fail_reshaped(
                    op_, "scan_outputs", k, writer.element_shape(), detail::describe_shape(value), t, row_);
        });
        detail::for_each_leaf(values, [&](auto k, auto const& value) { std::get<k>(writers_).push(value); });
    }

    type&& finish() &&
    {
        if (!is_open_)
            detail::for_each_leaf(results_,
                [&](auto k, auto&) { open(k, shape_of_type<std::tuple_element_t<k, std::tuple<Ys...>>>()); });
        return std::move(results_);
    }

private:
    template <std::size_t K>
    void open(std::integral_constant<std::size_t, K>, shape const& element)
    {
        auto& result = std::get<K>(results_);
        using stacked = bare<decltype(result)>;
        using item = item_t<stacked>;
        shape const row = stacked_shape(op_, K, element, extent_.length, sizeof(item), {});
        result = enable_tensor<stacked>::make(stacked_shape(op_, K, row, extent_.batch, sizeof(item), {}));
        std::fill_n(enable_tensor<stacked>::data(result), element_count(detail::shape_of(result)), item{});
    }

    std::string_view op_;
    batch_extent extent_;
    std::size_t row_ = 0;
    bool is_open_ = false;
    type results_{};
    std::tuple<output_writer<item_t<stacked_t<Ys, dynamic_length>>>...> writers_{};
};

} // namespace xloom::detail

// ==== xloom/run/scan/scan_batched_types.hpp ====
// The requirements on the types of a call of scan_batched, with their compile-time errors.

namespace xloom::detail {

/// True for a state of a batch: a tensor that is not statically known to lack the batch axis.
template <class X>
using has_batch_axis = std::bool_constant<is_scan_output<X>::value>;
/// True for a scan input of a batch: a tensor that is not statically known to lack batch and time axes, or a
/// lazy expression.
template <class X>
struct has_batch_and_time_axes : std::bool_constant<lazy<X>> {};
template <tensor X>
struct has_batch_and_time_axes<X>
    : std::bool_constant<enable_tensor<bare<X>>::rank != 0 && enable_tensor<bare<X>>::rank != 1> {};

/// True for the type of sequence_lens: a tensor of integers of rank 1, or std::nullopt.
template <class X>
inline constexpr bool is_sequence_lens = std::is_same_v<X, std::nullopt_t>;
template <tensor X>
inline constexpr bool is_sequence_lens<X> =
    std::is_integral_v<item_t<X>> && (enable_tensor<X>::rank == 1 || enable_tensor<X>::rank == dynamic_rank);

/// The states that a body of scan_batched carries: one row of each.
template <class State>
using rows_t = typename row_tuple<leaves_t<State>>::type;

/// The call of scan_batched's body: body(state const&..., element const&...).
template <class Body, class State, class Inputs>
using scan_batched_call =
    call_of<Body, joined_t<leaves_t<rows_t<State> const>, typename batch_cursors<Inputs>::input_arguments>>;

/// True if the types of a call of scan_batched are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, class Lens>
consteval bool is_valid_scan_batched()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        static_assert(never<State>, "xloom::scan_batched: a pack is one value or a flat std::tuple of "
                                    "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_batch_axis, leaves_t<State>>)
        static_assert(never<State>, "xloom::scan_batched: a state is a tensor whose axis 0 is the batch");
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched: a scan input must be a tensor of xtensor; wrap a std::vector or an Eigen "
            "matrix by xt::adapt, or specialise xloom::enable_tensor for its type");
    else if constexpr (!every_leaf<has_batch_and_time_axes, Inputs>)
        static_assert(never<Inputs>,
            "xloom::scan_batched: a scan input is a tensor whose axes 0 and 1 are batch and sequence");
    else if constexpr (!is_sequence_lens<Lens>)
        static_assert(never<Lens>,
            "xloom::scan_batched: sequence_lens is a tensor of integers of rank 1, or std::nullopt");
    else if constexpr (!scan_batched_call<Body, State, Inputs>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_batched: the body must be callable as body(state const&..., element const&...)");
    else {
        using step = bare<typename scan_batched_call<Body, State, Inputs>::result>;
        if constexpr (std::is_same_v<step, scan_step<loose_values>>)
            static_assert(never<Body>, "xloom::scan_batched: a step holds one state and one scan output, "
                                       "each a value or a std::tuple of values; return "
                                       "scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
        else if constexpr (!is_scan_step<step>)
            static_assert(never<Body>,
                "xloom::scan_batched: the body must return xloom::scan_step{state, scan_outputs}");
        else
            return is_valid_scan_batched_step<rows_t<State>, step>();
    }
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

template <class Outputs>
struct as_tuple {
    using type = std::tuple<Outputs>;
};
template <class... Ys>
struct as_tuple<std::tuple<Ys...>> {
    using type = std::tuple<Ys...>;
};

/// Checks sequence_lens and returns it as a vector; T for every row if it is omitted.
template <class Lens>
std::vector<std::size_t> sequence_lengths(std::string_view op, Lens const& sequence_lens, batch_extent extent)
{
    if constexpr (std::is_same_v<Lens, std::nullopt_t>) {
        return std::vector<std::size_t>(extent.batch, extent.length);
    } else {
        lengths_ref const given(sequence_lens);
        check_rank(op, "sequence_lens", given.rank());
        check_lengths(op, "sequence_lens", given, extent.batch, "T", extent.length);
        std::vector<std::size_t> lengths(extent.batch);
        for (std::size_t b = 0; b < lengths.size(); ++b)
            lengths[b] = static_cast<std::size_t>(given[b]);
        return lengths;
    }
}

template <class Step, class Body, class State, class Inputs, class Lens>
auto run_scan_batched(Body& body, State state, Inputs const& inputs, Lens const& sequence_lens,
    scan_batched_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_batched";
    auto const states = detail::leaves(state);
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    batch_extent const extent =
        check_scan_batched(op, detail::shapes_of(states), detail::shapes_of(inputs), options);
    auto const lengths = detail::sequence_lengths(op, sequence_lens, extent);

    rows_t<State> row{};
    using stack = batch_outputs<typename as_tuple<decltype(Step::scan_outputs)>::type>;
    stack outputs(op, extent);
    step_memory_pool recycled;
    for (std::size_t b = 0; b < extent.batch; ++b) {
        std::size_t const length = lengths[b];
        detail::for_each_leaf(
            states, [&](auto i, auto const& each) { detail::load_row(each, b, std::get<i>(row)); });
        auto elements = batch_cursors<Inputs>::start(inputs, b, length, options.directions);
        outputs.start_row(b);
        auto const push = [&](auto const& values, std::size_t t) { outputs.push(values, t); };
        detail::iterate<Step>(op, body, detail::leaves(row), elements, length, push, b);
        detail::for_each_leaf(
            states, [&](auto i, auto& each) { detail::store_row(each, b, std::get<i>(row)); });
    }

    auto stacked = std::move(outputs).finish();
    if constexpr (is_tuple<decltype(Step::scan_outputs)>)
        return scan_result<State, typename stack::type>{std::move(state), std::move(stacked)};
    else
        return scan_result<State, std::tuple_element_t<0, typename stack::type>>{
            std::move(state), std::move(std::get<0>(stacked))};
}

} // namespace detail

/// Runs an independent scan over each row of a batch; the rows may have different lengths.
///
///     for b in range(N):
///         states = init[b]
///         for t in range(sequence_lens[b]):
///             states, y[b, t] = body(states, x[b, t])
///         final_state[b] = states
///
/// As scan, but axis 0 of every operand is the batch and axis 1 of inputs and outputs is time; the body's
/// elements have neither.
///
/// Shapes    init [N, ...], scan inputs [N, T, ...], sequence_lens [N], each in [0, T]; std::nullopt: T for
///           every row. Outputs [N, T, ...], zeros (value-initialised items) from sequence_lens[b] on.
/// Options   directions: a reverse input starts at element sequence_lens[b] - 1 of its row; outputs
///           start at 0.
/// Errors    before the first iteration: shape_error, option_error; index_error: a sequence length outside
///           [0, T]. body_error as in scan.
/// Order     rows in order, each from its first to its last iteration.
/// Differs   from ONNX Runtime: a sequence length of 0 is valid. ONNX leaves the tail undefined; it is zero
///           here, as in ONNX Runtime.
/// Source    ONNX Scan-8; infer_scan has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<int, 1> const zero = {0, 0}, lens = {3, 1};
/// auto const add = [](int sum, int x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_batched(add, zero, x, lens);
/// total; // = [6, 4]
/// running; // = [[1, 3, 6], [4, 0, 0]]
/// ```
template <class Body, class Init, class Inputs, class Lens = std::nullopt_t>
auto scan_batched(Body&& body, Init&& init, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, scan_batched_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_batched<Body, state, inputs, Lens>()) {
        using step = bare<typename scan_batched_call<Body, state, inputs>::result>;
        return run_scan_batched<step>(body, state(static_cast<Init&&>(init)),
            detail::evaluated_inputs(scan_inputs), sequence_lens, options);
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/scan_into.hpp ====
// Scan in place: the body updates the caller's states and writes the caller's outputs.

namespace xloom {

namespace detail {

/// Makes an input and an output of the same tensor share the memory of the current element. Contiguous
/// elements share it already.
template <class Input, class Output>
void share_element(Input&, Output&)
{}
template <class T, class InputShape, class OutputShape>
void share_element(buffered_cursor<T const, InputShape>& input, buffered_cursor<T, OutputShape>& output)
{
    input.share_buffer_of(output);
}

/// Finds the outputs that are the same tensor as an input, whose elements must not be written before the body
/// runs, and makes the body's writes to them visible through the input. Requires check_overlap.
template <std::size_t M, class... Inputs, std::size_t K, class... Outputs>
std::array<bool, K> join_in_place(std::array<placed_operand, M> const& input_places,
    std::tuple<Inputs...>& inputs, std::array<placed_operand, K> const& output_places,
    std::tuple<Outputs...>& outputs)
{
    std::array<bool, K> holds_input{};
    detail::for_each_leaf(outputs, [&](auto k, auto& output) {
        detail::for_each_leaf(inputs, [&](auto m, auto& input) {
            if (detail::is_same_traversal(output_places[k], input_places[m])) {
                holds_input[k] = true;
                detail::share_element(input, output);
            }
        });
    });
    return holds_input;
}

template <bool LeadingAxis, class Body, class... States, class Inputs, class... Outputs>
void run_scan_into(std::string_view op, Body& body, std::tuple<States&...> states, Inputs const& inputs,
    std::tuple<Outputs&...> outputs, scan_options const& options)
{
    detail::check_ranks(op, "states", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    detail::check_ranks(op, "scan_outputs", outputs);
    std::size_t const length = check_scan(op, detail::shapes_of(inputs), sizeof...(Outputs), options);
    check_scan_outputs(op, detail::shapes_of(outputs), length, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(op, "scan_outputs", fixed_ranks<std::tuple<Outputs...>>::value, "scan_output_axes",
            options.scan_output_axes);
    }
    auto input_places = detail::places_of(inputs);
    auto output_places = detail::places_of(outputs);
    detail::place_in_time(input_places, options.scan_input_axes, options.scan_input_directions);
    detail::place_in_time(output_places, options.scan_output_axes, options.scan_output_directions);
    check_overlap(op, detail::places_of(states), input_places, output_places);

    auto x = cursor_set<Inputs, LeadingAxis>::start(inputs, input_places, kernel::all_iterations(length));
    auto y = cursor_set<std::tuple<Outputs&...>, LeadingAxis>::start(
        outputs, output_places, kernel::all_iterations(length));
    std::array<bool, sizeof...(Outputs)> const holds_input =
        detail::join_in_place(input_places, x, output_places, y);
    auto const guards = std::apply(
        [](States&... state) { return std::tuple<shape_guard<States>...>(shape_guard<States>(state)...); },
        states);
    local_states held(states);
    auto const current = held.get();
    std::size_t t = 0;
    auto const iteration = [&] { return t; };
    detail::run_bodies(op, y, iteration, [&] {
        for (; t < length; ++t) {
            detail::enter_all(x);
            detail::enter_all(y);
            detail::for_each_leaf(y, [&](auto k, auto& cursor) {
                if (!holds_input[k])
                    detail::poison(cursor.element());
            });
            detail::call_body(body, current, detail::input_elements(x), detail::output_elements(y));
            detail::leave_all(x);
            detail::leave_all(y);
            detail::for_each_leaf(guards, [&](auto i, auto const& guard) {
                if (!guard.holds(std::get<i>(current)))
                    detail::fail_reshaped(
                        op, "states", i, guard.expected(), detail::describe_shape(std::get<i>(current)), t);
            });
        }
    });
}

template <bool LeadingAxis, class Body, class States, class Inputs, class Outputs>
void scan_into(Body& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_into<Body, States, inputs, Outputs, LeadingAxis>())
        run_scan_into<LeadingAxis>("xloom::scan_into", body, detail::leaves(states),
            detail::evaluated_inputs(scan_inputs), detail::leaves(scan_outputs), options);
}

} // namespace detail

/// Runs a scan in place: the body updates the caller's states and writes the caller's outputs, and nothing is
/// allocated in the loop.
///
///     for t in range(T):
///         body(states, x[t], y[t])
///
/// body(state&..., element const&..., output&...) -> void. A state is the caller's variable; a scalar state
/// is a copy of it, written back at the end. An output element is an element_view, or one item where the
/// output's rank is statically 1. It is unspecified at first (NaN in debug builds), so write all of it; if
/// the output is the same tensor as an input, it is the input's element. `xt::noalias(y_t) = ...` and raw
/// loops allocate nothing.
///
/// Shapes    as scan; output k has T along scan_output_axes[k], its other dimensions are arbitrary.
/// Options   scan_options. An axis other than 0 of an input or output of a fixed shape is an option_error.
/// Errors    before the first write: shape_error, option_error, overlap_error. body_error, after an
///           iteration: a state or an output element changed its shape. After a body_error or an exception of
///           the body, states and outputs hold the values written so far; the element of that iteration may
///           be unwritten.
/// Aliasing  an output may be the same tensor as an input, on the same axis in the same direction: x_t and
///           y_t then share memory, whatever the layout. Any other overlap is an overlap_error. A body that
///           captures an output's tensor reads the elements of earlier iterations from it; the current
///           element in it is unspecified.
/// Cost      that of a hand-written loop over the same body. Allocates before the first iteration only, for
///           lazy operands and for strided elements.
/// Source    ONNX Scan-9 to 25.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double sum = 0;
/// xloom::scan_into([](double& h, double x_t, double& y_t) { y_t = h += x_t; }, sum, x, y);
/// sum; // = 6
/// y; // = [1, 3, 6]
/// ```
template <class Body, class States, class Inputs, class Outputs = std::tuple<>>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs = {})
{
    detail::scan_into<true>(
        body, static_cast<States&&>(states), scan_inputs, static_cast<Outputs&&>(scan_outputs), {});
}

/// Runs scan_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Outputs>
void scan_into(Body&& body, States&& states, Inputs const& scan_inputs, Outputs&& scan_outputs,
    scan_options const& options)
{
    detail::scan_into<false>(
        body, static_cast<States&&>(states), scan_inputs, static_cast<Outputs&&>(scan_outputs), options);
}

} // namespace xloom

namespace xloom {

namespace detail {

/// Runs a pure scan whose body is valid. Length is the number of iterations if it is static, else
/// dynamic_length.
template <class Step, std::size_t Length, bool LeadingAxis, class Body, class State, class Inputs>
auto run_scan(std::string_view op, Body& body, State state, Inputs const& inputs, scan_options const& options)
{
    using stack = stacked_outputs<decltype(Step::scan_outputs), Length>;

    detail::check_ranks(op, "init", detail::leaves(state));
    detail::check_ranks(op, "scan_inputs", inputs);
    std::size_t const length =
        check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options);
    check_output_axes(op, stack::ranks, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(op, "scan_outputs", fixed_ranks<leaves_t<typename stack::type>>::value,
            "scan_output_axes", options.scan_output_axes);
    }
    auto places = detail::places_of(inputs);
    detail::place_in_time(places, options.scan_input_axes, options.scan_input_directions);
    auto elements = cursor_set<Inputs, LeadingAxis>::start(inputs, places, kernel::all_iterations(length));
    stack outputs;
    step_memory_pool recycled;
    detail::iterate<Step>(
        op, body, detail::leaves(state), elements, length, [&](auto const& values, std::size_t t) {
            if (t == 0)
                outputs.open(op, values, length, options);
            outputs.push(op, values, t);
        });
    if (length == 0)
        outputs.open_empty(op, options);
    return scan_result<State, typename stack::type>{std::move(state), std::move(outputs).finish()};
}

template <bool LeadingAxis, class Body, class Init, class Inputs>
auto scan(Body& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan<Body, state, inputs, LeadingAxis>()) {
        using step = bare<typename scan_call<Body, state, inputs, LeadingAxis>::result>;
        return run_scan<step, static_length<inputs>::value, LeadingAxis>("xloom::scan", body,
            state(static_cast<Init&&>(init)), detail::evaluated_inputs(scan_inputs), options);
    } else {
        return scan_result<state, std::tuple<>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace detail

/// Runs `body` over the elements of `scan_inputs` in order, carries states and stacks its scan outputs.
///
///     states = init
///     for t in range(T):
///         states, y_t = body(states, x[t])
///         y[t] = y_t
///     return states, y
///
/// init, scan_inputs and the two members of a step are each one value or a flat std::tuple of values
/// (std::tie for variables, std::tuple{} for none). The body receives them as separate arguments, in ONNX's
/// order: body(state const&..., element const&...) -> scan_step. An element is an element_view, or one item
/// where the input's rank is statically 1. Other values are captured.
///
/// Shapes    scan input [..., T, ...] with T along its axis; its elements lack that axis. State: as init.
///           Output k stacks its elements along scan_output_axes[k]. K outputs for M inputs, any K and M;
///           without inputs T is options.length.
/// Types     states: tensors of any item type, or scalars (rank 0). Outputs: scalars give xtensor<Y, 1>,
///           xtensor<Y, r> gives xtensor<Y, r + 1>, xarray gives xarray. If inputs and the elements of an
///           output have fixed shapes, so has the output.
/// Options   scan_options. An axis other than 0 of an input or output of a fixed shape is an option_error.
/// Errors    before the first iteration: shape_error, option_error. body_error: a state or
///           an output element changed its shape. Exceptions of the body propagate; the caller's variables
///           are unchanged.
/// Order     t = 0 .. T-1; a reverse input passes element T-1-t, a reverse output is filled from its end. The
///           two are independent. T = 0 is valid: states = init, outputs of length 0; dimensions that no type
///           fixes are 0, an xarray's shape is [0].
/// Cost      one pass; the outputs are allocated once, strided elements are copied through a buffer, and
///           values that the body returns use a memory pool. scan_into with an in-place body needs no pool.
/// Differs   from ONNX's inference and ONNX Runtime: directions and all lists are checked, T = 0 works.
/// Source    ONNX Scan-9 to 25; infer_scan has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
/// xt::xtensor<double, 1> const zero = {0, 0};
/// auto const add = [](auto const& sum, auto const& x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan(add, zero, x);
/// total; // = [9, 12]
/// running; // = [[1, 2], [4, 6], [9, 12]]
/// ```
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs)
{
    return detail::scan<true>(body, static_cast<Init&&>(init), scan_inputs, {});
}

/// Runs scan with axes, directions or a length. The types of the results do not depend on the options.
template <class Body, class Init, class Inputs>
auto scan(Body&& body, Init&& init, Inputs const& scan_inputs, scan_options const& options)
{
    return detail::scan<false>(body, static_cast<Init&&>(init), scan_inputs, options);
}

} // namespace xloom

// ==== xloom/scan_list.hpp ====
// Scan over lists, whose numbers of states, inputs and outputs are known at run time only.

namespace xloom {

namespace detail {

/// The type of the elements that a body receives of inputs of type X.
template <class X>
using list_element = bare<decltype(std::declval<cursor_for<X const, false>&>().element())>;

/// The call of scan_list's body: body(states, elements).
template <class Body, class S, class X>
using scan_list_call = call_of<Body, std::tuple<std::span<S const>, std::span<list_element<X> const>>>;

/// True for a step of lists: of states of type S, and of tensors that own their items.
template <class Step, class S>
inline constexpr bool is_scan_list_step = false;
template <class S, class Outputs>
inline constexpr bool is_scan_list_step<scan_step<std::vector<S>, Outputs>, S> = is_output_list<Outputs>;

/// True if the types of a call of scan_list are valid, otherwise a compile-time error of one sentence.
template <class Body, class S, class X>
consteval bool is_valid_scan_list()
{
    if constexpr (!is_scan_input<X>::value || !tensor<list_element<X>>)
        static_assert(never<X>, "xloom::scan_list: a scan input is a tensor whose elements are tensors: an "
                                "xt::xarray, or an xt::xtensor of rank 2 or more");
    else if constexpr (!scan_list_call<Body, S, X>::is_valid)
        static_assert(never<Body>, "xloom::scan_list: the body must be callable as body(std::span<state "
                                   "const>, std::span<element_view const>)");
    else if constexpr (!is_scan_list_step<bare<typename scan_list_call<Body, S, X>::result>, S>)
        static_assert(never<Body>, "xloom::scan_list: the body must return xloom::scan_step{std::vector of "
                                   "states, std::vector of outputs}");
    else
        return true;
    return false;
}

/// Cursors over all inputs of a list, which advance together.
template <class X>
class list_cursors {
    using cursor = cursor_for<X const, false>;

public:
    list_cursors(std::vector<X> const& inputs, std::size_t length, scan_options const& options)
    {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            strided_layout const layout = detail::layout_of(inputs[i]);
            kernel::time_axis const time(layout,
                wrap_axis(axis_option(options.scan_input_axes, i), layout.dims.size()), length,
                is_reverse(options.scan_input_directions, i));
            cursors_.emplace_back(enable_tensor<X>::data(inputs[i]), time, length);
            elements_.push_back(cursors_.back().element());
        }
    }

    std::span<list_element<X> const> enter()
    {
        for (std::size_t i = 0; i < cursors_.size(); ++i) {
            cursors_[i].enter();
            elements_[i].rebind(cursors_[i].element().data());
        }
        return elements_;
    }
    void leave()
    {
        for (cursor& each : cursors_)
            each.leave();
    }

private:
    std::vector<cursor> cursors_{};
    std::vector<list_element<X>> elements_{};
};

template <class Step, class Body, class S, class X>
auto run_scan_list(Body& body, std::vector<S> states, std::vector<X> const& inputs, std::size_t outputs,
    scan_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_list";
    using output = typename decltype(Step::scan_outputs)::value_type;
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    std::vector<shape> shapes;
    shapes.reserve(inputs.size());
    for (X const& input : inputs)
        shapes.push_back(detail::shape_of(input));
    check_count(op, states.size(), "states");
    std::size_t const length = check_scan(op, shapes, outputs, options);
    check_output_axes(op, std::vector<std::size_t>(outputs, element_rank<output>), options);
    list_cursors<X> cursors(inputs, length, options);
    list_outputs<output> stack(op, outputs, length, options);
    for (std::size_t t = 0; t < length; ++t) {
        Step step = body(std::span<S const>(states), cursors.enter());
        cursors.leave();
        check_list_count(op, "states", step.state.size(), states.size(), t);
        for (std::size_t i = 0; i < states.size(); ++i)
            if (!detail::have_same_shape(states[i], step.state[i]))
                detail::fail_reshaped(
                    op, "states", i, detail::shape_of(states[i]), detail::describe_shape(step.state[i]), t);
        stack.push(step.scan_outputs, t);
        states = std::move(step.state);
    }
    using stacked = typename list_outputs<output>::stacked;
    return scan_result<std::vector<S>, std::vector<stacked>>{std::move(states), std::move(stack).finish()};
}

} // namespace detail

/// Runs scan over lists in place of tuples: the numbers of states, inputs and outputs are known at run time
/// only. For interpreters; scan costs less if the numbers are known at compile time.
///
///     for t in range(T):
///         states, y_t = body(states, [x[t] for x in scan_inputs])
///         for k: y[k][t] = y_t[k]
///     return states, y
///
/// body(std::span<S const> states, std::span<element_view const> elements) -> scan_step{std::vector<S>,
/// std::vector<Y>}. All states are of one type, all inputs of one type, all outputs of one type.
///
/// Shapes    as scan. `outputs` is the number of outputs; required because T = 0 runs no body.
/// Types     S any type whose values have a shape, X a tensor whose elements are tensors (not of a static
///           rank 1), Y a tensor.
/// Errors    as scan; body_error: a different number of states or outputs.
/// Order     as scan.
/// Cost      as scan, plus the body's lists.
/// Source    ONNX Scan-9 to 25.
/// Example
/// ```cpp
/// using list = std::vector<xt::xarray<double>>;
/// xt::xarray<double> const x = {1, 2, 3};
/// auto const add = [](auto states, auto elements) {
///     return xloom::scan_step{list{states[0] + elements[0]}, list{states[0]}};
/// };
/// auto const result = xloom::scan_list(add, list{0.0}, list{x}, 1);
/// result.final_state; // = [6]
/// result.scan_outputs; // = [[0, 1, 3]]
/// ```
template <class Body, class S, tensor X>
auto scan_list(Body&& body, std::vector<S> init, std::vector<X> const& scan_inputs, std::size_t outputs,
    scan_options const& options = {})
{
    using namespace detail;
    if constexpr (is_valid_scan_list<Body, S, X>()) {
        using step = bare<typename scan_list_call<Body, S, X>::result>;
        return run_scan_list<step>(body, std::move(init), scan_inputs, outputs, options);
    } else {
        return scan_result<std::vector<S>, std::vector<X>>{}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom

// ==== xloom/scan_vjp.hpp ====
// The vector-Jacobian product of a scan: its results, and a function from their cotangents to those of its
// operands. Includes scan_vjp_into.

// ==== xloom/scan_vjp_into.hpp ====
// The vector-Jacobian product of a scan in place: a forward pass that keeps states, and a backward pass.

// ==== xloom/run/scan/scan_residuals.hpp ====
// The residuals of a scan: what its backward pass needs of the forward pass.

namespace xloom {

namespace detail {

/// The states that a forward pass of a scan kept, and the shapes of its outputs.
template <class State>
struct scan_record {
    kept_states<packed_slots, State> states;
    std::vector<shape> output_shapes{};
};

} // namespace detail

/// The memory of scan_forward_into's states, from which scan_backward_into begins. State is the type of the
/// states: one type or a std::tuple. It grows to the size that a call needs; a call that needs no more than an
/// earlier one allocates nothing. One call may use it at a time.
template <class State>
class scan_residuals : private detail::scan_record<State> {
public:
    explicit scan_residuals(checkpoint const& checkpoints = checkpoint::all())
        : detail::scan_record<State>{detail::kept_states<detail::packed_slots, State>(checkpoints)}
    {}

    /// Returns the number of bytes allocated for the states' items.
    std::size_t bytes() const
    {
        return std::apply([](auto const&... slots) { return (std::size_t{0} + ... + slots.bytes()); },
            this->states.slots());
    }

private:
    /// Returns the residuals for an operator.
    friend detail::scan_record<State>& record_of(scan_residuals& residuals) { return residuals; }
};

} // namespace xloom

// ==== xloom/run/scan/scan_vjp_types.hpp ====
// The requirements on the types of a call of a scan's derivative, with their compile-time errors.

namespace xloom::detail {

/// The call of a forward body in place: body(state&..., element const&..., param const&..., output&...).
template <class Body, class States, class Inputs, class Params, class Outputs, bool LeadingAxis>
using scan_forward_call = call_of<Body,
    joined_t<leaves_t<States>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
        const_leaves_t<Params>, typename cursor_set<leaves_t<Outputs>, LeadingAxis>::output_arguments>>;

/// The call of a pure body with parameters: body(state const&..., element const&..., param const&...).
template <class Body, class State, class Inputs, class Params, bool LeadingAxis>
using scan_param_call =
    call_of<Body, joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
                      const_leaves_t<Params>>>;

/// The call of a body's VJP.
template <class BodyVjp, class State, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, bool LeadingAxis>
using scan_vjp_call = call_of<BodyVjp,
    joined_t<leaves_t<State const>, typename cursor_set<Inputs, LeadingAxis>::input_arguments,
        const_leaves_t<Params>, typename cursor_set<CtOutputs, LeadingAxis>::input_arguments,
        leaves_t<CtStates>, typename cursor_set<leaves_t<CtInputs>, LeadingAxis>::output_arguments,
        leaves_t<CtParams>>>;

/// True if the types of a call of scan_forward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class States, class Inputs, class Params, class Outputs, class State, bool LeadingAxis>
consteval bool is_valid_scan_forward_into()
{
    if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>, "xloom::scan_forward_into: params is one value or a flat std::tuple of "
                                     "values, but a std::tuple is inside a std::tuple");
    else if constexpr (!std::is_same_v<owned_t<bare<States>>, State>)
        static_assert(never<States>,
            "xloom::scan_forward_into: residuals must be scan_residuals<State> of the states' own type, "
            "without references and const; for views, of the container that owns such items");
    else if constexpr (!scan_forward_call<Body, States, Inputs, Params, Outputs, LeadingAxis>::is_valid)
        static_assert(never<Body>, "xloom::scan_forward_into: the body must be callable as body(state&..., "
                                   "element const&..., param const&..., output&...); the arguments are "
                                   "scan_forward_into(body, states, scan_inputs, params, scan_outputs, "
                                   "residuals), with std::tuple() where there are none");
    else {
        auto const body = [](auto&&...) {}; // the other requirements are those of scan_into
        return is_valid_scan_into<decltype(body), States, Inputs, Outputs, LeadingAxis>();
    }
    return false;
}

/// True if the types of a call of scan_vjp are valid, otherwise a compile-time error of one sentence.
template <class Body, class State, class Inputs, class Params, bool LeadingAxis>
consteval bool is_valid_scan_vjp()
{
    if constexpr (!is_flat<bare<Params>>)
        static_assert(never<Params>,
            "xloom::scan_vjp: params is one value or a flat std::tuple of values, but "
            "a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<has_zero, const_leaves_t<Params>>)
        static_assert(never<Params>,
            "xloom::scan_vjp: a parameter is a tensor or a scalar, whose cotangent can "
            "begin as 0; pass other types to scan_forward_into, with a cotangent of "
            "your own");
    else if constexpr (!scan_param_call<Body, State, Inputs, Params, LeadingAxis>::is_valid)
        static_assert(never<Body>,
            "xloom::scan_vjp: the body must be callable as body(state const&..., element const&..., param "
            "const&...); the arguments are scan_vjp(body, body_vjp, init, scan_inputs[, params][, "
            "checkpoints][, options])");
    else {
        using step = typename scan_param_call<Body, State, Inputs, Params, LeadingAxis>::result;
        return is_valid_scan<callable_returning<step>, State, Inputs,
            LeadingAxis>(); // the other requirements
    }
    return false;
}

/// True if the types of a call of a pullback are valid, otherwise a compile-time error of one sentence.
template <class Step, class BodyVjp, class State, class Inputs, class Params, class CtStates, class CtOutputs,
    class CtInputs, class CtParams, bool LeadingAxis>
consteval bool is_valid_pullback()
{
    using ct_outputs = decltype(detail::evaluated_inputs(std::declval<CtOutputs const&>()));
    if constexpr (!std::is_constructible_v<State, CtStates const&>)
        static_assert(never<CtStates>, "xloom::scan_vjp: the pullback's arguments are pullback(ct_states, "
                                       "ct_outputs), ct_states of the types of the states");
    else if constexpr (!every_leaf<is_scan_input, ct_outputs> ||
                       !have_same_items<leaves_t<decltype(Step::scan_outputs)>, ct_outputs>)
        static_assert(never<CtOutputs>,
            "xloom::scan_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with "
            "a "
            "tensor for each scan output, with items of its type; std::tuple() where there are none");
    else if constexpr (!scan_vjp_call<BodyVjp, State, Inputs, Params, ct_outputs, State, CtInputs, CtParams,
                           LeadingAxis>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::scan_vjp: the VJP must be callable as body_vjp(state const&..., element const&..., param "
            "const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param "
            "cotangent&...)");
    else
        return true;
    return false;
}

/// True if the types of a call of scan_backward_into are valid, otherwise a compile-time error of one
/// sentence.
template <class Body, class BodyVjp, class State, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, bool LeadingAxis>
consteval bool is_valid_scan_backward_into()
{
    using ct_states = leaves_t<CtStates>;
    using ct_inputs = leaves_t<CtInputs>;
    using ct_params = leaves_t<CtParams>;
    if constexpr (!is_flat<bare<CtStates>> || !is_flat<bare<CtInputs>> || !is_flat<bare<CtParams>>)
        static_assert(never<CtStates>, "xloom::scan_backward_into: a pack is one value or a flat std::tuple "
                                       "of values, but a std::tuple is inside a std::tuple");
    else if constexpr (!every_leaf<is_scan_input, Inputs> || !every_leaf<is_scan_input, CtOutputs> ||
                       !every_leaf<is_scan_output, ct_inputs>)
        static_assert(never<CtInputs>,
            "xloom::scan_backward_into: scan_inputs, ct_outputs and ct_inputs are tensors with at least one "
            "axis; the arguments are scan_backward_into(body, body_vjp, scan_inputs, params, ct_outputs, "
            "ct_states, ct_inputs, ct_params, residuals), with std::tuple() where there are none");
    else if constexpr (!every_leaf<is_writable, ct_states> || !every_leaf<is_writable, ct_inputs> ||
                       !every_leaf<is_writable, ct_params> || !outlives_call<CtStates> ||
                       !outlives_call<CtInputs> || !outlives_call<CtParams>)
        static_assert(never<CtStates>,
            "xloom::scan_backward_into: ct_states, ct_inputs and ct_params are written in place, so each "
            "must be a variable that is not const, or a view of one; pass several as std::tie(a, b)");
    else if constexpr (!have_same_items<leaves_t<State>, ct_states>)
        static_assert(never<CtStates>, "xloom::scan_backward_into: there must be a cotangent for each state, "
                                       "with items of the state's type");
    else if constexpr (!have_same_items<Inputs, ct_inputs>)
        static_assert(never<CtInputs>, "xloom::scan_backward_into: there must be a cotangent for each scan "
                                       "input, with items of the input's type");
    else if constexpr (std::tuple_size_v<const_leaves_t<Params>> != std::tuple_size_v<ct_params>)
        static_assert(
            never<CtParams>, "xloom::scan_backward_into: there must be a cotangent for each of params");
    else if constexpr (!scan_vjp_call<BodyVjp, State, Inputs, Params, CtOutputs, CtStates, CtInputs, CtParams,
                           LeadingAxis>::is_valid)
        static_assert(never<BodyVjp>,
            "xloom::scan_backward_into: the VJP must be callable as body_vjp(state const&..., element "
            "const&..., param const&..., output cotangent const&..., state cotangent&..., element "
            "cotangent&..., param cotangent&...)");
    else
        return true;
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

template <bool LeadingAxis, class Body, class States, class Inputs, class Params, class Outputs, class State>
void scan_forward_into(Body& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, scan_residuals<State>& residuals, scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    if constexpr (is_valid_scan_forward_into<Body, States, inputs, Params, Outputs, State, LeadingAxis>()) {
        static constexpr std::string_view op = "xloom::scan_forward_into";
        inputs const evaluated = detail::evaluated_inputs(scan_inputs);
        auto const parameters = detail::const_leaves(detail::leaves(params));
        scan_record<State>& record = record_of(residuals);
        detail::check_ranks(op, "scan_inputs", evaluated);
        record.states.start(op, check_scan(op, detail::shapes_of(evaluated), leaf_count<Outputs>, options),
            /*is_exact*/ true);
        recording_body<0, leaf_count<States>, leaf_count<States> + std::tuple_size_v<inputs>,
            bare<decltype(record.states)>, Body, bare<decltype(parameters)>>
            recording(record.states, body, parameters);
        run_scan_into<LeadingAxis>(
            op, recording, detail::leaves(states), evaluated, detail::leaves(scan_outputs), options);
        auto const shapes = detail::shapes_of(detail::leaves(scan_outputs));
        record.output_shapes.assign(shapes.begin(), shapes.end());
        record.states.finish();
    }
}

template <bool LeadingAxis, class Body, class BodyVjp, class Inputs, class Params, class CtOutputs,
    class CtStates, class CtInputs, class CtParams, class State>
void scan_backward_into(Body& body, BodyVjp& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    scan_residuals<State>& residuals, scan_options const& options)
{
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    using outputs = decltype(detail::evaluated_inputs(ct_outputs));
    if constexpr (is_valid_scan_backward_into<Body, BodyVjp, State, inputs, Params, outputs, CtStates,
                      CtInputs, CtParams, LeadingAxis>()) {
        static constexpr std::string_view op = "xloom::scan_backward_into";
        inputs const evaluated = detail::evaluated_inputs(scan_inputs);
        outputs const evaluated_cts = detail::evaluated_inputs(ct_outputs);
        backward_operands const operands{detail::const_leaves(detail::leaves(evaluated)),
            detail::const_leaves(detail::leaves(params)), detail::const_leaves(detail::leaves(evaluated_cts)),
            detail::leaves(ct_states), detail::leaves(ct_inputs), detail::leaves(ct_params)};
        scan_record<State>& record = record_of(residuals);
        detail::check_scan_backward(op, record.states, record.output_shapes, operands, options);
        auto const run_body = [&](auto const&... arguments) { detail::call_body(body, arguments...); };
        detail::run_scan_backward<LeadingAxis>(op, record.states, run_body, body_vjp, operands, options);
    }
}

} // namespace detail

/// Runs scan_into with a body that has parameters, and keeps the states that scan_backward_into needs.
///
///     for t in range(T):
///         keep states if residuals' checkpoint chooses iteration t
///         body(states, x[t], params, y[t])
///
/// body(state&..., element const&..., param const&..., output&...) -> void, as in scan_into. params is one
/// value or a flat std::tuple of values of any type (std::tie for variables): whatever has a gradient and is
/// no state or scan input, such as weights.
///
/// Errors    as scan_into; option_error: the states to keep do not fit in memory. If a body throws, the
///           residuals cannot be used for a backward pass.
/// Cost      that of scan_into, and a copy of every state that is kept: see checkpoint. Allocates before the
///           first iteration only, and nothing if the residuals have the memory from an earlier call.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example   scan_backward_into has one.
template <class Body, class States, class Inputs, class Params, class Outputs, class State>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, scan_residuals<State>& residuals)
{
    detail::scan_forward_into<true>(body, static_cast<States&&>(states), scan_inputs, params,
        static_cast<Outputs&&>(scan_outputs), residuals, {});
}

/// Runs scan_forward_into with axes, directions or a length.
template <class Body, class States, class Inputs, class Params, class Outputs, class State>
void scan_forward_into(Body&& body, States&& states, Inputs const& scan_inputs, Params const& params,
    Outputs&& scan_outputs, scan_residuals<State>& residuals, scan_options const& options)
{
    detail::scan_forward_into<false>(body, static_cast<States&&>(states), scan_inputs, params,
        static_cast<Outputs&&>(scan_outputs), residuals, options);
}

/// Computes the cotangents of a scan's operands from those of its results, by the VJP of its body.
///
///     for t in reversed(range(T)):
///         ct_x[t] = 0
///         body_vjp(states before t, x[t], params, ct_y[t], ct_states, ct_x[t], ct_params)
///
/// body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state
/// cotangent&..., element cotangent&..., param cotangent&...) -> void. A state's cotangent is that of the
/// state after the iteration, which body_vjp replaces by that of the state before it; it adds to the
/// cotangents of the element, which is zeros at first, and of the parameters. check_vjp tests a body_vjp. The
/// body is that of scan_forward_into, which computes the states again that were not kept; the outputs that it
/// then writes are discarded.
///
/// Shapes    ct_outputs as the scan outputs, ct_states as the states, ct_inputs as the scan inputs, ct_params
///           as the parameters.
/// Options   those of the forward pass.
/// Errors    before the first write: shape_error: a cotangent's shape; residuals of another length.
///           option_error: no forward pass has finished with the residuals. overlap_error: a cotangent that is
///           written shares memory with another operand. Exceptions of the bodies propagate; the cotangents
///           then hold the values written so far.
/// Order     from the last iteration to the first, with the same bits for every checkpoint.
/// Cost      T runs of body_vjp, and the runs of the body that the checkpoint states. Allocates before the
///           first iteration only. The residuals can be used again: then all states but the first are
///           computed again.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto y = xt::xtensor<double, 1>::from_shape({3});
/// double h = 0, w = 0.5;
/// auto const body = [](double& h, double x_t, double w, double& y_t) { y_t = h = w * h + x_t; };
/// auto const body_vjp = [](double h, double, double w, double ct_y, double& ct_h, double& ct_x, double& ct_w) {
///     ct_x = ct_h + ct_y;
///     ct_w += ct_x * h;
///     ct_h = ct_x * w;
/// };
/// xloom::scan_residuals<double> residuals(xloom::checkpoint::sqrt());
/// xloom::scan_forward_into(body, h, x, w, y, residuals);
/// y; // = [1, 2.5, 4.25]
/// xt::xtensor<double, 1> const ct_y = {1, 1, 1};
/// auto ct_x = xt::xtensor<double, 1>::from_shape({3});
/// double ct_h = 0, ct_w = 0;
/// xloom::scan_backward_into(body, body_vjp, x, w, ct_y, ct_h, ct_x, ct_w, residuals);
/// ct_x; // = [1.75, 1.5, 1]
/// ct_w; // = 4
/// ct_h; // = 0.875
/// ```
template <class Body, class BodyVjp, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, class State>
void scan_backward_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    scan_residuals<State>& residuals)
{
    detail::scan_backward_into<true>(body, body_vjp, scan_inputs, params, ct_outputs,
        static_cast<CtStates&&>(ct_states), static_cast<CtInputs&&>(ct_inputs),
        static_cast<CtParams&&>(ct_params), residuals, {});
}

/// Runs scan_backward_into with the axes, directions or length of the forward pass.
template <class Body, class BodyVjp, class Inputs, class Params, class CtOutputs, class CtStates,
    class CtInputs, class CtParams, class State>
void scan_backward_into(Body&& body, BodyVjp&& body_vjp, Inputs const& scan_inputs, Params const& params,
    CtOutputs const& ct_outputs, CtStates&& ct_states, CtInputs&& ct_inputs, CtParams&& ct_params,
    scan_residuals<State>& residuals, scan_options const& options)
{
    detail::scan_backward_into<false>(body, body_vjp, scan_inputs, params, ct_outputs,
        static_cast<CtStates&&>(ct_states), static_cast<CtInputs&&>(ct_inputs),
        static_cast<CtParams&&>(ct_params), residuals, options);
}

} // namespace xloom

namespace xloom {

/// The cotangents that a scan's pullback returns.
template <class State, class Inputs, class Params>
struct scan_cotangents {
    State init;
    Inputs scan_inputs;
    Params params;
};

/// The result of scan_vjp: those of scan, and the pullback.
template <class State, class ScanOutputs, class Pullback>
struct scan_vjp_result {
    State final_state;
    ScanOutputs scan_outputs;
    Pullback pullback;
};

namespace detail {

/// The function from the cotangents of a scan's results to those of its operands.
template <bool LeadingAxis, class Step, class Body, class BodyVjp, class Init, class Inputs, class Params>
class scan_pullback {
    using state = owned_t<Init>;
    using cotangents = scan_cotangents<state, owned_t<Inputs>, owned_t<Params>>;
    static constexpr std::string_view op = "xloom::scan_vjp";

public:
    scan_pullback(Body body, BodyVjp body_vjp, held_pack_t<Inputs> inputs, held_pack_t<Params> params,
        checkpoint const& checkpoints, scan_options const& options)
        : body_(std::move(body)),
          body_vjp_(std::move(body_vjp)),
          inputs_(std::move(inputs)),
          params_(std::move(params)),
          residuals_(checkpoints),
          options_(options)
    {}

    /// Runs the scan.
    auto run_forward(state init)
    {
        auto const inputs = detail::const_leaves(detail::leaves(inputs_));
        auto const params = detail::const_leaves(detail::leaves(params_));
        scan_record<state>& record = record_of(residuals_);
        detail::check_ranks(op, "scan_inputs", inputs);
        record.states.start(op,
            check_scan(op, detail::shapes_of(inputs), leaf_count<decltype(Step::scan_outputs)>, options_),
            true);
        constexpr std::size_t states = leaf_count<state>;
        recording_body<0, states, states + std::tuple_size_v<bare<decltype(inputs)>>,
            bare<decltype(record.states)>, Body, bare<decltype(params)>>
            recording(record.states, body_, params);
        auto result = run_scan<Step, static_length<bare<decltype(inputs)>>::value, LeadingAxis>(
            op, recording, std::move(init), inputs, options_);
        auto const shapes = detail::shapes_of(detail::leaves(result.scan_outputs));
        record.output_shapes.assign(shapes.begin(), shapes.end());
        record.states.finish();
        return result;
    }

    /// Returns the cotangents of init, scan_inputs and params.
    template <class CtStates, class CtOutputs>
    cotangents operator()(CtStates const& ct_states, CtOutputs const& ct_outputs)
    {
        auto const inputs = detail::const_leaves(detail::leaves(inputs_));
        auto const params = detail::const_leaves(detail::leaves(params_));
        decltype(auto) body_vjp = detail::vjp_of<leaf_count<state>, std::tuple_size_v<bare<decltype(inputs)>>,
            std::tuple_size_v<bare<decltype(params)>>>(body_, body_vjp_);
        if constexpr (is_valid_pullback<Step, bare<decltype(body_vjp)>, state, bare<decltype(inputs)>, Params,
                          CtStates, CtOutputs, owned_t<Inputs>, owned_t<Params>, LeadingAxis>()) {
            cotangents result{state(ct_states), detail::zeros_like_pack<Inputs>(inputs),
                detail::zeros_like_pack<Params>(params)};
            auto const evaluated = detail::evaluated_inputs(ct_outputs);
            backward_operands const operands{inputs, params, detail::const_leaves(detail::leaves(evaluated)),
                detail::leaves(result.init), detail::leaves(result.scan_inputs),
                detail::leaves(result.params)};
            scan_record<state>& record = record_of(residuals_);
            detail::check_scan_backward(op, record.states, record.output_shapes, operands, options_);
            auto const run_body = [&](auto const& states, auto const& x, auto const& parameters,
                                      auto const&) {
                Step step = detail::call_body(body_, detail::const_leaves(states), x, parameters);
                detail::for_each_leaf(detail::leaves(step.state),
                    [&](auto i, auto& value) { detail::assign_carried(std::get<i>(states), value); });
            };
            detail::run_scan_backward<LeadingAxis>(op, record.states, run_body, body_vjp, operands, options_);
            return result;
        } else {
            return {}; // a value, so that one mistake gives one error
        }
    }

private:
    Body body_;
    BodyVjp body_vjp_;
    held_pack_t<Inputs> inputs_;
    held_pack_t<Params> params_;
    scan_residuals<state> residuals_;
    scan_options options_;
};

template <bool LeadingAxis, class Body, class BodyVjp, class Init, class Inputs, class Params>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params,
    checkpoint const& checkpoints, scan_options const& options)
{
    using state = owned_t<Init>;
    using inputs = const_leaves_t<held_pack_t<Inputs>>;
    if constexpr (is_valid_scan_vjp<std::remove_reference_t<Body>, state, inputs, Params, LeadingAxis>()) {
        using step = bare<typename scan_param_call<std::remove_reference_t<Body>, state, inputs, Params,
            LeadingAxis>::result>;
        scan_pullback<LeadingAxis, step, std::decay_t<Body>, std::decay_t<BodyVjp>, Init, Inputs, Params>
            pullback(static_cast<Body&&>(body), static_cast<BodyVjp&&>(body_vjp),
                detail::hold(static_cast<Inputs&&>(scan_inputs)), detail::hold(static_cast<Params&&>(params)),
                checkpoints, options);
        auto result = pullback.run_forward(state(static_cast<Init&&>(init)));
        return scan_vjp_result<state, decltype(result.scan_outputs), decltype(pullback)>{
            std::move(result.final_state), std::move(result.scan_outputs), std::move(pullback)};
    } else {
        return scan_vjp_result<state, std::tuple<>,
            no_pullback>{}; // a value, so that one mistake gives one error
    }
}

} // namespace detail

/// Runs scan with a body that has parameters, and returns its results with a pullback, the function from
/// their cotangents to the cotangents of init, scan_inputs and params.
///
///     final_state, scan_outputs = scan(lambda *args: body(*args, *params), init, scan_inputs)
///     pullback(ct_states, ct_outputs) = ct_init, ct_scan_inputs, ct_params
///
/// body(state const&..., element const&..., param const&...) -> scan_step, as in scan. params is one value or
/// a flat std::tuple of values: whatever has a gradient and is no state or scan input, such as weights.
/// body_vjp is that of scan_backward_into, and check_vjp tests it; or recorded_with<Tape>(), which derives it from
/// a generic body. std::tuple{} stands for no inputs, params or outputs.
///
/// Shapes    as scan; each cotangent as its value.
/// Types     as scan. A parameter is a tensor, or a scalar that 0 can be converted to.
/// Options   checkpoints (all): which states are kept until the pullback is called. scan_options.
/// Errors    as scan; the pullback: shape_error: a cotangent's shape. Exceptions of the bodies propagate.
/// Order     the body_vjp runs from the last iteration to the first; same bits for every checkpoint.
/// Cost      as scan, a copy of every state that is kept; the pullback: T runs of body_vjp, and the runs of the
///           body that the checkpoint states. scan_forward_into and scan_backward_into use the caller's
///           memory. The pullback can be called again: then all states but the first are computed again.
/// Aliasing  tensors that are variables are not copied: they must live, unchanged, until the last call of the
///           pullback. Other operands and both callables are kept in the pullback.
/// Source    JAX's jax.vjp of jax.lax.scan.
/// Example
/// ```cpp
/// xt::xtensor<double, 1> const x = {1, 2, 3};
/// auto const body = [](double h, double x_t, double w) { return xloom::scan_step{w * h + x_t, w * h + x_t}; };
/// auto const body_vjp = [](double h, double, double w, double ct_y, double& ct_h, double& ct_x, double& ct_w) {
///     ct_x = ct_h + ct_y;
///     ct_w += ct_x * h;
///     ct_h = ct_x * w;
/// };
/// auto [h, y, pullback] = xloom::scan_vjp(body, body_vjp, 0.0, x, 0.5);
/// y; // = [1, 2.5, 4.25]
/// auto const [ct_h, ct_x, ct_w] = pullback(0.0, xt::xtensor<double, 1>{1, 1, 1});
/// ct_x; // = [1.75, 1.5, 1]
/// ct_w; // = 4
/// ```
template <class Body, class BodyVjp, class Init, class Inputs, class Params = std::tuple<>>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params = {},
    checkpoint const& checkpoints = checkpoint::all())
{
    return detail::scan_vjp<true>(static_cast<Body&&>(body), static_cast<BodyVjp&&>(body_vjp),
        static_cast<Init&&>(init), static_cast<Inputs&&>(scan_inputs), static_cast<Params&&>(params),
        checkpoints, {});
}

/// Runs scan_vjp with axes, directions or a length.
template <class Body, class BodyVjp, class Init, class Inputs, class Params>
auto scan_vjp(Body&& body, BodyVjp&& body_vjp, Init&& init, Inputs&& scan_inputs, Params&& params,
    checkpoint const& checkpoints, scan_options const& options)
{
    return detail::scan_vjp<false>(static_cast<Body&&>(body), static_cast<BodyVjp&&>(body_vjp),
        static_cast<Init&&>(init), static_cast<Inputs&&>(scan_inputs), static_cast<Params&&>(params),
        checkpoints, options);
}

} // namespace xloom

// ==== xloom/scatter_nd.hpp ====
// The ScatterND operator: writes updates to, or reduces them into, the slices that indices name.

// ==== xloom/run/indexed/scatter_copy.hpp ====
// ScatterND into a copy of data: fused with the copy where that is faster, otherwise the copy, then the
// updates.

// ==== xloom/kernel/scatter_rows.hpp ====
// A fused copy and ScatterND, which applies each slice's updates while the slice is in cache.

// ==== xloom/kernel/updates_by_slice.hpp ====
// The updates of a scatter, stably sorted by slice.

namespace xloom::kernel {

/// The indices of updates, stably sorted by slice: those of a slice are at positions [first(slice),
/// end(slice)).
///
/// Cost: a number for each slice and each update; offsets are read twice.
class updates_by_slice {
public:
    /// Requires that `read` gives indices of slices, below `slices`, or `dropped_offset`.
    updates_by_slice(offset_reader const& read, std::size_t slices)
        : ends_(std::make_unique_for_overwrite<std::size_t[]>(slices + read.count())),
          numbers_(ends_.get() + slices)
    {
        std::fill_n(ends_.get(), slices, std::size_t{0});
        for_each_named(read, 0, read.count(),
            [&](std::ptrdiff_t slice, std::size_t) { ++ends_[static_cast<std::size_t>(slice)]; });
        for (std::size_t slice = 0; slice < slices; ++slice) {
            std::size_t const count = ends_[slice];
            ends_[slice] = count_;
            count_ += count;
        }
        // Counting sort: ends_[slice] is the slice's first position, and each of its updates increments it.
        for_each_named(read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t number) {
            numbers_[ends_[static_cast<std::size_t>(slice)]++] = number;
        });
    }

    std::size_t first(std::size_t slice) const { return slice == 0 ? 0 : ends_[slice - 1]; }
    std::size_t end(std::size_t slice) const { return ends_[slice]; }

    /// Returns the update at a position, the last one for positions past the end. Requires at least one
    /// update.
    std::size_t number(std::size_t position) const { return numbers_[(std::min)(position, count_ - 1)]; }

private:
    std::unique_ptr<std::size_t[]> ends_; ///< the ends of all slices, then the indices of updates
    std::size_t* numbers_;
    std::size_t count_ = 0;
};

} // namespace xloom::kernel

namespace xloom::kernel {

namespace detail {

/// Computes to = reduce(old, update), where `to` may be `old`, and prefetches a cache line of `next_update`
/// for each one computed.
///
/// Why one at a time: slices are contiguous but updates are not, and prefetches issued all at once delay each
/// other.
template <class T, class Reduce>
void apply_to_row(
    T const* old, T const* update, T const* next_update, T* to, std::size_t count, Reduce& reduce)
{
    constexpr std::size_t line = elements_per_cache_line<T>;
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
        __builtin_prefetch(next_update + i, 0, 2);
        T items[line];
        for (std::size_t j = 0; j < line; ++j)
            items[j] = static_cast<T>(reduce(T(old[i + j]), update[i + j]));
        for (std::size_t j = 0; j < line; ++j)
            to[i + j] = items[j];
    }
    for (; i < count; ++i)
        to[i] = static_cast<T>(reduce(T(old[i]), update[i]));
}

} // namespace detail

/// Writes slices `from` .. `to` - 1 of `output`: those of data, of `size` contiguous items, with their
/// updates applied. Allocates nothing.
template <class T, class Reduce>
void scatter_rows(updates_by_slice const& order, std::size_t from, std::size_t to, T const* data,
    T const* updates, T* output, std::size_t size, Reduce& reduce)
{
    constexpr auto keep = [](T item, T const&) { return item; };
    for (std::size_t slice = from; slice < to; ++slice) {
        T const* old = data + slice * size;
        T* const row = output + slice * size;
        if (order.first(slice) == order.end(slice))
            detail::apply_to_row(old, old, old, row, size, keep);
        for (std::size_t i = order.first(slice); i < order.end(slice); ++i, old = row)
            kernel::with_reduction<T>(reduce, [&](auto& function) {
                detail::apply_to_row(old, updates + order.number(i) * size,
                    updates + order.number(i + tuning::update_prefetch_distance) * size, row, size, function);
            });
    }
}

} // namespace xloom::kernel

namespace xloom::detail {

/// True if the result can be filled slice by slice in uninitialised storage: a built-in reduction, trivial
/// items, row-major, no fixed shape.
template <class Data, class Reduce>
inline constexpr bool can_fuse =
    is_built_in<Reduce> && std::is_trivial_v<item_t<Data>> && is_always_row_major<owned_t<Data>> &&
    !is_fixed_shape<shape_type_t<owned_t<Data>>>;

/// True if a count or a sum must be kept for each slice from one update to the next.
template <class T, class Reduce>
bool is_tracked(scatter_nd_options const& options, Reduce const& reduce)
{
    bool const has_sums = is_small_float<T> && options.accumulate_in_float && !replaces(reduce);
    return has_sums || needs_tracking(tracking_of(options, replaces(reduce)), replaces(reduce));
}

/// True if fusing the copy and the updates is expected to be faster: data exceeds the cache, slices are long
/// enough to amortise sorting the updates, there is about one update per slice (a quarter to four), and each
/// of `threads` has at least 8 slices.
template <class Call>
bool is_fusing_worthwhile(Call const& call, std::size_t threads)
{
    std::size_t const slice_bytes = call.slice_size() * sizeof(typename Call::item);
    std::size_t const slices = call.slices(), updates = call.tuples().count;
    return slice_bytes >= tuning::fused_slice_bytes && slices * slice_bytes >= tuning::fused_data_bytes &&
           slices / 8 >= threads && updates >= slices / 4 && updates / 4 <= slices;
}

/// Copies slices from `data` to `output` and applies their updates; each thread processes a range of slices.
template <class T, class Call, class Reduce, class Policy>
void run_fused(Call const& call, T const* data, T* output, Reduce& reduce, Policy const& policy)
{
    std::size_t const slices = call.slices(), size = call.slice_size();
    kernel::updates_by_slice const order(call.reader(), slices);
    std::size_t const parts = parts_for(policy, slices * size);
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const begin = begin_of_part(part, parts, slices),
                          end = begin_of_part(part + 1, parts, slices);
        kernel::scatter_rows(order, begin, end, data, call.updates(), output, size, reduce);
    });
}

/// True if the items of a tensor and those of its copy are all distinct: not if the type is a view or shares
/// its items, nor if strides of 0, which a copy keeps, repeat an item.
template <tensor Data>
bool is_copied(Data const& data, owned_t<Data> const& copy)
{
    if constexpr (is_always_row_major<owned_t<Data>>)
        return true;
    else
        return is_unique(layout_of(copy)) && !overlap(memory_of(copy), memory_of(data));
}

/// Returns a copy of data whose items share no memory with data or with each other.
template <tensor Data>
owned_t<Data> copy_of(std::string_view op, Data const& data)
{
    using result_type = owned_t<Data>;
    result_type copy(data);
    if (is_copied(data, copy))
        return copy;
    if constexpr (requires(shape const& dims) { enable_tensor<result_type>::make(dims); }) {
        result_type made = enable_tensor<result_type>::make(shape_of(data));
        copy_items(data, made);
        return made;
    }
    fail<overlap_error>(op, ": the result must have memory of its own for every item, but copies of data's "
                            "type refer to data's items or "
                            "repeat one. Copy the container that data refers to, or call scatter_nd_into.");
}

/// Returns the result in newly allocated memory; data is not changed.
template <class Call, tensor Data, class Reduce, class Policy>
owned_t<Data> scattered_copy(Call const& call, Data const& data, Reduce& reduce, Policy const& policy)
{
    using T = item_t<Data>;
    if constexpr (can_fuse<Data, Reduce>)
        if (!is_tracked<T>(call.options(), reduce) && is_row_major(detail::layout_of(data)) &&
            is_fusing_worthwhile(call, policy.concurrency())) {
            owned_t<Data> result = enable_tensor<owned_t<Data>>::make(detail::shape_of(data));
            run_fused(call, enable_tensor<Data>::data(data), enable_tensor<owned_t<Data>>::data(result),
                reduce, policy);
            return result;
        }
    owned_t<Data> result = copy_of(call.op(), data);
    run_scatter_nd(call, result, reduce, policy);
    return result;
}

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_types.hpp ====
// The requirements on the types of a call of scatter_nd or scatter_nd_into, with their compile-time errors.

namespace xloom::detail {

/// A callable reduce(old item, update item) that returns the new item.
template <class Reduce, class T>
concept reduces_items =
    requires(Reduce& reduce, T old, T const& update) { static_cast<T>(reduce(std::move(old), update)); };

/// True if the types of a call of scatter_nd (InPlace: scatter_nd_into) are valid, otherwise a compile-time
/// error of one sentence.
template <bool InPlace, class Data, class Indices, class Updates, class Reduce, class Policy>
consteval bool is_valid_scatter_nd()
{
    if constexpr (execution_policy<Reduce> || !execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::scatter_nd: the arguments are scatter_nd(data, indices, "
                                     "updates[, reduce][, options][, policy])");
    else if constexpr (!tensor<Data> && (InPlace || !lazy<bare<Data>>))
        static_assert(never<Data>,
            "xloom::scatter_nd: data must be a tensor, and for scatter_nd_into a tensor in memory");
    else if constexpr (InPlace && !is_writable<std::remove_reference_t<Data>>::value)
        static_assert(
            never<Data>, "xloom::scatter_nd_into: data is updated in place, so it must not be const");
    else if constexpr (InPlace && !outlives_call<Data>)
        static_assert(never<Data>,
            "xloom::scatter_nd_into: data is updated in place, so it must be a variable or a view of one");
    else if constexpr (!are_valid_scatter_nd_indices<Indices>())
        return false;
    else if constexpr (!std::is_same_v<item_t<Updates>, item_t<Data>>)
        static_assert(
            never<Updates>, "xloom::scatter_nd: updates must have data's element type; convert them first");
    else if constexpr (!is_named<Reduce> && !reduces_items<Reduce, item_t<Data>>)
        static_assert(never<Reduce>,
            "xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item "
            "for data's elements; strings can be joined only (reduce_add), complex numbers have no order");
    else
        return true;
    return false;
}

} // namespace xloom::detail

namespace xloom {

namespace detail {

/// True if data is updated in place and then moved into the result. A trivially copyable type is copied: it
/// may be a view.
template <class Data>
inline constexpr bool is_moved_in = !std::is_reference_v<Data> && !std::is_const_v<Data> &&
                                    !tensor_view<Data> && !std::is_trivially_copyable_v<Data>;

/// Runs ScatterND in place, in a copy of data, or in data that is moved in; the latter is moved into the
/// result last, so that no error loses it.
template <bool InPlace, class Data, class Indices, class Updates, class Reduce, class Policy>
auto scatter_nd(std::string_view op, Data&& data, Indices const& indices, Updates const& updates,
    Reduce& reduce, scatter_nd_options const& options, Policy const& policy)
{
    if constexpr (!is_valid_scatter_nd<InPlace, Data, Indices, Updates, Reduce, Policy>()) {
        return owned_t<Data>(data); // a value, so that one mistake gives one error
    } else if constexpr (lazy<bare<Data>>) {
        return scatter_nd<false>(op, owned_t<Data>(data), indices, updates, reduce, options, policy);
    } else {
        auto const [index_tensor, update_tensor] = detail::evaluated_inputs(std::tie(indices, updates));
        check_rank(op, "data", detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, "updates", detail::rank_of(update_tensor));
        scatter_nd_options const chosen = options_with(op, reduce, options);
        scatter_call<bare<decltype(index_tensor)>, bare<decltype(update_tensor)>> const call(
            op, data, index_tensor, update_tensor, chosen);
        check_reduction<item_t<Data>, Reduce>(op, chosen);
        if constexpr (!InPlace && !is_moved_in<Data>) {
            return scattered_copy(call, data, reduce, policy);
        } else {
            check_scatter_overlap(op, detail::memory_of(data), detail::memory_of(index_tensor),
                detail::memory_of(update_tensor));
            run_scatter_nd(call, data, reduce, policy);
            if constexpr (!InPlace)
                return owned_t<Data>(std::move(data));
        }
    }
}

/// An argument before the options: a reduction, or a mistake.
template <class F>
concept not_options = !std::is_same_v<bare<F>, scatter_nd_options>;

inline constexpr std::string_view scatter_nd_name = "xloom::scatter_nd",
                                  scatter_nd_into_name = "xloom::scatter_nd_into";

} // namespace detail

/// Copies data and writes updates to, or reduces them into, the slices that indices name. Data that is moved
/// in is not copied: x = scatter_nd(std::move(x), indices, updates).
///
///     output = data
///     for i in ndindex(indices.shape[:-1]):                       # in row-major order
///         output[indices[i]] = reduce(output[indices[i]], updates[i])
///
/// Shapes    data [d0 .. d(r-1)], indices [i0 .. i(q-2), k], updates exactly [i0 .. i(q-2), dk .. d(r-1)]; q,
///           r >= 1, 0 <= k <= r; the result as data. With k = r an update is one item; a single one (q = 1)
///           may be a plain number. Any layout.
/// Types     data and updates of one type, any; indices of any integer type. A negative index counts from the
///           end of its axis.
/// Options   reduction (none): chosen at run time; an option_error if it is not defined for the type. mean
///           divides the sum of the old value and the updates by their number. bounds (check). duplicates
///           (last). include_self (true). accumulate_in_float (false): if false, 16-bit and smaller floats
///           are rounded after each update. unique, sorted (false): promises, verified in debug builds, with
///           which threads need not sort the updates by owner.
/// Reduce    instead of options.reduction: a reduction (reduction::add), any callable reduce(old item, update
///           item) -> new item, or reduce_add, reduce_mul, reduce_max, reduce_min, with which a type that
///           lacks the operation is a compile error.
/// Policy    serial, or one with threads (xloom/tbb.hpp). The updates of a slice are applied in order, so
///           results are bitwise equal to those of serial. Threads are used where that is faster: for long
///           slices from two on, for single items from eight on unless most updates go to a few slices, or
///           with a promise. Several threads may call a callable at once, never for the same item: a long
///           slice is split among them.
/// Errors    before the first write, with data unchanged even if moved in: shape_error, option_error,
///           index_error (all offending positions and values), overlap_error, std::bad_alloc. Exceptions of a
///           callable propagate; data that was moved in is then left as by scatter_nd_into.
/// Order     row-major; with reduction::none the last of several updates of a slice takes effect (unspecified
///           in ONNX).
/// Cost      indices read twice, updates once, the indexed slices read and written; a copy of data unless it
///           is moved in, and of operands that are not row-major. duplicates::first, include_self = false,
///           mean: also one count per slice; duplicates::error, and unique in debug builds: one integer per
///           slice, or two per update where updates are few. For slices >= 1 KiB and data >= 1 MiB, copy and
///           updates may be fused: one more pass over indices and one allocation of an integer per slice and
///           update. accumulate_in_float: also a float per item. Threads: at most 128 KiB each.
/// Aliasing  data that is moved in must share no memory with indices or updates.
/// Source    ONNX ScatterND-11 to 18; infer_scatter_nd has ONNX's own shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> x = {1, 2, 3};
/// xt::xtensor<int, 2> const indices = {{2}, {0}, {2}};
/// xt::xtensor<int, 1> const updates = {10, 20, 30};
/// xloom::scatter_nd(x, indices, updates); // = [20, 2, 30]
/// xloom::scatter_nd(x, indices, updates, {.reduction = xloom::reduction::add}); // = [21, 2, 43]
/// x = xloom::scatter_nd(std::move(x), indices, updates, xloom::reduce_max); // in place
/// x; // = [20, 2, 30]
/// ```
template <class Data, class Indices, class Updates, class Policy = serial_policy>
auto scatter_nd(Data&& data, Indices const& indices, Updates const& updates,
    scatter_nd_options const& options = {}, Policy const& policy = {})
{
    return detail::scatter_nd<false>(detail::scatter_nd_name, std::forward<Data>(data), indices, updates,
        options.reduction, options, policy);
}

/// Runs scatter_nd with a callable as the reduction.
template <class Data, class Indices, class Updates, detail::not_options Reduce, class Policy = serial_policy>
auto scatter_nd(Data&& data, Indices const& indices, Updates const& updates, Reduce&& reduce,
    scatter_nd_options const& options = {}, Policy const& policy = {})
{
    return detail::scatter_nd<false>(
        detail::scatter_nd_name, std::forward<Data>(data), indices, updates, reduce, options, policy);
}

/// Rejects a policy in the place of the options, with the error of one in the place of the reduction.
template <class Data, class Indices, class Updates, detail::not_options Reduce, execution_policy Policy>
auto scatter_nd(
    Data&&, Indices const&, Updates const&, Reduce const&, Policy const&, scatter_nd_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd<false, Data, Indices, Updates, Policy, Policy>());
    return detail::owned_t<Data>();
}

/// Runs ScatterND in place: data is the caller's variable, or a view of one, of any layout.
///
/// Errors    as scatter_nd, before the first write; overlap_error also if items of data share memory, as in a
///           broadcast view. After an exception of a callable, data holds the values written so far (none, if
///           slices are tracked in a copy of data that is not row-major; an item that the callable took by
///           value may be moved-from).
/// Cost      as scatter_nd without the copy of data; nothing else is allocated.
/// Aliasing  data must share no memory with indices or updates.
template <class Data, class Indices, class Updates, class Policy = serial_policy>
void scatter_nd_into(Data&& data, Indices const& indices, Updates const& updates,
    scatter_nd_options const& options = {}, Policy const& policy = {})
{
    detail::scatter_nd<true>(detail::scatter_nd_into_name, std::forward<Data>(data), indices, updates,
        options.reduction, options, policy);
}

/// Runs scatter_nd_into with a callable as the reduction.
template <class Data, class Indices, class Updates, detail::not_options Reduce, class Policy = serial_policy>
void scatter_nd_into(Data&& data, Indices const& indices, Updates const& updates, Reduce&& reduce,
    scatter_nd_options const& options = {}, Policy const& policy = {})
{
    detail::scatter_nd<true>(
        detail::scatter_nd_into_name, std::forward<Data>(data), indices, updates, reduce, options, policy);
}

/// Rejects a policy in the place of the options, with the error of one in the place of the reduction.
template <class Data, class Indices, class Updates, detail::not_options Reduce, execution_policy Policy>
void scatter_nd_into(
    Data&&, Indices const&, Updates const&, Reduce const&, Policy const&, scatter_nd_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd<true, Data, Indices, Updates, Policy, Policy>());
}

} // namespace xloom

// ==== xloom/scatter_nd_vjp.hpp ====
// The derivative of ScatterND by data and updates, with every reduction.

// ==== xloom/check/scatter_nd_vjp.hpp ====
// Shape requirements of the derivative of ScatterND.

// ==== xloom/scatter_nd_vjp_options.hpp ====
// The options of scatter_nd_vjp and scatter_nd_vjp_into.

namespace xloom {

/// The handling of several values that equal the maximum or the minimum of a slot: each gets an even part of
/// the cotangent, or the first one in the order of application, the old value before all updates, gets it.
enum class ties : unsigned char { even, first };

/// Options of scatter_nd_vjp: those of the scatter_nd that is differentiated, and `ties`.
/// accumulate_in_float is missing: the rounding of intermediate values has no derivative.
struct scatter_nd_vjp_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    xloom::ties ties = xloom::ties::even; ///< of max and min; the others have none
    bool unique = false;                  ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;                  ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom

namespace xloom::detail {

/// Returns the options of the scatter that is differentiated.
constexpr scatter_nd_options forward_options(scatter_nd_vjp_options const& options)
{
    return {.reduction = options.reduction,
        .bounds = options.bounds,
        .duplicates = options.duplicates,
        .include_self = options.include_self,
        .unique = options.unique,
        .sorted = options.sorted};
}

/// Checks what ScatterND itself does not have: the shape of ct, and ties.
///
/// Errors    shape_error: ct does not have data's shape.  option_error: ties is no enumerator.
[[gnu::noinline]] constexpr void check_scatter_nd_vjp(
    std::string_view op, shape const& ct, shape const& data, scatter_nd_vjp_options const& options)
{
    if (ct != data)
        detail::fail<shape_error>(op,
            ": ct must have the shape of scatter_nd's result, which is data's, but ct is ", ct,
            " and data is ", data, ". Give it that shape.");
    if (options.ties > ties::first)
        detail::fail<option_error>(op, ": options.ties must be even or first, but it is number ",
            static_cast<int>(options.ties), ". Choose one.");
}

/// The memory of the operands of a call; that of an omitted output is std::nullopt.
struct scatter_nd_vjp_memory {
    memory_block ct, data, indices, updates;
    std::optional<memory_block> d_data{}, d_updates{};
};

/// Calls found(name, name) for every output that shares memory with an operand or the other output but must
/// not: d_data may be the tensor ct.
template <class Found>
constexpr void find_shared_outputs(scatter_nd_vjp_memory const& memory, Found&& found)
{
    auto const visit = [&](std::string_view name, std::optional<memory_block> const& output, bool may_be_ct) {
        if (!output)
            return;
        if (overlap(*output, memory.ct) && !(may_be_ct && is_same_memory(*output, memory.ct)))
            found(name, "ct");
        if (overlap(*output, memory.data))
            found(name, "data");
        if (overlap(*output, memory.indices))
            found(name, "indices");
        if (overlap(*output, memory.updates))
            found(name, "updates");
    };
    visit("d_data", memory.d_data, true);
    visit("d_updates", memory.d_updates, false);
    if (memory.d_data && memory.d_updates && overlap(*memory.d_data, *memory.d_updates))
        found("d_data", "d_updates");
}

inline fact_list describe_shared_outputs(scatter_nd_vjp_memory const& memory)
{
    fact_list pairs;
    find_shared_outputs(memory, [&](auto output, auto other) { pairs.add(output, " overlaps ", other); });
    return pairs;
}

/// Checks the shapes and the memory of the outputs.
///
/// Errors    shape_error: an output does not have the shape of its operand.  overlap_error: an output shares
///           memory with an operand or the other output, unless d_data is the tensor ct, or two of its items
///           do with each other.
[[gnu::noinline]] constexpr void check_scatter_nd_vjp_outputs(
    std::string_view op, scatter_nd_vjp_memory const& memory)
{
    auto const check_one = [=](std::string_view name, std::optional<memory_block> const& output,
                               std::string_view operand, memory_block const& expected) {
        if (output && output->layout.dims != expected.layout.dims)
            detail::fail<shape_error>(op, ": ", name, " must have the shape of ", operand, ", ",
                expected.layout.dims, ", but it is ", output->layout.dims, ". Give it that shape.");
        if (output)
            detail::check_unique(op, name, output->layout, "Write to a container.");
    };
    check_one("d_data", memory.d_data, "data", memory.data);
    check_one("d_updates", memory.d_updates, "updates", memory.updates);
    bool is_shared = false;
    detail::find_shared_outputs(memory, [&](auto, auto) { is_shared = true; });
    if (is_shared)
        detail::fail<overlap_error>(op,
            ": an output must have exclusive memory, or d_data be the tensor ct, but ",
            detail::describe_shared_outputs(memory), ". Copy one of the two.");
}

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_vjp_run.hpp ====
// The execution of a call of ScatterND's derivative, reduction by reduction, on contiguous operands.

// ==== xloom/kernel/scatter_gradients.hpp ====
// The derivatives of scatters that reduce: function objects that visit the updates, and loops over all items.

namespace xloom::kernel {

/// A function object that calls visit(offset of the slice, position of the update) for each update, where
/// kernel::scatter_nd expects one that applies updates.
template <class Visit>
struct visited_updates {
    Visit visit;

    template <class Updates, class T, class Reduce>
    void operator()(Updates const& updates, T*, T const*, Reduce&) const
    {
        updates.for_each(visit);
    }
};

/// Calls f with the size of a slice, which for single items is a compile-time constant.
template <class F>
void with_slice_size(std::size_t size, F const& f)
{
    if (size == 1)
        f(std::integral_constant<std::size_t, 1>());
    else
        f(size);
}

/// True if two values tie; NaN ties with NaN, and -0 with 0.
template <class T>
constexpr bool is_tied(T const& a, T const& b)
{
    bool const are_equal = !static_cast<bool>(a != b), is_nan_a = static_cast<bool>(a != a),
               is_nan_b = static_cast<bool>(b != b);
    return (are_equal | (is_nan_a & is_nan_b)) != 0; // no branch, which could not be predicted
}

/// The type in which products of T are computed: float for storage floats.
template <class T>
using product_t = std::conditional_t<xloom::detail::is_small_float<T>, float, T>;

/// Writes ct / count for items `from` .. `to` - 1 of contiguous slices of `size` items; `more` is added to the
/// count of each slice, and a count of 0 is taken as 1. `output` may be `ct`. Allocates nothing.
template <class T, class Count>
void divide_slices(Count const* counts, std::size_t more, std::size_t from, std::size_t to, T const* ct,
    T* output, std::size_t size)
{
    constexpr xloom::detail::divide_by_count divide;
    with_slice_size(size, [&](auto length) {
        for (std::size_t slice = from; slice < to; ++slice) {
            std::size_t const count = (std::max<std::size_t>)(counts[slice] + more, 1);
            for (std::size_t i = slice * length; i < (slice + 1) * length; ++i)
                output[i] = divide(ct[i], count);
        }
    });
}

/// Writes zeros to those of slices `from` .. `to` - 1 whose count is not 0. Allocates nothing.
template <class T, class Count>
void clear_counted(Count const* counts, std::size_t from, std::size_t to, T* output, std::size_t size)
{
    for (std::size_t slice = from; slice < to; ++slice)
        if (counts[slice] != 0)
            std::fill_n(output + slice * size, size, T{});
}

/// Writes the products of the values before an update of `length` items, and multiplies them by the update.
template <class Length, class Product, class T>
void multiply_before(
    Length length, Product* __restrict running, Product* __restrict before, T const* __restrict update)
{
    for (std::size_t i = 0; i < length; ++i) {
        before[i] = running[i];
        running[i] = static_cast<Product>(running[i] * static_cast<Product>(update[i]));
    }
}

/// Writes the gradient of an update: ct times the products of the values before and after it. If Product is T,
/// `gradient` holds the former instead of `before`. Then multiplies the products of the values after it by the
/// update.
template <class Length, class Product, class T>
void multiply_after(Length length, Product* __restrict after, T const* ct,
    [[maybe_unused]] Product const* before, T const* __restrict update, T* gradient)
{
    T* __restrict const to = gradient;
    for (std::size_t i = 0; i < length; ++i) {
        if constexpr (std::is_same_v<T, Product>) // gradient is before
            to[i] = static_cast<T>(ct[i] * static_cast<T>(to[i] * after[i]));
        else
            to[i] = static_cast<T>(static_cast<Product>(ct[i]) * static_cast<Product>(before[i] * after[i]));
        after[i] = static_cast<Product>(static_cast<Product>(update[i]) * after[i]);
    }
}

/// Adds 1 to the count of each item of an update that ties with the result, and writes T(1) to `tied` for it,
/// otherwise zero. Nothing is written to a null pointer.
template <class Length, class Count, class T>
void count_ties(Length length, Count* __restrict counts, T const* __restrict results,
    T const* __restrict update, T* __restrict tied)
{
    T const choice[] = {T{}, T(1)}; // no branch, which could not be predicted
    if (tied != nullptr)
        for (std::size_t i = 0; i < length; ++i)
            tied[i] = choice[is_tied(update[i], results[i])];
    for (std::size_t i = 0; i < length; ++i)
        counts[i] += is_tied(update[i], results[i]) ? 1u : 0u;
}

/// Writes, for items `from` .. `to` - 1, a count of 1 where the old value ties with the result, otherwise 0.
template <class T, class Count>
void count_old(T const* __restrict old, T const* __restrict results, std::size_t from, std::size_t to,
    Count* __restrict counts)
{
    for (std::size_t i = from; i < to; ++i)
        counts[i] = is_tied(old[i], results[i]) ? 1 : 0;
}

/// Writes ct / count for items `from` .. `to` - 1; a count of 0 is taken as 1.
template <class T, class Count>
void divide_items(T const* __restrict ct, Count const* __restrict counts, std::size_t from, std::size_t to,
    T* __restrict parts)
{
    constexpr xloom::detail::divide_by_count divide;
    for (std::size_t i = from; i < to; ++i)
        parts[i] = divide(ct[i], (std::max<std::size_t>)(counts[i], 1));
}

/// Writes, for items `from` .. `to` - 1, the part where the old value ties with the result, otherwise zero.
/// `output` may be `parts`.
template <class T>
void take_tied(T const* old, T const* results, T const* parts, std::size_t from, std::size_t to, T* output)
{
    for (std::size_t i = from; i < to; ++i) {
        T const part = parts[i]; // read in any case, so that the loop can be vectorised
        output[i] = is_tied(old[i], results[i]) ? part : T{};
    }
}

/// Writes, for items `from` .. `to` - 1, zero where `named` is not 0, otherwise ct. `output` may be `ct`.
template <class T, class Named>
void take_unnamed(Named const* named, T const* ct, std::size_t from, std::size_t to, T* output)
{
    for (std::size_t i = from; i < to; ++i) {
        T const value = ct[i];
        output[i] = named[i] != 0 ? T{} : value;
    }
}

/// Writes the gradient of an update of `length` items where it is the first value to tie with the result, and
/// notes that in `given`. Nothing is written to a null pointer.
template <class Length, class T>
void give_tied(
    Length length, unsigned char* given, T const* ct, T const* results, T const* update, T* gradient)
{
    for (std::size_t i = 0; i < length; ++i) {
        bool const gets = given[i] == 0 && is_tied(update[i], results[i]);
        if (gradient != nullptr)
            gradient[i] = gets ? ct[i] : T{};
        given[i] = static_cast<unsigned char>(given[i] | static_cast<unsigned char>(gets));
    }
}

/// A function object that gathers the parts of updates, where the output holds what count_ties wrote, and
/// zeros for updates that do not tie; the `copy` of kernel::gather_nd with the parts as data.
struct tied_parts {
    std::size_t size;

    template <class Slices, class T>
    void operator()(Slices const& slices, T const* parts, T* output) const
    {
        if (size == 1)
            slices.for_each([=](std::ptrdiff_t offset, std::size_t number) {
                T const zero{};
                T const* const choice[] = {&zero, parts + offset}; // no branch, as above
                output[number] = *choice[static_cast<bool>(output[number] != zero)];
            });
        else
            slices.for_each([=, count = size](std::ptrdiff_t offset, std::size_t number) {
                T const* __restrict const part = parts + offset;
                T* __restrict const gradient = output + number * count;
                for (std::size_t i = 0; i < count; ++i) {
                    T const value = part[i]; // read in any case, so that the loop can be vectorised
                    gradient[i] = static_cast<bool>(gradient[i] != T{}) ? value : T{};
                }
            });
    }
};

} // namespace xloom::kernel

// ==== xloom/run/indexed/named_slice_sets.hpp ====
// The sets of slices that the updates of a scatter name, made by several threads.

// ==== xloom/kernel/effective_updates.hpp ====
// The derivative of a scatter that replaces slices: which updates take effect, and the cotangents of those.

// ==== xloom/kernel/slice_set.hpp ====
// A set of slices with one bit for each.

namespace xloom::kernel {

/// A set of slices by their positions. One thread at a time may change it.
class slice_set {
public:
    using word = std::uint64_t;
    static constexpr std::size_t slices_per_word = 64;

    explicit slice_set(std::size_t slices) : words_((slices + slices_per_word - 1) / slices_per_word) {}

    bool contains(std::size_t slice) const
    {
        return (words_[slice / slices_per_word] >> slice % slices_per_word & 1) != 0;
    }

    /// Inserts a slice; returns true if it was not in the set.
    bool insert(std::size_t slice)
    {
        word& bits = words_[slice / slices_per_word];
        word const before = bits;
        bits |= word{1} << slice % slices_per_word;
        return bits != before;
    }

    /// Returns the number of words. Threads may access different words concurrently.
    std::size_t words() const { return words_.size(); }
    word& at(std::size_t i) { return words_[i]; }
    word at(std::size_t i) const { return words_[i]; }

private:
    std::vector<word> words_;
};

} // namespace xloom::kernel

namespace xloom::kernel {

/// A function object that writes the cotangents of updates in the order in which they are visited: that of its
/// slice to an update that is the first one to name the slice, if the slice was not in `visited`, otherwise
/// zeros. Inserts the slices into `visited`.
template <class T>
struct effective_updates {
    slice_set& visited;
    T const* ct;
    T* gradients;
    std::size_t size; ///< items of a slice

    /// Writes the cotangents. `updates.for_each(f)` calls f(position of the slice, position of the update).
    template <class Updates>
    void operator()(Updates const& updates) const
    {
        if (size == 1)
            updates.for_each([&](std::ptrdiff_t slice, std::size_t number) {
                T const zero{};
                T const* const choice[] = {&zero, ct + slice}; // no branch, which could not be predicted
                gradients[number] = *choice[visited.insert(static_cast<std::size_t>(slice))];
            });
        else
            updates.for_each([&](std::ptrdiff_t slice, std::size_t number) {
                T* const gradient = gradients + number * size;
                if (visited.insert(static_cast<std::size_t>(slice)))
                    std::copy_n(ct + static_cast<std::size_t>(slice) * size, size, gradient);
                else
                    std::fill_n(gradient, size, T{});
            });
    }
};

/// The updates that a reader of slice positions names, with their numbers if it reads backward.
struct named_updates {
    offset_reader const& read;
    std::size_t from;
    std::size_t to;
    bool is_backward;

    /// Calls f(position of the slice, position of the update) for each update that is not dropped, in order.
    template <class F>
    void for_each(F const& f) const
    {
        std::size_t const last = read.count() - 1;
        for_each_named(read, from, to, [&](std::ptrdiff_t slice, std::size_t number) {
            f(slice, is_backward ? last - number : number);
        });
    }
};

/// Inserts the slices of updates `from` .. `to` - 1 that are not dropped. Allocates nothing.
inline void insert_slices(offset_reader const& read, std::size_t from, std::size_t to, slice_set& set)
{
    for_each_named(read, from, to,
        [&](std::ptrdiff_t slice, std::size_t) { set.insert(static_cast<std::size_t>(slice)); });
}

/// Copies slices `from` .. `to` - 1, of `size` contiguous items, of `ct` to `output`, with zeros for those in
/// the set. `output` may be `ct`. Allocates nothing.
template <class T>
void copy_except(
    slice_set const& set, std::size_t from, std::size_t to, T const* ct, T* output, std::size_t size)
{
    if (size != 1) {
        for (std::size_t slice = from; slice < to; ++slice)
            if (set.contains(slice))
                std::fill_n(output + slice * size, size, T{});
            else if (output != ct)
                std::copy_n(ct + slice * size, size, output + slice * size);
        return;
    }
    for (std::size_t begin = from; begin < to;) {
        constexpr std::size_t step = slice_set::slices_per_word;
        std::size_t const first = begin % step, count = (std::min)(step - first, to - begin);
        slice_set::word const bits = set.at(begin / step) >> first;
        for (std::size_t i = 0; i < count; ++i)
            output[begin + i] = (bits >> i & 1) != 0 ? T{} : ct[begin + i];
        begin += count;
    }
}

} // namespace xloom::kernel

namespace xloom::detail {

/// The slices that some updates name, part by part.
///
/// Cost: a bit per slice and part.
class named_slice_sets {
public:
    /// Makes empty sets for at most `parts` parts.
    named_slice_sets(std::size_t slices, std::size_t parts)
        : parts_((std::min)(parts, tuning::max_slice_sets)),
          sets_(parts_ == 1 ? 1 : parts_ + 1, kernel::slice_set(slices))
    {}

    std::size_t parts() const { return parts_; }
    kernel::slice_set& of(std::size_t part) { return sets_[part]; }

    /// Returns the set of all slices, which for one part is that of the part.
    kernel::slice_set const& all() const { return sets_.back(); }

    /// Inserts the slices of all updates into all(), and into the set of each part those of the parts before
    /// it; if there is one part, those of all.
    template <class Policy>
    void insert(kernel::offset_reader const& read, Policy const& policy)
    {
        policy.for_each(parts_, [&](std::size_t part) {
            kernel::insert_slices(read, begin_of_part(part, parts_, read.count()),
                begin_of_part(part + 1, parts_, read.count()), sets_[part]);
        });
        if (parts_ == 1)
            return;
        std::size_t const words = all().words(), ranges = parts_for(policy, words * parts_);
        policy.for_each(ranges, [&](std::size_t range) {
            for (std::size_t word = begin_of_part(range, ranges, words);
                 word < begin_of_part(range + 1, ranges, words); ++word) {
                kernel::slice_set::word sum = 0;
                for (kernel::slice_set& set : sets_)
                    sum |= std::exchange(set.at(word), sum);
            }
        });
    }

private:
    std::size_t parts_;
    std::vector<kernel::slice_set> sets_;
};

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_vjp_call.hpp ====
// A call of ScatterND's derivative: checked indices, and the values that the gradients are made of.

namespace xloom::detail {

/// True if the gradients of a reduction depend on the values of data and updates.
constexpr bool depends_on_values(reduction kind)
{
    return kind == reduction::mul || kind == reduction::max || kind == reduction::min;
}

/// The checked indices of a call, with the updates if the gradients depend on their values. run_scatter_nd
/// accepts it, too.
template <class Indices, class Updates>
class scatter_vjp_call : public scatter_indices<Indices> {
public:
    using item = item_t<Updates>;

    scatter_vjp_call(std::string_view op, shape const& data, Indices const& indices, Updates const& updates,
        scatter_nd_vjp_options const& options)
        : scatter_indices<Indices>(op, data, indices, detail::shape_of(updates), forward_options(options))
    {
        if (depends_on_values(options.reduction))
            updates_.emplace(updates);
    }

    std::size_t count() const { return this->tuples().count; }
    item const* updates() const { return updates_->data(); }

private:
    std::optional<row_major_items<Updates>> updates_{};
};

/// The contiguous items of a call's other operands and of its outputs.
template <class T>
struct scatter_gradients {
    T const* ct;
    T const* old;     ///< the values of data; nullptr if they take no part
    T* d_data;        ///< nullptr if it is omitted; may be ct
    T* d_updates;     ///< nullptr if it is omitted
    std::size_t size; ///< items of a slice
};

} // namespace xloom::detail

namespace xloom::detail {

/// Calls f with a value of the smallest type that counts this number of updates and one more value.
///
/// Why: counts of single items take as much memory as the items, and so as much time.
template <class F>
void with_count_type(std::size_t updates, F const& f)
{
    if (updates < (std::numeric_limits<std::uint32_t>::max)())
        f(std::uint32_t());
    else
        f(std::size_t());
}

/// Memory for intermediate values, uninitialised if T is trivial.
template <class T>
xt::xtensor<T, 1> make_values(std::size_t count)
{
    return xt::xtensor<T, 1>::from_shape({count});
}

/// Calls f(begin, end) for parts of `count` slices or items, each of `size` elements.
template <class Policy, class F>
void for_each_range(Policy const& policy, std::size_t count, std::size_t size, F const& f)
{
    std::size_t const parts = parts_for(policy, count * size);
    policy.for_each(parts, [&](std::size_t part) {
        f(begin_of_part(part, parts, count), begin_of_part(part + 1, parts, count));
    });
}

template <class T, class Policy>
void copy_values(T const* from, T* to, std::size_t count, Policy const& policy)
{
    if (from != to)
        for_each_range(policy, count, 1,
            [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
}

/// Writes zeros for dropped updates, if there may be any.
template <class Call, class T, class Policy>
void clear_dropped(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    if (call.options().bounds == bounds::drop)
        for_each_range(policy, call.count() * at.size, 1, [&](std::size_t begin, std::size_t end) {
            std::fill(at.d_updates + begin, at.d_updates + end, T{});
        });
}

/// The order in which the updates of a slice are visited.
enum class visiting : unsigned char { forward, backward };

/// Calls visit(offset of the slice, position of the update) for each update that is not dropped, those of a
/// slice in order and by one thread at a time. `tuples` are those of `read`, and `slices` is what they are the
/// offsets of: `size` elements of each are prefetched.
template <visiting Order, class Call, class Item, class Policy, class Visit>
void visit_updates(Call const& call, kernel::index_tuples<typename Call::index> const& tuples,
    kernel::offset_reader const& read, Item* slices, std::size_t size, Policy const& policy,
    Visit const& visit)
{
    constexpr bool is_backward = Order == visiting::backward;
    Item const* const no_values = nullptr;
    kernel::offset_reader const ordered = is_backward ? read.backward() : read;
    update_runner const run(ordered, call.options(), size, policy);
    if (run.is_serial() && call.are_single()) {
        kernel::single_indices<Item, typename Call::index, is_backward>(tuples, 0, tuples.count, slices, size)
            .for_each(visit);
    } else if constexpr (is_backward) {
        auto const visit_backward = [&, last = read.count() - 1](std::ptrdiff_t offset, std::size_t number) {
            visit(offset, last - number);
        };
        run(slices, no_values, kernel::visited_updates<decltype(visit_backward)>{visit_backward},
            reduce_none);
    } else {
        run(slices, no_values, kernel::visited_updates<Visit>{visit}, reduce_none);
    }
}

/// The index tuples of a call for contiguous data, and a reader of their offsets.
template <class Call>
struct item_offsets {
    strides steps;
    kernel::index_tuples<typename Call::index> tuples;
    kernel::offset_reader read;

    explicit item_offsets(Call const& call)
        : steps(row_major_strides(call.data_shape())),
          tuples(call.tuples(steps)),
          read(call.reader(tuples, steps))
    {}
    item_offsets(item_offsets const&) = delete;
    item_offsets& operator=(item_offsets const&) = delete;
};

/// Writes the gradients by updates: the slices of `from`.
template <class Call, class T, class Policy>
void gather_updates(Call const& call, T const* from, scatter_gradients<T> const& at, Policy const& policy)
{
    item_offsets const offsets(call);
    clear_dropped(call, at, policy);
    run_gather(offsets.read, offsets.tuples, call.are_single(), {{at.size}, {1}}, from, at.d_updates, policy);
}

/// Returns the slices that updates name.
template <class Call, class Policy>
named_slice_sets find_named_slices(Call const& call, Policy const& policy)
{
    named_slice_sets sets(call.slices(), parts_for(policy, call.count()));
    sets.insert(call.reader(), policy);
    return sets;
}

/// Writes the gradient by data where named slices have none.
template <class T, class Policy>
void copy_unnamed(
    named_slice_sets const& sets, std::size_t slices, scatter_gradients<T> const& at, Policy const& policy)
{
    for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::copy_except(sets.all(), begin, end, at.ct, at.d_data, at.size);
    });
}

/// Reduction none: the update that takes effect is the last or the first one of its slice, the first one that
/// is visited.
///
/// Cost: a bit per slice and thread.
template <class Call, class T, class Policy>
void run_none_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    bool const is_backward = call.options().duplicates != duplicates::first;
    kernel::offset_reader const read = is_backward ? call.reader().backward() : call.reader();
    std::size_t const count = read.count();
    named_slice_sets sets(call.slices(), parts_for(policy, count * at.size));
    std::size_t const parts = sets.parts();
    if (at.d_updates == nullptr || parts > 1)
        sets.insert(read, policy);
    if (at.d_updates != nullptr) {
        clear_dropped(call, at, policy);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = begin_of_part(part, parts, count),
                              end = begin_of_part(part + 1, parts, count);
            kernel::effective_updates<T> const gather{sets.of(part), at.ct, at.d_updates, at.size};
            using index = typename Call::index;
            if (!call.are_single() || at.size != 1)
                gather(kernel::named_updates{read, begin, end, is_backward});
            else if (is_backward)
                gather(kernel::single_indices<T const, index, true>(
                    call.tuples(), count - end, count - begin, at.ct, 1));
            else
                gather(kernel::single_indices<T const, index>(call.tuples(), begin, end, at.ct, 1));
        });
    }
    if (at.d_data != nullptr)
        copy_unnamed(sets, call.slices(), at, policy);
}

/// Reduction add: a gather.
template <class Call, class T, class Policy>
void run_add_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    std::optional<named_slice_sets> replaced;
    if (at.d_data != nullptr && !call.options().include_self)
        replaced.emplace(find_named_slices(call, policy));
    if (at.d_updates != nullptr)
        gather_updates(call, at.ct, at, policy);
    if (replaced)
        copy_unnamed(*replaced, call.slices(), at, policy);
    else if (at.d_data != nullptr)
        copy_values(at.ct, at.d_data, call.slices() * at.size, policy);
}

/// The mean: the cotangent divided by the number of values.
///
/// Cost: a count per slice; if the gradient by data is omitted, also an item per item of data.
template <class Count, class Call, class T, class Policy>
void run_mean_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const slices = call.slices();
    bool const include_self = call.options().include_self;
    std::vector<Count> counts(slices);
    std::optional<xt::xtensor<T, 1>> buffer;
    if (at.d_data == nullptr)
        buffer.emplace(make_values<T>(slices * at.size));
    T* const divided = buffer ? buffer->data() : at.d_data;

    visit_updates<visiting::forward>(call, call.tuples(), call.reader(), counts.data(), 1, policy,
        [of = counts.data()](std::ptrdiff_t slice, std::size_t) { ++of[slice]; });
    for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
        kernel::divide_slices(counts.data(), include_self ? 1 : 0, begin, end, at.ct, divided, at.size);
    });
    if (at.d_updates != nullptr)
        gather_updates(call, divided, at, policy);
    if (at.d_data != nullptr && !include_self)
        for_each_range(policy, slices, at.size, [&](std::size_t begin, std::size_t end) {
            kernel::clear_counted(counts.data(), begin, end, at.d_data, at.size);
        });
}

/// The product: the cotangent times the product of all other values, from the products of those before and of
/// those after an update. Nothing is divided, so zeros are exact.
///
/// Cost: a product per item of data; for storage floats also one per item of updates.
template <class Call, class T, class Policy>
void run_mul_vjp(Call const& call, scatter_gradients<T> const& at, Policy const& policy)
{
    using product = kernel::product_t<T>;
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    std::optional<named_slice_sets> replaced;
    if (at.d_data != nullptr && at.old == nullptr)
        replaced.emplace(find_named_slices(call, policy));
    auto products = make_values<product>(items);
    auto buffer = make_values<product>(
        std::is_same_v<T, product> || at.d_updates == nullptr ? 0 : call.count() * at.size);
    product* const running = products.data();
    product* before = buffer.data();
    if constexpr (std::is_same_v<T, product>)
        before = at.d_updates;

    kernel::with_slice_size(at.size, [&](auto length) {
        if (at.d_updates != nullptr) {
            for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    running[i] = at.old != nullptr ? static_cast<product>(at.old[i]) : product(1);
            });
            clear_dropped(call, at, policy);
            visit_updates<visiting::forward>(call, offsets.tuples, offsets.read, running, at.size, policy,
                [=, updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
                    kernel::multiply_before(
                        length, running + offset, before + number * length, updates + number * length);
                });
        }
        for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            std::fill(running + begin, running + end, product(1));
        });
        visit_updates<visiting::backward>(call, offsets.tuples, offsets.read, running, at.size, policy,
            [=, updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
                T const* const update = updates + number * length;
                product* const after = running + offset;
                if (at.d_updates != nullptr)
                    kernel::multiply_after(length, after, at.ct + offset, before + number * length, update,
                        at.d_updates + number * length);
                else
                    for (std::size_t i = 0; i < length; ++i)
                        after[i] = static_cast<product>(static_cast<product>(update[i]) * after[i]);
            });
    });

    if (replaced)
        copy_unnamed(*replaced, call.slices(), at, policy);
    else if (at.d_data != nullptr)
        for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                at.d_data[i] = static_cast<T>(static_cast<product>(at.ct[i]) * running[i]);
        });
}

/// Writes the gradient by data of a maximum or a minimum: the part where the old value of a slot equals the
/// result. If old values take no part, slots with updates, for which `named` is not 0, have none.
template <class T, class Named, class Policy>
void write_tied_data(T const* results, Named const* named, T const* parts, std::size_t items,
    scatter_gradients<T> const& at, Policy const& policy)
{
    for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        if (at.old != nullptr)
            kernel::take_tied(at.old, results, parts, begin, end, at.d_data);
        else
            kernel::take_unnamed(named, at.ct, begin, end, at.d_data);
    });
}

/// Divides the cotangent of each slot evenly among the values that equal its result.
///
/// Cost: a Count and an item per item of data.
template <class Count, class Call, class T, class Policy>
void split_evenly(Call const& call, T const* results, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    std::vector<Count> counts(items);
    auto parts = make_values<T>(items);
    if (at.old != nullptr)
        for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            kernel::count_old(at.old, results, begin, end, counts.data());
        });
    if (at.d_updates != nullptr)
        clear_dropped(call, at, policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit_updates<visiting::forward>(call, offsets.tuples, offsets.read, counts.data(), at.size, policy,
            [=, of = counts.data(), updates = call.updates()](std::ptrdiff_t offset, std::size_t number) {
                kernel::count_ties(length, of + offset, results + offset, updates + number * length,
                    at.d_updates == nullptr ? nullptr : at.d_updates + number * length);
            });
    });
    for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
        kernel::divide_items(at.ct, counts.data(), begin, end, parts.data());
    });
    if (at.d_updates != nullptr)
        run_copies(offsets.read, offsets.tuples, call.are_single(), std::as_const(parts).data(), at.d_updates,
            kernel::tied_parts{at.size}, policy);
    if (at.d_data != nullptr)
        write_tied_data(results, counts.data(), parts.data(), items, at, policy);
}

/// Gives the cotangent of each slot to the first value that equals its result.
///
/// Cost: a byte per item of data.
template <class Call, class T, class Policy>
void give_to_first(Call const& call, T const* results, scatter_gradients<T> const& at, Policy const& policy)
{
    std::size_t const items = call.slices() * at.size;
    item_offsets const offsets(call);
    std::vector<unsigned char> given(items);
    if (at.old != nullptr)
        for_each_range(policy, items, 1, [&](std::size_t begin, std::size_t end) {
            kernel::count_old(at.old, results, begin, end, given.data());
        });
    if (at.d_updates != nullptr)
        clear_dropped(call, at, policy);
    kernel::with_slice_size(at.size, [&](auto length) {
        visit_updates<visiting::forward>(call, offsets.tuples, offsets.read, given.data(), at.size, policy,
            [=, is_given = given.data(), updates = call.updates()](
                std::ptrdiff_t offset, std::size_t number) {
                kernel::give_tied(length, is_given + offset, at.ct + offset, results + offset,
                    updates + number * length,
                    at.d_updates == nullptr ? nullptr : at.d_updates + number * length);
            });
    });
    if (at.d_data != nullptr)
        write_tied_data(results, given.data(), at.ct, items, at, policy);
}

/// The maximum or the minimum: the cotangent goes to the values that equal the result, which is computed as
/// by scatter_nd.
///
/// Cost: an item per item of data, and that of split_evenly or give_to_first.
template <class Call, class T, class Reduce, class Policy>
void run_extremum_vjp(
    Call const& call, scatter_gradients<T> const& at, ties rule, Reduce const& reduce, Policy const& policy)
{
    using results_type = xt::xarray<T, xt::layout_type::row_major>;
    auto results = enable_tensor<results_type>::make(call.data_shape());
    if (at.old != nullptr)
        copy_values(at.old, results.data(), call.slices() * at.size, policy);
    run_scatter_nd(call, results, reduce, policy);
    T const* const result = results.data();
    if (rule == ties::first)
        give_to_first(call, result, at, policy);
    else
        with_count_type(
            call.count(), [&]<class Count>(Count) { split_evenly<Count>(call, result, at, policy); });
}

/// Writes the gradients that are not omitted.
template <class Call, class T, class Policy>
void run_scatter_vjp(Call const& call, scatter_gradients<T> const& at, ties rule, Policy const& policy)
{
    if (call.is_empty()) { // every update, if any, is dropped
        if (at.d_data != nullptr)
            copy_values(at.ct, at.d_data, call.slices() * at.size, policy);
        if (at.d_updates != nullptr)
            std::fill_n(at.d_updates, call.count() * at.size, T{});
        return;
    }
    switch (call.options().reduction) {
    case reduction::none:
        return run_none_vjp(call, at, policy);
    case reduction::add:
        return run_add_vjp(call, at, policy);
    case reduction::mean:
        return with_count_type(
            call.count(), [&]<class Count>(Count) { run_mean_vjp<Count>(call, at, policy); });
    case reduction::mul:
        return run_mul_vjp(call, at, policy);
    case reduction::max:
        if constexpr (kernel::can_reduce<reduce_max_t, T>)
            run_extremum_vjp(call, at, rule, reduce_max, policy);
        return;
    case reduction::min:
        if constexpr (kernel::can_reduce<reduce_min_t, T>)
            run_extremum_vjp(call, at, rule, reduce_min, policy);
        return;
    }
}

} // namespace xloom::detail

// ==== xloom/run/indexed/scatter_vjp_types.hpp ====
// The requirements on the types of a call of scatter_nd_vjp or scatter_nd_vjp_into, with their compile-time
// errors.

namespace xloom::detail {

/// True if the types of a call of scatter_nd_vjp are valid, otherwise a compile-time error of one sentence.
/// The outputs of scatter_nd_vjp_into have errors of their own (tensor/operand_names.hpp).
template <class Ct, class Data, class Indices, class Updates, class Policy>
consteval bool is_valid_scatter_nd_vjp()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>,
            "xloom::scatter_nd_vjp: the arguments are scatter_nd_vjp(ct, data, indices, updates[, options][, "
            "policy]) and scatter_nd_vjp_into(ct, data, indices, updates, outputs[, options][, policy])");
    else if constexpr ((!tensor<Ct> && !lazy<Ct>) || (!tensor<Data> && !lazy<Data>))
        static_assert(never<Data>, "xloom::scatter_nd_vjp: ct and data must be tensors");
    else if constexpr (!are_valid_scatter_nd_vjp_indices<Indices>())
        return false;
    else if constexpr (!differentiable<item_t<Data>>)
        static_assert(never<Data>,
            "xloom::scatter_nd_vjp: data must hold numbers that have a gradient, which "
            "integers, bool, strings and float8_e8m0 have not");
    else if constexpr (!std::is_same_v<item_t<Updates>, item_t<Data>> ||
                       !std::is_same_v<item_t<Ct>, item_t<Data>>)
        static_assert(never<Updates>,
            "xloom::scatter_nd_vjp: ct and updates must have data's element type; convert them first");
    else
        return true;
    return false;
}

/// An argument in the place of the options that is neither options nor a policy, but may be a reduction.
template <class F>
concept reduction_argument = !std::is_same_v<bare<F>, scatter_nd_vjp_options> && !execution_policy<F>;

/// Reports a reduction that is passed as an argument: a callable has no gradient that could be known.
template <class Reduce>
consteval bool has_reduction_argument()
{
    static_assert(never<Reduce>,
        "xloom::scatter_nd_vjp: the reduction is one of xloom's, named as options.reduction; of a callable "
        "only you know the gradient");
    return true;
}

} // namespace xloom::detail

namespace xloom {

/// The gradients that scatter_nd_vjp returns, each with the shape of its operand.
template <class Data, class Updates>
struct scatter_nd_vjp_result {
    Data d_data;
    Updates d_updates;
};

/// The outputs of scatter_nd_vjp_into; {} omits one.
template <class Item>
struct scatter_nd_vjp_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::d_data> d_data{};
    detail::named_ref<tensor_ref<Item>, detail::names::d_updates> d_updates{};
};

namespace detail {

/// Checks all but the outputs, calls make_outputs(), which returns the memory of the outputs, and writes them.
template <class Ct, class Data, class Indices, class Updates, class Policy, class MakeOutputs>
void scatter_nd_vjp(std::string_view op, Ct const& ct, Data const& data, Indices const& indices,
    Updates const& updates, scatter_nd_vjp_options const& options, Policy const& policy,
    MakeOutputs const& make_outputs)
{
    using T = item_t<Data>;
    check_rank(op, "ct", detail::rank_of(ct));
    check_rank(op, "data", detail::rank_of(data));
    check_rank(op, "indices", detail::rank_of(indices));
    check_rank(op, "updates", detail::rank_of(updates));
    scatter_nd_vjp_memory memory{detail::memory_of(ct), detail::memory_of(data), detail::memory_of(indices),
        detail::memory_of(updates)};
    check_scatter_nd_vjp(op, memory.ct.layout.dims, memory.data.layout.dims, options);
    scatter_vjp_call<Indices, Updates> const call(op, memory.data.layout.dims, indices, updates, options);
    check_reduction<T, reduction>(op, call.options());

    auto const [d_data, d_updates] = make_outputs(memory);
    row_major_items<Ct> const cotangents(ct);
    std::optional<row_major_items<Data>> old;
    if (depends_on_values(options.reduction) && options.include_self)
        old.emplace(data);
    row_major_output<T> data_gradient(d_data, memory.d_data ? memory.d_data->layout : strided_layout()),
        update_gradients(d_updates, memory.d_updates ? memory.d_updates->layout : strided_layout());
    run_scatter_vjp(call,
        scatter_gradients<T>{cotangents.data(), old ? old->data() : nullptr, data_gradient.data(),
            update_gradients.data(), call.slice_size()},
        options.ties, policy);
    data_gradient.write_back();
    update_gradients.write_back();
}

/// Returns memory for the gradient by an operand of this type and shape: a container, or a number.
template <class X>
owned_t<X> make_gradient(shape const& dims)
{
    if constexpr (tensor<owned_t<X>>)
        return enable_tensor<owned_t<X>>::make(dims);
    else
        return X{};
}

/// Returns a pointer to the items of a container, or to a number.
template <class X>
auto* items_of(X& value)
{
    if constexpr (tensor<X>)
        return enable_tensor<X>::data(value);
    else
        return std::addressof(value);
}

} // namespace detail

/// Returns the vector-Jacobian product of scatter_nd: the gradients by data and by updates, where ct is the
/// cotangent of scatter_nd's result. For each slot, an item of data, its values are the old one and the
/// updates of its slice, in the order of application, and s = ct of the slot:
///
///     reduction   gradient of the slot's old value               gradient of each of its updates
///     none        0                                               s if it takes effect, else 0
///     add         s                                               s
///     mean        s / n                                           s / n, for n values
///     mul         s * (product of the updates)                    s * (product of all other values)
///     max, min    as an update                                    s / n if it is one of the n values that
///                                                                 equal the result, else 0
///
/// A slot without updates: s. With include_self = false the old value is none of the values, and its gradient
/// is 0 where there are updates.
///
/// Shapes    data, indices and updates as for scatter_nd, ct as data. The results are d_data as data and
///           d_updates as updates. Any layout; ct, data and updates may be lazy expressions.
/// Types     ct, data and updates of one type: float, double, long double, their complex numbers, storage
///           floats other than float8_e8m0, or a user-defined scalar with +, * and / (max and min: <, !=),
///           whose T{} is zero. Storage floats are computed in float and rounded once, so that the gradient
///           is that of the reduction without rounding. Complex numbers are not conjugated: mul is
///           holomorphic, and its gradient ct times the derivative, as in JAX. Indices of any integer type.
/// Options   those of the scatter_nd that is differentiated: reduction (none), bounds (check), duplicates
///           (last), include_self (true), unique, sorted (false: promises). duplicates says which update
///           takes effect. With bounds::drop, dropped updates have the gradient 0. ties (even): max and min
///           divide s evenly among all values that equal the result; first: the first of them has all of s.
/// NaN       With max and min, the values that equal a NaN are the NaN values. -0 equals 0.
/// Policy    serial, or one with threads (xloom/tbb.hpp): results are bitwise equal to those of serial.
/// Errors    before the first write: shape_error, option_error, index_error (all offending positions and
///           values), std::bad_alloc.
/// Order     mul: s * (product of the values before * product of the values after), the former from the
///           first on, the latter from the last on. Nothing is divided, so zeros are exact.
/// Cost      linear. add: a copy of ct and a gather. none: the same, and a bit per slice and thread. mean: the
///           same, and a count per slice. mul: two scatters; a number per item of data, for storage floats
///           also one per item of updates. max, min: two scatters and a gather; two items and a count per item
///           of data; with ties::first one item and a byte. Operands that are not row-major are copied; the
///           values of data and updates are read by mul, max and min only.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5}, ct = {10, 20, 30};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// auto const [dx, du] = xloom::scatter_nd_vjp(ct, x, i, u);
/// dx; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// auto const split = xloom::scatter_nd_vjp(ct, x, i, u, {.reduction = xloom::reduction::max});
/// split.d_data; // = [0, 6.66667, 30]
/// split.d_updates; // = [6.66667, 10, 6.66667]
/// ```
template <class Ct, class Data, class Indices, class Updates, class Policy = serial_policy>
auto scatter_nd_vjp(Ct const& ct, Data const& data, Indices const& indices, Updates const& updates,
    scatter_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    using result_type = scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>;
    if constexpr (!detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, Policy>()) {
        return result_type{data, updates}; // a value, so that one mistake gives one error
    } else {
        auto const [cotangent, old, index_tensor, values] =
            detail::evaluated_inputs(std::tie(ct, data, indices, updates));
        std::optional<result_type> result;
        detail::scatter_nd_vjp("xloom::scatter_nd_vjp", cotangent, old, index_tensor, values, options, policy,
            [&](detail::scatter_nd_vjp_memory& memory) {
                result.emplace(result_type{detail::make_gradient<Data>(memory.data.layout.dims),
                    detail::make_gradient<Updates>(memory.updates.layout.dims)});
                memory.d_data = detail::memory_of(result->d_data);
                memory.d_updates = detail::memory_of(result->d_updates);
                return std::pair(detail::items_of(result->d_data), detail::items_of(result->d_updates));
            });
        return *std::move(result);
    }
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Data, class Indices, class Updates, execution_policy Policy>
auto scatter_nd_vjp(Ct const&, Data const& data, Indices const&, Updates const& updates, Policy const&,
    scatter_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, scatter_nd_vjp_options>());
    return scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>{data, updates};
}

/// Rejects a reduction as an argument.
template <class Ct, class Data, class Indices, class Updates, detail::reduction_argument Reduce,
    class Policy = serial_policy>
auto scatter_nd_vjp(Ct const&, Data const& data, Indices const&, Updates const& updates, Reduce const&,
    scatter_nd_vjp_options const& = {}, Policy const& = {})
{
    static_cast<void>(detail::has_reduction_argument<Reduce>());
    return scatter_nd_vjp_result<detail::owned_t<Data>, detail::owned_t<Updates>>{data, updates};
}

/// Computes scatter_nd_vjp into the caller's outputs, of any layout; {} omits one. d_data may be the tensor
/// ct, which then is not copied.
///
/// Errors    as scatter_nd_vjp, before the first write. shape_error: d_data does not have data's shape, or
///           d_updates not that of updates. overlap_error: an output shares memory with an operand, other
///           than d_data with the whole of ct, or with the other output.
/// Cost      as scatter_nd_vjp; outputs that are not row-major are written through a buffer.
/// Example
/// ```cpp
/// xt::xtensor<float, 1> const x = {1, 5, 3}, u = {5, 2, 5};
/// xt::xtensor<int, 2> const i = {{1}, {0}, {1}};
/// xt::xtensor<float, 1> ct = {10, 20, 30}, du = u;
/// xloom::scatter_nd_vjp_into(ct, x, i, u, {.d_data = ct, .d_updates = du});
/// ct; // = [0, 0, 30]
/// du; // = [0, 10, 20]
/// ```
template <class Ct, class Data, class Indices, class Updates, class Policy = serial_policy>
void scatter_nd_vjp_into(Ct const& ct, Data const& data, Indices const& indices, Updates const& updates,
    std::type_identity_t<scatter_nd_vjp_outputs<detail::first_item_t<Ct>>> const& outputs,
    scatter_nd_vjp_options const& options = {}, Policy const& policy = {})
{
    if constexpr (detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, Policy>()) {
        static constexpr std::string_view op = "xloom::scatter_nd_vjp_into";
        detail::check_ranks(op, outputs.d_data, outputs.d_updates);
        auto const [cotangent, old, index_tensor, values] =
            detail::evaluated_inputs(std::tie(ct, data, indices, updates));
        detail::scatter_nd_vjp(op, cotangent, old, index_tensor, values, options, policy,
            [&](detail::scatter_nd_vjp_memory& memory) {
                if (outputs.d_data.is_given())
                    memory.d_data = outputs.d_data.block();
                if (outputs.d_updates.is_given())
                    memory.d_updates = outputs.d_updates.block();
                detail::check_scatter_nd_vjp_outputs(op, memory);
                return std::pair(outputs.d_data.data(), outputs.d_updates.data());
            });
    }
}

/// Rejects a policy in the place of the options, with the error of options in the place of the policy.
template <class Ct, class Data, class Indices, class Updates, execution_policy Policy>
void scatter_nd_vjp_into(Ct const&, Data const&, Indices const&, Updates const&,
    std::type_identity_t<scatter_nd_vjp_outputs<detail::first_item_t<Ct>>> const&, Policy const&,
    scatter_nd_vjp_options const& = {})
{
    static_cast<void>(detail::is_valid_scatter_nd_vjp<Ct, Data, Indices, Updates, scatter_nd_vjp_options>());
}

} // namespace xloom

// ==== xloom/storage_types.hpp ====
// Support by xtensor for the element types of ONNX that C++ lacks, float16 to uint2: its where, amax, amin,
// maximum, minimum and clip accept two values of one such type.
//
// Why all_scalar and not is_scalar, on which it depends up to xtl 0.7: in xtl 0.8 it depends on
// std::is_scalar, which must not be specialised.

namespace xtl {

template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_float<Element>, xloom::small_float<Element>> : std::true_type {};
template <xloom::element_type Element>
struct all_scalar<bool, xloom::small_int<Element>, xloom::small_int<Element>> : std::true_type {};

} // namespace xtl

#ifdef XLOOM_USE_TBB

// ==== xloom/tbb.hpp ====
// An execution policy that takes its threads from oneTBB (Debian: libtbb-dev; link with TBB::tbb).

#include <algorithm>
#include <memory>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace xloom {

/// An execution policy that runs the parts of an operator's work in a oneTBB arena of at most `concurrency`
/// threads, the calling one included, and no more than the processor has. Copies share the arena, moves copy.
/// Thread-safe.
///
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3};
/// xt::xtensor<int, 2> const indices = {{0}, {2}};
/// xloom::gather_nd(x, indices, {}, xloom::tbb_policy(2)); // = [1, 3]
/// ```
class tbb_policy {
public:
    explicit tbb_policy(std::size_t concurrency)
        : concurrency_(std::clamp<std::size_t>(
              concurrency, 1, static_cast<std::size_t>(tbb::info::default_concurrency()))),
          arena_(std::make_shared<tbb::task_arena>(static_cast<int>(concurrency_)))
    {}
    tbb_policy(tbb_policy const&) = default;
    tbb_policy& operator=(tbb_policy const&) = default;

    std::size_t concurrency() const noexcept { return concurrency_; }

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        run(
            parts, [](void const* call, std::size_t part) { (*static_cast<F const*>(call))(part); }, &f);
    }

private:
    /// Runs part_of(f, part) for each part. Not a template, so that those of oneTBB are not instantiated for
    /// each F.
    void run(std::size_t parts, void (*part_of)(void const*, std::size_t), void const* f) const
    {
        arena_->execute([&] {
            tbb::parallel_for(
                std::size_t{0}, parts, [&](std::size_t part) { part_of(f, part); },
                tbb::simple_partitioner{});
        });
    }

    std::size_t concurrency_;
    std::shared_ptr<tbb::task_arena> arena_;
};

} // namespace xloom
#endif
#ifdef XLOOM_USE_ADOLC

// ==== xloom/adolc.hpp ====
// Recordings by ADOL-C, for recorded_with. Link with -ladolc.

#include <algorithm>
#include <span>
#include <vector>

#include <adolc/adolc.h>

namespace xloom {

/// A recording_tape on tape 0 of ADOL-C: recorded_with<adolc_tape>().
///
/// Errors    body_error: ADOL-C cannot reverse the recording.
/// Threads   ADOL-C built without OpenMP records in one thread of a program only.
/// Source    A. Walther, A. Griewank, ADOL-C, https://github.com/coin-or/ADOL-C.
/// Example   tests/adolc.test.cpp
class adolc_tape {
public:
    using scalar = adouble;

    adolc_tape() { trace_on(tag, /*keeps values for reverse()*/ 1); }
    adolc_tape(adolc_tape const&) = delete;
    adolc_tape& operator=(adolc_tape const&) = delete;
    ~adolc_tape() { stop(); }

    scalar input(double value)
    {
        scalar variable;
        variable <<= value;
        return variable;
    }

    void output(scalar const& value)
    {
        double ignored = 0;
        scalar copy = value;
        copy >>= ignored;
    }

    void reverse(std::span<double const> ct_outputs, std::span<double> ct_inputs)
    {
        stop();
        if (ct_inputs.empty())
            return;
        if (ct_outputs.empty()) {
            std::fill(ct_inputs.begin(), ct_inputs.end(), 0.0);
            return;
        }
        std::vector<double> weights(
            ct_outputs.begin(), ct_outputs.end()); // fos_reverse takes a mutable array
        int const status = ::fos_reverse(tag, static_cast<int>(ct_outputs.size()),
            static_cast<int>(ct_inputs.size()), weights.data(), ct_inputs.data());
        if (status < 0)
            detail::fail<body_error>("xloom::adolc_tape: ADOL-C must be able to reverse the recording, but "
                                     "fos_reverse returned ",
                status, ". Use operations that ADOL-C knows.");
    }

private:
    static constexpr short tag = 0;

    void stop()
    {
        if (is_recording_)
            trace_off();
        is_recording_ = false;
    }

    bool is_recording_ = true;
};

} // namespace xloom
#endif
