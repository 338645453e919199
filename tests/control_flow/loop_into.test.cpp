#include <doctest/doctest.h>

#include <cmath>

#include <xloom/control_flow/loop.hpp>

#include "support/xtensor_extras.hpp"

namespace loop_into_test {

using xloom::loop_into;

namespace {

constexpr auto count_to = [](int last) {
    return [last](std::int64_t iteration, int& n, int& y_t) {
        y_t = n++;
        return iteration + 1 < last;
    };
};

} // namespace

TEST_CASE("trip count and cond, each present or absent, and the rest of the room untouched")
{
    struct expectation {
        std::optional<std::int64_t> max_trip_count;
        std::optional<bool> cond;
        std::int64_t trips;
        bool final_cond;
    };
    for (auto const& [max_trip_count, cond, trips, final_cond] :
        {expectation{2, true, 2, true}, expectation{3, true, 3, false}, expectation{5, true, 3, false},
            expectation{std::nullopt, true, 3, false}, expectation{5, std::nullopt, 5, true},
            expectation{0, true, 0, true}, expectation{-7, std::nullopt, 0, true},
            expectation{5, false, 0, false}}) {
        int n = 100;
        xt::xtensor<int, 1> y = {-1, -1, -1, -1, -1, -1};
        auto const status = loop_into(count_to(3), n, y, {.max_trip_count = max_trip_count, .cond = cond});
        CHECK(status.trip_count == trips);
        CHECK(status.cond == final_cond);
        CHECK(!status.stopped);
        CHECK(n == 100 + trips);
        for (std::size_t t = 0; t < y.size(); ++t)
            CHECK(y(t) == (static_cast<std::int64_t>(t) < trips ? 100 + static_cast<int>(t) : -1));
    }
}

TEST_CASE("a stop_token ends the loop after the iteration that it fell into")
{
    xloom::stop_source source;
    int n = 0;
    auto const status = loop_into(
        [&](std::int64_t iteration, int& v) {
            ++v;
            if (iteration == 2)
                source.request_stop();
            return true;
        },
        n, std::tuple{}, {.cond = std::nullopt, .stop = source.get_token()});
    CHECK(status.stopped);
    CHECK(status.trip_count == 3);
    CHECK(n == 3);
}

TEST_CASE("carried values may be resized, sequences grow, optionals fill")
{
    xt::xtensor<float, 1> v = {1};
    std::vector<xt::xtensor<float, 1>> s;
    std::optional<float> sum;
    loop_into(
        [](std::int64_t, auto& v_, auto& s_, auto& sum_) {
            s_.push_back(v_);
            xt::xtensor<float, 1> const twice = xt::concatenate(xt::xtuple(v_, v_));
            v_ = twice;
            sum_ = sum_.value_or(0) + xt::sum(v_)();
            return v_.size() < 8;
        },
        std::tie(v, s, sum));
    CHECK(v == xt::ones<float>({8}));
    CHECK(s.size() == 3);
    CHECK(s[2].size() == 4);
    CHECK(sum == 14);
}

TEST_CASE("outputs of several ranks and layouts")
{
    xt::xtensor<float, 1> h = {0, 0, 0};
    xt::xtensor<float, 2> rows = xt::zeros<float>({4, 3});
    xt::xtensor<float, 2, xt::layout_type::column_major> columns = xt::zeros<float>({4, 3});
    xt::xarray<double> sums = xt::zeros<double>({5});
    auto const status = loop_into(
        [](std::int64_t iteration, auto& h_, auto& row, auto& column, auto& sum) {
            xt::noalias(h_) = h_ + 1;
            xt::noalias(row) = h_;
            xt::noalias(column) = 2 * h_;
            sum() = static_cast<double>(iteration) * 10;
            return true;
        },
        h, std::tie(rows, columns, sums), {.max_trip_count = 4, .cond = std::nullopt});
    CHECK(status.trip_count == 4);
    CHECK(rows(3, 2) == 4);
    CHECK(columns(3, 2) == 8);
    CHECK(sums == xt::xarray<double>{0, 10, 20, 30, 0});
}

TEST_CASE("a condition that ends the loop in time needs no more room than its iterations")
{
    int n = 0;
    xt::xtensor<int, 1> y = {-1, -1, -1};
    auto const status = loop_into(count_to(3), n, y, {.max_trip_count = 1000});
    CHECK(status.trip_count == 3);
    CHECK(y == xt::xtensor<int, 1>{0, 1, 2});
}

} // namespace loop_into_test
