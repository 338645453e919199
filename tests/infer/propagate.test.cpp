// propagate_element_type, without and with a target.

#include <doctest/doctest.h>

#include <xloom/infer/merge.hpp>

#include "is_constant.hpp"

namespace infer_propagate_test {

using namespace xloom;
using enum element_type;

namespace {

constexpr partial_type twos = tensor_type(float_, {2});
constexpr partial_type threes = tensor_type(float_, {3});
constexpr partial_type bare = tensor_type(float_);

constexpr bool only_a_tensor_loses_its_shape()
{
    return detail::propagate_element_type(twos) == bare &&
           detail::propagate_element_type(sparse_tensor_type(float_, {2})) == sparse_tensor_type(float_) &&
           detail::propagate_element_type(sequence_of(twos)) == sequence_of(twos) &&
           detail::propagate_element_type(optional_of(sequence_of(twos))) == optional_of(sequence_of(twos));
}

constexpr bool a_target_keeps_its_shape()
{
    return detail::propagate_element_type(twos, threes) == threes &&
           detail::propagate_element_type(twos, tensor_type(undefined, {3})) == threes &&
           detail::propagate_element_type(sequence_of(twos), sequence_of(threes)) == sequence_of(threes) &&
           detail::propagate_element_type(optional_of(twos), optional_of(threes)) == optional_of(threes);
}

constexpr bool an_untyped_target_is_filled()
{
    return detail::propagate_element_type(twos, untyped) == bare &&
           detail::propagate_element_type(sequence_of(twos), untyped) == sequence_of(bare) &&
           detail::propagate_element_type(sequence_of(twos), sequence_of(untyped)) == sequence_of(bare);
}

constexpr bool sparse_and_dense_mix()
{
    return detail::propagate_element_type(sparse_tensor_type(float_), twos) == twos &&
           detail::propagate_element_type(sparse_tensor_type(float_), tensor_type(undefined, {2})) == twos &&
           detail::propagate_element_type(sparse_tensor_type(float_), untyped) == sparse_tensor_type(float_);
}

// Any target gives way to a sequence or optional.
constexpr bool another_kind_is_replaced()
{
    return detail::propagate_element_type(sequence_of(twos), optional_of(sequence_of(twos))) ==
               sequence_of(bare) &&
           detail::propagate_element_type(optional_of(twos), twos) == optional_of(bare) &&
           detail::propagate_element_type(sequence_of(twos), tensor_type(int64, {2})) == sequence_of(bare);
}

} // namespace

TEST_CASE("propagate_element_type: to a new value")
{
    CHECK(always_holds<only_a_tensor_loses_its_shape>());

    constexpr auto no_type = [] { return detail::propagate_element_type(untyped); };
    constexpr auto no_element = [] { return detail::propagate_element_type(tensor_type(undefined, {2})); };
    constexpr auto no_content = [] { return detail::propagate_element_type(sequence_of(untyped)); };
    check_refused<no_type, type_error>(
        "xloom::propagate_element_type: the element type must be known, but source is untyped. Give its "
        "type.");
    check_refused<no_element, type_error>(
        "xloom::propagate_element_type: the element type must be known, but source is undefined[2]. Give its "
        "type.");
    check_refused<no_content, type_error>(
        "xloom::propagate_element_type: the element type must be known, but source is seq(untyped). Give its "
        "type.");
}

TEST_CASE("propagate_element_type: to a value of which something is known")
{
    CHECK(always_holds<a_target_keeps_its_shape>());
    CHECK(always_holds<an_untyped_target_is_filled>());
    CHECK(always_holds<sparse_and_dense_mix>());
    CHECK(always_holds<another_kind_is_replaced>());

    constexpr auto kind = [] { return detail::propagate_element_type(twos, sequence_of(twos)); };
    constexpr auto content = [] {
        return detail::propagate_element_type(sequence_of(twos), sequence_of(optional_of(twos)));
    };
    constexpr auto element = [] {
        return detail::propagate_element_type(sequence_of(twos), sequence_of(tensor_type(int64, {2})));
    };
    constexpr auto no_element = [] {
        return detail::propagate_element_type(sequence_of(tensor_type(undefined)), sequence_of(twos));
    };
    check_refused<kind, type_error>(
        "xloom::propagate_element_type: a tensor can't become a sequence or optional, but source is float[2] "
        "and target is seq(float[2]). "
        "Give both as tensors.");
    check_refused<content, type_error>(
        "xloom::propagate_element_type: a tensor can't become a sequence or optional, but source is "
        "seq(float[2]) and target is "
        "seq(optional(float[2])). Give both as tensors.");
    check_refused<element, type_error>(
        "xloom::propagate_element_type: an element type that is set must stay the same, but source is "
        "seq(float[2]) and target is "
        "seq(int64[2]). Cast one of them.");
    check_refused<no_element, type_error>(
        "xloom::propagate_element_type: the element type must be known, but source is seq(undefined[...]). "
        "Give its type.");
}

} // namespace infer_propagate_test
