#pragma once
// The whole blocks of a rank's part of a parallel scan, in three steps: the totals of the blocks, what comes
// before each of them, the results.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/prefix_group.hpp>
#include <xloom/detail/prefix/prefix_state.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The lanes of what a strip combines: one value, a vector of numbers or a map of vectors.
template <class Vector, class V>
inline constexpr std::size_t values_of = sizeof(Vector) / sizeof(V);

template <class V>
V get_lane(V const& vector, std::size_t)
{
    return vector;
}
template <class V>
void set_lane(V& vector, std::size_t, V const& value)
{
    vector = value;
}
template <class V, class Vector>
    requires(std::is_arithmetic_v<V> && !std::same_as<V, Vector>)
V get_lane(Vector const& vector, std::size_t lane)
{
    return vector[lane];
}
template <class V, class Vector>
    requires(std::is_arithmetic_v<V> && !std::same_as<V, Vector>)
void set_lane(Vector& vector, std::size_t lane, V const& value)
{
    vector[lane] = value;
}
template <class Map, class Vector>
    requires(std::is_arithmetic_v<decltype(Map::a)> && !std::same_as<Map, kernel::affine_map<Vector>>)
Map get_lane(kernel::affine_map<Vector> const& map, std::size_t lane)
{
    return {map.a[lane], map.b[lane]};
}
template <class Map, class Vector>
    requires(std::is_arithmetic_v<decltype(Map::a)> && !std::same_as<Map, kernel::affine_map<Vector>>)
void set_lane(kernel::affine_map<Vector>& map, std::size_t lane, Map const& value)
{
    map.a[lane] = value.a;
    map.b[lane] = value.b;
}

/// Strips of the neighbours begin .. end - 1 of each row of sequences, at most `width` neighbours wide.
/// make(at, length, neighbours) makes one, whose first elements are at the offsets `at`. A scan without
/// initial value begins with `neutral` if the strip needs one.
template <class Vector, class Make>
struct strips_of_row {
    std::size_t begin, end, width;
    Make make;
    bool has_neutral = false;
    Vector neutral{};
};

template <class Vector, class Make>
strips_of_row<Vector, Make> strips_between(
    std::size_t begin, std::size_t end, std::size_t width, Make const& make)
{
    return {begin, end, width, make};
}
template <class Vector, class Make>
strips_of_row<Vector, Make> strips_between(
    std::size_t begin, std::size_t end, std::size_t width, Make const& make, Vector const& neutral)
{
    return {begin, end, width, make, true, neutral};
}

/// The whole blocks of a rank's part of a sequence: the number of elements before the first one, and that of
/// blocks.
struct block_range {
    std::size_t head, blocks;
};

/// Returns the whole blocks of the `length` elements from `begin` on.
constexpr block_range whole_blocks_of(std::size_t begin, std::size_t length)
{
    constexpr std::size_t size = kernel::elements_per_block;
    std::size_t const head = (std::min)((size - begin % size) % size, length);
    return {head, (length - head) / size};
}

/// The whole blocks of strips of sequences. `Carried` is the operand of `sequences` that is the state.
template <class V, std::size_t Carried, class Sequences, class Strips>
class whole_blocks {
    using offsets = typename Sequences::offsets;
    using strip_type =
        std::invoke_result_t<decltype(Strips::make) const&, offsets const&, std::size_t, std::size_t>;
    using vector = typename strip_type::value_type;

    static constexpr std::size_t lanes = values_of<vector, V>;

public:
    whole_blocks(Sequences const& all, Strips const& strips, block_range const& range)
        : all_(all),
          strips_(strips),
          first_(range.head),
          blocks_(range.blocks),
          row_((strips.end - strips.begin) / lanes)
    {}

    /// Computes the totals of all blocks in `memory`, on the threads of a policy. Returns the end of the
    /// totals there.
    template <class Policy>
    V* reduce(V* memory, std::size_t parts, Policy const& policy)
    {
        std::size_t const count = rows() * row_ * blocks_;
        totals_ = reinterpret_cast<vector*>(memory);
        std::uninitialized_value_construct_n(totals_, count);
        for_each_part(parts, policy,
            [](strip_type const& strip, std::size_t block, vector* totals) { strip.reduce(block, totals); });
        return memory + count * lanes;
    }

    /// Combines the totals with the state, so that the state is that after the blocks, and what comes before
    /// each block is in the place of its totals.
    void combine(prefix_state<V>& state, bool has_before)
    {
        for_each_strip([&](offsets const& at, std::size_t width, vector* totals) {
            strip_type const strip = make(at, width);
            std::size_t const vectors = width / lanes;
            auto const for_each_value = [&](auto const& f) {
                for (std::size_t c = 0; c < vectors; ++c)
                    for (std::size_t lane = 0; lane < lanes; ++lane)
                        f(c, lane,
                            state.before(static_cast<std::size_t>(
                                at[Carried] +
                                static_cast<std::ptrdiff_t>(c * lanes + lane) * all_.beside()[Carried])));
            };
            std::array<vector, strip_type::max_width> before;
            std::fill_n(before.begin(), vectors, strips_.neutral);
            if (has_before)
                for_each_value([&](std::size_t c, std::size_t lane, V const& value) {
                    set_lane(before[c], lane, value);
                });
            for (std::size_t b = 0; b < blocks_; ++b) {
                vector* const at_block = totals + b * vectors;
                strip.append(b, before.data(), at_block, has_before || strips_.has_neutral || b != 0);
                std::swap_ranges(before.begin(), before.begin() + vectors, at_block);
            }
            for_each_value(
                [&](std::size_t c, std::size_t lane, V& value) { value = get_lane<V>(before[c], lane); });
        });
    }

    /// Writes the results of all blocks, on the threads of a policy.
    template <class Policy>
    void finish(bool has_before, std::size_t parts, Policy const& policy)
    {
        for_each_part(parts, policy, [&](strip_type const& strip, std::size_t block, vector* before) {
            strip.finish(block, before, has_before || block != 0);
        });
    }

private:
    std::size_t rows() const { return all_.count() / all_.neighbours(); }

    auto make(offsets const& at, std::size_t width) const
    {
        return strips_.make(at, blocks_ * kernel::elements_per_block, width);
    }

    /// Calls f(offsets of the first elements, neighbours, totals) for every strip.
    template <class F>
    void for_each_strip(F const& f) const
    {
        vector* totals = totals_;
        for (std::size_t row = 0; row < rows(); ++row)
            for (std::size_t begin = strips_.begin; begin < strips_.end; begin += strips_.width) {
                std::size_t const width = (std::min)(strips_.width, strips_.end - begin);
                auto at = all_(row * all_.neighbours() + begin);
                for (std::size_t k = 0; k < at.size(); ++k)
                    at[k] += static_cast<std::ptrdiff_t>(first_) * all_.time()[k];
                f(at, width, totals);
                totals += blocks_ * (width / lanes);
            }
    }

    template <class Policy, class F>
    void for_each_part(std::size_t parts, Policy const& policy, F const& f) const
    {
        parts = (std::min)(parts, blocks_);
        policy.for_each(parts, [&](std::size_t part) {
            for_each_strip([&](offsets const& at, std::size_t width, vector* totals) {
                auto const strip = make(at, width);
                for (std::size_t b = detail::begin_of_part(part, parts, blocks_);
                     b < detail::begin_of_part(part + 1, parts, blocks_); ++b)
                    f(strip, b, totals + b * (width / lanes));
            });
        });
    }

    Sequences const& all_;
    Strips const& strips_;
    std::size_t first_;
    std::size_t blocks_;
    std::size_t row_; ///< the number of vectors of a row
    vector* totals_ = nullptr;
};

} // namespace xloom::inline XLOOM_ABI::detail
