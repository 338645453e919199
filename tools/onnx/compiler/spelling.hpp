#pragma once
// Types and items as C++ spells them.

#include <cstddef>
#include <string>

#include <xloom/types.hpp>

#include "value.hpp"

namespace compiler {

using xloom::element_type;
using xloom::partial_type;

/// The columns of a line of generated code.
inline constexpr std::size_t line_length = 110;

/// Returns the C++ type of an item: float, std::int64_t, xloom::float16.
std::string item_type(element_type element);

/// Returns the C++ type of a value: float for rank 0, xt::xtensor<float, 2>, std::vector of it, std::optional
/// of it. Requires has_cpp_type(type).
std::string cpp_type(partial_type const& type);

/// True if the element type and the rank are known.
bool has_cpp_type(partial_type const& type);

/// Returns item i of a tensor as it is written in a list of them: 0.5F, -3.
std::string item_literal(runner::tensor const& t, std::size_t i);

/// Returns item i of a tensor as an expression of its type: 0.5F, std::int64_t{-3}.
std::string item_expression(runner::tensor const& t, std::size_t i);

/// Returns a number as an expression of its type.
template <class T>
std::string number_literal(T number)
{
    return item_literal(runner::tensor::scalar(number), 0);
}

/// Returns all items as a list without braces.
std::string item_list(runner::tensor const& t);

/// True if static arrays of the item type can hold constants (not of strings, which are std::string_view
/// there).
std::string stored_type(element_type element);

} // namespace compiler
