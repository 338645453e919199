// union_shape, union_type: what holds of a value that is one of two.

#include <doctest/doctest.h>

#include <xloom/infer/merge.hpp>

#include "is_constant.hpp"

namespace infer_union_test {

using namespace xloom;
using enum element_type;

namespace {

constexpr bool shapes_unite()
{
    return union_shape({2, 3, 4, "x"}, {2, "y", 5, "x"}) == partial_shape{2, unknown, unknown, "x"} &&
           union_shape({unknown, 1}, {unknown, "n"}) == partial_shape{unknown, unknown} &&
           union_shape({2, 3}, {2}) == unknown_rank && union_shape({}, {}) == partial_shape{} &&
           union_shape({}, {1}) == unknown_rank && union_shape({}, unknown_rank) == unknown_rank &&
           union_shape(unknown_rank, {}) == unknown_rank;
}

/// As many axes as there may be, so that none past the last is read.
constexpr bool the_longest_shapes_unite()
{
    partial_shape a, b, both;
    for (std::size_t axis = 0; axis < max_rank; ++axis) {
        a.insert(axis, 2);
        b.insert(axis, axis % 2 == 0 ? dim(2) : dim("N"));
        both.insert(axis, axis % 2 == 0 ? dim(2) : unknown);
    }
    return union_shape(a, b) == both && union_shape(b, a) == both;
}

constexpr bool the_order_does_not_matter()
{
    partial_shape const shapes[] = {unknown_rank, {}, {2}, {3}, {"N"}, {"M"}, {unknown}, {2, 2}};
    for (partial_shape const& a : shapes)
        for (partial_shape const& b : shapes)
            if (union_shape(a, b) != union_shape(b, a) || union_shape(a, a) != a)
                return false;
    return true;
}

constexpr bool types_unite()
{
    partial_type const twos = tensor_type(int64, {2});
    partial_type const threes = tensor_type(int64, {3});
    return detail::union_type(twos, threes) == tensor_type(int64, {unknown}) &&
           detail::union_type(sparse_tensor_type(float_, {2}), sparse_tensor_type(float_, {2, 2})) ==
               sparse_tensor_type(float_) &&
           detail::union_type(optional_of(sequence_of(twos)), optional_of(sequence_of(threes))) ==
               optional_of(sequence_of(tensor_type(int64, {unknown}))) &&
           detail::union_type(untyped, untyped) == untyped;
}

} // namespace

TEST_CASE("union: what both sides say")
{
    CHECK(always_holds<shapes_unite>());
    CHECK(always_holds<the_longest_shapes_unite>());
    CHECK(always_holds<the_order_does_not_matter>());
    CHECK(always_holds<types_unite>());
}

TEST_CASE("union: types without one")
{
    constexpr auto kind = [] {
        return detail::union_type(tensor_type(float_, {}), optional_of(tensor_type(float_, {})));
    };
    constexpr auto content_kind = [] {
        return detail::union_type(sequence_of(tensor_type(float_)), sequence_of(sparse_tensor_type(float_)));
    };
    constexpr auto element = [] {
        return detail::union_type(sequence_of(tensor_type(float_)), sequence_of(tensor_type(undefined)));
    };
    constexpr auto content = [] { return detail::union_type(sequence_of(untyped), sequence_of(untyped)); };
    constexpr auto one_content = [] {
        return detail::union_type(optional_of(tensor_type(float_, {})), optional_of(untyped));
    };
    constexpr auto fine = [] { return detail::union_type(tensor_type(float_, {}), tensor_type(float_)); };
    static_assert(is_constant<fine>);
    check_refused<kind, type_error>(
        "xloom::union_type: the two types must be of one kind, but a is float[] and b is optional(float[]). "
        "Give both as tensors, "
        "sequences or optionals.");
    check_refused<content_kind, type_error>(
        "xloom::union_type: the two types must be of one kind, but a is seq(float[...]) and b is seq(sparse "
        "float[...]). Give both as "
        "tensors, sequences or optionals.");
    check_refused<element, type_error>(
        "xloom::union_type: the two types must have one element type, but a is seq(float[...]) and b is "
        "seq(undefined[...]). Cast one of "
        "them.");
    check_refused<content, type_error>(
        "xloom::union_type: the content of a sequence or optional must have a type, but a is seq(untyped) "
        "and b is seq(untyped). Give the "
        "type of the content.");
    check_refused<one_content, type_error>(
        "xloom::union_type: the content of a sequence or optional must have a type, but a is "
        "optional(float[]) and b is optional(untyped)."
        " Give the type of the content.");
}

} // namespace infer_union_test
