// Compares the forward and backward pass of a recurrence by scan_forward_into and scan_vjp_into, by
// scan_vjp and by loop_vjp with hand-written passes that keep the same states.

#include <cmath>

#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

#include "support.hpp"

namespace {

using namespace bench;
using matrix = xt::xtensor<float, 2>;

/// h = n / (1 + |n|) with n = x + h W, for one step.
void step(float* h, float const* x, float const* W, float* n, std::size_t H)
{
    std::copy_n(x, H, n);
    for (std::size_t j = 0; j < H; ++j)
        for (std::size_t i = 0; i < H; ++i)
            n[i] += W[j * H + i] * h[j];
    for (std::size_t i = 0; i < H; ++i)
        h[i] = n[i] / (1 + std::abs(n[i]));
}

/// The VJP of a step, which adds to ct_h, ct_x and ct_W; n and g are scratch.
void step_vjp(float const* h, float const* x, float const* W, float* n, float* g, float const* ct_next,
    float* ct_h, float* ct_x, float* ct_W, std::size_t H)
{
    std::copy_n(x, H, n);
    for (std::size_t j = 0; j < H; ++j)
        for (std::size_t i = 0; i < H; ++i)
            n[i] += W[j * H + i] * h[j];
    for (std::size_t i = 0; i < H; ++i) {
        float const d = 1 + std::abs(n[i]);
        g[i] = ct_next[i] / (d * d);
        ct_x[i] += g[i];
    }
    for (std::size_t j = 0; j < H; ++j) {
        float sum = 0;
        for (std::size_t i = 0; i < H; ++i) {
            sum += W[j * H + i] * g[i];
            ct_W[j * H + i] += g[i] * h[j];
        }
        ct_h[j] += sum;
    }
}

struct recurrence {
    std::size_t T, H;
    bool keeps_all;
    matrix x = made_up<matrix>({T, H}), W = matrix(made_up<matrix>({H, H}) / (16.0f * static_cast<float>(H)));
    matrix ct_x = x, ct_W = W;
    vector ct_h = xt::zeros<float>({H}), ct_last = ct_h, ct_next = ct_h, h = ct_h, n = ct_h, g = ct_h;
    xloom::scan_residuals<vector> residuals{checkpoints()};
    xloom::loop_residuals<vector> loop_residuals{checkpoints()};
    matrix kept = matrix::from_shape({keeps_all ? T : 2 * root() + 2, H}); ///< of the hand-written passes

    xloom::checkpoint checkpoints() const
    {
        return keeps_all ? xloom::checkpoint::all() : xloom::checkpoint::sqrt();
    }
    std::size_t root() const
    {
        return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(T))));
    }
    std::size_t iterations = T;

    std::int64_t trips() const { return static_cast<std::int64_t>(T); }
    auto results() const { return std::tuple(ct_x, ct_W, ct_h); }
    void clear() { ct_x.fill(0), ct_W.fill(0), ct_h.fill(0); }
    void start() { ct_x.fill(0), ct_W.fill(0), ct_h.fill(0), ct_last.fill(1), h.fill(0); }
};

void advance(recurrence& o, float* h, std::size_t t) { step(h, &o.x(t, 0), o.W.data(), o.n.data(), o.H); }
void reverse(recurrence& o, float const* h, std::size_t t)
{
    std::swap(o.ct_h.storage(), o.ct_next.storage());
    o.ct_h.fill(0);
    step_vjp(h, &o.x(t, 0), o.W.data(), o.n.data(), o.g.data(), o.ct_next.data(), o.ct_h.data(),
        &o.ct_x(t, 0), o.ct_W.data(), o.H);
}

void hand(recurrence& o)
{
    o.start();
    o.ct_h.fill(1);
    std::size_t const stride = o.keeps_all ? 1 : o.root();
    for (std::size_t t = 0; t < o.T; ++t) {
        if (t % stride == 0)
            std::copy_n(o.h.data(), o.H, &o.kept(t / stride, 0));
        advance(o, o.h.data(), t);
    }
    std::size_t const chunks = (o.T + stride - 1) / stride;
    for (std::size_t chunk = chunks; chunk-- > 0;) {
        std::size_t const begin = chunk * stride, end = (std::min)(o.T, begin + stride);
        float* const within = stride == 1 ? &o.kept(chunk, 0) : &o.kept(chunks, 0);
        if (stride != 1) {
            std::copy_n(&o.kept(chunk, 0), o.H, within);
            for (std::size_t t = begin; t + 1 < end; ++t) {
                std::copy_n(within + (t - begin) * o.H, o.H, within + (t + 1 - begin) * o.H);
                advance(o, within + (t + 1 - begin) * o.H, t);
            }
        }
        for (std::size_t t = end; t-- > begin;)
            reverse(o, within + (t - begin) * o.H, t);
    }
}

void xloom_into(recurrence& o)
{
    o.start();
    float *const n = o.n.data(), *const g = o.g.data();
    std::size_t const H = o.H;
    auto const body = [=](auto& h, auto const& x_t, auto const& W) {
        step(h.data(), x_t.data(), W.data(), n, H);
    };
    auto const body_vjp = [=](auto const& h, auto const& x_t, auto const& W, auto const& ct_next, auto& ct_h,
                              auto& ct_x, auto& ct_W) {
        step_vjp(
            h.data(), x_t.data(), W.data(), n, g, ct_next.data(), ct_h.data(), ct_x.data(), ct_W.data(), H);
    };
    xloom::scan_forward_into(body, o.h, o.x, o.W, std::tuple(), o.residuals);
    xloom::scan_vjp_into(body, body_vjp, o.x, o.W, o.residuals, xloom::cotangents().states(o.ct_last),
        xloom::gradients().init(o.ct_h).scan_inputs(o.ct_x).params(o.ct_W));
}

void xloom_pure(recurrence& o)
{
    o.start();
    float *const n = o.n.data(), *const g = o.g.data();
    std::size_t const H = o.H;
    auto result = xloom::scan_vjp(
        [=](vector const& h, auto const& x_t, matrix const& W) {
            vector next = h;
            step(next.data(), x_t.data(), W.data(), n, H);
            return xloom::scan_step{std::move(next)};
        },
        [=](vector const& h, auto const& x_t, matrix const& W, vector const& ct_next, vector& ct_h,
            auto& ct_x, matrix& ct_W) {
            step_vjp(h.data(), x_t.data(), W.data(), n, g, ct_next.data(), ct_h.data(), ct_x.data(),
                ct_W.data(), H);
        },
        o.h, o.x, o.W, o.checkpoints());
    auto cotangents = result.pullback(o.ct_last, std::tuple());
    o.ct_h = std::move(cotangents.init);
    o.ct_x = std::move(cotangents.scan_inputs);
    o.ct_W = std::move(cotangents.params);
}

void xloom_loop(recurrence& o)
{
    o.start();
    float *const n = o.n.data(), *const g = o.g.data();
    float const* const x = o.x.data();
    float* const ct_x = o.ct_x.data();
    std::size_t const H = o.H;
    auto result = xloom::loop_vjp(
        [=](std::int64_t t, bool, vector const& h, matrix const& W) {
            vector next = h;
            step(next.data(), x + static_cast<std::size_t>(t) * H, W.data(), n, H);
            return xloom::loop_step{true, std::move(next)};
        },
        [=](std::int64_t t, vector const& h, matrix const& W, vector const& ct_next, vector& ct_h,
            matrix& ct_W) {
            std::size_t const at = static_cast<std::size_t>(t) * H;
            step_vjp(
                h.data(), x + at, W.data(), n, g, ct_next.data(), ct_h.data(), ct_x + at, ct_W.data(), H);
        },
        o.h, o.W, {.max_trip_count = o.trips()}, o.checkpoints());
    auto cotangents = result.pullback(o.ct_last, std::tuple());
    o.ct_h = std::move(cotangents.init);
    o.ct_W = std::move(cotangents.params);
}

void xloom_loop_into(recurrence& o)
{
    o.start();
    float *const n = o.n.data(), *const g = o.g.data();
    float const* const x = o.x.data();
    float* const ct_x = o.ct_x.data();
    std::size_t const H = o.H;
    auto const body = [=](std::int64_t t, vector& h, matrix const& W) {
        step(h.data(), x + static_cast<std::size_t>(t) * H, W.data(), n, H);
        return true;
    };
    auto const body_vjp = [=](std::int64_t t, vector const& h, matrix const& W, vector const& ct_next,
                              vector& ct_h, matrix& ct_W) {
        std::size_t const at = static_cast<std::size_t>(t) * H;
        step_vjp(h.data(), x + at, W.data(), n, g, ct_next.data(), ct_h.data(), ct_x + at, ct_W.data(), H);
    };
    xloom::loop_forward_into(
        body, o.h, o.W, std::tuple(), o.loop_residuals, {.max_trip_count = o.trips(), .cond = std::nullopt});
    xloom::loop_vjp_into(body, body_vjp, o.W, o.loop_residuals, xloom::cotangents().states(o.ct_last),
        xloom::gradients().init(o.ct_h).params(o.ct_W));
}

} // namespace

int main(int argc, char** argv)
{
    for (bool const keeps_all : {true, false})
        for (std::size_t const H : {8u, 32u, 128u})
            add_case("scan_vjp/f32/T:10000/H:" + std::to_string(H) +
                         (keeps_all ? "/checkpoint:all" : "/checkpoint:sqrt"),
                [=] {
                    return recurrence{10'000, H, keeps_all};
                },
                {{"hand", hand}, {"xloom", xloom_into}, {"xloom_pure", xloom_pure},
                    {"xloom_loop", xloom_loop}, {"xloom_loop_into", xloom_loop_into}});
    return run_cases(argc, argv);
}
