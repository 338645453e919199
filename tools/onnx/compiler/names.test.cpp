// Names of models as names, comments and literals of C++.

#include <string>

#include <doctest/doctest.h>

#include "names.hpp"

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
}

TEST_CASE("comments stay on their line")
{
    CHECK(comment_text("conv") == "'conv'");
    CHECK(comment_text("ends\\") == "'ends\\x5c'");
    CHECK(comment_text("two\nlines") == "'two\\x0alines'");
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

} // namespace
