// dim, partial_shape, partial_type: what can be said of a value, and how it reads.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/detail/core/partial_type.hpp>

namespace core_partial_type_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

constexpr bool dims()
{
    return dim(3).has_value() && dim(3).value() == 3 && dim(0).has_value() && dim(lowest).value() == lowest &&
           dim(std::size_t{4}) == 4 && dim("N").has_symbol() && !dim("N").has_value() &&
           dim("N").symbol() == "N" && dim(std::string_view("N")) == "N" && unknown.is_unknown() &&
           dim("").is_unknown() && !dim(0).is_unknown() && !dim("N").is_unknown();
}

constexpr bool dims_compare()
{
    return dim(3) != dim(4) && dim("N") != dim("M") && dim(0) != unknown && dim("N") != unknown &&
           unknown == dim() && dim("N") != dim(0);
}

constexpr bool shapes()
{
    partial_shape mixed{2, "N", unknown};
    bool const built =
        mixed.has_rank() && mixed.rank() == 3 && mixed[0] == 2 && mixed[1] == "N" && mixed[2] == unknown;
    mixed[2] = 5;
    return built && mixed == partial_shape{2, "N", 5} && mixed.end() - mixed.begin() == 3 &&
           partial_shape{2}.rank() == 1 && partial_shape{0} == partial_shape{dim(0)};
}

constexpr bool an_unknown_rank_is_not_a_scalar()
{
    return partial_shape{}.has_rank() && partial_shape{}.rank() == 0 &&
           !partial_shape(unknown_rank).has_rank() && partial_shape{unknown_rank}.rank() == 0 &&
           partial_shape{} != partial_shape(unknown_rank) && partial_shape(unknown_rank) == unknown_rank;
}

constexpr bool shapes_from_shapes()
{
    return partial_shape(shape{2, 3}) == partial_shape{2, 3} && partial_shape(shape{}) == partial_shape{} &&
           drop_axis(partial_shape{2, "N", 4}, 1) == partial_shape{2, 4} &&
           insert_axis(partial_shape{2}, 1, "T") == partial_shape{2, "T"} &&
           insert_axis(partial_shape{}, 0, unknown) == partial_shape{unknown};
}

constexpr bool types()
{
    partial_type const matrix = tensor_type(float_, {2, "N"});
    return matrix.is_tensor() && !matrix.is_wrapped() && matrix.kind() == type_kind::tensor &&
           matrix.element() == float_ && matrix.shape() == partial_shape{2, "N"} &&
           tensor_type(float_).shape() == unknown_rank &&
           tensor_type(float_, {}).shape() == partial_shape{} &&
           sparse_tensor_type(float_).kind() == type_kind::sparse_tensor &&
           !sparse_tensor_type(float_).is_tensor() && untyped.is_untyped() && partial_type{} == untyped &&
           !matrix.is_untyped();
}

constexpr bool wrapped_types()
{
    partial_type const matrix = tensor_type(float_, {2, "N"});
    partial_type const deep = optional_of(sequence_of(matrix));
    return deep.kind() == type_kind::optional && deep.is_wrapped() && !deep.is_tensor() &&
           deep.inner() == sequence_of(matrix) && deep.inner().inner() == matrix &&
           deep.element() == float_ && deep.shape() == partial_shape{2, "N"} &&
           sequence_of(untyped).kind() == type_kind::sequence && !sequence_of(untyped).is_untyped() &&
           matrix.wrapped_in(type_kind::sequence) == sequence_of(matrix);
}

constexpr bool types_compare()
{
    partial_type const vector = tensor_type(float_, {2});
    return vector != tensor_type(double_, {2}) && vector != tensor_type(float_, {3}) &&
           vector != sparse_tensor_type(float_, {2}) && vector != sequence_of(vector) &&
           sequence_of(vector) != optional_of(vector) && vector == tensor_type(float_, {2}) &&
           vector != untyped;
}

constexpr bool types_change_in_one_thing()
{
    partial_type const listed = sequence_of(tensor_type(float_, {2}));
    return listed.with_shape(unknown_rank) == sequence_of(tensor_type(float_)) &&
           listed.with_element(int64) == sequence_of(tensor_type(int64, {2})) &&
           listed == sequence_of(tensor_type(float_, {2}));
}

constexpr bool lists()
{
    type_list const two(2, untyped);
    return two.size() == 2 && two[1] == untyped &&
           type_list{untyped, tensor_type(bool_, {})}[1] == tensor_type(bool_, {});
}

TEST_CASE("partial_type: run time and constant expressions agree")
{
    static_assert(dims());
    CHECK(dims());
    static_assert(dims_compare());
    CHECK(dims_compare());
    static_assert(shapes());
    CHECK(shapes());
    static_assert(an_unknown_rank_is_not_a_scalar());
    CHECK(an_unknown_rank_is_not_a_scalar());
    static_assert(shapes_from_shapes());
    CHECK(shapes_from_shapes());
    static_assert(types());
    CHECK(types());
    static_assert(wrapped_types());
    CHECK(wrapped_types());
    static_assert(types_compare());
    CHECK(types_compare());
    static_assert(types_change_in_one_thing());
    CHECK(types_change_in_one_thing());
    static_assert(lists());
    CHECK(lists());
}

TEST_CASE("partial_type: plain values")
{
    static_assert(
        std::is_trivially_copyable_v<partial_type> && std::is_trivially_destructible_v<partial_type>);
    static_assert(
        !std::is_convertible_v<std::string, dim>, "a temporary string would leave a dangling symbol");
}

TEST_CASE("partial_type: how it reads")
{
    CHECK(detail::concat(dim(-3), " ", dim("N"), " ", unknown) == "-3 N ?");
    CHECK(detail::concat(partial_shape{2, "N", unknown}) == "[2, N, ?]");
    CHECK(detail::concat(partial_shape{}) == "[]");
    CHECK(detail::concat(partial_shape(unknown_rank)) == "[...]");
    CHECK(detail::concat(untyped) == "untyped");
    CHECK(detail::concat(tensor_type(float_, {2, "N"})) == "float[2, N]");
    CHECK(detail::concat(tensor_type(float8_e4m3fn)) == "float8e4m3fn[...]");
    CHECK(detail::concat(sparse_tensor_type(bool_, {3})) == "sparse bool[3]");
    CHECK(detail::concat(optional_of(sequence_of(tensor_type(string, {})))) == "optional(seq(string[]))");
    CHECK(detail::concat(sequence_of(untyped)) == "seq(untyped)");
    CHECK(detail::concat(type_list{untyped, tensor_type(undefined)}) == "[untyped, undefined[...]]");
}

TEST_CASE("partial_type: limits")
{
    partial_type deep = tensor_type(float_, {});
    for (std::size_t depth = 0; depth < partial_type::max_depth; ++depth)
        deep = sequence_of(deep);
    CHECK_THROWS_WITH_AS(optional_of(deep),
        "xloom::partial_type: a type may hold at most 4 sequences and optionals around its tensor, but "
        "seq(seq(seq(seq(float[])))) holds that many already. Use fewer.",
        option_error);

    partial_shape full;
    for (std::size_t axis = 0; axis < max_rank; ++axis)
        full.insert(0, 1);
    CHECK_THROWS_WITH_AS(full.insert(0, 1),
        "xloom: a list holds at most 16 items (max_rank, max_operands), but was given 17.", option_error);
}

} // namespace

} // namespace core_partial_type_test
