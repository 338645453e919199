// Bodies that have a copy of what they are to write, in every way to declare a parameter.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include <xloom/detail/scan/body.hpp>

namespace scan_body_test {

using namespace xloom;

namespace {

using vec = xt::xtensor<double, 1>;
using view = element_view<double, 1>;

/// True if a body that writes a vector and a number, and reads a number in between, has copies.
template <class Body>
constexpr bool has_copies(Body const&)
{
    return detail::takes_copies<Body, std::tuple<vec&, double const&, double&>>;
}
template <class Body>
constexpr bool has_copies_of_views(Body const&)
{
    return detail::takes_copies<Body, std::tuple<view&, double const&, view&>>;
}

void function(vec&, double, double&) noexcept {}
void function_by_value(vec&, double, double) {}

struct const_body {
    void operator()(vec&, double, double&) const {}
};
struct final_body final {
    void operator()(vec&, double, double&) const {}
};
struct overloaded_body {
    void operator()(vec&, double, double&) const {}
    void operator()(vec&, int, int&) const {}
};

} // namespace

TEST_CASE("references, whatever the other parameters are")
{
    CHECK(!has_copies([](vec&, double, double&) {}));
    CHECK(!has_copies([](vec&, double const&, double&) noexcept {}));
    CHECK(!has_copies([](vec&, float, double&) {}));
    CHECK(!has_copies([](auto& h, auto x, auto& y) { y = h(0) = x; }));
    CHECK(!has_copies([](auto& h, float x, auto& y) { y = h(0) = x; }));
    CHECK(!has_copies([](auto&& h, auto&& x, auto&& y) { std::forward<decltype(y)>(y) = h(0) = x; }));
    CHECK(!has_copies([](vec& h, double x, auto&& y) { y = h(0) = x; }));
    CHECK(!has_copies([](auto&... all) { std::get<2>(std::tie(all...)) = 1; }));
    CHECK(!has_copies([](auto&&... all) { std::get<2>(std::tie(all...)) = 1; }));
    CHECK(!has_copies([calls = 0](vec&, double, double&) mutable { return ++calls; }));
    CHECK(!has_copies([calls = 0](auto&, float, auto&) mutable { return ++calls; }));
    CHECK(!has_copies(const_body()));
    CHECK(!has_copies(final_body()));
    CHECK(!has_copies(overloaded_body()));
    CHECK(!has_copies(std::function<void(vec&, double, double&)>()));
    CHECK(!has_copies(&function));
    auto const inner = [](vec&, double, double& y) { y = 1; };
    CHECK(!has_copies([&](auto&&... all) { inner(std::forward<decltype(all)>(all)...); }));
    CHECK(!has_copies(std::ref(inner)));
    CHECK(!has_copies(strided_elements(inner)));
}

TEST_CASE("what is only read may be a reference to const")
{
    CHECK(!has_copies([](vec const&, double, double&) {}));
    CHECK(!has_copies([](auto const& h, auto x, auto& y) { y = h(0) + x; }));
    CHECK(!has_copies([](auto const&, auto const&, auto const&) {}));
}

TEST_CASE("copies of numbers and containers")
{
    CHECK(has_copies([](vec, double, double&) {}));
    CHECK(has_copies([](vec const, double, double&) {}));
    CHECK(has_copies([](vec&, double, double) {}));
    CHECK(has_copies([](vec&, float, double) {}));
    CHECK(has_copies([](vec&, double, long) {}));
    CHECK(has_copies([](auto h, auto x, auto& y) { x += y = h(0) + x; }));
    CHECK(has_copies([](auto& h, auto x, auto y) { h(0) = y = x; }));
    CHECK(has_copies([](auto& h, auto const& x, auto y) { h(0) = y = x; }));
    CHECK(has_copies([](auto& h, float x, auto y) { h(0) = y = x; }));
    CHECK(has_copies([](vec& h, double x, auto y) { h(0) = y = x; }));
    CHECK(has_copies([](auto const& h, auto x, auto y) { x += y = h(0) + x; }));
    CHECK(has_copies([](auto...) {}));
    CHECK(has_copies([calls = 0](vec&, double, double) mutable { return ++calls; }));
    CHECK(has_copies([calls = 0](auto, auto, auto&) mutable { return ++calls; }));
    CHECK(has_copies(std::function<void(vec&, double, double)>()));
    CHECK(has_copies(&function_by_value));
    CHECK(detail::takes_copies<void(vec, double, double&), std::tuple<vec&, double const&, double&>>);
    CHECK(has_copies(strided_elements([](vec&, double, double) {})));
    auto const named = [](vec&, double, double) {};
    CHECK(detail::takes_copies<decltype(named)&, std::tuple<vec&, double const&, double&>>);
}

TEST_CASE("copies that share their items")
{
    CHECK(!has_copies([](std::span<double>, double, double&) {}));
    CHECK(!has_copies_of_views([](view, double, view) {}));
    CHECK(!has_copies_of_views([](auto h, auto x, auto y) { y = h = x; }));
    auto const with_handles = []<class Body>(Body const&) {
        return detail::takes_copies<Body, std::tuple<double*&, std::shared_ptr<double>&>>;
    };
    CHECK(!with_handles([](auto p, auto q) { *q = *p = 1; }));
}

} // namespace scan_body_test
