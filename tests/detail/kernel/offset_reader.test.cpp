// The offsets of index tuples, compared with the definition: of every width, with every rule for those
// outside, from batches; one by one.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <xloom/detail/kernel/offsets.hpp>

#include "support/uniform_int.hpp"

namespace kernel_offset_reader_test {

using namespace xloom;
using namespace xloom::detail;
using kernel::dropped_offset;
using offset_list = std::vector<std::ptrdiff_t>;

namespace {

/// Lengths and steps of axes as a view may have them.
strided_layout const four_axes{{4, 3, 2, 5}, {-100, 7, 1000, 2}};

strided_layout first_axes(std::size_t width)
{
    return {shape(four_axes.dims.begin(), four_axes.dims.begin() + width),
        strides(four_axes.strides.begin(), four_axes.strides.begin() + width)};
}

/// Tuples, some of their indices outside by one or two.
std::vector<std::int64_t> random_tuples(std::size_t count, shape const& lengths, std::int64_t beyond)
{
    std::mt19937 random(static_cast<unsigned>(count + lengths.size()));
    std::vector<std::int64_t> indices;
    for (std::size_t i = 0; i < count * lengths.size(); ++i) {
        auto const length = static_cast<std::int64_t>(lengths[i % lengths.size()]);
        indices.push_back(uniform_int<std::int64_t>(-length - beyond, length - 1 + beyond)(random));
    }
    return indices;
}

/// The definition, one index after the other.
offset_list offsets_by_definition(
    std::vector<std::int64_t> const& indices, std::size_t count, strided_layout const& axes, bounds rule)
{
    offset_list all;
    std::size_t const width = axes.dims.size();
    for (std::size_t tuple = 0; tuple < count; ++tuple) {
        std::ptrdiff_t offset = 0;
        bool is_outside = false;
        for (std::size_t axis = 0; axis < width; ++axis) {
            auto const length = static_cast<std::int64_t>(axes.dims[axis]);
            std::int64_t index = indices[tuple * width + axis];
            is_outside = is_outside || index < -length || index >= length;
            if (index < 0)
                index += length;
            if (index < 0)
                index = 0;
            if (index >= length)
                index = length - 1;
            offset += index * axes.strides[axis];
        }
        all.push_back(rule == bounds::drop && is_outside ? dropped_offset : offset);
    }
    return all;
}

/// Read in pieces of this many tuples.
offset_list read_in_pieces(kernel::offset_reader const& read, std::size_t piece)
{
    offset_list all(read.count());
    for (std::size_t from = 0; from < all.size(); from += piece)
        read.read_checked(from, std::min(piece, all.size() - from), all.data() + from);
    return all;
}

} // namespace

TEST_CASE("offsets of tuples of every width, with every rule")
{
    constexpr std::size_t count = 50;
    for (std::size_t width = 0; width <= 4; ++width)
        for (bounds const rule : {bounds::check, bounds::assume, bounds::drop, bounds::clip}) {
            bool const may_be_outside = rule == bounds::drop || rule == bounds::clip;
            strided_layout const axes = first_axes(width);
            std::vector<std::int64_t> const indices = random_tuples(count, axes.dims, may_be_outside ? 2 : 0);
            kernel::index_tuples<std::int64_t> const tuples{indices.data(), count, axes};
            kernel::offset_reader const read(tuples, rule);
            offset_list const expected = offsets_by_definition(indices, count, axes, rule);
            CAPTURE(width);
            CAPTURE(static_cast<int>(rule));
            CHECK(read.count() == count);
            CHECK(read.may_drop() == (rule == bounds::drop));
            CHECK(read_in_pieces(read, count) == expected);
            CHECK(read_in_pieces(read, 7) == expected);
            CHECK(read[count - 1] == expected.back());
            CHECK(read_in_pieces(read, 1) == expected);
        }
}

TEST_CASE_TEMPLATE("offsets: the ends of an index type are dropped or clipped", Index, std::int8_t,
    std::uint8_t, std::int64_t, std::uint64_t)
{
    constexpr Index least = std::numeric_limits<Index>::min(), largest = std::numeric_limits<Index>::max();
    std::vector<Index> const indices{largest, 1, least};
    kernel::index_tuples<Index> const tuples{indices.data(), 3, {{3}, {10}}};
    std::ptrdiff_t const of_least = std::is_signed_v<Index> ? dropped_offset : 0;
    CHECK(read_in_pieces(kernel::offset_reader(tuples, bounds::drop), 3) ==
          offset_list{dropped_offset, 10, of_least});
    CHECK(read_in_pieces(kernel::offset_reader(tuples, bounds::clip), 3) == offset_list{20, 10, 0});
}

TEST_CASE("offsets: every index into an empty axis is dropped")
{
    std::vector<std::int64_t> const indices{0, 0, 1, -1};
    kernel::index_tuples<std::int64_t> const tuples{indices.data(), 2, {{2, 0}, {5, 1}}};
    CHECK(read_in_pieces(kernel::offset_reader(tuples, bounds::drop), 2) ==
          offset_list{dropped_offset, dropped_offset});
}

TEST_CASE("offsets: axes of length 1 may have any stride, also where tuples are dropped")
{
    constexpr std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::max();
    std::vector<std::int64_t> const indices{0, -1, 1, 1, -2, -2};
    kernel::index_tuples<std::int64_t> const tuples{indices.data(), 3, {{1, 1}, {far, far}}};
    CHECK(read_in_pieces(kernel::offset_reader(tuples, bounds::drop), 3) ==
          offset_list{0, dropped_offset, dropped_offset});
}

// Entry 0 .. 5 of a [2, 3] batch begins at 0, 10, 20, -1000, -990, -980.
TEST_CASE("offsets count from the batch entry that a tuple belongs to, wherever a reading begins")
{
    strided_layout const batch{{2, 3}, {-1000, 10}};
    std::ptrdiff_t const begins[] = {0, 10, 20, -1000, -990, -980};
    for (std::size_t const per_entry : {1u, 2u, 5u, 64u, 67u}) {
        std::size_t const count = 6 * per_entry;
        std::vector<std::int64_t> const indices = random_tuples(count, {4}, 1);
        kernel::index_tuples<std::int64_t> const tuples{indices.data(), count, {{4}, {1}}};
        kernel::offset_reader const read(tuples, bounds::drop, {batch, per_entry});
        offset_list expected = offsets_by_definition(indices, count, {{4}, {1}}, bounds::drop);
        for (std::size_t i = 0; i < count; ++i)
            if (expected[i] != dropped_offset)
                expected[i] += begins[i / per_entry];
        CAPTURE(per_entry);
        for (std::size_t const piece :
            {std::size_t{1}, std::size_t{3}, xloom::tuning::offsets_per_block, count})
            CHECK(read_in_pieces(read, piece) == expected);
    }
}

TEST_CASE("a reader with bounds::check reads no tuples with an index outside, the others as ever")
{
    for (std::size_t width = 1; width <= 4; ++width) {
        constexpr std::size_t count = 20;
        strided_layout const axes = first_axes(width);
        for (std::size_t wrong = 0; wrong < count * width; ++wrong) {
            std::vector<std::int64_t> indices = random_tuples(count, axes.dims, 0);
            indices[wrong] = static_cast<std::int64_t>(axes.dims[wrong % width]);
            kernel::index_tuples<std::int64_t> const tuples{indices.data(), count, axes};
            kernel::offset_reader const read(tuples, bounds::check);
            offset_list const expected = offsets_by_definition(indices, count, axes, bounds::check);
            for (std::size_t i = 0; i < count; ++i) {
                std::ptrdiff_t offset = 12345;
                bool const is_right = i != wrong / width;
                CHECK(read(i, 1, &offset) == is_right);
                CHECK(offset == (is_right ? expected[i] : 12345));
            }
            offset_list all(count);
            CHECK_FALSE(read(0, count, all.data()));
            CHECK_FALSE(read.backward()(0, count, all.data()));
        }
    }
}

TEST_CASE("for_each_block with bounds::check ends before the block that has an index outside")
{
    constexpr std::size_t block = xloom::tuning::offsets_per_block, count = 3 * block;
    std::vector<float> const data(count);
    for (std::size_t const wrong : {std::size_t{0}, block - 1, block, 2 * block + 1, count - 1, count}) {
        std::vector<std::int32_t> indices(count);
        std::iota(indices.begin(), indices.end(), 0);
        if (wrong < count)
            indices[wrong] = -static_cast<std::int32_t>(count) - 1;
        kernel::index_tuples<std::int32_t> const tuples{indices.data(), count, {{count}, {1}}};
        std::size_t seen = 0;
        bool const is_valid =
            kernel::for_each_block(kernel::offset_reader(tuples, bounds::check), 0, count, data.data(), 1,
                [&](auto const& some) { some.for_each([&](std::ptrdiff_t, std::size_t) { ++seen; }); });
        CHECK(is_valid == (wrong == count));
        CHECK(seen == wrong / block * block);
    }
}

// Every tuple's offset is its number times 8; every fifth is omitted, or all are in range.
TEST_CASE("for_each_block gives every tuple once, in order, with its number; dropped ones not")
{
    constexpr std::size_t block = xloom::tuning::offsets_per_block, count = 3 * block, step = 8;
    std::vector<double> const data(count * step);
    using range = std::pair<std::size_t, std::size_t>;
    for (bool const drops : {false, true}) {
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < count; ++i)
            indices.push_back(drops && i % 5 == 3 ? count : i);
        kernel::index_tuples<std::size_t> const tuples{indices.data(), count, {{count}, {step}}};
        kernel::offset_reader const read(tuples, drops ? bounds::drop : bounds::assume);
        for (auto const& [from, to] :
            {range{0, count}, range{0, block}, range{0, block + 1}, range{40, 41}, range{40, 40 + 15},
                range{40, 40 + 16}, range{40, 40 + 17}, range{7, 7 + 2 * block}, range{9, 9}})
            for (std::size_t const slice : {std::size_t{1}, step}) {
                std::vector<std::size_t> seen, expected;
                bool is_right = true;
                auto const note = [&](std::ptrdiff_t offset, std::size_t number) {
                    is_right = is_right && offset == static_cast<std::ptrdiff_t>(number * step);
                    seen.push_back(number);
                };
                kernel::for_each_block(
                    read, from, to, data.data(), slice, [&](auto const& some) { some.for_each(note); });
                for (std::size_t i = from; i < to; ++i)
                    if (!drops || i % 5 != 3)
                        expected.push_back(i);
                CHECK(is_right);
                CHECK(seen == expected);

                seen.clear();
                kernel::for_each_indexed(read, from, to, note);
                CHECK(is_right);
                CHECK(seen == expected);
            }
    }
}

TEST_CASE("positions: of rows that are short, from any position, some of the tuples dropped")
{
    for (std::size_t const length : std::initializer_list<std::size_t>{1, 2, 10, 33, 64, 65}) {
        strided_layout const positions{{3, 13, length}, {5000, -70, 2}};
        kernel::position_offsets const add(positions);
        std::size_t const all = element_count(positions.dims);
        for (std::size_t const first : {std::size_t{0}, std::size_t{7}, all / 2})
            for (std::size_t const end : {all, all - length + 1}) { // the last row is whole, or one position
                offset_list offsets(end - first), expected;
                for (std::size_t i = 0; i < offsets.size(); ++i) {
                    auto const at = static_cast<std::ptrdiff_t>(first + i),
                               row = static_cast<std::ptrdiff_t>(length);
                    bool const is_dropped = i % 5 == 3;
                    offsets[i] = is_dropped ? dropped_offset : static_cast<std::ptrdiff_t>(i * i % 11);
                    expected.push_back(
                        is_dropped ? dropped_offset
                                   : offsets[i] + at / (13 * row) * 5000 - at / row % 13 * 70 + at % row * 2);
                }
                add.add_to(offsets.data(), first, offsets.size());
                CHECK(offsets == expected);
            }
    }
}

} // namespace kernel_offset_reader_test
