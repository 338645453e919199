// linear_attention and linear_attention_into against the loops of the definition, in float64.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/linear_attention_calls.hpp"
#include "support/placed_items.hpp"
#include "support/xtensor_extras.hpp"

namespace linear_attention_test {

namespace {

using xloom::update_rule;

constexpr update_rule every_rule[] = {
    update_rule::linear, update_rule::gated, update_rule::delta, update_rule::gated_delta};

template <class T, class State = T>
void compare(attention_dims const& dims, update_rule rule, unsigned given, placement how, double tolerance,
    double scale = 0)
{
    CAPTURE(name_of(rule));
    CAPTURE(given);
    auto const operands = random_attention(dims, rule, given, given + 1);
    auto const expected =
        textbook::linear_attention(operands, scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(dims.K)));
    auto const found = call_linear_attention(placed_attention<T, State>(operands, given, how), dims,
        attention_options(dims, rule, given, scale), given, how);
    check_close(items_of(found.output), expected.output.items, tolerance);
    check_close(items_of(found.present_state), expected.present_state.items, tolerance);
    CHECK(has_clean_gaps(found.output));
    CHECK(has_clean_gaps(found.present_state));
}

/// Token `t` of an operand, or tokens from it on.
template <class Tensor>
auto tokens(Tensor const& of, std::size_t begin, std::size_t end)
{
    return xt::view(of, xt::all(), xt::range(begin, end));
}

/// Row-major operands with an axis of heads.
template <class T>
struct dense_attention {
    using tokens_type = xt::xtensor<T, 4>;
    tokens_type query, key, value, past_state;
    xt::xtensor<T, 3> decay, beta;

    dense_attention(attention_dims const& of, update_rule rule, unsigned seed)
    {
        auto const operands = random_attention(of, rule, with_past_state, seed);
        auto const fill = [](auto& to, textbook::array<double> const& from) {
            if (from.items.empty())
                return;
            auto shape = to.shape();
            std::copy(from.shape.begin(), from.shape.end(), shape.begin());
            to.resize(shape);
            std::transform(
                from.items.begin(), from.items.end(), to.begin(), [](double x) { return static_cast<T>(x); });
        };
        fill(query, operands.query), fill(key, operands.key), fill(value, operands.value);
        fill(past_state, operands.past_state), fill(decay, operands.decay), fill(beta, operands.beta);
    }

    /// Calls linear_attention_into on tokens `begin` .. `end` - 1, the state in place.
    void run(
        update_rule rule, std::size_t begin, std::size_t end, tokens_type& output, tokens_type& state) const
    {
        auto const q = tokens(query, begin, end), k = tokens(key, begin, end), v = tokens(value, begin, end);
        auto const a = tokens(decay, begin, end), b = tokens(beta, begin, end);
        auto out = xt::view(output, xt::all(), xt::range(begin, end));
        xloom::linear_attention_inputs<T> inputs{.past_state = state};
        if (xloom::detail::has_decay(rule))
            inputs.decay = a;
        if (xloom::detail::has_beta(rule))
            inputs.beta = b;
        xloom::linear_attention_into(q, k, v, inputs, {.output = out, .present_state = state},
            xloom::linear_attention_options{.update_rule = rule});
    }
};

} // namespace

TEST_CASE("linear_attention_into: the definition, with any optional operands, in any layout")
{
    attention_dims const dims{2, 7, 6, 3, 5, 19};
    for (update_rule const rule : every_rule)
        for (unsigned given = 0; given < 32; ++given) {
            compare<double>(dims, rule, given, every_placement[given % 4], 1e-14);
            compare<float>(dims, rule, given, every_placement[(given + 1) % 4], 5e-6, 0.75);
        }
}

TEST_CASE("linear_attention_into: sizes around a vector and a block of tokens, none of each")
{
    using sizes = std::initializer_list<std::size_t>;
    for (update_rule const rule : every_rule) {
        for (std::size_t const V : sizes{0, 1, 4, 8, 15, 16, 17, 32, 33, 64, 130})
            for (std::size_t const T : sizes{0, 1, 2, 3, 4, 5, 33})
                compare<float>({1, T, 1, 1, 9, V}, rule, with_past_state, placement::row_major, 5e-6);
        for (std::size_t const K : sizes{1, 2, 16, 31})
            for (std::size_t const Hq : sizes{1, 2, 5})
                for (std::size_t const B : sizes{0, 1, 3})
                    compare<double>(
                        {B, 4, Hq, 1, K, 40}, rule, with_decay_of_keys, placement::row_major, 1e-14);
        compare<double>({1, 70, 2, 2, 12, 24}, rule, with_past_state, placement::row_major, 1e-13);
        compare<float>({1, 2, 3, 1, 9, 40}, rule, with_past_state, placement::row_major, 5e-6);
    }
}

TEST_CASE("linear_attention_into: a token between states of different layouts")
{
    attention_dims const dims{2, 1, 2, 1, 3, 20};
    for (update_rule const rule : every_rule) {
        auto const operands = random_attention(dims, rule, with_past_state, 13);
        auto const expected = textbook::linear_attention(operands, 1 / std::sqrt(3.0));
        for (placement const from : every_placement)
            for (placement const to : every_placement) {
                auto const found = call_linear_attention(placed_attention<float>(operands, 0, from), dims,
                    attention_options(dims, rule, 0), 0, to);
                check_close(items_of(found.output), expected.output.items, 5e-6);
                check_close(items_of(found.present_state), expected.present_state.items, 5e-6);
                CHECK(has_clean_gaps(found.present_state));
            }
    }
    auto operands = random_attention(dims, update_rule::linear, with_past_state, 13);
    std::fill(operands.past_state.items.begin(), operands.past_state.items.end(), 0.5);
    placed_attention<double> const of(operands, 0);
    std::vector<double> row(dims.V);
    row[0] = 0.5;
    xloom::detail::strided_items<double const> const half{
        row.data(), {{dims.B, dims.Hkv, dims.K, dims.V}, {0, 0, 0, 0}}};
    auto const found = xloom::linear_attention(
        of.query, of.key, of.value, {.past_state = half}, {.update_rule = update_rule::linear});
    auto const expected = textbook::linear_attention(operands, 1 / std::sqrt(3.0)).present_state.items;
    check_close(std::vector<double>(found.present_state.begin(), found.present_state.end()), expected, 1e-14);
}

TEST_CASE_TEMPLATE(
    "linear_attention_into: tokens one by one, in pieces and together have the same bits", T, float, double)
{
    for (update_rule const rule : every_rule)
        for (attention_dims const& dims : {attention_dims{2, 37, 2, 2, 16, 200}, {1, 9, 6, 2, 5, 19}}) {
            dense_attention<T> const of(dims, rule, 3);
            xt::xtensor<T, 4> whole = xt::zeros<T>({dims.B, dims.T, dims.Hq, dims.V}), pieces = whole;
            auto state = of.past_state, state_of_pieces = of.past_state;
            of.run(rule, 0, dims.T, whole, state);
            std::size_t begin = 0;
            for (std::size_t const length : std::initializer_list<std::size_t>{1, 1, 3, 1, 2, 1})
                of.run(rule, begin, begin + length, pieces, state_of_pieces), begin += length;
            of.run(rule, begin, dims.T, pieces, state_of_pieces);
            CHECK(whole == pieces);
            CHECK(state == state_of_pieces);
        }
}

TEST_CASE("linear_attention_into: the same bits on several threads, and of a sequence and a head alone")
{
    attention_dims const dims{3, 200, 8, 4, 16, 24};
    for (update_rule const rule : every_rule) {
        auto const operands = random_attention(dims, rule, with_past_state | with_lengths, 5);
        placed_attention<float> const of(operands, 0);
        auto const options = attention_options(dims, rule, 0);
        auto const whole = call_linear_attention(of, dims, options, 0);
        for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7}) {
            auto const found = call_linear_attention(
                of, dims, options, 0, placement::row_major, xloom::thread_policy(threads));
            CHECK(found.output.memory == whole.output.memory);
            CHECK(found.present_state.memory == whole.present_state.memory);
        }
    }
    dense_attention<double> const of({2, 5, 4, 2, 3, 7}, update_rule::delta, 7);
    xt::xtensor<double, 4> output = xt::zeros<double>({2, 5, 4, 7}), state = of.past_state;
    of.run(update_rule::delta, 0, 5, output, state);
    auto heads = xt::range(2, 4), head = xt::range(1, 2), sequence = xt::range(1, 2);
    auto const query = xt::view(of.query, sequence, xt::all(), heads);
    auto const key = xt::view(of.key, sequence, xt::all(), head),
               value = xt::view(of.value, sequence, xt::all(), head);
    auto const beta = xt::view(of.beta, sequence, xt::all(), head);
    auto const past = xt::view(of.past_state, sequence, head);
    auto const alone = xloom::linear_attention(
        query, key, value, {.past_state = past, .beta = beta}, {.update_rule = update_rule::delta});
    CHECK(alone.output == xt::view(output, sequence, xt::all(), heads));
    CHECK(alone.present_state == xt::view(state, sequence, head));
}

TEST_CASE("linear_attention_into: storage floats and narrow states, computed as float and rounded once")
{
    using xloom::bfloat16, xloom::float16;
    for (attention_dims const& dims :
        {attention_dims{2, 9, 4, 2, 8, 20}, {1, 1, 2, 1, 8, 130}, {1, 1, 1, 1, 8, 130}})
        for (update_rule const rule : every_rule) {
            auto operands = random_attention(dims, rule, with_past_state, 7);
            textbook::attention_operands<double>::for_each(operands, [](textbook::array<double>& each) {
                for (double& item : each.items)
                    item = static_cast<double>(static_cast<float>(bfloat16(static_cast<float>(item))));
            });
            auto const options = attention_options(dims, rule, 0);
            auto const expected =
                call_linear_attention(placed_attention<float>(operands, 0), dims, options, 0);
            auto const check = [&]<class Item, class State>(
                                   std::type_identity<Item>, std::type_identity<State>) {
                auto const found =
                    call_linear_attention(placed_attention<Item, State>(operands, 0), dims, options, 0);
                for (std::size_t i = 0; i < found.output.memory.size(); ++i)
                    REQUIRE(static_cast<float>(found.output.memory[i]) ==
                            static_cast<float>(static_cast<Item>(expected.output.memory[i])));
                for (std::size_t i = 0; i < found.present_state.memory.size(); ++i)
                    REQUIRE(static_cast<float>(found.present_state.memory[i]) ==
                            static_cast<float>(static_cast<State>(expected.present_state.memory[i])));
            };
            check(std::type_identity<bfloat16>(), std::type_identity<bfloat16>());
            check(std::type_identity<bfloat16>(), std::type_identity<float>());
            check(std::type_identity<float>(), std::type_identity<bfloat16>());
            check(std::type_identity<float>(), std::type_identity<float16>());
        }
}

TEST_CASE("linear_attention_into: outputs that are omitted, and the state in place")
{
    attention_dims const dims{1, 3, 2, 2, 4, 33};
    for (update_rule const rule : every_rule)
        for (std::size_t const T : std::initializer_list<std::size_t>{1, 3}) {
            auto of_T = dims;
            of_T.T = T;
            dense_attention<float> const of(of_T, rule, 3);
            xt::xtensor<float, 4> output = xt::zeros<float>({of_T.B, T, of_T.Hq, of_T.V}),
                                  state = of.past_state;
            of.run(rule, 0, T, output, state);
            xloom::linear_attention_inputs<float> inputs{.past_state = of.past_state};
            if (xloom::detail::has_decay(rule))
                inputs.decay = of.decay;
            if (xloom::detail::has_beta(rule))
                inputs.beta = of.beta;
            xloom::linear_attention_options const options{.update_rule = rule};
            auto only_output = output, only_state = of.past_state;
            only_output.fill(0);
            xloom::linear_attention_into(
                of.query, of.key, of.value, inputs, {.output = only_output}, options);
            xloom::linear_attention_into(
                of.query, of.key, of.value, inputs, {.present_state = only_state}, options);
            CHECK(only_output == output);
            CHECK(only_state == state);
        }
}

TEST_CASE("linear_attention: states that decay end at 0")
{
    std::size_t const T = 3000;
    xt::xtensor<float, 4> const query = xt::ones<float>({std::size_t{1}, T, std::size_t{1}, std::size_t{2}}),
                                key = query;
    xt::xtensor<float, 4> value = xt::zeros<float>({std::size_t{1}, T, std::size_t{1}, std::size_t{40}});
    xt::view(value, 0, 0) = 1;
    xt::xtensor<float, 3> const decay = -0.05f * xt::ones<float>({std::size_t{1}, T, std::size_t{1}});
    auto const [output, state] = xloom::linear_attention(
        query, key, value, {.decay = decay}, {.update_rule = update_rule::gated, .scale = 1});
    CHECK(output(0, 1000, 0, 7) == doctest::Approx(2 * std::exp(-0.05 * 1000)).epsilon(1e-3));
    float const limit = xloom::flush_subnormals::is_supported ? 0.0f : std::numeric_limits<float>::min();
    CHECK(std::all_of(state.begin(), state.end(), [&](float each) { return each <= limit; }));
}

TEST_CASE("linear_attention: sizes that std::size_t cannot count")
{
    constexpr std::size_t bits = std::numeric_limits<std::size_t>::digits, one = 1;
    std::size_t const queries = one << (bits / 2 + 8), keys = one << (bits / 2 + 4);
    using packed_type = xt::xtensor<float, 3>;
    packed_type const query = packed_type::from_shape({0, 1, queries}),
                      key = packed_type::from_shape({0, 1, keys}),
                      value = packed_type::from_shape({0, 1, one << (bits - 4)});
    xloom::linear_attention_options const options{.q_num_heads = static_cast<std::int64_t>(queries),
        .kv_num_heads = static_cast<std::int64_t>(keys),
        .update_rule = update_rule::linear};
    CHECK_THROWS_AS(xloom::linear_attention(query, key, value, {}, options), xloom::shape_error);

    std::size_t const most = (std::numeric_limits<std::size_t>::max)();
    xloom::kernel::arena<float> size;
    xloom::kernel::attention_tokens<float> const tokens(
        1, most / (xloom::kernel::batch_size<float> + 1), 32, size);
    CHECK(size.used() == most);
}

TEST_CASE("linear_attention: errors, before anything is written")
{
    using xloom::index_error, xloom::option_error, xloom::overlap_error, xloom::shape_error;
    using packed_type = xt::xtensor<double, 3>;
    packed_type const query = xt::zeros<double>({2, 3, 8}), key = xt::zeros<double>({2, 3, 4}),
                      value = xt::zeros<double>({2, 3, 6}), heads = xt::zeros<double>({2, 3, 2}),
                      wrong = xt::zeros<double>({2, 3, 3});
    xloom::linear_attention_options const options{
        .q_num_heads = 4, .kv_num_heads = 2, .update_rule = update_rule::gated};
    auto const call = [&](packed_type const& q, packed_type const& k, packed_type const& v,
                          xloom::linear_attention_inputs<double> const& inputs,
                          xloom::linear_attention_options const& chosen) {
        xloom::linear_attention(q, k, v, inputs, chosen);
    };
    CHECK_NOTHROW(call(query, key, value, {.decay = heads}, options));
    CHECK_THROWS_WITH_AS(call(query, key, value, {}, options),
        "xloom::linear_attention: the rule gated requires decay, but it is omitted. Give decay, or choose "
        "another update_rule.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads, .beta = heads}, options),
        "xloom::linear_attention: the rule gated has no beta, but it is [2, 3, 2]. Omit it, or choose "
        "another update_rule.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = wrong}, options),
        "xloom::linear_attention: decay must have the shape [B, T, Hkv] = [2, 3, 2] or [B, T, Hkv d_k] = [2, "
        "3, 4], but it is [2, 3, 3]. Correct it.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, wrong, value, {.decay = heads}, options),
        "xloom::linear_attention: the last dimension of key must be a multiple of kv_num_heads = 2, but key "
        "is [2, 3, 3]. Correct one of them.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, value, value, {.decay = heads}, options),
        "xloom::linear_attention: the operands must have the shapes that B = 2, T = 3, q_num_heads = 4, "
        "kv_num_heads = 2, d_k = 2 and d_v = 3 give them, but key is [2, 3, 6] instead of [B, T, Hkv d_k] = "
        "[2, 3, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads}, {.update_rule = update_rule::gated}),
        "xloom::linear_attention: q_num_heads must be at least 1, but it is 0. Give the number of heads in "
        "query.",
        option_error);
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads},
                             {.q_num_heads = 4, .kv_num_heads = 3, .update_rule = update_rule::gated}),
        "xloom::linear_attention: the last dimension of key must be a multiple of kv_num_heads = 3, but key "
        "is [2, 3, 4]. Correct one of them.",
        shape_error);
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads},
                             {.q_num_heads = 1, .kv_num_heads = 2, .update_rule = update_rule::gated}),
        "xloom::linear_attention: the number of query heads must be a multiple of that of key heads, but "
        "they are 1 and 2. Correct one of them.",
        option_error);
    CHECK_THROWS_WITH_AS(
        call(query, key, value, {.decay = heads},
            {.q_num_heads = 4, .kv_num_heads = 2, .update_rule = static_cast<update_rule>(9)}),
        "xloom::linear_attention: update_rule must be linear, gated, delta or gated_delta, but it is 9. "
        "Choose one of them.",
        option_error);
    packed_type const empty = xt::zeros<double>({2, 3, 0});
    CHECK_THROWS_WITH_AS(call(empty, empty, value, {.decay = heads}, options),
        "xloom::linear_attention: d_k must be at least 1, but query is [2, 3, 0]. Give the heads keys.",
        shape_error);
    xt::xtensor<int, 1> const lengths = {3, 4};
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads, .sequence_lens = lengths}, options),
        "xloom::linear_attention: lengths must be in [0, T] = [0, 3], but sequence_lens[1] is 4. Correct it.",
        index_error);
    xt::xtensor<int, 1> const three_lengths = {3, 3, 3};
    CHECK_THROWS_WITH_AS(call(query, key, value, {.decay = heads, .sequence_lens = three_lengths}, options),
        "xloom::linear_attention: sequence_lens must have the shape [B] = [2], but it is [3]. Give a length "
        "for each row.",
        shape_error);
    xt::xtensor<double, 4> const with_heads = xt::zeros<double>({2, 3, 4, 2}),
                                 kv = xt::zeros<double>({2, 3, 2, 2});
    CHECK_THROWS_WITH_AS(xloom::linear_attention(with_heads, kv, kv, {.decay = heads}, {.q_num_heads = 3}),
        "xloom::linear_attention: q_num_heads must be query's axis of heads, but it is 3 and query is [2, 3, "
        "4, 2]. Omit it.",
        option_error);
    CHECK_NOTHROW(xloom::linear_attention(
        with_heads, kv, kv, {.decay = heads}, {.q_num_heads = 4, .update_rule = update_rule::gated}));
    xt::xtensor<double, 4> const no_heads = xt::zeros<double>({2, 3, 0, 2});
    CHECK_THROWS_WITH_AS(xloom::linear_attention(with_heads, no_heads, no_heads, {}, {}),
        "xloom::linear_attention: the number of query heads must be a multiple of that of key heads, but "
        "they are 4 and 0. Correct one of them.",
        option_error);
    CHECK_THROWS_WITH_AS(xloom::linear_attention(no_heads, kv, kv, {}, {}),
        "xloom::linear_attention: the number of query heads must be a multiple of that of key heads, but "
        "they are 0 and 2. Correct one of them.",
        option_error);
    std::size_t const width = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2 - 1);
    auto const wide = xt::xtensor<double, 4>::from_shape({1, 0, 1, width});
    std::string const too_wide =
        "xloom::linear_attention: operands and results must fit in memory, but B = 1, T = 0, q_num_heads = "
        "1, kv_num_heads = 1, d_k = " +
        std::to_string(width) + " and d_v = " + std::to_string(width) + ". Choose smaller sizes.";
    CHECK_THROWS_WITH_AS(xloom::linear_attention(wide, wide, wide, {}, {.update_rule = update_rule::linear}),
        too_wide.c_str(), shape_error);
    packed_type output = xt::ones<double>({2, 3, 12});
    xt::xarray<double> const flat = xt::zeros<double>({6, 8});
    CHECK_THROWS_WITH_AS(xloom::linear_attention_into(flat, key, value, {}, {.output = output}, options),
        "xloom::linear_attention_into: query must have the shape [B, T, Hq d_k], or [B, T, Hq, d_k] with an "
        "axis of heads, but query is [6, 8]. Give it that shape.",
        shape_error);
    xt::xtensor<double, 4> state = xt::ones<double>({2, 2, 2, 3});
    xt::xtensor<double, 4> wrong_state = xt::ones<double>({2, 2, 2, 2});
    auto const gates_view = xt::view(output, xt::all(), xt::all(), xt::range(0, 2));
    CHECK_THROWS_WITH_AS(
        xloom::linear_attention_into(query, key, value, {.decay = gates_view}, {.output = output}, options),
        "xloom::linear_attention_into: an operand that is written must have memory of its own, but output "
        "overlaps decay. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_AS(xloom::linear_attention_into(query, key, value, {.decay = heads},
                        {.output = output, .present_state = wrong_state}, options),
        shape_error);
    CHECK(output == xt::ones<double>({2, 3, 12}));
    CHECK(state == xt::ones<double>({2, 2, 2, 3}));
}

} // namespace linear_attention_test
