#pragma once
// A list-valued option, which counts its items so that an operator can report a list that is too long.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>

#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

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

} // namespace xloom::inline XLOOM_ABI
