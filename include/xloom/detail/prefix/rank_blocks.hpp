#pragma once
// The state of a scan that one rank passes to the next, and the whole blocks of a part of it, in three steps:
// the totals of the blocks, what comes before each of them, the results.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The bytes of values, one after another; a tuple is those of its members.
template <class V>
struct value_bytes {
    static constexpr std::size_t size = sizeof(V);

    static void write(V const& value, std::byte* to) { std::memcpy(to, std::addressof(value), size); }
    static void read(V& value, std::byte const* from)
    {
        std::memcpy(static_cast<void*>(std::addressof(value)), from, size);
    }
};
template <class... Ts>
struct value_bytes<std::tuple<Ts...>> {
    static constexpr std::size_t size = (sizeof(Ts) + ...);

    static void write(std::tuple<Ts...> const& value, std::byte* to)
    {
        std::apply(
            [&](Ts const&... each) { ((value_bytes<Ts>::write(each, to), to += sizeof(Ts)), ...); }, value);
    }
    static void read(std::tuple<Ts...>& value, std::byte const* from)
    {
        std::apply(
            [&](Ts&... each) { ((value_bytes<Ts>::read(each, from), from += sizeof(Ts)), ...); }, value);
    }
};

/// The position of an element in a sequence that begins with an initial value or without one. It tells which
/// values of the state before it exist. The state of a scan that may be computed in order (is_ordered) always
/// has the value before its block, in whose place the last result is, and says so by a flag.
struct scan_position {
    std::size_t element;
    bool has_initial;
    bool is_ordered = false;

    /// True if there is an initial value or an earlier block.
    bool has_before() const { return has_initial || element >= kernel::elements_per_block; }
    /// True if the block has an earlier group.
    bool has_totals() const { return element % kernel::elements_per_block >= kernel::elements_per_group; }
    /// The number of earlier elements of the block.
    std::size_t in_block() const { return element % kernel::elements_per_block; }
    /// The number of earlier elements of the group.
    std::size_t in_group() const { return element % kernel::elements_per_group; }
    /// The number of values that the state consists of.
    std::size_t values() const { return in_group() + (keeps_before() ? 1U : 0U) + (has_totals() ? 1U : 0U); }
    bool keeps_before() const { return has_before() || is_ordered; }

    scan_position operator+(std::size_t elements) const
    {
        return {element + elements, has_initial, is_ordered};
    }
};

/// The state of the scans of some sequences before an element: what comes before its block, the totals of the
/// earlier groups of the block, combined, and the earlier elements of its group.
///
/// Why the elements and not their trees: one step of the scan then has them all, as in one process.
template <class V>
class prefix_state {
public:
    /// The maximum number of values for each sequence.
    static constexpr std::size_t most_values = kernel::elements_per_group + 1;
    /// The memory that it takes for each sequence.
    static constexpr std::size_t bytes_per_sequence = most_values * (sizeof(V) + value_bytes<V>::size) + 2;

    explicit prefix_state(std::size_t sequences)
        : sequences_(sequences),
          values_(std::make_unique<V[]>(most_values * sequences)),
          is_in_order_(sequences),
          bytes_((most_values * value_bytes<V>::size + 1) * sequences)
    {}

    V& before(std::size_t sequence) { return values_[sequence]; }
    V& totals(std::size_t sequence) { return values_[sequences_ + sequence]; }
    V& element(std::size_t i, std::size_t sequence) { return values_[(2 + i) * sequences_ + sequence]; }

    /// Not 0 if the rest of the block is computed in order, from the last result on, which is
    /// before(sequence).
    unsigned char& is_in_order(std::size_t sequence) { return is_in_order_[sequence]; }

    /// The bytes of the state of the first `count` sequences before an element, in which they are sent.
    std::span<std::byte> bytes(scan_position const& at, std::size_t count)
    {
        return std::span(bytes_).first(
            (at.values() * value_bytes<V>::size + (at.is_ordered ? 1 : 0)) * count);
    }
    void write_bytes(scan_position const& at, std::size_t count)
    {
        std::byte* to = bytes_.data();
        for_each_value(at, count, [&](V const& value) {
            value_bytes<V>::write(value, to);
            to += value_bytes<V>::size;
        });
        if (at.is_ordered)
            std::memcpy(to, is_in_order_.data(), count);
    }
    void read_bytes(scan_position const& at, std::size_t count)
    {
        std::byte const* from = bytes_.data();
        for_each_value(at, count, [&](V& value) {
            value_bytes<V>::read(value, from);
            from += value_bytes<V>::size;
        });
        if (at.is_ordered)
            std::memcpy(is_in_order_.data(), from, count);
    }

private:
    template <class F>
    void for_each_value(scan_position const& at, std::size_t count, F const& f)
    {
        for (std::size_t i = 0; i < count; ++i) {
            if (at.keeps_before())
                f(before(i));
            if (at.has_totals())
                f(totals(i));
            for (std::size_t k = 0; k < at.in_group(); ++k)
                f(element(k, i));
        }
    }

    std::size_t sequences_;
    std::unique_ptr<V[]> values_;
    std::vector<unsigned char> is_in_order_;
    std::vector<std::byte> bytes_;
};

/// Scans elements of one sequence, which are elements begin .. end - 1 of `access`, from the state before the
/// first of them on, and leaves the state after the last one. They may begin and end anywhere in a block.
template <class V, class Op, class Access>
class continued_scan {
public:
    continued_scan(
        Op const& op, Access const& access, prefix_state<V>& state, std::size_t sequence, bool exclusive)
        : op_(op), access_(access), state_(state), sequence_(sequence), exclusive_(exclusive)
    {}

    void operator()(scan_position at, std::size_t begin, std::size_t end) const
    {
        if constexpr (is_ordered)
            if (at.in_block() == 0)
                state_.is_in_order(sequence_) =
                    at.has_before() && !Op::is_safe_start(state_.before(sequence_));
        while (begin < end) {
            std::size_t const count = (std::min)(kernel::elements_per_group - at.in_group(), end - begin);
            if (is_ordered && state_.is_in_order(sequence_) != 0)
                continue_in_order(begin, count);
            else
                scan_in_group(at, begin, count);
            at = at + count;
            begin += count;
        }
    }

private:
    static constexpr bool is_ordered = kernel::order_rule<Op, V>::is_ordered;

    void scan_in_group(scan_position const& at, std::size_t begin, std::size_t count) const
    {
        std::size_t const first = at.in_group(), last = first + count;
        V prefixes[kernel::elements_per_group];
        for (std::size_t i = 0; i < first; ++i)
            prefixes[i] = state_.element(i, sequence_);
        for (std::size_t i = first; i < last; ++i) {
            prefixes[i] = access_.read(begin + i - first, 0);
            if (last < kernel::elements_per_group)
                state_.element(i, sequence_) = prefixes[i];
        }
        if constexpr (is_ordered) {
            V elements[kernel::elements_per_group] = {}; // so that compilers see that all have values
            std::copy_n(prefixes, last, elements);
            kernel::scan_group(prefixes, last, op_);
            write_while_safe(at, begin, last, elements, prefixes);
        } else {
            kernel::scan_group(prefixes, last, op_);
            write(at, begin, last, prefixes);
        }
        if (last == kernel::elements_per_group && !(is_ordered && state_.is_in_order(sequence_) != 0))
            append_group(at, prefixes[last - 1]);
    }

    void continue_in_order(std::size_t begin, std::size_t count) const
    {
        V& last = state_.before(sequence_);
        for (std::size_t i = begin; i < begin + count; ++i) {
            V const result = op_(last, access_.read(i, 0));
            access_.write(i, 0, exclusive_ ? last : result);
            last = result;
        }
    }

    /// Returns what comes before the group, if anything does.
    V base(scan_position const& at) const
    {
        V const& before = state_.before(sequence_);
        V const& totals = state_.totals(sequence_);
        return at.has_before() && at.has_totals() ? op_(before, totals) : at.has_totals() ? totals : before;
    }

    /// Writes the results of a group: in order from the first one on that is not safe.
    void write_while_safe(scan_position const& at, std::size_t begin, std::size_t last, V const* elements,
        V const* prefixes) const
    {
        bool const has_base = at.has_before() || at.has_totals();
        V const first = base(at);
        V done = first;
        bool is_safe = true;
        for (std::size_t i = 0; i < last; ++i) {
            V const& x = elements[i];
            V result = has_base ? op_(first, prefixes[i]) : prefixes[i];
            is_safe = is_safe && Op::is_safe(x, result);
            if (!is_safe)
                result = has_base || i != 0 ? op_(done, x) : x;
            if (i >= at.in_group())
                access_.write(begin + i - at.in_group(), 0, exclusive_ ? done : result);
            done = result;
        }
        if (!is_safe) {
            state_.is_in_order(sequence_) = 1;
            state_.before(sequence_) = done;
        }
    }

    void write(scan_position const& at, std::size_t begin, std::size_t last, V const* prefixes) const
    {
        if (at.has_before() || at.has_totals())
            write_after(base(at), at.in_group(), begin, last, prefixes);
        else // of an inclusive scan
            for (std::size_t i = at.in_group(); i < last; ++i)
                access_.write(begin + i - at.in_group(), 0, prefixes[i]);
    }
    void write_after(
        V const& base, std::size_t first, std::size_t begin, std::size_t last, V const* prefixes) const
    {
        for (std::size_t i = first; i < last; ++i)
            if (!exclusive_)
                access_.write(begin + i - first, 0, op_(base, prefixes[i]));
            else
                access_.write(begin + i - first, 0, i == 0 ? base : op_(base, prefixes[i - 1]));
    }

    /// Appends the total of a group to those of its block, and of a block to what comes before the next one.
    void append_group(scan_position const& at, V const& total) const
    {
        V& before = state_.before(sequence_);
        V& totals = state_.totals(sequence_);
        if (at.has_totals())
            totals = op_(totals, total);
        else
            totals = total;
        if ((at.element / kernel::elements_per_group + 1) * kernel::elements_per_group %
                kernel::elements_per_block !=
            0)
            return;
        if (at.has_before())
            before = op_(before, totals);
        else
            before = totals;
    }

    Op op_;
    Access access_;
    prefix_state<V>& state_;
    std::size_t sequence_;
    bool exclusive_;
};

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
