// attn_lstm_into in a workspace that is large enough allocates nothing, nor does a step of attn_lstm_cell.

#include <doctest/doctest.h>

#include <algorithm>
#include <new>
#include <span>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "counting_new.hpp"

namespace allocation_attn_lstm_test {

using namespace xloom;

namespace {

using matrices = xt::xtensor<float, 3>;
using lengths = xt::xtensor<std::int32_t, 1>;

constexpr std::size_t H = 5, I = 3, E = 9, A = 6, L = 7;

/// Weights of both directions.
struct constants {
    matrices W, R, QW, MW, AW;
    xt::xtensor<float, 2> B, V;

    constants()
        : W(0.25f * xt::ones<float>({std::size_t{2}, 4 * H, I + L})),
          R(0.125f * xt::ones<float>({std::size_t{2}, 4 * H, H})),
          QW(0.5f * xt::ones<float>({std::size_t{2}, H, A})),
          MW(0.5f * xt::ones<float>({std::size_t{2}, E, A})),
          AW(0.25f * xt::ones<float>({std::size_t{2}, H + E, L})),
          B(0.5f * xt::ones<float>({std::size_t{2}, 8 * H})),
          V(0.5f * xt::ones<float>({std::size_t{2}, A}))
    {}

    attn_lstm_weights<float> packed() const
    {
        return attn_lstm_weights<float>({.W = W, .R = R, .B = B, .QW = QW, .MW = MW, .V = V, .AW = AW},
            {.direction = direction::bidirectional});
    }
};

/// A call with T steps of N rows and S steps of memory; one row has less of both.
struct call_memory {
    matrices X, M, h, c, attention, alignment;
    xt::xtensor<float, 4> Y, alignments;
    lengths sequence_lens, memory_seq_lens;

    call_memory(std::size_t T, std::size_t N, std::size_t S)
        : X(xt::ones<float>({T, N, I})),
          M(xt::ones<float>({N, S, E})),
          h(xt::ones<float>({std::size_t{2}, N, H})),
          c(h),
          attention(xt::ones<float>({std::size_t{2}, N, L})),
          alignment(xt::ones<float>({std::size_t{2}, N, S})),
          Y(xt::ones<float>({T, std::size_t{2}, N, H})),
          alignments(xt::ones<float>({T, std::size_t{2}, N, S})),
          sequence_lens(static_cast<std::int32_t>(T) * xt::ones<std::int32_t>({N})),
          memory_seq_lens(static_cast<std::int32_t>(S) * xt::ones<std::int32_t>({N}))
    {
        if (N > 1) {
            sequence_lens(N / 2) = static_cast<std::int32_t>(T / 2);
            memory_seq_lens(N / 2) = static_cast<std::int32_t>(S / 2);
        }
    }

    template <class... More>
    void run(
        attn_lstm_weights<float> const& weights, attention_workspace<float>& workspace, More const&... more)
    {
        attn_lstm_into(X, weights, start(), outputs(), workspace, more...);
    }
    template <class Score>
    void run_scored(
        Score const& score, attn_lstm_weights<float> const& weights, attention_workspace<float>& workspace)
    {
        attn_lstm_into(score, X, weights, start(), outputs(), workspace);
    }

private:
    attn_lstm_start<float> start() const
    {
        return {sequence_lens, h, c, M, memory_seq_lens, attention, alignment};
    }
    attn_lstm_outputs<float> outputs() { return {Y, h, c, alignments, attention, alignment}; }
};

constexpr auto first_step_alone = [](attention_step<float> const& step) {
    std::fill(step.scores.begin(), step.scores.end(), -1e9f);
    step.scores[0] = step.last_alignment[0];
};

/// Runs the parts of several threads one after the other.
struct in_parts {
    std::size_t parts;
    std::size_t concurrency() const { return parts; }
    template <class F>
    void for_each(std::size_t count, F const& f) const
    {
        for (std::size_t part = 0; part < count; ++part)
            f(part);
    }
};

/// What call(memory) allocates, over batches no larger than T, N and S.
template <class Call>
std::size_t most_allocations(batch_sizes const& sizes, Call const& call)
{
    std::size_t most = 0;
    for (std::size_t N = 1; N <= sizes.N; ++N)
        for (std::size_t const T : {std::size_t{1}, sizes.T / 2, sizes.T})
            for (std::size_t const S : {std::size_t{0}, sizes.S / 2, sizes.S}) {
                call_memory memory(T, N, S);
                std::size_t const before = allocations();
                call(memory);
                most = std::max(most, allocations() - before);
            }
    return most;
}

} // namespace

TEST_CASE("the meter sees what attn_lstm_into allocates in an empty workspace, once")
{
    auto const weights = constants().packed();
    attention_workspace<float> workspace;
    call_memory memory(4, 3, 5);
    std::size_t const before = allocations();
    memory.run(weights, workspace);
    std::size_t const first = allocations();
    CHECK(first > before);
    memory.run(weights, workspace);
    CHECK(allocations() == first);
}

TEST_CASE("attn_lstm_into allocates nothing in a workspace of its sizes, nor for "
          "smaller batches")
{
    auto const weights = constants().packed();
    // 49 rows are taken one step at a time, 48 rows two.
    for (batch_sizes const& sizes : {batch_sizes{6, 9, 7}, {4, 49, 3}, {1, 1, 1}}) {
        auto workspace = attention_workspace(weights, sizes);
        CHECK(most_allocations(sizes, [&](call_memory& memory) { memory.run(weights, workspace); }) == 0);
        auto scored = attention_workspace(first_step_alone, weights, sizes);
        CHECK(most_allocations(sizes,
                  [&](call_memory& memory) { memory.run_scored(first_step_alone, weights, scored); }) == 0);
    }
}

TEST_CASE("the bytes of a workspace are those of what its rows attend to, too")
{
    auto const workspace = attention_workspace(constants().packed(), {4, 9, 7});
    recurrent_workspace<float> const& without = workspace;
    CHECK(workspace.bytes() - without.bytes() >= 2 * 9 * sizeof(kernel::attending_row<float, float>));
}

TEST_CASE("attn_lstm_into allocates nothing for several threads, nor without attention")
{
    auto const weights = constants().packed();
    batch_sizes const sizes{40, 13, 7};
    for (std::size_t const threads : {2u, 3u, 5u}) {
        auto workspace = attention_workspace(weights, sizes, in_parts{threads});
        CHECK(most_allocations(sizes,
                  [&](call_memory& memory) { memory.run(weights, workspace, in_parts{threads}); }) == 0);
    }
    constants const all;
    matrices const W = 0.25f * xt::ones<float>({std::size_t{2}, 4 * H, I});
    attn_lstm_weights<float> const plain({.W = W, .R = all.R}, {.direction = direction::bidirectional});
    auto workspace = attention_workspace(plain, {40, 13});
    CHECK(most_allocations({40, 13}, [&](call_memory& memory) {
        attn_lstm_into(memory.X, plain, {memory.sequence_lens, memory.h, memory.c},
            {memory.Y, memory.h, memory.c}, workspace);
    }) == 0);
}

TEST_CASE("a step of attn_lstm_cell allocates nothing, nor does a memory that is no larger")
{
    auto const weights = constants().packed();
    call_memory large(1, 4, 9), small(1, 3, 6);
    std::vector<float> h(4 * H), c(4 * H), attention(4 * L), alignment(4 * 9), x(4 * I), y(4 * H);
    attn_lstm_cell<float> cell(weights, large.M, large.memory_seq_lens, 1);
    attn_lstm_cell<float, decltype(first_step_alone)> scored(first_step_alone, weights, large.M);
    std::size_t const before = allocations();
    cell(h, c, attention, x);
    cell(h, c, attention, x, y);
    cell(h, c, attention, alignment, x, y);
    scored(h, c, attention, alignment, x, y);
    CHECK(allocations() == before);

    // A smaller memory, and the large one again; the spans are as many rows of the states.
    cell.set_memory(small.M, small.memory_seq_lens);
    cell(std::span(h).first(3 * H), std::span(c).first(3 * H), std::span(attention).first(3 * L),
        std::span<float const>(x).first(3 * I));
    cell.set_memory(large.M, large.memory_seq_lens);
    std::size_t const after = allocations();
    cell(h, c, attention, x);
    CHECK(allocations() == after);
    CHECK(after == before);
}

TEST_CASE("attn_lstm_cell keeps its memory where there is no room for another one")
{
    auto const weights = constants().packed();
    call_memory small(1, 3, 6), large(1, 4, 9);
    std::vector<float> h(3 * H), c(3 * H), attention(3 * L), x(3 * I);
    attn_lstm_cell<float> expected(weights, small.M, small.memory_seq_lens);
    expected(h, c, attention, x);
    std::size_t granted = 0;
    for (bool is_refused = true; is_refused; ++granted) {
        attn_lstm_cell<float> cell(weights, small.M, small.memory_seq_lens);
        try {
            refusal const after(granted);
            cell.set_memory(large.M, large.memory_seq_lens);
            is_refused = false;
        } catch (std::bad_alloc const&) {
            CHECK(cell.batch_size() == 3);
            CHECK(cell.memory_steps() == 6);
            std::vector<float> own_h(3 * H), own_c(3 * H), own_attention(3 * L);
            cell(own_h, own_c, own_attention, x);
            CHECK(own_h == h);
            CHECK(own_attention == attention);
        }
    }
    CHECK(granted > 3);
}

TEST_CASE("attn_lstm_cell: an assignment that runs out of memory leaves the cell as it was")
{
    auto const weights = constants().packed();
    call_memory small(1, 3, 6), large(1, 9, 40);
    attn_lstm_cell<float> const from(weights, small.M, small.memory_seq_lens),
        other(weights, large.M, large.memory_seq_lens, 1);
    auto const step = [](attn_lstm_cell<float>& cell, std::size_t N) {
        std::vector<float> h(N * H), c(N * H), attention(N * L), x(N * I, 1.0f);
        cell(h, c, attention, x);
        return h;
    };
    attn_lstm_cell<float> untouched = from, whole = other;
    std::vector<float> const expected = step(untouched, 3), expected_of_other = step(whole, 9);
    std::size_t granted = 0;
    for (bool is_refused = true; is_refused; ++granted) {
        attn_lstm_cell<float> cell = from;
        try {
            refusal const after(granted);
            cell = other;
            is_refused = false;
        } catch (std::bad_alloc const&) {
            CHECK(step(cell, 3) == expected);
            cell = other;
        }
        CHECK(step(cell, 9) == expected_of_other);
    }
    CHECK(granted > 3);
}

} // namespace allocation_attn_lstm_test
