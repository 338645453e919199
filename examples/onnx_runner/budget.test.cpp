// The budget: what is taken, given back, and refused.

#include <string>

#include <doctest/doctest.h>

#include "value.hpp"

using namespace runner;

TEST_CASE("bytes come back when the last copy of a tensor is gone")
{
    with_budget const limits({.bytes = 4096});
    auto const make = [] { return tensor(element_type::uint8, {2000}); };
    {
        tensor first = make();
        tensor const copy = first;
        first = tensor();
        CHECK_THROWS_WITH_AS(make(), "all tensors together would take more than 4096 bytes", runner_error);
    }
    CHECK_NOTHROW(make());
    CHECK_THROWS_AS(tensor(element_type::string, {200}), runner_error);
}

TEST_CASE("characters count once they are written")
{
    with_budget const limits({.bytes = 4096});
    tensor text(element_type::string, {1});
    text.items<std::string>()[0].assign(2000, 'a');
    text.reserve_characters();
    text.reserve_characters();
    CHECK_NOTHROW(tensor(element_type::uint8, {500}));
    CHECK_THROWS_AS(tensor(element_type::uint8, {1500}), runner_error);
    text.items<std::string>()[0].assign(4000, 'a');
    CHECK_THROWS_AS(text.reserve_characters(), runner_error);
}

TEST_CASE("steps, and products that are worth some; a budget within another")
{
    with_budget const limits({.steps = 3});
    spend_steps(2);
    {
        with_budget const inner({.steps = 2});
        spend_products(0x1p17);
        CHECK_THROWS_WITH_AS(spend_steps(), "the model takes more than 2 steps", runner_error);
    }
    spend_products(0x1p16 - 1);
    CHECK_NOTHROW(spend_steps());
    CHECK_THROWS_AS(spend_products(1e300), runner_error);
}
