#pragma once
// Sequences of values, as SequenceConstruct makes them.

#include <cstddef>
#include <initializer_list>
#include <memory>

#include <xloom/types.hpp>

namespace runner {

struct value;

/// A sequence of values, written by the code that makes it, and again by a node that uses it last
/// (call::own_sequence_at); copies share the values and their share of the budget.
class sequence {
public:
    sequence();
    sequence(std::initializer_list<value> values);

    std::size_t size() const;
    bool empty() const { return size() == 0; }
    value const& operator[](std::size_t i) const;
    value const* begin() const;
    value const* end() const;
    /// True if a copy shares the values.
    bool is_shared() const { return storage_.use_count() != 1; }
    /// Returns what is known of every value that was ever in the sequence; untyped if they have no type in
    /// common.
    xloom::partial_type const& common_type() const;

    /// Reserves capacity for `count` values. Throws if the budget is exceeded.
    void reserve(std::size_t count);
    // Require that nothing else reads the values. What is added reserves the characters of its strings.
    void push_back(value added);
    /// Inserts a value before position `where`, at most size().
    void insert(std::size_t where, value added);
    void erase(std::size_t where);

private:
    struct storage;
    std::shared_ptr<storage> storage_;
};

} // namespace runner
