// Every operand that a derivative writes, in the memory of every other operand: a typed error that names
// both, before anything is written.

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include <xloom/gradients/attn_lstm_vjp.hpp>
#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>

namespace errors_vjp_overlap_test {

using namespace xloom;

namespace {

/// The operands of a call by name: those that are read, then those that are written.
struct operand_names {
    std::vector<std::string> read, written;
};

/// A tensor of at least two items in the memory of operand i.
class operands {
public:
    explicit operands(std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i)
            first_.push_back(items_.data() + i * room);
    }

    template <std::size_t Rank>
    element_view<double, Rank> get(std::size_t i, std::size_t const (&dims)[Rank]) const
    {
        return {first_[i], shape(dims, dims + Rank)};
    }

    /// Lets operand j begin at the second item of operand i.
    void share(std::size_t i, std::size_t j) { first_[j] = first_[i] + 1; }

    std::vector<double> const& items() const { return items_; }

private:
    static constexpr std::size_t room = 100;

    std::vector<double> items_ = std::vector<double>(3000, 0.25);
    std::vector<double*> first_{};
};

/// Checks call(operands) for every pair of operands of which at least one is written.
template <class Call>
void check_overlaps(operand_names const& names, Call const& call)
{
    std::vector<std::string> all = names.read;
    all.insert(all.end(), names.written.begin(), names.written.end());
    CHECK_NOTHROW(call(operands(all.size())));
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (i == j || (i < names.read.size() && j < names.read.size()))
                continue;
            CAPTURE(all[i]);
            CAPTURE(all[j]);
            operands shared(all.size());
            shared.share(i, j);
            auto const before = shared.items();
            std::string text;
            try {
                call(shared);
            } catch (overlap_error const& error) {
                text = error.what();
            }
            CHECK(text.find(all[i]) != std::string::npos);
            CHECK(text.find(all[j]) != std::string::npos);
            CHECK(shared.items() == before);
        }
}

using vec = xt::xtensor<double, 1>;

/// W or R of this number of rows.
auto const weights_of = [](std::size_t rows, std::size_t columns = 2) {
    return xt::xtensor<double, 3>(0.25 * xt::ones<double>({std::size_t{1}, rows, columns}));
};

} // namespace

TEST_CASE("scan_vjp_into")
{
    auto const body = [](auto& h, auto const& x_t, auto const& w, auto& y_t) { y_t = h = w * h + x_t; };
    auto const body_vjp = [](auto const&...) {};
    check_overlaps({{"scan_inputs[0]", "params[0]", "ct_outputs[0]", "ct_states[0]", "ct_states[1]"},
                       {"ct_init[0]", "ct_init[1]", "ct_scan_inputs[0]", "ct_params[0]"}},
        [&](operands const& at) {
            scan_residuals<std::tuple<vec, vec>> residuals;
            vec h = {1, 2}, c = h;
            auto const x = at.get(0, {3, 2});
            auto const w = at.get(1, {2});
            xt::xtensor<double, 2> y = xt::zeros<double>({3, 2});
            auto const both = [&](auto& first, auto&, auto const& x_t, auto const& p, auto& y_t) {
                body(first, x_t, p, y_t);
            };
            scan_forward_into(both, std::tie(h, c), x, w, y, residuals);
            auto ct_h = at.get(5, {2}), ct_c = at.get(6, {2}), ct_w = at.get(8, {2});
            auto ct_x = at.get(7, {3, 2});
            scan_vjp_into(both, body_vjp, x, w, residuals,
                cotangents().states(at.get(3, {2}), at.get(4, {2})).outputs(at.get(2, {3, 2})),
                gradients().init(ct_h, ct_c).scan_inputs(ct_x).params(ct_w));
        });
}

TEST_CASE("loop_vjp_into")
{
    auto const body = [](std::int64_t t, auto& v, auto& n, auto const& w, auto& y_t) {
        y_t = v = w * v;
        n = v;
        return t < 2;
    };
    auto const body_vjp = [](auto const&...) {};
    check_overlaps({{"params[0]", "ct_outputs[0]"}, {"ct_init[0]", "ct_init[1]", "ct_params[0]"}},
        [&](operands const& at) {
            loop_residuals<std::tuple<vec, vec>> residuals;
            vec v = {1, 2}, n = v;
            auto const w = at.get(0, {2});
            xt::xtensor<double, 2> y = xt::zeros<double>({3, 2});
            loop_forward_into(body, std::tie(v, n), w, y, residuals);
            auto ct_v = at.get(2, {2}), ct_n = at.get(3, {2}), ct_w = at.get(4, {2});
            loop_vjp_into(body, body_vjp, w, residuals, cotangents().outputs(at.get(1, {3, 2})),
                gradients().init(ct_v, ct_n).params(ct_w));
        });
}

TEST_CASE("loop_vjp_into, of numbers")
{
    auto const body = [](std::int64_t, double& v, double w) { return (v *= w) > 1; };
    auto const body_vjp = [](std::int64_t, double v, double w, double ct_next, double& ct_v, double& ct_w) {
        ct_v += ct_next * w;
        ct_w += ct_next * v;
    };
    double v = 6, w = 0.5;
    loop_residuals<double> residuals;
    loop_forward_into(body, v, w, std::tuple(), residuals);
    CHECK_THROWS_WITH_AS(
        loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(1.0), gradients().init(v).params(v)),
        "xloom::loop_vjp_into: an operand that is written must have memory of its own, but ct_init[0] "
        "overlaps ct_params[0]. Copy one of the two.",
        overlap_error);
    double ct_w = 0;
    CHECK_THROWS_WITH_AS(loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(1.0),
                             gradients().init(w).params(ct_w)),
        "xloom::loop_vjp_into: an operand that is written must have memory of its own, but ct_init[0] "
        "overlaps params[0]. Copy one of the two.",
        overlap_error);
}

TEST_CASE("lstm_vjp_into")
{
    auto const W = weights_of(8);
    lstm_weights<double> const weights({.W = W, .R = W}, {}, for_training);
    check_overlaps({{"X", "ct_Y", "ct_Y_h", "ct_Y_c"},
                       {"ct_X", "ct_W", "ct_R", "ct_B", "ct_P", "ct_initial_h", "ct_initial_c"}},
        [&](operands const& at) {
            lstm_residuals<double> residuals;
            recurrent_workspace<double> workspace;
            auto const X = at.get(0, {2, 1, 2});
            lstm_forward_into(X, weights, {}, {}, residuals, workspace);
            lstm_vjp_into(X, weights, residuals,
                {at.get(1, {2, 1, 1, 2}), at.get(2, {1, 1, 2}), at.get(3, {1, 1, 2})},
                {.X = at.get(4, {2, 1, 2}),
                    .W = at.get(5, {1, 8, 2}),
                    .R = at.get(6, {1, 8, 2}),
                    .B = at.get(7, {1, 16}),
                    .P = at.get(8, {1, 6}),
                    .initial_h = at.get(9, {1, 1, 2}),
                    .initial_c = at.get(10, {1, 1, 2})},
                workspace);
        });
}

TEST_CASE("gru_vjp_into")
{
    auto const W = weights_of(6);
    gru_weights<double> const weights({.W = W, .R = W}, {}, for_training);
    check_overlaps(
        {{"X", "ct_Y", "ct_Y_h"}, {"ct_X", "ct_W", "ct_R", "ct_B", "ct_initial_h"}}, [&](operands const& at) {
            gru_residuals<double> residuals;
            recurrent_workspace<double> workspace;
            auto const X = at.get(0, {2, 1, 2});
            gru_forward_into(X, weights, {}, {}, residuals, workspace);
            gru_vjp_into(X, weights, residuals, {at.get(1, {2, 1, 1, 2}), at.get(2, {1, 1, 2})},
                {.X = at.get(3, {2, 1, 2}),
                    .W = at.get(4, {1, 6, 2}),
                    .R = at.get(5, {1, 6, 2}),
                    .B = at.get(6, {1, 12}),
                    .initial_h = at.get(7, {1, 1, 2})},
                workspace);
        });
}

TEST_CASE("rnn_vjp_into")
{
    auto const W = weights_of(2);
    rnn_weights<double> const weights({.W = W, .R = W}, {}, for_training);
    check_overlaps(
        {{"X", "ct_Y", "ct_Y_h"}, {"ct_X", "ct_W", "ct_R", "ct_B", "ct_initial_h"}}, [&](operands const& at) {
            rnn_residuals<double> residuals;
            recurrent_workspace<double> workspace;
            auto const X = at.get(0, {2, 1, 2});
            rnn_forward_into(X, weights, {}, {}, residuals, workspace);
            rnn_vjp_into(X, weights, residuals, {at.get(1, {2, 1, 1, 2}), at.get(2, {1, 1, 2})},
                {.X = at.get(3, {2, 1, 2}),
                    .W = at.get(4, {1, 2, 2}),
                    .R = at.get(5, {1, 2, 2}),
                    .B = at.get(6, {1, 4}),
                    .initial_h = at.get(7, {1, 1, 2})},
                workspace);
        });
}

TEST_CASE("attn_lstm_vjp_into")
{
    auto const W = weights_of(8, 4), R = weights_of(8), QW = weights_of(2);
    xt::xtensor<double, 2> const V = {{1, 2}};
    attn_lstm_constants<double> const constants{.W = W, .R = R, .QW = QW, .MW = QW, .V = V};
    attn_lstm_weights<double> const weights(constants, {}, for_training);
    check_overlaps({{"X", "M", "ct_Y", "ct_Y_h", "ct_Y_c", "ct_alignments", "ct_Y_attention"},
                       {"ct_X", "ct_W", "ct_R", "ct_B", "ct_initial_h", "ct_initial_c", "ct_P", "ct_QW",
                           "ct_MW", "ct_V", "ct_M", "ct_initial_attention"}},
        [&](operands const& at) {
            attn_lstm_residuals<double> residuals;
            attention_workspace<double> workspace;
            auto const X = at.get(0, {2, 1, 2}), M = at.get(1, {1, 3, 2});
            attn_lstm_forward_into(X, weights, {.M = M}, {}, residuals, workspace);
            attn_lstm_vjp_into(X, M, weights, residuals,
                {.Y = at.get(2, {2, 1, 1, 2}),
                    .Y_h = at.get(3, {1, 1, 2}),
                    .Y_c = at.get(4, {1, 1, 2}),
                    .alignments = at.get(5, {2, 1, 1, 3}),
                    .Y_attention = at.get(6, {1, 1, 2})},
                {.X = at.get(7, {2, 1, 2}),
                    .W = at.get(8, {1, 8, 4}),
                    .R = at.get(9, {1, 8, 2}),
                    .B = at.get(10, {1, 16}),
                    .initial_h = at.get(11, {1, 1, 2}),
                    .initial_c = at.get(12, {1, 1, 2}),
                    .P = at.get(13, {1, 6}),
                    .QW = at.get(14, {1, 2, 2}),
                    .MW = at.get(15, {1, 2, 2}),
                    .V = at.get(16, {1, 2}),
                    .M = at.get(17, {1, 3, 2}),
                    .initial_attention = at.get(18, {1, 1, 2})},
                workspace);
        });
}

TEST_CASE("selective_scan_vjp_into")
{
    check_overlaps(
        {{"u", "delta", "A", "B", "C", "D", "z", "delta_bias", "initial_state", "ct_y", "ct_final_state"},
            {"ct_u", "ct_delta", "ct_A", "ct_B", "ct_C", "ct_D", "ct_z", "ct_delta_bias",
                "ct_initial_state"}},
        [&](operands const& at) {
            recurrent_workspace<double> workspace;
            selective_scan_vjp_into(at.get(0, {3, 2}),
                {.delta = at.get(1, {3, 2}),
                    .A = at.get(2, {2, 4}),
                    .B = at.get(3, {3, 4}),
                    .C = at.get(4, {3, 4}),
                    .D = at.get(5, {2}),
                    .z = at.get(6, {3, 2}),
                    .delta_bias = at.get(7, {2}),
                    .initial_state = at.get(8, {2, 4})},
                {.y = at.get(9, {3, 2}), .final_state = at.get(10, {2, 4})},
                {.u = at.get(11, {3, 2}),
                    .delta = at.get(12, {3, 2}),
                    .A = at.get(13, {2, 4}),
                    .B = at.get(14, {3, 4}),
                    .C = at.get(15, {3, 4}),
                    .D = at.get(16, {2}),
                    .z = at.get(17, {3, 2}),
                    .delta_bias = at.get(18, {2}),
                    .initial_state = at.get(19, {2, 4})},
                workspace);
        });
}

TEST_CASE("causal_conv_vjp_into")
{
    check_overlaps({{"input", "weight", "bias", "past_state", "ct_output", "ct_present_state"},
                       {"ct_input", "ct_weight", "ct_bias", "ct_past_state"}},
        [&](operands const& at) {
            recurrent_workspace<double> workspace;
            causal_conv_vjp_into(at.get(0, {1, 2, 3}), at.get(1, {2, 1, 4}),
                {.bias = at.get(2, {2}), .past_state = at.get(3, {1, 2, 3})},
                {.output = at.get(4, {1, 2, 3}), .present_state = at.get(5, {1, 2, 3})},
                {.input = at.get(6, {1, 2, 3}),
                    .weight = at.get(7, {2, 1, 4}),
                    .bias = at.get(8, {2}),
                    .past_state = at.get(9, {1, 2, 3})},
                {}, workspace);
        });
}

TEST_CASE("linear_attention_vjp_into")
{
    check_overlaps({{"query", "key", "value", "past_state", "decay", "beta", "ct_output", "ct_present_state"},
                       {"ct_query", "ct_key", "ct_value", "ct_past_state", "ct_decay", "ct_beta"}},
        [&](operands const& at) {
            recurrent_workspace<double> workspace;
            linear_attention_vjp_into(at.get(0, {1, 2, 1, 3}), at.get(1, {1, 2, 1, 3}),
                at.get(2, {1, 2, 1, 2}),
                {.past_state = at.get(3, {1, 1, 3, 2}),
                    .decay = at.get(4, {1, 2, 1}),
                    .beta = at.get(5, {1, 2, 1})},
                {.output = at.get(6, {1, 2, 1, 2}), .present_state = at.get(7, {1, 1, 3, 2})},
                {.query = at.get(8, {1, 2, 1, 3}),
                    .key = at.get(9, {1, 2, 1, 3}),
                    .value = at.get(10, {1, 2, 1, 2}),
                    .past_state = at.get(11, {1, 1, 3, 2}),
                    .decay = at.get(12, {1, 2, 1}),
                    .beta = at.get(13, {1, 2, 1})},
                {}, workspace);
        });
}

TEST_CASE("gather_nd_vjp_into and scatter_nd_vjp_into")
{
    xt::xtensor<int, 2> const indices = {{1}, {0}};
    check_overlaps({{"ct"}, {"ct_data"}}, [&](operands const& at) {
        auto ct_data = at.get(1, {3, 2});
        gather_nd_vjp_into(indices, at.get(0, {2, 2}), ct_data);
    });
    check_overlaps({{"ct", "data", "updates"}, {"ct_data", "ct_updates"}}, [&](operands const& at) {
        auto ct_data = at.get(3, {3, 2}), ct_updates = at.get(4, {2, 2});
        scatter_nd_vjp_into(reduction::mul, at.get(1, {3, 2}), indices, at.get(2, {2, 2}), at.get(0, {3, 2}),
            {.data = ct_data, .updates = ct_updates});
    });
}

TEST_CASE("loop_vjp_into: the memory of what a sequence holds")
{
    using sequence = std::vector<vec>;
    auto const body = [](std::int64_t, sequence&, vec const&) { return true; };
    auto const body_vjp = [](std::int64_t, sequence const&, vec const&, sequence const&, sequence&, vec&) {
        FAIL_CHECK("the body ran");
    };
    sequence state = {vec{1, 2}};
    vec const w = {3, 4};
    loop_residuals<sequence> residuals;
    loop_forward_into(body, state, w, std::tuple(), residuals, {.max_trip_count = 1});
    sequence ct_state = state, ct_init = state;
    CHECK_THROWS_WITH_AS(loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(ct_state),
                             gradients().init(ct_init).params(ct_init[0])),
        "xloom::loop_vjp_into: an operand that is written must have memory of its own, but ct_init[0] "
        "overlaps ct_params[0]. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(loop_vjp_into(body, body_vjp, w, residuals, cotangents().states(ct_state),
                             gradients().init(ct_init).params(ct_state[0])),
        "xloom::loop_vjp_into: an operand that is written must have memory of its own, but ct_params[0] "
        "overlaps ct_states[0]. Copy one of the two.",
        overlap_error);
}

} // namespace errors_vjp_overlap_test
