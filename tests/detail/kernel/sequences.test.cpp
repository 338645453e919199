// The time axis of the recurrent operators: which rows run in which step, what they read, and where they
// write.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <xloom/detail/kernel/cell.hpp>
#include <xloom/detail/kernel/sequences.hpp>

namespace kernel_sequences_test {

using namespace xloom::kernel;

namespace {

constexpr int untouched = -999;

/// The calls of a cell.
struct asked {
    std::size_t rows, continuing, t;
    friend bool operator==(asked const&, asked const&) = default;
};

/// A cell whose state is the sum of all that its row has read so far, plus t: two numbers a step, and a bias.
class summing_cell {
public:
    explicit summing_cell(std::size_t rows) : states_(rows * 2)
    {
        float const identity[] = {1, 0, 0, 1};
        pack_panels<float, float>({identity, 2, 1}, 2, 2, {panels_.data(), 2, 2});
        bias_[0] = 100;
        bias_[1] = 200;
    }

    multiplier multiplication() const { return {}; }
    stored_matrix<float> W() const { return panels<float>{panels_.data(), 2, 2}; }
    std::size_t H() const { return 2; }
    std::size_t K() const { return 2; }
    float const* bias() const { return bias_.data(); }
    std::size_t sums_stride() const { return whole_batches<float>(2); }
    float* h(std::size_t row) const { return states_.data() + 2 * row; }

    void step(std::size_t rows, std::size_t continuing, std::size_t t, float* sums) const
    {
        steps.push_back({rows, continuing, t});
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t j = 0; j < 2; ++j)
                h(row)[j] += sums[row * sums_stride() + j] + static_cast<float>(t);
    }

    mutable std::vector<asked> steps{};

private:
    std::vector<float> panels_ = std::vector<float>(panel_items<float>(2, 2));
    std::vector<float> bias_ = std::vector<float>(whole_batches<float>(2));
    mutable std::vector<float> states_;
};

/// Sequences of these lengths, of two numbers a step, every second one backwards, in memory with gaps.
struct batch {
    std::vector<std::size_t> lengths;
    std::size_t T = *std::max_element(lengths.begin(), lengths.end());
    std::vector<int> x = std::vector<int>(lengths.size() * T * 5, untouched),
                     y = std::vector<int>(lengths.size() * T * 7, untouched);
    std::vector<sequence<int>> sequences{};

    explicit batch(std::vector<std::size_t> lengths_) : lengths(std::move(lengths_))
    {
        for (std::size_t r = 0; r < lengths.size(); ++r)
            for (std::size_t t = 0; t < lengths[r]; ++t)
                for (std::size_t j = 0; j < 2; ++j)
                    x[(r * T + t) * 5 + 2 * j] = static_cast<int>(10 * r + t + 1000 * j);
        for (std::size_t r = 0; r < lengths.size(); ++r) {
            std::size_t const first = r % 2 == 1 && lengths[r] != 0 ? lengths[r] - 1 : 0;
            std::ptrdiff_t const sign = r % 2 == 1 ? -1 : 1;
            sequences.push_back({r, lengths[r], {x.data() + (r * T + first) * 5, 2}, sign * 5,
                {r == 2 ? nullptr : y.data() + (r * T + first) * 7, 3}, sign * 7});
        }
    }

    /// Row r's state after s of its steps.
    float expected(std::size_t r, std::size_t s, std::size_t j) const
    {
        float sum = 0;
        for (std::size_t i = 0; i < s; ++i) {
            std::size_t const t = r % 2 == 1 ? lengths[r] - 1 - i : i;
            sum += static_cast<float>(10 * r + t + 1000 * j + 100 * (j + 1) + i);
        }
        return sum;
    }
};

void check_batch(std::vector<std::size_t> const& lengths)
{
    batch const all(lengths);
    summing_cell const cell(lengths.size());
    arena<float> size;
    step_buffers<float>(cell, lengths.size(), all.T, size);
    std::vector<float> numbers(size.used() + 1, std::numeric_limits<float>::quiet_NaN());
    arena<float> memory(numbers.data());
    run_sequences<float>(
        cell, all.sequences.data(), lengths.size(), step_buffers<float>(cell, lengths.size(), all.T, memory));

    CAPTURE(lengths.size());
    REQUIRE(cell.steps.size() == all.T);
    for (std::size_t t = 0; t < all.T; ++t) {
        auto const longer_than = [&](std::size_t least) {
            return static_cast<std::size_t>(std::count_if(
                lengths.begin(), lengths.end(), [&](std::size_t each) { return each > least; }));
        };
        CHECK(cell.steps[t] == asked{longer_than(t), longer_than(t + 1), t});
    }
    for (std::size_t r = 0; r < lengths.size(); ++r)
        for (std::size_t j = 0; j < 2; ++j) {
            CHECK(cell.h(r)[j] == all.expected(r, lengths[r], j));
            for (std::size_t s = 0; s < lengths[r]; ++s) {
                std::size_t const t = r % 2 == 1 ? lengths[r] - 1 - s : s;
                REQUIRE(all.y[(r * all.T + t) * 7 + 3 * j] ==
                        (r == 2 ? untouched : static_cast<int>(all.expected(r, s + 1, j))));
            }
        }
    std::size_t written = 0;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        written += r == 2 ? 0 : 2 * lengths[r];
    CHECK(static_cast<std::size_t>(std::count_if(
              all.y.begin(), all.y.end(), [](int each) { return each != untouched; })) == written);
}

} // namespace

TEST_CASE("copy_row: from any stride to any stride, converted")
{
    int const from[] = {1, 2, 3, 4, 5, 6};
    std::vector<double> to(6, -1);
    copy_row<int, double>({from}, 3, {to.data()});
    CHECK(to == std::vector<double>{1, 2, 3, -1, -1, -1});
    copy_row<int, double>({from, 2}, 3, {to.data()});
    CHECK(to == std::vector<double>{1, 3, 5, -1, -1, -1});
    copy_row<int, double>({from + 5, -1}, 3, {to.data() + 5, -2});
    CHECK(to == std::vector<double>{1, 4, 5, 5, -1, 6});
    copy_row<int, double>({from, 0}, 2, {to.data()});
    CHECK(to == std::vector<double>{1, 1, 5, 5, -1, 6});
    copy_row<int, double>({from}, 3, {to.data(), 2});
    CHECK(to == std::vector<double>{1, 1, 2, 5, 3, 6});
    copy_row<int, double>({nullptr}, 0, {nullptr});
}

TEST_CASE("count_longer: how many of the sorted sequences have a step")
{
    batch const all({5, 3, 3, 1, 0});
    auto const count = [&](std::size_t most, std::size_t t) {
        return count_longer(all.sequences.data(), most, t);
    };
    CHECK((count(5, 0) == 4 && count(5, 1) == 3 && count(5, 2) == 3 && count(5, 3) == 1 && count(5, 4) == 1 &&
           count(5, 5) == 0));
    CHECK((count(2, 0) == 2 && count(2, 3) == 1 && count(0, 0) == 0));
}

TEST_CASE("run_sequences: every row reads and writes its own steps, those that are over rest")
{
    check_batch({1});
    check_batch({7});
    check_batch({5, 3, 3, 1, 0});
    check_batch({0, 0});
    check_batch({4, 4, 4, 4});
}

TEST_CASE("run_sequences: many steps together, or one of many rows")
{
    check_batch({95});
    check_batch({96});
    check_batch({97, 97, 50, 49, 48, 1});
    check_batch(std::vector<std::size_t>(48, 5));
    check_batch(std::vector<std::size_t>(97, 3));
    std::vector<std::size_t> falling;
    for (std::size_t length = 130; length-- > 0;)
        falling.push_back(length / 9);
    check_batch(falling);
}

namespace {

/// Counts the steps that a layer of a stack waits for, and those that it tells.
struct counted_layer {
    std::vector<std::size_t> waited_for{}, reached{};

    layer_ref ref(std::size_t most_steps)
    {
        return {most_steps, this,
            [](void* self, std::size_t end) { static_cast<counted_layer*>(self)->waited_for.push_back(end); },
            [](void* self, std::size_t end) { static_cast<counted_layer*>(self)->reached.push_back(end); }};
    }
};

} // namespace

TEST_CASE(
    "run_sequences: a layer of a stack waits for the inputs of each block, and tells of all but the last")
{
    batch const all({7, 3});
    summing_cell const cell(2);
    arena<float> size;
    step_buffers<float>(cell, 2, 7, size, 3);
    std::vector<float> numbers(size.used() + 1);
    arena<float> memory(numbers.data());
    counted_layer layer;
    run_sequences<float>(
        cell, all.sequences.data(), 2, step_buffers<float>(cell, 2, 7, memory, 3), layer.ref(3));
    CHECK(layer.waited_for == std::vector<std::size_t>{3, 6, 7});
    CHECK(layer.reached == std::vector<std::size_t>{3, 6});
    CHECK(cell.h(0)[1] == all.expected(0, 7, 1));
    CHECK(cell.h(1)[1] == all.expected(1, 3, 1));
}

TEST_CASE("step_buffers: as many steps as fit together, at least one, and none that are not there")
{
    summing_cell const cell(1);
    auto const steps = [&](std::size_t rows, std::size_t longest) {
        arena<float> size;
        return step_buffers<float>(cell, rows, longest, size).steps;
    };
    CHECK(steps(1, 1000) == xloom::tuning::rows_per_product);
    CHECK(steps(1, 10) == 10);
    CHECK(steps(7, 1000) == xloom::tuning::rows_per_product / 7);
    CHECK(steps(xloom::tuning::rows_per_product + 1, 1000) == 1);
    CHECK(steps(0, 0) == 1);
    arena<float> size;
    CHECK(step_buffers<float>(cell, 7, 1000, size, 2).steps == 2);
}

TEST_CASE("step_buffers: what suffices for a batch suffices for smaller ones")
{
    summing_cell const cell(1);
    auto const used = [&](std::size_t rows, std::size_t longest) {
        arena<float> size;
        step_buffers<float>(cell, rows, longest, size);
        return size.used();
    };
    for (std::size_t rows = 1; rows < 120; ++rows)
        for (std::size_t longest = 1; longest < 120; ++longest) {
            REQUIRE(used(rows - 1, longest) <= used(rows, longest));
            REQUIRE(used(rows, longest - 1) <= used(rows, longest));
        }
}

} // namespace kernel_sequences_test
