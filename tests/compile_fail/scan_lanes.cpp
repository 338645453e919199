// Mistakes in calls of scan_lanes and scan_lanes_into.
// clang-format off
// 1: a body of lanes computes with many sequences at once, so that it cannot branch on their values
// 2: a body of lanes computes with many sequences at once, so that it cannot branch on their values
// 3: a body of lanes computes with many sequences at once, so that it cannot branch on their values
// 4: a number would be rounded or wrapped to the type of the lanes beside it
// 5: a number would be rounded or wrapped to the type of the lanes beside it
// 6: the body must take lanes of the states, of an element of each input, then, in scan_lanes_into, of the outputs; write auto& or auto const& in place of the type of a number
// 7: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 8: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 9: the body writes through its references and must return void
// 10: a body of lanes is called while it is const, by several threads at once if the policy has them; it cannot be a mutable lambda
// 11: a condition chooses among numbers of the size of those that were compared
// 12: the body must return xloom::scan_step{state, scan_outputs}
// 13: the body must take lanes of the states, of an element of each input, then, in scan_lanes_into, of the outputs; write auto& or auto const& in place of the type of a number
// 14: the states of a step are as many as the initial ones, and lanes of the same types
// 15: the states of a step are as many as the initial ones, and lanes of the same types
// 16: the outputs of a step are lanes or numbers
// 17: a state of scan_lanes is a tensor [N]; scan_lanes_into takes [N, K], too
// 18: a body of lanes is called while it is const, by several threads at once if the policy has them; it cannot be a mutable lambda
// 19: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 20: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 21: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 22: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 23: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 24: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits, whose rank is known at compile time
// 25: a scan input is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits, or [N], a parameter of each sequence
// 26: a scan input is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits, or [N], a parameter of each sequence
// 27: a scan output is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits
// 28: a scan output is a tensor [N, T] of floats, doubles or integers of 32 or 64 bits
// 29: a scan output is written, so it must not be const
// 30: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 31: a state is updated in place, so it must not be const
// 32: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 33: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 34: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 35: after the operands and outputs come the options, then at most one policy
// 36: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 37: a state is a tensor [N] or [N, K] of floats, doubles or integers of 32 or 64 bits
// 38: the body must take lanes of the states, of an element of each input, then, in scan_lanes_into, of the outputs; write auto& or auto const& in place of the type of a number
// 39: the body must take lanes of the states, of an element of each input, then, in scan_lanes_into, of the outputs; write auto& or auto const& in place of the type of a number
// 40: the body returned references, which could outlive the body's variables; return the step without template arguments
// 41: a number would be rounded or wrapped to the type of the lanes beside it
// 42: a number would be rounded or wrapped to the type of the lanes beside it
// clang-format on
#include <array>
#include <cstdint>

#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> h = xt::zeros<float>({2});
    xt::xtensor<float, 1> const constant_h = h;
    xt::xtensor<float, 2> const x = xt::ones<float>({2, 3});
    xt::xtensor<float, 2> y = x, cascade = x;
    xt::xtensor<float, 3> cube = xt::ones<float>({2, 3, 4});
    xt::xtensor<int, 1> const lens{3, 1};
    auto const body = [](auto&...) {};
    auto const step = [](auto const& s, auto const&...) { return xloom::scan_step{s, s}; };
#if CASE == 0
    xloom::scan_lanes_into(body, std::tie(h, cascade), std::tie(x, constant_h), lens, y);
    xloom::scan_lanes_into(body, std::tie(h), x + x, std::nullopt, xt::view(y, xt::all()));
    xloom::scan_lanes(step, h, x, lens, {.batch_axis = 0});
    xloom::scan_lanes_into([](auto s, auto const& x_t) { s[0] = x_t; }, cascade, x);
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = xloom::select(true, x_t, s); }, h, x);
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = s + 2 * x_t - std::int64_t{1}; }, h, x);
    xt::xtensor<std::uint64_t, 1> count{0, 0};
    xloom::scan_lanes_into([](auto& n, auto const&) { n = (n + 1) % 3ULL + 'a'; }, count, x);
#elif CASE == 1
    xloom::scan_lanes_into(
        [](auto& s, auto const& x_t, auto& y_t) {
            if (x_t < 0)
                s = x_t;
            y_t = s;
        },
        h, x, lens, y);
#elif CASE == 2
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = x_t < s ? x_t : s; }, h, x);
#elif CASE == 3
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = select(x_t < s && s < 1, x_t, s); }, h, x);
#elif CASE == 4
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = x_t + 0.5 * s; }, h, x);
#elif CASE == 5
    xt::xtensor<int, 1> count{0, 0};
    xloom::scan_lanes_into([](auto& n, auto const&) { n = n + 1.0f; }, count, x);
#elif CASE == 6
    xloom::scan_lanes_into([](auto&, auto const&) {}, h, x, lens, y);
#elif CASE == 7
    xloom::scan_lanes_into([](auto s, auto const& x_t, auto& y_t) { y_t = s = x_t; }, h, x, lens, y);
#elif CASE == 8
    xloom::scan_lanes_into([](auto& s, auto const& x_t, auto y_t) { y_t = s = x_t; }, h, x, lens, y);
#elif CASE == 9
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { return s + x_t; }, h, x);
#elif CASE == 10
    int calls = 0;
    xloom::scan_lanes_into([calls](auto&...) mutable { ++calls; }, h, x, lens, y);
#elif CASE == 11
    xt::xtensor<double, 1> d{0, 0};
    xloom::scan_lanes_into([](auto& s, auto const& x_t) { s = select(x_t < 0, s, 2 * s); }, d, x);
#elif CASE == 12
    xloom::scan_lanes([](auto const& s, auto const& x_t) { return s + x_t; }, h, x);
#elif CASE == 13
    xloom::scan_lanes([](auto const& s) { return xloom::scan_step{s}; }, h, x);
#elif CASE == 14
    xt::xtensor<std::int32_t, 1> n{0, 0};
    xloom::scan_lanes([](auto const& s, auto const& x_t) { return xloom::scan_step{x_t, s}; }, n, x);
#elif CASE == 15
    xloom::scan_lanes([](auto const& s, auto const&, auto const&) { return xloom::scan_step{s}; },
        std::tie(h, constant_h), x);
#elif CASE == 16
    xloom::scan_lanes([](auto const& s, auto const& x_t) { return xloom::scan_step{s, s < x_t}; }, h, x);
#elif CASE == 17
    xloom::scan_lanes(step, cascade, x);
#elif CASE == 18
    int calls = 0;
    xloom::scan_lanes(
        [calls](auto const& s, auto const&) mutable { return ++calls, xloom::scan_step{s}; }, h, x);
#elif CASE == 19
    float scalar = 0;
    xloom::scan_lanes_into(body, scalar, x);
#elif CASE == 20
    xloom::scan_lanes_into(body, cube, x);
#elif CASE == 21
    xt::xtensor<bool, 1> flags{true, false};
    xloom::scan_lanes(step, flags, x);
#elif CASE == 22
    xt::xtensor<std::int8_t, 1> bytes{1, 2};
    xloom::scan_lanes_into(body, bytes, x);
#elif CASE == 23
    xt::xtensor<xloom::float16, 1> halves(std::array<std::size_t, 1>{2});
    xloom::scan_lanes_into(body, halves, x);
#elif CASE == 24
    xt::xarray<float> dynamic = h;
    xloom::scan_lanes_into(body, dynamic, x);
#elif CASE == 25
    xloom::scan_lanes_into(body, h, cube);
#elif CASE == 26
    xloom::scan_lanes(step, h, 2.0f);
#elif CASE == 27
    xloom::scan_lanes_into(body, h, x, lens, h);
#elif CASE == 28
    xloom::scan_lanes_into(body, h, x, lens, y + y);
#elif CASE == 29
    xloom::scan_lanes_into(body, h, x, lens, x);
#elif CASE == 30
    xloom::scan_lanes_into(body, h, x, lens, xt::xtensor<float, 2>(y));
#elif CASE == 31
    xloom::scan_lanes_into(body, constant_h, x);
#elif CASE == 32
    xloom::scan_lanes_into(body, std::tuple{h, h}, x);
#elif CASE == 33
    xloom::scan_lanes_into(body, h, x, xt::xtensor<float, 1>{3, 1}, y);
#elif CASE == 34
    xloom::scan_lanes(step, h, x, xloom::scan_lanes_options{.batch_axis = 1});
#elif CASE == 35
    xloom::scan_lanes_into(body, h, x, lens, y, xloom::serial, xloom::scan_lanes_options());
#elif CASE == 36
    xloom::scan_lanes_into(body, h, std::tuple{std::tuple{x, x}, x}, lens, y);
#elif CASE == 37
    xloom::scan_lanes(step, 0.0f, x);
#elif CASE == 38
    xloom::scan_lanes_into([](float& s, float const& x_t) { s += x_t; }, h, x);
#elif CASE == 39
    xloom::scan_lanes([](float s, float x_t) { return xloom::scan_step{s + x_t}; }, h, x);
#elif CASE == 40
    xloom::scan_lanes(
        [](auto const& s, auto const& x_t) {
            auto const sum = s + x_t;
            return xloom::scan_step<decltype(sum)&>{sum};
        },
        h, x);
#elif CASE == 41
    xt::xtensor<std::int32_t, 1> count{0, 0};
    xloom::scan_lanes_into([](auto& n, auto const&) { n = n + (std::int64_t{1} << 40); }, count, x);
#elif CASE == 42
    xt::xtensor<std::int32_t, 1> count{0, 0};
    xloom::scan_lanes_into([](auto& n, auto const&) { n = n / 3'000'000'000U; }, count, x);
#endif
    static_cast<void>(body);
    static_cast<void>(step);
}
