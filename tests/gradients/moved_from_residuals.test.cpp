// Residuals and pullbacks that are moved from are empty: a typed error, until a forward pass fills them
// again.

#include <doctest/doctest.h>

#include <memory>
#include <tuple>
#include <utility>

#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

namespace moved_from_residuals_test {

using namespace xloom;

namespace {

using matrices = xt::xtensor<float, 3>;
using vec = xt::xtensor<double, 1>;

/// Moves `object` away, and lets go of what it was moved to.
template <class Object>
void move_away(Object& object)
{
    auto const other = std::make_unique<Object>(std::move(object));
}

/// backward(residuals) throws an option_error after they are moved from, also to themselves, and gives the
/// same after forward(residuals) and where they were moved to.
template <class Residuals, class Forward, class Backward>
void check_residuals(Forward const& forward, Backward const& backward, char const* text)
{
    Residuals residuals;
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(residuals)), text, option_error);
    forward(residuals);
    auto const expected = backward(residuals);
    Residuals copy = residuals;
    move_away(residuals);
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(residuals)), text, option_error);
    CHECK(residuals.bytes() == 0);
    Residuals target;
    target = std::move(copy);
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(copy)), text, option_error);
    CHECK(backward(target) == expected);
    forward(copy);
    CHECK(backward(copy) == expected);
    Residuals& same = copy;
    copy = std::move(same); // which empties a std::vector
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(copy)), text, option_error);
}

/// The calls of one recurrent operator on this X, with `gates` gates of two units.
template <class Weights, class Residuals, class Forward, class Backward>
void check_recurrent(matrices const& X, std::size_t gates, Forward const& forward, Backward const& backward)
{
    std::size_t const I = X.shape(2);
    matrices const W = 0.25f * xt::ones<float>({std::size_t{1}, 2 * gates, I}),
                   R = 0.5f * xt::ones<float>({std::size_t{1}, 2 * gates, std::size_t{2}});
    Weights const weights({.W = W, .R = R}, {}, for_training);
    recurrent_workspace<float> workspace;
    char const* const text = backward.text;
    check_residuals<Residuals>([&](Residuals& residuals) { forward(X, weights, residuals, workspace); },
        [&](Residuals const& residuals) {
            matrices const ct = xt::ones<float>({1, 2, 2});
            matrices ct_h = xt::zeros<float>({1, 2, 2});
            backward(X, weights, residuals, ct, ct_h, workspace);
            return ct_h;
        },
        text);
}

constexpr auto forward_of_lstm = [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
    lstm_forward_into(X, weights, {}, {}, residuals, workspace);
};
constexpr auto forward_of_gru = [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
    gru_forward_into(X, weights, {}, {}, residuals, workspace);
};
constexpr auto forward_of_rnn = [](auto const& X, auto const& weights, auto& residuals, auto& workspace) {
    rnn_forward_into(X, weights, {}, {}, residuals, workspace);
};
struct lstm_backward {
    char const* text = "xloom::lstm_vjp_into: the residuals must be those of a forward pass, but none has "
                       "finished with them. Call xloom::lstm_forward_into first.";
    void operator()(auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_h,
        auto& workspace) const
    {
        lstm_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct_h}, workspace);
    }
};
struct gru_backward {
    char const* text = "xloom::gru_vjp_into: the residuals must be those of a forward pass, but none has "
                       "finished with them. Call xloom::gru_forward_into first.";
    void operator()(auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_h,
        auto& workspace) const
    {
        gru_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct_h}, workspace);
    }
};
struct rnn_backward {
    char const* text = "xloom::rnn_vjp_into: the residuals must be those of a forward pass, but none has "
                       "finished with them. Call xloom::rnn_forward_into first.";
    void operator()(auto const& X, auto const& weights, auto const& residuals, auto const& ct, auto& ct_h,
        auto& workspace) const
    {
        rnn_vjp_into(X, weights, residuals, {.Y_h = ct}, {.initial_h = ct_h}, workspace);
    }
};

} // namespace

TEST_CASE("residuals of recurrent operators, also of an X of zeros and of one without inputs")
{
    for (matrices const& X : {matrices(xt::ones<float>({3, 2, 3})), matrices(xt::zeros<float>({3, 2, 3})),
             matrices(xt::zeros<float>({3, 2, 0}))}) {
        check_recurrent<lstm_weights<float>, lstm_residuals<float>>(X, 4, forward_of_lstm, lstm_backward());
        check_recurrent<gru_weights<float>, gru_residuals<float>>(X, 3, forward_of_gru, gru_backward());
        check_recurrent<rnn_weights<float>, rnn_residuals<float>>(X, 1, forward_of_rnn, rnn_backward());
    }
}

TEST_CASE("residuals of attn_lstm")
{
    matrices const X = xt::zeros<float>({3, 2, 3}), W = 0.25f * xt::ones<float>({1, 8, 5}),
                   R = 0.5f * xt::ones<float>({1, 8, 2}), QW = 0.5f * xt::ones<float>({1, 2, 2}),
                   M = xt::ones<float>({2, 3, 2}), ct = xt::ones<float>({1, 2, 2});
    xt::xtensor<float, 2> const V = xt::ones<float>({1, 2});
    attn_lstm_constants<float> const constants{.W = W, .R = R, .QW = QW, .MW = QW, .V = V};
    attn_lstm_weights<float> const weights(constants, {}, for_training);
    attention_workspace<float> workspace;
    check_residuals<attn_lstm_residuals<float>>(
        [&](auto& residuals) { attn_lstm_forward_into(X, weights, {.M = M}, {}, residuals, workspace); },
        [&](auto const& residuals) {
            matrices ct_M = M;
            attn_lstm_vjp_into(X, M, weights, residuals, {.Y_h = ct}, {.M = ct_M}, workspace);
            return ct_M;
        },
        "xloom::attn_lstm_vjp_into: the residuals must be those of a forward pass, but none has finished "
        "with them. Call xloom::attn_lstm_forward_into first.");
}

TEST_CASE("residuals of a scan and of a loop")
{
    vec const x = {1, 2, 3};
    auto const body = [](double& h, double x_t, double w) { h = w * h + x_t; };
    auto const body_vjp = [](double h, double, double w, double ct_next, double& ct_h, double& ct_x,
                              double& ct_w) {
        ct_h += ct_next * w;
        ct_x += ct_next;
        ct_w += ct_next * h;
    };
    check_residuals<scan_residuals<double>>(
        [&](auto& residuals) {
            double h = 1;
            scan_forward_into(body, h, x, 0.5, std::tuple(), residuals);
        },
        [&](auto& residuals) {
            double ct_h = 0, ct_w = 0;
            vec ct_x = {0, 0, 0};
            scan_vjp_into(body, body_vjp, x, 0.5, residuals, cotangents().states(1.0),
                gradients().init(ct_h).scan_inputs(ct_x).params(ct_w));
            return std::tuple(ct_h, ct_x, ct_w);
        },
        "xloom::scan_vjp_into: the residuals must be those of a forward pass, but none has finished "
        "with them. Call xloom::scan_forward_into first.");

    auto const trip = [](std::int64_t, double& v, double w) { return (v *= w) > 1; };
    auto const trip_vjp = [](std::int64_t, double v, double w, double ct_next, double& ct_v, double& ct_w) {
        ct_v += ct_next * w;
        ct_w += ct_next * v;
    };
    auto const forward = [&](loop_residuals<double>& residuals) {
        double v = 6;
        loop_forward_into(trip, v, 0.5, std::tuple(), residuals);
    };
    auto const backward = [&](loop_residuals<double>& residuals) {
        double ct_v = 0, ct_w = 0;
        loop_vjp_into(
            trip, trip_vjp, 0.5, residuals, cotangents().states(1.0), gradients().init(ct_v).params(ct_w));
        return std::tuple(ct_v, ct_w);
    };
    char const* const text = "xloom::loop_vjp_into: the residuals must be those of a forward pass, but "
                             "none has finished with them. Call xloom::loop_forward_into first.";
    loop_residuals<double> residuals;
    forward(residuals);
    move_away(residuals);
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(residuals)), text, option_error);
    forward(residuals);
    loop_residuals<double> const copy = residuals;
    loop_residuals<double> target;
    target = std::move(residuals);
    CHECK_THROWS_WITH_AS(static_cast<void>(backward(residuals)), text, option_error);
    CHECK(backward(target) == std::tuple(0.125, 4.5));
    residuals = copy;
    CHECK(backward(residuals) == std::tuple(0.125, 4.5));
}

TEST_CASE(
    "residuals of a scan and of a loop whose state is a tensor, which a move leaves with its shape alone")
{
    vec const x = {1, 2, 3}, ones = {1, 1};
    auto const body = [](vec& h, double x_t) { h = 0.5 * h + x_t; };
    auto const body_vjp = [](vec const&, double, vec const& ct_next, vec& ct_h, double& ct_x) {
        ct_h += 0.5 * ct_next;
        ct_x += ct_next(0) + ct_next(1);
    };
    check_residuals<scan_residuals<vec>>(
        [&](auto& residuals) {
            vec h = {1, 2};
            scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals);
        },
        [&](auto& residuals) {
            vec ct_h = {0, 0}, ct_x = {0, 0, 0};
            scan_vjp_into(body, body_vjp, x, std::tuple(), residuals, cotangents().states(ones),
                gradients().init(ct_h).scan_inputs(ct_x));
            scan_vjp_into(body, body_vjp, x, std::tuple(), residuals, cotangents(), // zeros
                gradients().init(ct_h).scan_inputs(ct_x));
            return std::tuple(ct_h, ct_x);
        },
        "xloom::scan_vjp_into: the residuals must be those of a forward pass, but none has finished "
        "with them. Call xloom::scan_forward_into first.");

    auto const trip = [](std::int64_t, vec& v) {
        v *= 0.5;
        return v(0) > 1;
    };
    auto const trip_vjp = [](std::int64_t, vec const&, vec const& ct_next, vec& ct_v) {
        ct_v += 0.5 * ct_next;
    };
    auto const forward = [&](loop_residuals<vec>& residuals) {
        vec v = {6, 3};
        loop_forward_into(trip, v, std::tuple(), std::tuple(), residuals);
    };
    auto const backward = [&](loop_residuals<vec>& residuals) {
        vec ct_v = {0, 0};
        loop_vjp_into(
            trip, trip_vjp, std::tuple(), residuals, cotangents().states(ones), gradients().init(ct_v));
        loop_vjp_into(trip, trip_vjp, std::tuple(), residuals, cotangents(), gradients().init(ct_v)); // zeros
        return ct_v;
    };
    loop_residuals<vec> residuals;
    forward(residuals);
    move_away(residuals);
    forward(residuals);
    CHECK(backward(residuals) == vec{0.125, 0.125});
}

TEST_CASE("pullbacks")
{
    vec const x = {1, 2, 3};
    auto const body = [](double h, double x_t) { return scan_step{h + x_t}; };
    auto const body_vjp = [](double, double, double ct_next, double& ct_h, double& ct_x) {
        ct_h += ct_next;
        ct_x += ct_next;
    };
    auto scanned = scan_vjp(body, body_vjp, 0.0, x);
    auto pullback = std::move(scanned.pullback);
    CHECK_THROWS_WITH_AS(static_cast<void>(scanned.pullback(1.0, std::tuple())),
        "xloom::scan_vjp: a pullback can be called until it is moved from, but this one has been. Call the "
        "one "
        "that it was moved to.",
        option_error);
    CHECK(pullback(1.0, std::tuple()).scan_inputs == vec{1, 1, 1});

    auto const trip = [](std::int64_t, bool, double v) { return loop_step{v > 2, v / 2}; };
    auto const trip_vjp = [](std::int64_t, double, double ct_next, double& ct_v) { ct_v += ct_next / 2; };
    auto looped = loop_vjp(trip, trip_vjp, 6.0);
    auto of_loop = std::move(looped.pullback);
    CHECK_THROWS_WITH_AS(static_cast<void>(looped.pullback(1.0, std::tuple())),
        "xloom::loop_vjp: a pullback can be called until it is moved from, but this one has been. Call the "
        "one "
        "that it was moved to.",
        option_error);
    CHECK(of_loop(1.0, std::tuple()).init == 0.125);

    auto const twice = [](vec const& v) { return vec(2 * v); };
    auto const twice_vjp = [](vec const&, vec const& ct, vec& ct_v) { ct_v += 2 * ct; };
    auto branched = if_vjp(true, twice, twice_vjp, twice, twice_vjp, vec{1, 2});
    auto of_branch = std::move(branched.pullback);
    CHECK_THROWS_WITH_AS(static_cast<void>(branched.pullback(x)),
        "xloom::if_vjp: a pullback can be called until it is moved from, but this one has been. Call the one "
        "that it was moved to.",
        option_error);
    CHECK(of_branch(vec{1, 10}) == vec{2, 20});
}

} // namespace moved_from_residuals_test
