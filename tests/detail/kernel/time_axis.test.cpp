// The walk along time, compared with indices: the items of element t are those with index t, or T-1-t, on the
// axis.

#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include <xloom/detail/kernel/strided_copy.hpp>

namespace kernel_time_axis_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

/// The offsets of all items of a layout, from `first` on, in row-major order.
constexpr bool visit_offsets(strided_layout const& layout, std::ptrdiff_t first, auto&& visit)
{
    for (std::size_t flat = 0; flat < element_count(layout.dims); ++flat) {
        std::size_t rest = flat;
        std::ptrdiff_t at = first;
        for (std::size_t axis = layout.dims.size(); axis-- > 0;) {
            at += static_cast<std::ptrdiff_t>(rest % layout.dims[axis]) * layout.strides[axis];
            rest /= layout.dims[axis];
        }
        if (!visit(flat, at))
            return false;
    }
    return true;
}

/// The offset of the item with index `t` on `axis` and the indices of the `flat`-th item of a slice on the
/// others.
constexpr std::ptrdiff_t offset_of(
    strided_layout const& operand, std::size_t axis, std::size_t t, std::size_t flat)
{
    std::ptrdiff_t at = static_cast<std::ptrdiff_t>(t) * operand.strides[axis];
    for (std::size_t other = operand.dims.size(); other-- > 0;)
        if (other != axis) {
            at += static_cast<std::ptrdiff_t>(flat % operand.dims[other]) * operand.strides[other];
            flat /= operand.dims[other];
        }
    return at;
}

constexpr bool walks(strided_layout const& operand, std::size_t axis, bool reverse)
{
    std::size_t const length = operand.dims[axis];
    kernel::time_axis const time(operand, axis, length, reverse);
    if (time.element.dims != drop_axis(operand.dims, axis))
        return false;
    for (std::size_t t = 0; t < length; ++t) {
        std::size_t const index = reverse ? length - 1 - t : t;
        if (!visit_offsets(time.element, time.first + static_cast<std::ptrdiff_t>(t) * time.stride,
                [&](std::size_t flat, std::ptrdiff_t at) {
                    return at == offset_of(operand, axis, index, flat);
                }))
            return false;
        if (kernel::time_axis const rest = time.from(t);
            rest.stride != time.stride ||
            rest.first != time.first + static_cast<std::ptrdiff_t>(t) * time.stride)
            return false;
    }
    return true;
}

constexpr bool walks_every_way(strided_layout const& operand)
{
    for (std::size_t axis = 0; axis < operand.dims.size(); ++axis)
        if (!walks(operand, axis, false) || !walks(operand, axis, true))
            return false;
    return true;
}

constexpr bool walks_every_layout()
{
    return walks_every_way({{5}, {1}}) && walks_every_way({{5}, {-3}}) && walks_every_way({{5}, {0}}) &&
           walks_every_way({{3, 4}, {4, 1}}) && walks_every_way({{3, 4}, {1, 3}}) &&
           walks_every_way({{3, 4}, {-8, 2}}) && walks_every_way({{2, 3, 4}, {12, 4, 1}}) &&
           walks_every_way({{2, 3, 4}, {4, -8, 1}}) && walks_every_way({{2, 3, 1, 4}, {12, 4, 99, 1}}) &&
           walks_every_way({{1, 1, 1, 1}, {0, 0, 0, 0}}) && walks_every_way({{2, 0, 3}, {3, 3, 1}}) &&
           walks_every_way({{0}, {1}});
}

constexpr bool walks_part_of_an_axis()
{
    // A row of a batch that is shorter than the longest: reverse starts at its own last element.
    kernel::time_axis const time({{5, 2}, {2, 1}}, 0, 3, true);
    return time.first == 4 && time.stride == -2;
}

constexpr bool stays_where_it_is_without_items()
{
    constexpr std::size_t huge = std::size_t{1} << 62;
    kernel::time_axis const forward({{0, huge, 5}, {5, 5, 1}}, 1, huge, false);
    kernel::time_axis const reverse({{0, huge, 5}, {5, 5, 1}}, 1, huge, true);
    kernel::time_axis const none({{0, 5}, {5, 1}}, 0, 0, true);
    return forward.first == 0 && forward.stride == 0 && reverse.first == 0 && reverse.stride == 0 &&
           none.first == 0;
}

/// A gathered run of elements equals the elements, and scattered it is there again, and nowhere
/// else.
void check_gathering(strided_layout const& operand, std::size_t axis, bool reverse)
{
    constexpr std::ptrdiff_t origin = 50;
    std::vector<int> memory(100);
    std::iota(memory.begin(), memory.end(), 0);
    std::size_t const length = operand.dims[axis];
    kernel::time_axis const time(operand, axis, length, reverse);
    for (std::size_t count = 1; count <= length; ++count)
        for (std::size_t t = 0; t + count <= length; ++t) {
            CAPTURE(count);
            CAPTURE(t);
            std::ptrdiff_t const begin = origin + time.first + static_cast<std::ptrdiff_t>(t) * time.stride;
            std::vector<int> lying, where_they_lay(memory.size(), -1);
            for (std::size_t i = 0; i < count; ++i)
                visit_offsets(time.element, begin + static_cast<std::ptrdiff_t>(i) * time.stride,
                    [&](std::size_t, std::ptrdiff_t at) {
                        int const item = memory[static_cast<std::size_t>(at)];
                        lying.push_back(item);
                        where_they_lay[static_cast<std::size_t>(at)] = item;
                        return true;
                    });
            std::size_t const size = lying.size() / count;
            for (std::size_t const gap : std::initializer_list<std::size_t>{0, 3}) {
                std::vector<int> spaced;
                for (std::size_t i = 0; i < lying.size(); ++i) {
                    spaced.push_back(lying[i]);
                    if ((i + 1) % size == 0)
                        spaced.insert(spaced.end(), gap, -1);
                }
                std::vector<int> gathered(spaced.size(), -1), scattered(memory.size(), -1);
                time.pack_copy(count, size + gap)(memory.data() + begin, gathered.data());
                CHECK(gathered == spaced);
                time.unpack_copy(count, size + gap)(gathered.data(), scattered.data() + begin);
                CHECK(scattered == where_they_lay);
            }
        }
}

} // namespace

TEST_CASE("time_axis gathers runs of elements and scatters them back, wherever time is among the axes")
{
    for (strided_layout const& operand : {strided_layout{{5}, {1}}, {{5}, {-3}}, {{3, 4}, {4, 1}},
             {{3, 4}, {1, 3}}, {{3, 4}, {-8, 2}}, {{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {1, 8, 2}},
             {{2, 3, 1, 4}, {12, 4, 99, 1}}, {{3, 2}, {0, 1}}, {{3, 2}, {1, 0}}, {{2, 0, 3}, {3, 3, 1}}})
        for (std::size_t axis = 0; axis < operand.dims.size(); ++axis)
            for (bool const reverse : {false, true}) {
                CAPTURE(operand.dims.size());
                CAPTURE(axis);
                CAPTURE(reverse);
                check_gathering(operand, axis, reverse);
            }
}

TEST_CASE("time_axis walks every axis of every layout, in both directions")
{
    static_assert(walks_every_layout());
    CHECK(walks_every_layout());
}

TEST_CASE("time_axis in reverse begins at the last of the elements that it is given")
{
    static_assert(walks_part_of_an_axis());
    CHECK(walks_part_of_an_axis());
}

TEST_CASE("time_axis does not move along elements without items")
{
    static_assert(stays_where_it_is_without_items());
    CHECK(stays_where_it_is_without_items());
}

} // namespace kernel_time_axis_test
