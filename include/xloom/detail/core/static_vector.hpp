#pragma once
// A vector of fixed capacity with in-place storage, so that shapes and option lists are constexpr and do not
// allocate; a list-valued option; and printing as in error messages, such as float[2, N].

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

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

/// The subset of std::vector that shapes and lists need, with in-place storage for Capacity items.
///
/// Errors    option_error: more than Capacity items.
template <class T, std::size_t Capacity>
class static_vector {
public:
    using value_type = T;

    constexpr static_vector()
        : items_(std::is_constant_evaluated() || !std::is_trivially_default_constructible_v<T> ? storage{}
                                                                                               : unwritten())
    {}

    /// Constructs a vector of `count` copies of `value`.
    constexpr static_vector(std::size_t count, T const& value) : static_vector() { resize(count, value); }

    constexpr static_vector(std::initializer_list<T> items) : static_vector(items.begin(), items.end()) {}

    template <std::input_iterator Iterator>
    constexpr static_vector(Iterator first, Iterator last) : static_vector()
    {
        assign(first, last);
    }

    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    static constexpr std::size_t capacity() noexcept { return Capacity; }

    constexpr T& operator[](std::size_t i) noexcept { return items_.all[i]; }
    constexpr T const& operator[](std::size_t i) const noexcept { return items_.all[i]; }
    constexpr T& back() noexcept { return items_.all[size_ - 1]; }
    constexpr T const& back() const noexcept { return items_.all[size_ - 1]; }

    constexpr T* data() noexcept { return items_.all; }
    constexpr T const* data() const noexcept { return items_.all; }
    constexpr T* begin() noexcept { return items_.all; }
    constexpr T* end() noexcept { return items_.all + size_; }
    constexpr T const* begin() const noexcept { return items_.all; }
    constexpr T const* end() const noexcept { return items_.all + size_; }

    constexpr void push_back(T const& item)
    {
        check_room_for(size_ + 1);
        items_.all[size_++] = item;
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
        for (std::size_t i = where + 1; i < size_; ++i)
            items_.all[i - 1] = items_.all[i];
        --size_;
    }

    /// Replaces the contents by the items from `first` up to `last`.
    template <std::input_iterator Iterator>
    constexpr void assign(Iterator first, Iterator last)
    {
        if constexpr (std::forward_iterator<Iterator>)
            check_room_for(static_cast<std::size_t>(std::distance(first, last)));
        for (size_ = 0; first != last; ++first)
            if constexpr (std::forward_iterator<Iterator>)
                items_.all[size_++] = static_cast<T>(*first);
            else
                push_back(static_cast<T>(*first));
    }

    constexpr void resize(std::size_t size, T const& value = T{})
    {
        check_room_for(size);
        for (std::size_t i = size_; i < size; ++i)
            items_.all[i] = value;
        size_ = size;
    }

    friend constexpr bool operator==(static_vector const& a, static_vector const& b)
    {
        if (a.size_ != b.size_)
            return false;
        for (std::size_t i = 0; i < a.size_;
             ++i) // std::equal calls memcmp, which takes longer for a few items
            if (!(a.items_.all[i] == b.items_.all[i]))
                return false;
        return true;
    }

private:
    static constexpr void check_room_for(std::size_t size)
    {
        if (size > Capacity)
            detail::fail<option_error>("xloom: a list holds at most ", Capacity,
                " items (max_rank, max_operands), but was given ", size, ".");
    }

    struct storage {
        T all[Capacity];
    };

    /// Returns uninitialized items: g++ clears them by `rep stos`, which takes longer than a small call. g++
    /// 12 also warns of their copies otherwise.
    static storage unwritten()
    {
        storage items;
        detail::take_for_written(items);
        return items;
    }

    storage items_;
    std::size_t size_ = 0;
};

/// True for shapes and axes: they are printed.
template <std::integral T, std::size_t Capacity>
inline constexpr bool detail::is_printed<static_vector<T, Capacity>> = true;

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
