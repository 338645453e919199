// Names of models as names, comments and literals of C++.

#include <complex>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "names.hpp"
#include "spelling.hpp"

namespace {

using compiler::comment_text;
using compiler::identifier_of;
using compiler::string_literal;

TEST_CASE("identifiers are readable, and valid for any name")
{
    CHECK(identifier_of("/encoder/conv.1/Relu_output_0") == "encoder_conv_1_Relu_output_0");
    CHECK(identifier_of("X") == "X");
    CHECK(identifier_of("") == "v");
    CHECK(identifier_of("123") == "v123");
    CHECK(identifier_of("__reserved__name__") == "reserved_name");
    CHECK(identifier_of("_Upper") == "Upper");
    CHECK(identifier_of("class") == "class_");
    CHECK(identifier_of("and") == "and_");
    CHECK(identifier_of("EOF") == "EOF_");
    CHECK(identifier_of("I") == "I_");
    CHECK(identifier_of("key_t") == "key_t_"); // <sys/types.h> declares it
    CHECK(identifier_of("query_t") == "query_t");
    CHECK(identifier_of("\xc3\xa4\xe6\xb0\xb4") == "v");
    CHECK(identifier_of("a\n*/ }; int main() {") == "a_int_main");
    CHECK(identifier_of(std::string(10'000, 'x')).size() == 48);
}

TEST_CASE("any identifier is one, and a reason is given for what is none")
{
    using compiler::why_no_identifier;
    for (char const* const name : {"a", "_a__b_", "X2", "EOF", "max", "final", "import", "module"}) {
        CAPTURE(name);
        CHECK(why_no_identifier(name) == "");
    }
    CHECK(why_no_identifier(std::string(1000, 'x')) == "");
    CHECK(why_no_identifier("") == "is empty");
    CHECK(why_no_identifier("2x") == "begins with a digit");
    CHECK(why_no_identifier("a-b") == "holds '-', but may hold letters of ASCII, digits and _");
    CHECK(why_no_identifier("a\n") == "holds '\\x0a', but may hold letters of ASCII, digits and _");
    CHECK(why_no_identifier("class") == "is a keyword of C++");
    CHECK(why_no_identifier("xor_eq") == "is a keyword of C++");
    CHECK(compiler::why_no_qualified_name("a::b::c") == "");
    CHECK(compiler::why_no_qualified_name("::c") == "is empty");
    CHECK(compiler::why_no_qualified_name("a::") == "is empty");
    CHECK(compiler::why_no_namespace("a::") == "is empty");
    CHECK(compiler::why_no_namespace("my::xt_nets") == "");
    for (std::string const used : {"std", "xt", "xloom", "xloom_onnx"})
        for (std::string const& name : {used, "my::" + used, used + "::my"})
            CHECK(compiler::why_no_namespace(name) ==
                  "has " + used + ", a namespace that the generated code uses");
    for (std::string const taken : {"time", "log", "index", "signal", "time_t"})
        for (std::string const& name : {taken, taken + "::my"})
            CHECK(compiler::why_no_namespace(name) ==
                  "begins with " + taken + ", a function or type of C or POSIX");
    CHECK(compiler::why_no_namespace("my::time") == "");
    for (char const* const name : {"linux", "linux::my", "my::linux", "my::linux::own"})
        CHECK(compiler::why_no_namespace(name) == "has linux, a macro on some systems");
    for (char const* const macro : {"linux", "errno", "unix", "stderr"}) {
        CHECK(compiler::why_no_class_name(macro) == "is a macro on some systems");
        CHECK(compiler::class_name_of(macro) == std::string(macro) + "_");
    }
    for (char const* const global : {"time_t", "size_t", "timezone"}) {
        CHECK(compiler::why_no_class_name(global) == "is a type or variable of C or POSIX");
        CHECK(compiler::class_name_of(global) == std::string(global) + "_");
    }
    CHECK(compiler::why_no_class_name("class") == "is a keyword of C++");
    for (char const* const function : {"time", "log", "index", "y1", "main"}) {
        CHECK(compiler::why_no_class_name(function) == "is a function of C or POSIX, which hides a class");
        CHECK(compiler::class_name_of(function) == std::string(function) + "_");
    }
    CHECK(compiler::why_no_class_name("My_Net__2") == "");
    for (char const* const own : {"std", "xt", "xloom", "xloom_onnx", "outputs", "run_into", "weights"}) {
        CAPTURE(own);
        CHECK(compiler::why_no_class_name(own) == "is an identifier that the generated code has already");
        CHECK(compiler::class_name_of(own) == std::string(own) + "_");
    }
}

TEST_CASE("classes are named after whole file names")
{
    std::string const start(48, 'x');
    CHECK(compiler::class_name_of(start + "_a") == start + "_a");
    CHECK(compiler::class_name_of(start + "_b") == start + "_b");
}

TEST_CASE("identifiers of a scope differ")
{
    compiler::name_scope names;
    names.reserve("results");
    CHECK(names.unique("results") == "results_2");
    CHECK(names.unique("a.b") == "a_b");
    CHECK(names.unique("a/b") == "a_b_2");
    CHECK(names.unique("a_b_2") == "a_b_2_2");
    CHECK(names.unique("a:b") == "a_b_3");
    CHECK(names.unique("class") == "class_");
    CHECK(names.unique("class") == "class_2");
    CHECK(names.unique("M_PI") == "M_PI_");
    CHECK(names.unique("M_PI") == "M_PI_2_"); // M_PI_2 is a macro of <cmath>
}

TEST_CASE("comments stay on their line")
{
    CHECK(comment_text("conv") == "'conv'");
    CHECK(comment_text("ends\\") == "'ends\\x5c'");
    CHECK(comment_text("two\nlines") == "'two\\x0alines'");
    CHECK(comment_text("\x7f") == "'\\x7f'");
    CHECK(comment_text("\xe2\x80\xae") == "'\\xe2\\x80\\xae'");
    CHECK(comment_text("a?\?/") == "'a?\?/'");
    CHECK(comment_text(std::string(10'000, 'x')).size() < 90);
}

TEST_CASE("string literals inject nothing")
{
    CHECK(string_literal("plain") == "\"plain\"");
    CHECK(string_literal("\"); f(\"") == "\"\\\"); f(\\\"\"");
    CHECK(string_literal("a?\?/b\\") == "\"a\\?\\?/b\\\\\"");
    CHECK(string_literal(std::string("\0"
                                     "1\n",
              3)) == "\"\\0001\\012\"");
}

TEST_CASE("numbers are read back as they are")
{
    using compiler::number_literal;
    constexpr float inf = std::numeric_limits<float>::infinity();
    CHECK(number_literal(1.0F) == "1.0F");
    CHECK(number_literal(-0.5) == "-0.5");
    CHECK(number_literal(1e30F) == "1e+30F");
    CHECK(number_literal(0.1F) == "0.1F");
    CHECK(number_literal(inf) == "std::numeric_limits<float>::infinity()");
    CHECK(number_literal(-static_cast<double>(inf)) == "-std::numeric_limits<double>::infinity()");
    CHECK(number_literal(std::numeric_limits<float>::quiet_NaN()) == "std::bit_cast<float>(0x7fc00000U)");
    CHECK(number_literal(std::numeric_limits<double>::quiet_NaN()) ==
          "std::bit_cast<double>(0x7ff8000000000000U)");
    CHECK(number_literal(std::complex<float>(1, -2)) == "std::complex<float>(1.0F, -2.0F)");
    CHECK(number_literal(std::complex<double>(0.5, 0)) == "std::complex<double>(0.5, 0.0)");
    CHECK(number_literal(std::numeric_limits<std::int32_t>::min()) ==
          "std::numeric_limits<std::int32_t>::min()");
    CHECK(number_literal(std::numeric_limits<std::int64_t>::min()) ==
          "std::numeric_limits<std::int64_t>::min()");
    CHECK(number_literal(std::int8_t{-128}) == "-128");
    CHECK(number_literal(std::uint8_t{200}) == "200");
    CHECK(number_literal(std::uint32_t{5}) == "5U");
    CHECK(number_literal(~std::uint64_t{0}) == "18446744073709551615U");
    CHECK(number_literal(true) == "true");
    CHECK(number_literal(false) == "false");
    CHECK(number_literal(xloom::float16(1.0F)) == "xloom::float16::from_bits(0x3c00)");
    CHECK(number_literal(xloom::int4(-1)) == "xloom::int4::from_bits(0xf)");
}

TEST_CASE("each element type has the name of its C++ type")
{
    using xloom::element_type;
    for (auto const& [type, name] : {std::pair{element_type::float_, "float"},
             {element_type::double_, "double"}, {element_type::bool_, "bool"},
             {element_type::string, "std::string"}, {element_type::complex64, "std::complex<float>"},
             {element_type::complex128, "std::complex<double>"}, {element_type::int8, "std::int8_t"},
             {element_type::int16, "std::int16_t"}, {element_type::int32, "std::int32_t"},
             {element_type::int64, "std::int64_t"}, {element_type::uint8, "std::uint8_t"},
             {element_type::uint16, "std::uint16_t"}, {element_type::uint32, "std::uint32_t"},
             {element_type::uint64, "std::uint64_t"}, {element_type::float16, "xloom::float16"},
             {element_type::bfloat16, "xloom::bfloat16"},
             {element_type::float8_e4m3fn, "xloom::float8_e4m3fn"},
             {element_type::float8_e4m3fnuz, "xloom::float8_e4m3fnuz"},
             {element_type::float8_e5m2, "xloom::float8_e5m2"},
             {element_type::float8_e5m2fnuz, "xloom::float8_e5m2fnuz"},
             {element_type::float8_e8m0, "xloom::float8_e8m0"},
             {element_type::float4_e2m1, "xloom::float4_e2m1"}, {element_type::int4, "xloom::int4"},
             {element_type::uint4, "xloom::uint4"}, {element_type::int2, "xloom::int2"},
             {element_type::uint2, "xloom::uint2"}})
        CHECK(compiler::item_type(type) == name);
    CHECK(compiler::stored_type(element_type::string) == "std::string_view");
    CHECK(compiler::stored_type(element_type::int8) == "std::int8_t");
}

} // namespace
