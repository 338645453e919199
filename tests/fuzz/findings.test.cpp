// What the fuzzer on the operators found before, and that its checks notice wrong answers.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <vector>

#include "operators.hpp"
#include "outcome.hpp"

using namespace fuzz;

TEST_CASE("what was found is mended")
{
    std::size_t findings = 0;
    for (auto const& entry : std::filesystem::directory_iterator(FUZZ_FINDINGS)) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::vector<unsigned char> const bytes(std::istreambuf_iterator<char>(file), {});
        CAPTURE(entry.path().string());
        CHECK_NOTHROW(try_operator(bytes));
        ++findings;
    }
    CHECK(findings > 0);
}

TEST_CASE("calls that random bytes make are as they should be, and of each operator some are legal and some "
          "are not")
{
    std::mt19937 random(1);
    for (std::size_t operation = 0; operation < operator_count; ++operation) {
        constexpr int calls = 300;
        int legal = 0;
        CAPTURE(operation);
        for (int i = 0; i < calls; ++i) {
            std::vector<unsigned char> bytes{static_cast<unsigned char>(operation)};
            for (std::size_t count = random() % 200; count > 0; --count)
                bytes.push_back(static_cast<unsigned char>(random()));
            legal += try_operator(bytes) ? 1 : 0;
        }
        CHECK(legal > calls / 4);
        CHECK(legal < calls * 9 / 10);
    }
}

TEST_CASE("a refusal that the rule does not name is wrong, and so is a call that it does not allow")
{
    auto const refuse = [] { throw xloom::index_error("an index"); };
    CHECK(!runs({.index = true}, refuse));
    CHECK_THROWS_AS(runs({}, refuse), wrong_answer);
    CHECK_THROWS_AS(runs({.shape = true}, refuse), wrong_answer);
    CHECK(runs({}, [] {}));
    CHECK_THROWS_AS(runs({.shape = true}, [] {}), wrong_answer);
    CHECK_THROWS_AS(runs({}, [] { throw own_exception(); }), wrong_answer);
    CHECK_THROWS_AS(runs({.shape = true}, [] { throw std::bad_alloc(); }), std::bad_alloc);
}
