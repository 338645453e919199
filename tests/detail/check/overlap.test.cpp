// Whether strided arrays, or two items of one, share a byte, compared with an enumeration of all; and which
// operands may.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <xloom/detail/check/overlap.hpp>

#include "support/uniform_int.hpp"

namespace check_overlap_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

/// Every byte of a block, one by one.
std::set<std::uintptr_t> addresses_of(memory_block const& block)
{
    auto const& [dims, steps] = block.layout;
    std::vector<std::intptr_t> items{static_cast<std::intptr_t>(block.address)};
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        std::vector<std::intptr_t> next;
        for (std::intptr_t const item : items)
            for (std::size_t i = 0; i < dims[axis]; ++i)
                next.push_back(item + static_cast<std::intptr_t>(i) * steps[axis] *
                                          static_cast<std::intptr_t>(block.item_bytes));
        items = next;
    }
    std::set<std::uintptr_t> bytes;
    for (std::intptr_t const item : items)
        for (std::size_t i = 0; i < block.item_bytes; ++i)
            bytes.insert(static_cast<std::uintptr_t>(item) + i);
    return bytes;
}

bool share_a_byte(memory_block const& a, memory_block const& b)
{
    std::set<std::uintptr_t> const bytes = addresses_of(a);
    for (std::uintptr_t const byte : addresses_of(b))
        if (bytes.contains(byte))
            return true;
    return false;
}

constexpr memory_block block(
    std::uintptr_t address, shape const& dims, strides const& steps, std::size_t item_bytes = 4)
{
    return {address, item_bytes, {dims, steps}};
}

constexpr memory_block row_major(std::uintptr_t address, shape const& dims, std::size_t item_bytes = 4)
{
    return block(address, dims, row_major_strides(dims), item_bytes);
}

constexpr bool neighbours_are_apart()
{
    return !overlap(row_major(1000, {4}), row_major(1016, {4})) &&
           overlap(row_major(1000, {4}), row_major(1015, {4})) &&
           overlap(row_major(1000, {4}), row_major(1012, {4}));
}

constexpr bool interleaved_views_are_apart()
{
    return !overlap(block(1000, {8}, {2}), block(1004, {8}, {2})) &&
           overlap(block(1000, {8}, {2}), block(1008, {8}, {2})) &&
           overlap(block(1000, {8}, {2}), block(1002, {8}, {2}));
}

constexpr bool halves_of_columns_are_apart()
{
    return !overlap(block(1000, {5, 3}, {6, 1}), block(1012, {5, 3}, {6, 1})) &&
           overlap(block(1000, {5, 4}, {6, 1}), block(1012, {5, 3}, {6, 1}));
}

constexpr bool nothing_overlaps_an_empty_block()
{
    return !overlap(row_major(1000, {4, 0}), row_major(1000, {4})) &&
           !overlap(row_major(1000, {4}), row_major(1000, {0})) &&
           overlap(row_major(1000, {}), row_major(1000, {4}));
}

constexpr bool negative_steps_reach_down()
{
    return overlap(block(1012, {4}, {-1}), row_major(1000, {1})) &&
           !overlap(block(1012, {4}, {-1}), row_major(996, {1})) &&
           !overlap(block(1012, {4}, {-1}), row_major(1016, {1})) &&
           !overlap(block(1024, {4}, {-2}), block(1004, {3}, {2}));
}

constexpr bool repeated_items_count_once()
{
    return overlap(block(1000, {9}, {0}), row_major(1000, {1})) &&
           !overlap(block(1000, {9}, {0}), row_major(1004, {1}));
}

/// An item type of another size, and addresses that are no multiple of it.
constexpr bool bytes_count_not_items()
{
    return overlap(row_major(1000, {1}, 8), row_major(1007, {1}, 1)) &&
           !overlap(row_major(1000, {1}, 8), row_major(1008, {1}, 1)) &&
           !overlap(block(1000, {4}, {2}, 8), block(1008, {7}, {4}, 4)) &&
           overlap(block(1000, {4}, {2}, 8), block(1008, {7}, {3}, 4));
}

/// Views of tensors with too many rows: no search through all of them would end.
constexpr bool views_of_many_rows_are_apart()
{
    constexpr std::size_t n = 1'000'000;
    return !overlap(block(1000, {n}, {2}), block(1004, {n}, {2})) &&
           overlap(block(1000, {n}, {2}), block(1002, {n}, {2})) &&
           !overlap(block(1000, {n, 8, 3}, {64, 8, 1}), block(1012, {n, 8, 5}, {64, 8, 1})) &&
           overlap(block(1000, {n, 8, 4}, {64, 8, 1}), block(1012, {n, 8, 5}, {64, 8, 1})) &&
           !overlap(block(1000, {n, 2, 8}, {64, 16, 1}), block(1032, {n, 2, 8}, {64, 16, 1})) &&
           !overlap(block(1000, {n}, {2}), block(1004, {n / 2}, {4})) &&
           overlap(block(1000, {n}, {2}), block(1008, {n / 2}, {4})) &&
           !overlap(block(1000, {n}, {4}), block(1004, {n}, {6})) &&
           overlap(block(1000, {n}, {4}), block(1008, {n}, {6})) &&
           !overlap(block(10'000'000, {n}, {-2}), block(9'999'996, {n}, {-2}));
}

memory_block random_block(std::mt19937& random)
{
    auto const pick = [&](int low, int high) { return uniform_int<int>(low, high)(random); };
    shape dims;
    strides steps;
    for (int axis = pick(0, 3); axis > 0; --axis) {
        dims.push_back(static_cast<std::size_t>(pick(pick(0, 9) == 0 ? 0 : 1, 4)));
        steps.push_back(pick(-9, 9));
    }
    return block(static_cast<std::uintptr_t>(pick(1000, 1060)), dims, steps,
        static_cast<std::size_t>(1) << pick(0, 3));
}

constexpr bool items_of_views_have_their_own_places()
{
    return is_unique({{}, {}}) && is_unique({{3, 4}, {4, 1}}) && is_unique({{3, 4}, {1, 3}}) &&
           is_unique({{3, 4}, {-8, 2}}) && is_unique({{2, 3, 4}, {-4, 8, -1}}) && is_unique({{5}, {-7}}) &&
           is_unique({{3, 4}, {4, -1}});
}

constexpr bool repeated_items_have_not()
{
    return !is_unique({{3, 4}, {0, 1}}) && !is_unique({{2}, {0}}) && !is_unique({{3, 3}, {1, 1}}) &&
           !is_unique({{3, 4}, {3, 1}}) && !is_unique({{3, 4}, {3, -1}}) &&
           !is_unique({{2, 2, 2}, {2, 1, 1}});
}

/// Steps that no item takes do not matter.
constexpr bool single_items_and_none_have()
{
    return is_unique({{1}, {0}}) && is_unique({{1, 4, 1}, {0, 1, 1}}) && is_unique({{3, 0}, {0, 0}}) &&
           is_unique({{0, 2}, {1, 0}});
}

/// 0, 2, 4 and 3, 5, 7 are all different, but no view of a container is laid out so.
constexpr bool interleaved_places_count_as_shared() { return !is_unique({{3, 2}, {2, 3}}); }

/// The address of every item, one by one.
bool all_places_differ(strided_layout const& layout)
{
    std::set<std::ptrdiff_t> places;
    for (std::size_t flat = 0; flat < element_count(layout.dims); ++flat) {
        std::ptrdiff_t place = 0;
        std::size_t rest = flat;
        for (std::size_t axis = layout.dims.size(); axis-- > 0; rest /= layout.dims[axis])
            place += static_cast<std::ptrdiff_t>(rest % layout.dims[axis]) * layout.strides[axis];
        places.insert(place);
    }
    return places.size() == element_count(layout.dims);
}

template <std::size_t N>
using operands = std::array<traversal, N>;

template <std::size_t N, std::size_t M, std::size_t K>
void refuse(operands<N> const& states, operands<M> const& inputs, operands<K> const& outputs,
    char const* pairs_and_remedy)
{
    std::string const text =
        std::string("xloom::scan_into: an operand that is written must have memory of its own, but ") +
        pairs_and_remedy;
    CHECK_THROWS_WITH_AS(
        check_in_place("xloom::scan_into", states, inputs, outputs), text.c_str(), overlap_error);
}

constexpr bool operands_apart()
{
    std::array<traversal, 2> const states{{{row_major(1000, {4})}, {row_major(1016, {4})}}};
    std::array<traversal, 2> const inputs{{{row_major(2000, {3, 4})}, {row_major(2016, {2, 4})}}};
    std::array<traversal, 2> const outputs{{{row_major(3000, {3, 4})}, {row_major(3048, {3, 4})}}};
    check_in_place("xloom::scan_into", states, inputs, outputs);
    return true;
}

constexpr traversal walked(memory_block const& memory, std::size_t axis, bool reverse)
{
    return {memory, axis, reverse};
}

constexpr bool output_in_an_input_walked_alike()
{
    std::array<traversal, 2> const inputs{
        {walked(row_major(2000, {3, 4}), 1, true), walked(row_major(2000, {3, 4}), 1, true)}};
    std::array<traversal, 1> const outputs{{walked(row_major(2000, {3, 4}), 1, true)}};
    check_in_place("xloom::scan_into", operands<0>(), inputs, outputs);
    return true;
}

} // namespace

TEST_CASE("overlap: layouts that occur")
{
    static_assert(neighbours_are_apart());
    CHECK(neighbours_are_apart());
    static_assert(interleaved_views_are_apart());
    CHECK(interleaved_views_are_apart());
    static_assert(halves_of_columns_are_apart());
    CHECK(halves_of_columns_are_apart());
    static_assert(nothing_overlaps_an_empty_block());
    CHECK(nothing_overlaps_an_empty_block());
    static_assert(negative_steps_reach_down());
    CHECK(negative_steps_reach_down());
    static_assert(repeated_items_count_once());
    CHECK(repeated_items_count_once());
    static_assert(bytes_count_not_items());
    CHECK(bytes_count_not_items());
    static_assert(views_of_many_rows_are_apart());
    CHECK(views_of_many_rows_are_apart());
}

TEST_CASE("overlap is exact: it agrees with an enumeration of the bytes")
{
    std::mt19937 random(20240229);
    int shared = 0;
    int differences = 0;
    constexpr int pairs = 4000;
    for (int i = 0; i < pairs; ++i) {
        memory_block const a = random_block(random);
        memory_block const b = random_block(random);
        bool const expected = share_a_byte(a, b);
        shared += expected;
        differences += overlap(a, b) != expected || overlap(b, a) != expected;
    }
    CHECK(differences == 0);
    CHECK(shared > pairs / 4);
    CHECK(shared < pairs * 3 / 4);
}

TEST_CASE("overlap gives up on the safe side")
{
    // 49 steps of 1,000 to 1,011 bytes reach 49,539 at most and 50 reach 50,000 at least, but there are too
    // many sums to try.
    memory_block const sums = block(
        0, shape(12, 9), strides{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011}, 1);
    CHECK(overlap(sums, row_major(49'999, {1}, 1)));
}

TEST_CASE("is_unique: layouts that occur")
{
    static_assert(items_of_views_have_their_own_places());
    CHECK(items_of_views_have_their_own_places());
    static_assert(repeated_items_have_not());
    CHECK(repeated_items_have_not());
    static_assert(single_items_and_none_have());
    CHECK(single_items_and_none_have());
    static_assert(interleaved_places_count_as_shared());
    CHECK(interleaved_places_count_as_shared());
}

TEST_CASE("is_unique never calls two items in one place apart")
{
    std::mt19937 random(5);
    int apart = 0;
    int wrong = 0;
    constexpr int layouts = 2000;
    for (int i = 0; i < layouts; ++i) {
        strided_layout const layout = random_block(random).layout;
        apart += is_unique(layout);
        wrong += is_unique(layout) && !all_places_differ(layout);
    }
    CHECK(wrong == 0);
    CHECK(apart > layouts / 4);
    CHECK(apart < layouts * 3 / 4);
}

TEST_CASE("check_in_place accepts disjoint operands")
{
    static_assert(operands_apart());
    CHECK(operands_apart());
}

TEST_CASE("check_in_place lets an output be an input's own tensor, walked alike")
{
    static_assert(output_in_an_input_walked_alike());
    CHECK(output_in_an_input_walked_alike());
}

TEST_CASE("check_in_place refuses an output in an input that is walked or shaped otherwise")
{
    memory_block const x = row_major(2000, {3, 3});
    auto const refuse_output = [&](traversal const& input, traversal const& output, char const* remedy) {
        std::string const text =
            std::string("scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or ") + remedy;
        refuse(operands<0>(), operands<1>{input}, operands<1>{output}, text.c_str());
    };
    char const* const remedy = "give both the same axis and direction.";
    char const* const tensor = "pass one tensor as both.";
    refuse_output(walked(x, 0, false), walked(x, 1, false), remedy);
    refuse_output(walked(x, 0, true), walked(x, 0, false), remedy);
    refuse_output(walked(x, 0, false), walked(row_major(2004, {3, 3}), 0, false), tensor);
    refuse_output(walked(x, 0, false), walked(row_major(2000, {3, 2}), 0, false), tensor);
    refuse_output(walked(x, 0, false), walked(block(2000, {3, 3}, {1, 3}), 0, false), tensor);
    refuse_output(walked(x, 0, false), walked(row_major(2000, {3, 3}, 2), 0, false), tensor);
}

TEST_CASE("check_in_place names every pair")
{
    traversal const h{row_major(1000, {4})};
    traversal const far{row_major(5000, {4})};
    traversal const x{row_major(1012, {2})};
    traversal const y{row_major(1016, {4, 4})};
    operands<0> const none{};
    refuse(operands<3>{h, far, h}, none, none, "states[0] overlaps states[2]. Copy one of the two.");
    refuse(
        operands<1>{h}, operands<2>{far, x}, none, "states[0] overlaps scan_inputs[1]. Copy one of the two.");
    refuse(operands<2>{far, h}, none, operands<1>{far},
        "states[0] overlaps scan_outputs[0]. Copy one of the two.");
    refuse(none, none, operands<2>{y, y}, "scan_outputs[0] overlaps scan_outputs[1]. Copy one of the two.");
    refuse(operands<2>{h, far}, operands<1>{x}, operands<2>{y, far},
        "states[0] overlaps scan_inputs[0], states[1] overlaps scan_outputs[1] and scan_outputs[0] overlaps "
        "scan_inputs[0]. Copy one of the two, or pass one tensor as both.");
}

TEST_CASE("check_written refuses an operand whose items share memory")
{
    memory_block const y = block(1000, {3, 2}, {1, 1});
    CHECK_THROWS_WITH_AS(check_written("xloom::op", std::array{operand_memory("y", y)}, {}),
        "xloom::op: every item of y must have memory of its own, but y has the shape [3, 2] and the strides "
        "[1, 1]. Write to a container.",
        overlap_error);
}

TEST_CASE("check_written accepts outputs whose items alternate, and refuses those that share some")
{
    memory_block const even = block(64, {4}, {2}), odd = block(68, {4}, {2}), half = block(72, {2}, {4});
    auto const check = [](memory_block const& a, memory_block const& b) {
        check_written("op", std::array{operand_memory("a", a), operand_memory("b", b)}, {});
    };
    check(even, odd);
    CHECK_THROWS_WITH_AS(check(even, half),
        "op: an operand that is written must have memory of its own, but a overlaps b. Copy one of the two.",
        overlap_error);
}

TEST_CASE("check_written ignores omitted operands, and allows one alias only")
{
    memory_block const h = row_major(1000, {4}), c = row_major(2000, {4});
    std::array<operand_memory, 3> const read{{{"initial_h", h}, {"initial_c", c}, {"lengths", nullptr}}};
    check_written("xloom::op",
        std::array<operand_memory, 3>{{{"Y_h", h, "initial_h"}, {"Y_c", c, "initial_c"}, {"Y", nullptr}}},
        read);
    CHECK_THROWS_WITH_AS(check_written("xloom::op", std::array{operand_memory("Y_h", c, "initial_h")}, read),
        "xloom::op: an operand that is written must have memory of its own, but Y_h overlaps initial_c. Copy "
        "one of the two.",
        overlap_error);
}

} // namespace check_overlap_test
