// The rule of the recurrent operators on concrete shapes, options and memory: what it accepts, in
// constant expressions too, and the text of every refusal.

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include <xloom/detail/check/recurrent.hpp>
#include <xloom/detail/core/static_vector.hpp>

#include "infer/is_constant.hpp"

namespace check_recurrent_test {

using namespace xloom;
using namespace xloom::detail;

namespace {

constexpr std::string_view op = "xloom::op";

struct options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, detail::max_activations> activations{};
    option_list<double, 8> activation_alpha{}, activation_beta{};
    std::optional<double> clip{};
    std::optional<std::int64_t> hidden_size{};
    std::int64_t layout = 0;
};

constexpr bool is(recurrent_widths const& sizes, std::size_t D, std::size_t I, std::size_t H)
{
    return sizes.D == D && sizes.I == I && sizes.H == H;
}

/// I comes from W, H from R; their middle axis is checked with the other shapes.
constexpr bool weights_that_fit()
{
    return is(detail::check_weights(op, options{}, shape{1, 8, 3}, shape{1, 8, 2}), 1, 3, 2) &&
           is(detail::check_weights(
                  op, options{.direction = direction::reverse}, shape{1, 1, 0}, shape{1, 1, 1}),
               1, 0, 1) &&
           is(detail::check_weights(op, options{.direction = direction::bidirectional, .hidden_size = 7},
                  shape{2, 28, 5}, shape{2, 28, 7}),
               2, 5, 7) &&
           is(detail::check_weights(op, options{}, shape{1, 8, 3}, shape{1, 8, 2}, {.C = 3}), 1, 0, 2);
}

/// Weights and batches whose sizes in bytes are large, and representable.
constexpr bool sizes_that_can_be_counted()
{
    constexpr int digits = std::numeric_limits<std::size_t>::digits;
    constexpr std::size_t H = std::size_t{1} << (digits / 2 - 4), N = std::size_t{1} << (digits - 9);
    detail::check_rows(op, {1, 0, 1, 1}, N);
    detail::check_rows(op, {1, H, H, H}, H);
    return is(detail::check_weights(op, options{}, shape{1, 4 * H, H}, shape{1, 4 * H, H}), 1, H, H);
}

constexpr bool options_that_there_are()
{
    for (direction const each : {direction::forward, direction::reverse, direction::bidirectional})
        for (std::int64_t const layout : {0, 1})
            detail::check_options(op, options{.direction = each, .layout = layout});
    detail::check_options(op, options{.clip = 1e-300});
    detail::check_options(op, options{.clip = std::numeric_limits<double>::infinity()});
    return true;
}

constexpr std::array<std::string_view, 2> defaults{"Sigmoid", "Affine"};

/// The defaults for each direction, or what is given; alphas are taken across the directions.
constexpr bool activations_for_each_direction()
{
    auto const of = [](options const& given) {
        return detail::check_activations(op, given, defaults, activation_dialect::onnx);
    };
    options both{.direction = direction::bidirectional,
        .activations = {"Elu", "Tanh", "Affine", "leakyrelu"},
        .activation_alpha = {3, 4},
        .activation_beta = {5}};
    return of({}) == detail::activation_list{{activation::sigmoid}, {activation::affine, 1, 0}} &&
           of({.direction = direction::bidirectional}) ==
               detail::activation_list{{activation::sigmoid}, {activation::affine, 1, 0},
                   {activation::sigmoid}, {activation::affine, 1, 0}} &&
           of({.activations = {"Relu", "Softmax"}}) ==
               detail::activation_list{{activation::relu}, {activation::softmax}} &&
           of(both) == detail::activation_list{{activation::elu, 3}, {activation::tanh},
                           {activation::affine, 4, 5}, {activation::leaky_relu, 0.01}};
}

constexpr bool inputs_that_fit()
{
    auto const is_batch = [](batch_sizes const& batch, std::size_t T, std::size_t N) {
        return batch.T == T && batch.N == N;
    };
    return is_batch(detail::check_X(op, {5, 2, 3}, {1, 3, 2, 2}, 0), 5, 2) &&
           is_batch(detail::check_X(op, {5, 2, 3}, {1, 3, 2, 2}, 1), 2, 5) &&
           is_batch(detail::check_X(op, {0, 0, 0}, {2, 0, 2, 2}, 0), 0, 0);
}

/// Checks states of T = 7 and N = 5 against D = 2 and H = 4, with a projection K = 6.
constexpr bool check_states(std::int64_t layout, shape_ref h, shape_ref c, bool projects = false)
{
    recurrent_widths const sizes{.D = 2, .I = 3, .H = 4, .K = projects ? 6u : 4u, .projects = projects};
    batch_sizes const batch{7, 5};
    detail::check_states(
        op, shapes_of_outputs(sizes, batch, layout), h, c, [&] { return describe(sizes, batch); });
    return true;
}

constexpr bool states_that_fit()
{
    return check_states(0, shape{2, 5, 4}, {}) && check_states(1, {}, shape{5, 2, 4}) &&
           check_states(1, {}, {}) && check_states(0, shape{2, 5, 6}, shape{2, 5, 4}, true) &&
           check_states(1, shape{5, 2, 6}, shape{5, 2, 4}, true);
}

} // namespace

TEST_CASE("recurrent checks: what fits together")
{
    static_assert(weights_that_fit());
    CHECK(weights_that_fit());
    static_assert(sizes_that_can_be_counted());
    CHECK(sizes_that_can_be_counted());
    static_assert(options_that_there_are());
    CHECK(options_that_there_are());
    static_assert(activations_for_each_direction());
    CHECK(activations_for_each_direction());
    static_assert(inputs_that_fit());
    CHECK(inputs_that_fit());
    static_assert(states_that_fit());
    CHECK(states_that_fit());
}

TEST_CASE("recurrent checks: weights")
{
    constexpr auto no_W = [] { return detail::check_weights(op, options{}, {}, shape{1, 8, 2}); };
    constexpr auto flat_R = [] { return detail::check_weights(op, options{}, shape{1, 8, 3}, shape{8, 2}); };
    constexpr auto other_H = [] {
        return detail::check_weights(op, options{.hidden_size = 3}, shape{1, 8, 3}, shape{1, 8, 2});
    };
    constexpr auto no_H = [] { return detail::check_weights(op, options{}, shape{1, 0, 3}, shape{1, 0, 0}); };
    constexpr auto narrow = [] {
        return detail::check_weights(op, options{}, shape{1, 8, 3}, shape{1, 8, 2}, {.C = 4});
    };
    static_assert(!is_constant<no_W> && !is_constant<flat_R> && !is_constant<other_H> && !is_constant<no_H> &&
                  !is_constant<narrow>);
    CHECK_THROWS_WITH_AS(
        no_W(), "xloom::op: W must be given, but it is omitted. Give it 3 axes.", shape_error);
    CHECK_THROWS_WITH_AS(
        flat_R(), "xloom::op: R must have 3 axes, but its shape is [8, 2]. Give it 3.", shape_error);
    CHECK_THROWS_WITH_AS(other_H(),
        "xloom::op: hidden_size must be R's last dimension, but hidden_size is 3 and R is [1, 8, 2]. Correct "
        "one of them.",
        option_error);
    CHECK_THROWS_WITH_AS(no_H(),
        "xloom::op: H must be at least 1, but R is [1, 0, 0]. Give the states a length.", shape_error);
    CHECK_THROWS_WITH_AS(narrow(),
        "xloom::op: W must be at least as wide as the attention state, C = 4, but W is [1, 8, 3]. Give W [D, "
        "4H, I + C].",
        shape_error);
}

TEST_CASE("recurrent checks: weights with a projection")
{
    constexpr auto check = [](shape const& R, shape const& projection, options const& how = {}) {
        return detail::check_weights(op, how, shape{1, 16, 3}, R, {}, projection);
    };
    constexpr recurrent_widths sizes = check({1, 16, 2}, {1, 2, 4}, {.hidden_size = 4});
    static_assert(is(sizes, 1, 3, 4) && sizes.K == 2 && sizes.projects);
    CHECK(describe(sizes) == "D = 1, I = 3, H = 4 and K = 2");
    constexpr std::size_t huge = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 8;
    CHECK_THROWS_WITH_AS(detail::check_X(op, {huge, 1, 3}, sizes, 0),
        "xloom::op: Y must fit in memory, but X is [1152921504606846975, 1, 3], D = 1 and K = 2. Reduce its "
        "dimensions.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({1, 16, 2}, {2, 4}),
        "xloom::op: projection must have 3 axes, but its shape is [2, 4]. Give it 3.", shape_error);
    CHECK_THROWS_WITH_AS(check({1, 16, 2}, {1, 2, 4}, {.hidden_size = 2}),
        "xloom::op: hidden_size must be projection's last dimension, but hidden_size is 2 and projection is "
        "[1, "
        "2, 4]. Correct one of them.",
        option_error);
    CHECK_THROWS_WITH_AS(check({1, 16, 2}, {1, 2, 0}),
        "xloom::op: H must be at least 1, but projection is [1, 2, 0]. Give the states a length.",
        shape_error);
    CHECK_THROWS_WITH_AS(check({1, 16, 0}, {1, 0, 4}),
        "xloom::op: K must be at least 1, but R is [1, 16, 0]. Give the states a length.", shape_error);
}

TEST_CASE("recurrent checks: options")
{
    constexpr auto with_clip = [](double clip) { detail::check_options(op, options{.clip = clip}); };
    constexpr auto no_clip = [] { return detail::check_options(op, options{.clip = 0.0}), true; };
    constexpr auto third_layout = [] { return detail::check_options(op, options{.layout = 2}), true; };
    constexpr auto nowhere = [] {
        return detail::check_options(op, options{.direction = static_cast<direction>(9)}), true;
    };
    static_assert(!is_constant<no_clip> && !is_constant<third_layout> && !is_constant<nowhere>);
    CHECK_THROWS_WITH_AS(with_clip(0),
        "xloom::op: clip must be greater than 0, but clip is 0.000000. Omit it for no limit.", option_error);
    CHECK_THROWS_WITH_AS(with_clip(-1),
        "xloom::op: clip must be greater than 0, but clip is -1.000000. Omit it for no limit.", option_error);
    CHECK_THROWS_WITH_AS(with_clip(std::numeric_limits<double>::quiet_NaN()),
        "xloom::op: clip must be greater than 0, but clip is nan. Omit it for no limit.", option_error);
    CHECK_THROWS_WITH_AS(third_layout(),
        "xloom::op: layout must be 0 or 1, but layout is 2. Choose 1 where the batch axis comes first.",
        option_error);
    CHECK_THROWS_WITH_AS(nowhere(),
        "xloom::op: direction must be forward, reverse or bidirectional, but it is 9. Choose one of them.",
        option_error);
}

TEST_CASE("recurrent checks: activations")
{
    constexpr auto too_few = [] {
        return detail::check_activations(
            op, options{.activations = {"Relu"}}, defaults, activation_dialect::onnx);
    };
    constexpr auto of_one = [] {
        return detail::check_activations(op,
            options{.direction = direction::bidirectional, .activations = {"Relu", "Tanh"}}, defaults,
            activation_dialect::onnx);
    };
    static_assert(!is_constant<too_few> && !is_constant<of_one>);
    CHECK_THROWS_WITH_AS(too_few(),
        "xloom::op: there must be 2 activations for each direction, but direction is forward and activations "
        "has 1. Give 2 or none.",
        option_error);
    CHECK_THROWS_WITH_AS(of_one(),
        "xloom::op: there must be 2 activations for each direction, but direction is bidirectional and "
        "activations has 2. Give 4 or none.",
        option_error);
}

TEST_CASE("recurrent checks: X, and a Y that could be counted")
{
    constexpr std::size_t huge = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 8;
    constexpr auto wide = [] { return detail::check_X(op, {5, 2, 4}, {1, 3, 2, 2}, 0).T; };
    constexpr auto flat = [] { return detail::check_X(op, {5, 3}, {1, 3, 2, 2}, 1).T; };
    constexpr auto long_one = [] { return detail::check_X(op, {huge, 1, 0}, {2, 0, 2, 2}, 0).T; };
    static_assert(!is_constant<wide> && !is_constant<flat> && !is_constant<long_one>);
    CHECK_THROWS_WITH_AS(wide(),
        "xloom::op: X must have the shape [T, N, I] with I = 3, the last axis of W, but X is [5, 2, 4]. Give "
        "X that "
        "shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(flat(),
        "xloom::op: X must have the shape [N, T, I] with I = 3, the last axis of W, but X is [5, 3]. Give X "
        "that "
        "shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(long_one(),
        "xloom::op: Y must fit in memory, but X is [1152921504606846975, 1, 0], D = 2 and H = 2. Reduce its "
        "dimensions.",
        shape_error);
    CHECK(detail::check_X(op, {huge, 1, 0}, {1, 0, 1, 1}, 0).T == huge);
}

TEST_CASE("recurrent checks: states, every one that does not fit")
{
    constexpr auto both = [] { return check_states(1, shape{2, 5, 4}, shape{5, 8}); };
    constexpr auto projected = [] { return check_states(0, shape{2, 5, 4}, shape{2, 5, 6}, true); };
    CHECK_THROWS_WITH_AS(check_states(0, shape{2, 5, 4}, shape{2, 5, 6}),
        "xloom::op: the operands must have the shapes that T = 7, N = 5, D = 2 and H = 4 give them, but "
        "initial_c is [2, 5, 6] instead of [D, N, H] = [2, 5, 4]. Give it that shape.",
        shape_error);
    static_assert(!is_constant<both> && !is_constant<projected>);
    CHECK_THROWS_WITH_AS(both(),
        "xloom::op: the operands must have the shapes that T = 7, N = 5, D = 2 and H = 4 give them, but "
        "initial_h is [2, 5, 4] instead of "
        "[N, D, H] = [5, 2, 4] and initial_c is [5, 8] instead of [N, D, H] = [5, 2, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(projected(),
        "xloom::op: the operands must have the shapes that T = 7, N = 5, D = 2, H = 4 and K = 6 give them, "
        "but initial_h is [2, 5, 4] instead of [D, N, K] = [2, 5, 6] and initial_c is [2, 5, 6] instead of "
        "[D, N, H] = [2, 5, 4]. Give it that shape.",
        shape_error);
}

TEST_CASE("recurrent checks: what would make a shape right")
{
    auto const refuse = [](shape const& actual, std::string const& fact, std::string const& remedy) {
        std::array const rules{detail::shape_requirement{"W", "[D, 4H, I]", {1, 12, 2}, actual}};
        CHECK_THROWS_WITH_AS(detail::check_shapes(op, rules, [] { return "some sizes"; }),
            ("xloom::op: the operands must have the shapes that some sizes give them, but W is " + fact +
                " instead of [D, 4H, I] = [1, 12, 2]" + remedy)
                .c_str(),
            shape_error);
    };
    refuse({1, 2, 12}, "[1, 2, 12]", ". Transpose it.");
    refuse({2, 12}, "[2, 12]", ". Transpose it.");
    refuse({12, 2}, "[12, 2]", ". Reshape it.");
    refuse({12, 1, 2}, "[12, 1, 2]", ". Reshape it.");
    refuse({1, 24}, "[1, 24]", ". Reshape it.");
    refuse({1, 12, 3}, "[1, 12, 3]", ". Give it that shape.");
    refuse({2, 12, 2}, "[2, 12, 2]", ". Give it that shape.");
}

} // namespace check_recurrent_test
