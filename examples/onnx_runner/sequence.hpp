#pragma once
// Values in a row, as SequenceConstruct makes them.

#include <cstddef>
#include <initializer_list>
#include <memory>

namespace runner {

struct value;

/// Its values are put there once, by the code that makes it; copies share them, and what they take of the
/// budget.
class sequence {
public:
    sequence();
    sequence(std::initializer_list<value> values);

    std::size_t size() const;
    bool empty() const { return size() == 0; }
    value const& operator[](std::size_t i) const;
    value const* begin() const;
    value const* end() const;

    /// Room for so many. Throws if the budget has none.
    void reserve(std::size_t count);
    /// To be called while nobody shares them.
    void push_back(value added);

private:
    struct storage;
    std::shared_ptr<storage> storage_;
};

} // namespace runner
