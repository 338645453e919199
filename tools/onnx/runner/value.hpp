#pragma once
// The values of an ONNX graph: tensors of any element type, sequences, optionals.

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <xloom/recurrent/storage_types.hpp>
#include <xloom/types.hpp>

#include "budget.hpp"
#include "sequence.hpp"

namespace runner {

/// An error in a model, a tensor or a call, in one printable line.
class runner_error : public std::runtime_error {
public:
    explicit runner_error(std::string const& what);
};

/// An element type that an operator does not take.
class impossible_type : public runner_error {
public:
    using runner_error::runner_error;
};

using xloom::element_type;

/// Returns the bytes of an item in memory. A string's item is its index in a table of the tensor.
std::size_t item_bytes(element_type type);

/// A row-major tensor. Its items are written by the code that makes it, and again by a node that uses them
/// last (call::result_over); copies share them and their share of the budget.
class tensor {
public:
    tensor() : tensor(element_type::undefined, 1, {0}) {}
    /// Makes a tensor of unspecified items or empty strings. Throws if the budget is exceeded.
    tensor(element_type type, xloom::shape const& dims);

    template <class T>
    static tensor of(xloom::shape const& dims, std::span<T const> items)
    {
        tensor result(xloom::element_type_of<T>, dims);
        std::copy(items.begin(), items.end(), result.items<T>().begin());
        return result;
    }
    template <class T>
    static tensor scalar(T const& item)
    {
        return of<T>({}, {&item, 1});
    }

    element_type type() const { return type_; }
    xloom::shape const& shape() const { return dims_; }
    std::size_t size() const { return xloom::element_count(dims_); }

    /// Returns the items. Requires the tensor's own type.
    template <class T>
    std::span<T const> items() const
    {
        require_type(xloom::element_type_of<T>);
        if constexpr (std::is_same_v<T, std::string>)
            return storage_->strings;
        else
            return {reinterpret_cast<T const*>(storage_->bytes.get()), size()};
    }
    /// True if a copy shares the items.
    bool is_shared() const { return storage_.use_count() != 1; }
    /// Returns the items to be written. Requires that nothing else reads them.
    template <class T>
    std::span<T> items()
    {
        require_type(xloom::element_type_of<T>);
        if constexpr (std::is_same_v<T, std::string>)
            return storage_->strings;
        else
            return {reinterpret_cast<T*>(storage_->bytes.get()), size()};
    }
    std::byte const* bytes() const { return storage_->bytes.get(); }
    std::byte* bytes() { return storage_->bytes.get(); }
    std::size_t item_size() const { return item_size_; }

    /// Returns the same items in another shape of the same size, or as another type of the same size.
    tensor reshaped(xloom::shape const& dims) const;
    tensor as_type(element_type type) const;

    /// Reserves the bytes of the strings' characters in the budget. Call it after the strings are written.
    void reserve_characters() const;

private:
    struct storage {
        storage(std::size_t byte_count, std::size_t string_count);

        reservation taken; // first: nothing is allocated if it throws
        std::size_t characters = 0;
        std::unique_ptr<std::byte[]> bytes;
        std::vector<std::string> strings;
    };

    tensor(element_type type, std::size_t item_size, xloom::shape const& dims);
    void require_type(element_type wanted) const;

    element_type type_;
    std::size_t item_size_;
    xloom::shape dims_;
    std::shared_ptr<storage> storage_;
};

/// A tensor, a sequence, or an optional, which may be empty.
struct value {
    struct optional_value {
        std::shared_ptr<value const> held; ///< none: empty
    };
    std::variant<tensor, sequence, optional_value> held;

    value() = default;
    value(tensor t) : held(std::move(t)) {}
    value(sequence s) : held(std::move(s)) {}
    value(optional_value o) : held(std::move(o)) {}

    bool is_tensor() const { return std::holds_alternative<tensor>(held); }
    bool is_sequence() const { return std::holds_alternative<sequence>(held); }
    bool is_optional() const { return std::holds_alternative<optional_value>(held); }

    tensor const& as_tensor() const;
    sequence const& as_sequence() const;
    optional_value const& as_optional() const;
};

/// Of all tensors in it. Sequences have reserved theirs.
void reserve_characters(value const& v);

/// "float[2, 3]", "sequence of 2", "empty optional": for messages.
std::string describe(value const& v);

} // namespace runner
