#pragma once
// Sequences of values, as SequenceConstruct makes them.

#include <cstddef>
#include <initializer_list>
#include <memory>

namespace runner {

struct value;

/// A sequence of values, written once by the code that makes it; copies share the values and their share of
/// the budget.
class sequence {
public:
    sequence();
    sequence(std::initializer_list<value> values);

    std::size_t size() const;
    bool empty() const { return size() == 0; }
    value const& operator[](std::size_t i) const;
    value const* begin() const;
    value const* end() const;

    /// Reserves capacity for `count` values. Throws if the budget is exceeded.
    void reserve(std::size_t count);
    /// Appends a value. Requires that no copy shares the values.
    void push_back(value added);

private:
    struct storage;
    std::shared_ptr<storage> storage_;
};

} // namespace runner
