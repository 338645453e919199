// Shapes and types on a stream and as strings.

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/infer/loop.hpp>

namespace core_print_test {

namespace {

template <class T>
std::string streamed(T const& value)
{
    std::ostringstream out;
    out << value << '.';
    return out.str();
}

using enum xloom::element_type; // hides the types of the same names

} // namespace

TEST_CASE("shapes and types print as they read in errors")
{
    CHECK(streamed(xloom::shape{2, 3}) == "[2, 3].");
    CHECK(streamed(xloom::shape{}) == "[].");
    CHECK(streamed(xloom::axes{-1, 0}) == "[-1, 0].");
    CHECK(streamed(xloom::dim("N")) == "N.");
    CHECK(streamed(xloom::unknown) == "?.");
    CHECK(streamed(xloom::partial_shape{2, "N", xloom::unknown}) == "[2, N, ?].");
    CHECK(streamed(xloom::partial_shape(xloom::unknown_rank)) == "[...].");
    CHECK(streamed(xloom::tensor_type(float_, {2, "N"})) == "float[2, N].");
    CHECK(streamed(sequence_of(xloom::tensor_type(int64))) == "seq(int64[...]).");
    CHECK(streamed(xloom::untyped) == "untyped.");
    CHECK(
        streamed(xloom::type_list{xloom::untyped, xloom::tensor_type(float_, {})}) == "[untyped, float[]].");
    CHECK(to_string(xloom::shape{4}) == "[4]");
    CHECK(to_string(xloom::tensor_type(float_, {3})) == "float[3]");
    CHECK(to_string(xloom::type_list{}) == "[]");
}

TEST_CASE("what inference gives prints")
{
    auto const body = [](xloom::type_list const& given) {
        return xloom::type_list{given[1], given[2], xloom::tensor_type(int64, {2})};
    };
    xloom::type_list const inputs{
        xloom::untyped, xloom::tensor_type(bool_, {}), xloom::tensor_type(float_, {3})};
    CHECK(streamed(xloom::infer_loop(inputs, body, xloom::type_list(2, xloom::untyped))) ==
          "[float[...], int64[?, 2]].");
}

} // namespace core_print_test
