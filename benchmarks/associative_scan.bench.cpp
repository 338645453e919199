// Compares associative_scan_into with std::inclusive_scan (impl:hand), which is a loop, and with a copy of
// the same bytes (impl:copy), which bounds it from below, also on two threads.

#include <algorithm>
#include <numeric>

#include <xloom/parallel/associative_scan.hpp>

#include "support.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

template <class T, std::size_t Rank>
struct scan_operands {
    using tensor = xt::xtensor<T, Rank>;

    tensor x, y;
    std::int64_t axis;
    std::size_t iterations;

    auto const& results() const { return y; }
    void clear() { y.fill(T{7}); }
};

/// Scans along the last axis, or along axis 0 of two.
template <class T, std::size_t Rank>
void hand(scan_operands<T, Rank>& o)
{
    std::size_t const columns = o.x.shape(Rank - 1);
    if (o.axis == 0 && Rank == 2) {
        std::copy_n(o.x.data(), columns, o.y.data());
        for (std::size_t i = columns; i < o.x.size(); ++i)
            o.y.data()[i] = o.y.data()[i - columns] + o.x.data()[i];
    } else {
        for (std::size_t i = 0; i < o.x.size(); i += columns)
            std::inclusive_scan(o.x.data() + i, o.x.data() + i + columns, o.y.data() + i);
    }
}

template <class T, std::size_t Rank>
void copy(scan_operands<T, Rank>& o)
{
    std::copy_n(o.x.data(), o.x.size(), o.y.data());
}

template <class T, std::size_t Rank>
void xloom_into(scan_operands<T, Rank>& o)
{
    xloom::associative_scan_into(xloom::reduction::add, o.x, o.y, {.axis = o.axis});
}

template <class T, std::size_t Rank>
void xloom_callable(scan_operands<T, Rank>& o)
{
    xloom::associative_scan_into([](T a, T b) { return a + b; }, o.x, o.y, {.axis = o.axis});
}

template <class T, std::size_t Rank>
void xloom_serial(scan_operands<T, Rank>& o)
{
    xloom_into(o);
}

template <class T, std::size_t Rank>
void xloom_tbb(scan_operands<T, Rank>& o)
{
    xloom::associative_scan_into(xloom::reduction::add, o.x, o.y, {.axis = o.axis}, two_threads());
}

template <class T, std::size_t Rank>
void copy_tbb(scan_operands<T, Rank>& o)
{
    two_threads().for_each(2, [&](std::size_t part) {
        std::size_t const half = o.x.size() / 2, begin = part * half;
        std::copy_n(o.x.data() + begin, part == 0 ? half : o.x.size() - half, o.y.data() + begin);
    });
}

template <class T>
void max_serial(scan_operands<T, 1>& o)
{
    xloom::associative_scan_into(xloom::reduction::max, o.x, o.y);
}

template <class T>
void max_tbb(scan_operands<T, 1>& o)
{
    xloom::associative_scan_into(xloom::reduction::max, o.x, o.y, {}, two_threads());
}

template <class T, std::size_t Rank>
void add_sums(
    std::string const& name, typename xt::xtensor<T, Rank>::shape_type const& shape, std::int64_t axis)
{
    using operands = scan_operands<T, Rank>;
    auto const make = [=] {
        auto const x = made_up<xt::xtensor<T, Rank>>(shape);
        return operands{x, x, axis, x.size()};
    };
    add_case("associative_scan/" + name, make,
        std::vector<series<operands>>{{"hand", hand<T, Rank>},
            {.impl = "copy", .run = copy<T, Rank>, .count_errors = no_errors<operands>},
            {"xloom", xloom_into<T, Rank>}, {"xloom_callable", xloom_callable<T, Rank>}});
    add_case("associative_scan/" + name, make,
        std::vector<series<operands>>{{"xloom_serial", xloom_serial<T, Rank>},
            {.impl = "copy", .run = copy_tbb<T, Rank>, .count_errors = no_errors<operands>},
            {"xloom", xloom_tbb<T, Rank>}},
        2);
}

void add_maxima(std::size_t length)
{
    using operands = scan_operands<float, 1>;
    add_case(
        "associative_scan/max/f32/n:" + std::to_string(length),
        [=] {
            auto const x = made_up<xt::xtensor<float, 1>>({length});
            return operands{x, x, 0, x.size()};
        },
        std::vector<series<operands>>{{"xloom_serial", max_serial<float>}, {"xloom", max_tbb<float>}}, 2);
}

/// Products of 4 x 4 matrices, a callable that costs more than its memory.
struct matrix {
    float items[4][4] = {};

    friend matrix operator*(matrix const& a, matrix const& b)
    {
        matrix c;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 4; ++k)
                for (std::size_t j = 0; j < 4; ++j)
                    c.items[i][j] += a.items[i][k] * b.items[k][j];
        return c;
    }
    friend bool operator==(matrix const&, matrix const&) = default;
};

struct matrix_operands {
    xt::xtensor<matrix, 1> x, y;
    std::size_t iterations;

    auto const& results() const { return y; }
    void clear() { y.fill(matrix{}); }
};

matrix multiply(matrix const& a, matrix const& b) { return a * b; }

void scan_matrices(matrix_operands& o) { xloom::associative_scan_into(multiply, o.x, o.y); }

void scan_matrices_by_two(matrix_operands& o)
{
    xloom::associative_scan_into(multiply, o.x, o.y, {}, two_threads());
}

void hand_matrices(matrix_operands& o)
{
    std::inclusive_scan(o.x.begin(), o.x.end(), o.y.begin(), std::multiplies<>{});
}

matrix_operands make_matrices()
{
    auto x = xt::xtensor<matrix, 1>::from_shape({20'000});
    for (std::size_t i = 0; i < x.size(); ++i) // permutations, whose products are exact
        for (std::size_t row = 0; row < 4; ++row)
            x(i).items[row][(row + i) % 4] = i % 3 == 0 ? -1.0f : 1.0f;
    return {x, x, x.size()};
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t n = 100; n <= 10'000'000; n *= 10)
        add_sums<float, 1>("f32/n:" + std::to_string(n), {n}, 0);
    add_sums<double, 1>("f64/n:1000000", {1'000'000}, 0);
    add_maxima(1'000'000);
    add_maxima(10'000'000);
    add_sums<float, 2>("f32/shape:1000x1000/axis:1", {1000, 1000}, 1);
    add_sums<float, 2>("f32/shape:1000x1000/axis:0", {1000, 1000}, 0);
    add_sums<float, 2>("f32/shape:100000x10/axis:1", {100'000, 10}, 1);
    add_sums<float, 2>("f32/shape:300000x3/axis:1", {300'000, 3}, 1);
    add_case("associative_scan/matrices/n:20000", make_matrices,
        std::vector<series<matrix_operands>>{{"hand", hand_matrices}, {"xloom", scan_matrices}});
    add_case("associative_scan/matrices/n:20000", make_matrices,
        std::vector<series<matrix_operands>>{
            {"xloom_serial", scan_matrices}, {"xloom", scan_matrices_by_two}},
        2);
    return run_cases(argc, argv);
}
