#pragma once
// Strings as numbers, for code that moves bytes; and the leading axis of tensors.

#include <span>
#include <string>
#include <vector>

#include "value.hpp"

namespace runner {

/// Gives strings numbers.
class string_table {
public:
    tensor numbers_of(tensor const& strings);
    tensor strings_of(tensor const& numbers) const;

private:
    std::vector<std::string> strings_{};
};

/// The length of axis 0. Throws for a scalar, as the others do.
std::size_t leading_dim(tensor const& t);
/// The slice at position i of axis 0, without that axis.
tensor drop_leading(tensor const& t, std::size_t i);
/// The first `count` slices.
tensor take_leading(tensor const& t, std::size_t count);
/// Slices of zeros (empty strings) behind the others, up to `count`.
tensor pad_leading(tensor const& t, std::size_t count);
/// Slices of one type and shape, along a new axis 0. There is at least one.
tensor stack_leading(std::vector<tensor> const& slices);

} // namespace runner
