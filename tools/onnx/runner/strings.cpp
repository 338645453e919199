#include "strings.hpp"

namespace runner {

tensor string_table::numbers_of(tensor const& strings)
{
    tensor numbers(element_type::uint64, strings.shape());
    auto const to = numbers.items<std::uint64_t>();
    std::size_t i = 0;
    for (std::string const& each : strings.items<std::string>()) {
        to[i++] = strings_.size();
        taken_.grow(sizeof(std::string) + each.size());
        strings_.push_back(each);
    }
    return numbers;
}

tensor string_table::strings_of(tensor const& numbers) const
{
    tensor strings(element_type::string, numbers.shape());
    auto const to = strings.items<std::string>();
    std::size_t i = 0;
    for (std::uint64_t const number : numbers.items<std::uint64_t>())
        to[i++] = strings_.at(number);
    return strings;
}

} // namespace runner
