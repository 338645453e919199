// The values of steps: in the memory of the operator where the step is its own, otherwise in their own.

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

#include <xloom/detail/scan/step.hpp>

#include "support/xtensor_extras.hpp"

namespace scan_step_value_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using step = decltype(scan_step{std::declval<vector&>() + std::declval<vector&>(), std::declval<vector&>()});
using place = detail::step_place<float, 0>;

step step_of(vector const& a, vector const& b) { return scan_step{a + b, a}; }

} // namespace

TEST_CASE("a step that is constructed in the operator's variable evaluates in the place of the operator")
{
    vector const a = {1, 2}, b = {3, 4};
    vector memory = {0, 0};
    place offered;
    {
        step made = (offered.offer(memory.data(), 2, &made), step_of(a, b));
        CHECK(made.state.data() == memory.data());
        CHECK(made.scan_outputs == a);
    }
    CHECK(memory == vector{4, 6});
    {
        step made = (offered.offer(memory.data(), 2, &made), step_of(a * 10.0f, vector{1}));
        CHECK(made.state.data() == memory.data());
        CHECK(made.state == vector{11, 21});
    }
    step const longer = step_of(vector{1, 2, 3}, vector{1, 2, 3});
    CHECK(longer.state == vector{2, 4, 6});
    CHECK(memory == vector{11, 21});
}

TEST_CASE("the items of a value are a range in both directions")
{
    step const made = step_of(vector{1, 2, 3}, vector{0, 0, 0});
    CHECK(std::vector<float>(made.state.linear_rbegin(), made.state.linear_rend()) ==
          std::vector<float>{3, 2, 1});
    CHECK(std::vector<float>(made.state.linear_cbegin(), made.state.linear_cend()) ==
          std::vector<float>{1, 2, 3});
}

TEST_CASE("other steps, copies and what a step is moved to have their own memory")
{
    vector const a = {1, 2}, b = {3, 4};
    vector memory = {0, 0};
    place offered;
    step made = (offered.offer(memory.data(), 2, &made), step_of(a, b));
    step const other = step_of(b, b), copy = made, moved = std::move(made);
    std::vector<step> kept{other};
    std::optional<step> last;
    last.emplace(step_of(a, a));
    memory = {7, 7};
    CHECK(other.state == vector{6, 8});
    CHECK(copy.state == vector{4, 6});
    CHECK(moved.state == vector{4, 6});
    CHECK(kept[0].state == vector{6, 8});
    CHECK(last->state == vector{2, 4});
}

TEST_CASE("the place of an inner operator hides that of the outer one until its end")
{
    vector const a = {1, 2};
    vector memory = {0, 0};
    place outer;
    {
        place inner;
        step made = (outer.offer(memory.data(), 2, &made), step_of(a, a));
        CHECK(made.state == vector{2, 4});
        CHECK(made.state.data() != memory.data());
    }
    step made = (outer.offer(memory.data(), 2, &made), step_of(a, a));
    CHECK(made.state.data() == memory.data());
}

TEST_CASE("shapes that do not broadcast throw where the step is made")
{
    CHECK_THROWS_AS(static_cast<void>(step_of(vector{1, 2}, vector{1, 2, 3})), xt::broadcast_error);
}

TEST_CASE("one bool chooses between tensors, or beside a condition on their items")
{
    vector const a = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b = -a;
    for (bool const flag : {false, true}) {
        auto const made = scan_step{xt::where(flag, a, b), xt::where((a > 8.0f) && flag, b, a)};
        CHECK(made.state == (flag ? a : b));
        CHECK(made.scan_outputs(7) == 8);
        CHECK(made.scan_outputs(8) == (flag ? -9 : 9));
    }
}

TEST_CASE("a value is a tensor whose shape and items may change")
{
    step made = step_of(vector{1, 2}, vector{3, 4});
    made.state += vector{1, 1};
    CHECK(made.state == vector{5, 7});
    made.state = xt::ones<float>({3});
    CHECK(made.state == vector{1, 1, 1});
    made.state = made.scan_outputs * 2.0f;
    CHECK(made.state == vector{2, 4});
    made = step_of(vector{1}, vector{2});
    CHECK(made.state == vector{3});
}

} // namespace scan_step_value_test
