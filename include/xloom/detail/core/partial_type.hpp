#pragma once
// Partial types: the kind, element type and shape of a value as far as they are known before it is computed.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

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

namespace detail {

struct unknown_rank_t {
    explicit constexpr unknown_rank_t() = default;
};

} // namespace detail

inline constexpr detail::unknown_rank_t unknown_rank{};

/// A list of dimensions, or unknown_rank. `partial_shape{}` has rank 0, the shape of a scalar, and differs
/// from an unknown rank. Printed as [2, N, ?]; an unknown rank as [...].
class partial_shape {
public:
    using value_type = dim;

    constexpr partial_shape() = default;
    constexpr partial_shape(std::initializer_list<dim> dims) : dims_(dims) {}
    constexpr partial_shape(detail::unknown_rank_t) : has_rank_(false) {}
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

/// The type of a value: untyped, or a tensor, possibly in sequences and optionals. Printed as float[2, N],
/// seq(float[2]), optional(seq(float[...])), sparse float[2], untyped.
class partial_type {
public:
    /// The largest number of sequences and optionals around a tensor. ONNX's operators use two:
    /// optional(seq(tensor)).
    static constexpr std::size_t max_depth = 4;

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
        if (wrappers_.size() == max_depth)
            detail::fail<option_error>("xloom::partial_type: a type may hold at most ", max_depth,
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

    static_vector<type_kind, max_depth> wrappers_{}; // the outermost first
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

// The specifier of functions that use a type_list: constexpr where std::vector is, which excludes the debug
// mode of libstdc++.
#ifdef _GLIBCXX_DEBUG
#define XLOOM_LIST_CONSTEXPR inline
#else
#define XLOOM_LIST_CONSTEXPR constexpr
#endif

template <>
inline constexpr bool detail::is_printed<dim> = true;
template <>
inline constexpr bool detail::is_printed<partial_shape> = true;
template <>
inline constexpr bool detail::is_printed<partial_type> = true;
template <>
inline constexpr bool detail::is_printed<type_list> = true;

} // namespace xloom::inline XLOOM_ABI
