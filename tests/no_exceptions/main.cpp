// Built with -fno-exceptions, XLOOM_NO_SIMD and XLOOM_NO_STD_STOP_TOKEN. Its argument names what it does:
// calls that are right, or a mistake under some handler.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <xloom/xloom.hpp>

namespace {

using vector = xt::xtensor<double, 1>;

auto const add = [](double sum, double x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };

int call_all()
{
    vector const x = {3, 1, 2};
    auto const [total, running] = xloom::scan(add, 0.0, x);
    auto const loop = xloom::loop(
        [](std::int64_t, bool, double v) {
            return xloom::loop_step{v < 100, 2 * v};
        },
        1.0, {.cond = true});
    double const taken = xloom::if_(
        total > 5, [] { return 1.0; }, [] { return 2.0; });
    xt::xtensor<std::int64_t, 2> const indices = {{2}, {2}};
    vector const scattered = xloom::scatter_nd(xloom::reduction::add, x, indices, vector{10, 20});
    auto const gathered = xloom::gather_nd<1>(x, indices);
    // One unit, whose gates see 0 and whose cell sees 0.5: sigmoid(0) * tanh(0.5), kept as c, then sigmoid(0)
    // * tanh(c).
    xt::xtensor<double, 3> const X = {{{1}}}, W = {{{0}, {0}, {0}, {0.5}}}, R = {{{0}, {0}, {0}, {0}}};
    auto const h = xloom::lstm(X, {.W = W, .R = R}).Y_h(0, 0, 0);
    std::printf("%g %g, %g, %g, %g, %g %g, %.6f\n", total, running(1), loop.final_state, taken, scattered(2),
        gathered(0), gathered(1), h);
    return 0;
}

/// A stop that the third of ten iterations requests, without std::stop_token; and its source, moved from.
int stop_loop()
{
    xloom::stop_source stop;
    auto const loop = xloom::loop(
        [&](std::int64_t iteration, bool, int v) {
            if (iteration == 2)
                std::printf("%d ", stop.request_stop());
            return xloom::loop_step{true, v + 1};
        },
        0, {.max_trip_count = 10, .stop = stop.get_token()});
    std::printf("%d %d %d %d\n", stop.request_stop(), stop.stop_requested(), loop.stopped, loop.final_state);
    xloom::stop_source const moved = std::move(stop);
    std::printf("%d %d %d, %d %d %d %d\n", moved.stop_possible(), moved.stop_requested(),
        moved.request_stop(), stop.stop_possible(), stop.stop_requested(), stop.request_stop(),
        stop.get_token().stop_possible());
    return 0;
}

/// Two scan inputs of different lengths.
int mistake()
{
    xloom::scan([](double sum, double a, double b) { return xloom::scan_step{sum + a * b}; }, 0.0,
        std::tuple{vector{1, 2, 3}, vector{1, 2}});
    return 0;
}

/// An output's element is assigned another shape.
int reshape()
{
    vector state = {0, 0};
    xt::xtensor<double, 2> x = {{1, 2}}, y = {{0, 0}};
    xloom::scan_into([](auto&, auto const&, auto& y_t) { xt::noalias(y_t) = vector{1, 2, 3}; }, state, x, y);
    return 0;
}

void stop(std::exception const& error)
{
    std::printf("handled: %s\n", error.what());
    std::exit(0);
}

void go_on(std::exception const&) { std::fputs("returns\n", stderr); }

} // namespace

int main(int count, char** arguments)
{
    std::string_view const what = count == 2 ? arguments[1] : "";
    if (what == "calls")
        return call_all();
    if (what == "stop")
        return stop_loop();
    if (what == "default")
        return mistake();
    if (what == "null") {
        xloom::set_error_handler(nullptr);
        return mistake();
    }
    auto const first = xloom::set_error_handler(what == "returns" ? go_on : stop);
    if (what == "handler" || what == "returns")
        return mistake();
    if (what == "reshape")
        return reshape();
    if (what == "exchange")
        return first != stop && xloom::set_error_handler(first) == stop ? mistake() : 1;
    return 2;
}
