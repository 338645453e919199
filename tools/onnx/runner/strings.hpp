#pragma once
// Strings as numbers, for code that moves bytes.

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
    reservation taken_{};
};

} // namespace runner
