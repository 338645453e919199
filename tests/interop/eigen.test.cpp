// Eigen's matrices, arrays and vectors as operands and results.

#include <doctest/doctest.h>

#include <vector>

#include <xloom/control_flow.hpp>
#include <xloom/indexing.hpp>
#include <xloom/interop/eigen.hpp>
#include <xloom/parallel.hpp>
#include <xloom/recurrent/lstm.hpp>

namespace eigen_test {

using namespace xloom;
using Eigen::ArrayXf, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::Vector3d, Eigen::VectorXd;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using matrix = xt::xtensor<double, 2>;

namespace {

/// [[1, 2, 3], [4, 5, 6]], in Eigen's order.
template <class Matrix = MatrixXd>
Matrix counted()
{
    Matrix m(2, 3);
    m << 1, 2, 3, 4, 5, 6;
    return m;
}

VectorXd vector_of(std::initializer_list<double> items)
{
    return Eigen::Map<VectorXd const>(items.begin(), static_cast<Eigen::Index>(items.size()));
}

auto const halve_and_add = [](VectorXd const& s, auto const& x_t) {
    return scan_step{0.5 * s + as_eigen(x_t), s};
};

template <class T>
constexpr std::size_t rank = enable_tensor<T>::rank;

} // namespace

TEST_CASE("what is a tensor")
{
    static_assert(rank<MatrixXd> == 2 && rank<VectorXd> == 1 && rank<RowVectorXd> == 1 &&
                  rank<ArrayXf> == 1 && rank<Eigen::Matrix3f> == 2 && rank<Vector3d> == 1 &&
                  rank<Eigen::ArrayXXi> == 2);
    MatrixXd m = counted();
    static_assert(rank<decltype(m.row(0))> == 1 && rank<decltype(m.block(0, 0, 1, 2))> == 2 &&
                  rank<decltype(m.transpose())> == 2);
    static_assert(!tensor<decltype(m + m)> && !tensor<decltype(m * m)> && !tensor<decltype(m.array().exp())>);
    static_assert(detail::tensor_view<Eigen::Map<MatrixXd>> && detail::tensor_view<Eigen::Ref<MatrixXd>> &&
                  !detail::tensor_view<MatrixXd>);
    static_assert(std::is_same_v<detail::owned_t<decltype(m + m)>, MatrixXd> &&
                  std::is_same_v<detail::owned_t<Eigen::Map<Vector3d const>>, Vector3d>);
    static_assert(!detail::is_self_contained<decltype(m + m)> && detail::is_self_contained<MatrixXd>);
}

TEST_CASE_TEMPLATE("a scan over rows and columns of a matrix", Matrix, MatrixXd, row_major)
{
    Matrix const x = counted<Matrix>();
    auto const [last, all] = scan(halve_and_add, vector_of({2, 0, 0}), x);
    static_assert(
        std::is_same_v<decltype(last), VectorXd const> && std::is_same_v<decltype(all), MatrixXd const>);
    CHECK(last == vector_of({5, 6, 7.5}));
    CHECK(all.row(0).transpose() == vector_of({2, 0, 0}));
    CHECK(all.row(1).transpose() == vector_of({2, 2, 3}));

    auto const sum = [](double s, auto const& x_t) {
        return scan_step{s + as_eigen(x_t).sum(), as_eigen(x_t).maxCoeff()};
    };
    auto const by_columns = scan(sum, 0.0, x, {.scan_input_axes = {1}});
    CHECK(by_columns.final_state == 21);
    CHECK(by_columns.scan_outputs == xt::xtensor<double, 1>{4, 5, 6});
    CHECK(scan(sum, 0.0, x.transpose()).scan_outputs == by_columns.scan_outputs);
    CHECK(scan(sum, 0.0, x.block(1, 1, 1, 2)).final_state == 11);
}

TEST_CASE("scan_into writes matrices, maps and blocks in place")
{
    auto const twice = [](VectorXd& s, auto const& x_t, auto& y_t) {
        s += as_eigen(x_t);
        as_eigen(y_t) = 2 * s;
    };
    VectorXd s = VectorXd::Zero(3);
    MatrixXd y = MatrixXd::Constant(2, 4, -1);
    auto part = y.rightCols(3);
    scan_into(twice, s, counted(), part);
    CHECK(s == vector_of({5, 7, 9}));
    MatrixXd expected(2, 4);
    expected << -1, 2, 4, 6, -1, 10, 14, 18;
    CHECK(y == expected);
    std::vector<double> items(6);
    scan_into(twice, s, counted(), Eigen::Map<MatrixXd>(items.data(), 2, 3));
    CHECK(items == std::vector<double>{12, 20, 18, 28, 24, 36});
}

TEST_CASE("what is written may be a temporary block or transpose of a variable, what is kept may not")
{
    MatrixXd y = MatrixXd::Constant(2, 4, -1);
    scan_into([](auto const& x_t, auto& y_t) { y_t = 2 * x_t; }, std::tuple(), counted(), y.rightCols(3));
    MatrixXd expected(2, 4);
    expected << -1, 2, 4, 6, -1, 8, 10, 12;
    CHECK(y == expected);
    scatter_nd_into(y.leftCols(2), xt::xtensor<int, 2>{{1}}, matrix{{7, 8}});
    expected.row(1) << 7, 8, 10, 12;
    CHECK(y == expected);
    scatter_nd_into(y.transpose(), xt::xtensor<int, 2>{{-1}}, matrix{{5, 9}});
    expected.col(3) << 5, 9;
    CHECK(y == expected);
    VectorXd sums = VectorXd::Zero(4);
    scan_into([](auto& s, auto const& x_t) { s += as_eigen(x_t); }, sums.tail(3), counted());
    CHECK(sums == vector_of({0, 5, 7, 9}));
    using block = decltype(y.leftCols(2));
    static_assert(detail::outlives_call<block> && !detail::outlives_call<MatrixXd> &&
                  detail::outlives_call<decltype(y.transpose())> &&
                  !detail::outlives_call<std::tuple<block, MatrixXd>>);
    static_assert(detail::find_ref_error<block, double const>() == detail::ref_error::temporary);
}

TEST_CASE("arrays, row vectors and fixed sizes keep their kind")
{
    Eigen::ArrayXXd const x = counted().array();
    auto const product = [](Eigen::ArrayXd const& s, auto const& x_t) {
        return scan_step{s * as_eigen(x_t).array(), s};
    };
    auto const [last, all] = scan(product, Eigen::ArrayXd(Eigen::ArrayXd::Ones(3)), x);
    static_assert(std::is_same_v<decltype(all), Eigen::ArrayXXd const>);
    CHECK((last == Eigen::Array3d(4, 10, 18)).all());

    auto const add_row = [](RowVectorXd const& s, auto const& x_t) {
        return scan_step{s + as_eigen(x_t).transpose(), s};
    };
    auto const rows = scan(add_row, RowVectorXd(RowVectorXd::Zero(3)), counted());
    static_assert(std::is_same_v<decltype(rows.scan_outputs), row_major>);
    CHECK(rows.final_state == RowVectorXd(vector_of({5, 7, 9}).transpose()));

    auto const add = [](Vector3d const& s, auto const& x_t) {
        return scan_step{Vector3d(s + as_eigen(x_t)), s};
    };
    CHECK(scan(add, Vector3d(0, 0, 1), counted()).final_state == Vector3d(5, 7, 10));
    Eigen::Matrix<double, 2, 3> const fixed = counted();
    CHECK(scan(add, Vector3d(0, 0, 1), fixed).scan_outputs == matrix{{0, 0, 1}, {1, 2, 4}});
    auto const shorter = [](Vector3d const&, auto const&) { return scan_step{VectorXd(VectorXd::Zero(2))}; };
    CHECK_THROWS_AS(scan(shorter, Vector3d(0, 0, 0), counted()), body_error);
}

TEST_CASE("a dimension that the type fixes cannot be another one")
{
    using two_rows = Eigen::Matrix<double, 2, Eigen::Dynamic>;
    CHECK(enable_tensor<two_rows>::make({2, 5}).cols() == 5);
    CHECK_THROWS_WITH_AS(
        enable_tensor<two_rows>::make({3, 5}), doctest::Contains("3 rows instead of 2"), shape_error);
    using at_most_four = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 4, 1>;
    CHECK(enable_tensor<at_most_four>::make({4}).size() == 4);
    CHECK_THROWS_WITH_AS(
        enable_tensor<at_most_four>::make({5}), doctest::Contains("5 rows instead of 4"), shape_error);
}

TEST_CASE("gathers, scatters and parallel scans")
{
    MatrixXd const data = counted();
    xt::xtensor<int, 2> const rows = {{1}, {0}, {1}};
    MatrixXd const gathered = gather_nd<2>(data, rows);
    MatrixXd expected(3, 3);
    expected << 4, 5, 6, 1, 2, 3, 4, 5, 6;
    CHECK(gathered == expected);
    CHECK(gather_nd<3>(data, xt::xtensor<int, 3>{{{1}}}) == xt::xtensor<double, 3>{{{4, 5, 6}}});
    Eigen::VectorXi const places = (Eigen::VectorXi(3) << 2, 0, -1).finished();
    CHECK(take(vector_of({7, 8, 9}), places) == vector_of({9, 7, 9}));

    MatrixXd const added =
        scatter_nd(reduction::add, data, xt::xtensor<int, 2>{{1}}, MatrixXd(MatrixXd::Ones(1, 3)));
    CHECK(added.row(1).transpose() == vector_of({5, 6, 7}));
    CHECK(data == counted());
    MatrixXd into = data;
    Eigen::RowVectorXd const row = scatter_nd(into.row(0), xt::xtensor<int, 2>{{1}}, vector_of({9}));
    CHECK(row.transpose() == vector_of({1, 9, 3}));
    CHECK(into == data); // a temporary block is no owner
    auto first_two = into.leftCols(2);
    scatter_nd_into(first_two, xt::xtensor<int, 2>{{0}}, row_major(row_major::Zero(1, 2)));
    MatrixXd written(2, 3);
    written << 0, 0, 3, 4, 5, 6;
    CHECK(into == written);

    MatrixXd const sums = cumulative_sum(data);
    CHECK(sums.row(1).transpose() == vector_of({5, 7, 9}));
    CHECK(linear_recurrence(vector_of({2, 2}), vector_of({1, 3}), 1.0) == vector_of({3, 9}));
}

TEST_CASE("an expression is evaluated before it is returned")
{
    bool const is_first = true;
    MatrixXd const m = counted();
    auto const chosen = if_(
        is_first, [&] { return MatrixXd(2 * m); }, [&] { return MatrixXd(3 * m); });
    static_assert(std::is_same_v<decltype(chosen), MatrixXd const>);
    CHECK(chosen == counted() + counted());
    auto const power = [&](std::int64_t i, bool, VectorXd const& v) {
        return loop_step{i < 2, 2 * v, v.reverse()};
    };
    auto const doubled = loop(power, vector_of({1, 2}));
    CHECK(doubled.final_state == vector_of({8, 16}));
    CHECK(doubled.scan_outputs.row(2).transpose() == vector_of({8, 4}));
}

TEST_CASE("no rows")
{
    MatrixXd const none(0, 3);
    auto const [last, all] = scan(halve_and_add, vector_of({1, 2, 3}), none);
    CHECK(last == vector_of({1, 2, 3}));
    CHECK(all.rows() == 0);
    CHECK(cumulative_sum(VectorXd()).size() == 0);
}

TEST_CASE("an LSTM's operands")
{
    Eigen::VectorXf const b = Eigen::VectorXf::Zero(8);
    xt::xtensor<float, 3> const X = {{{1}}}, W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}},
                                R = xt::zeros<float>({1, 4, 1});
    Eigen::Matrix<int, 1, 1> lens(1);
    double const gate = 1 / (1 + std::exp(-0.5));
    CHECK(lstm(X, {.W = W, .R = R, .sequence_lens = lens}).Y_h(0, 0, 0) ==
          doctest::Approx(gate * std::tanh(gate * std::tanh(0.5))).epsilon(1e-6));
    CHECK_THROWS_WITH_AS(lstm(X, {.W = W, .R = R, .B = b}), doctest::Contains("B"), shape_error);
}

} // namespace eigen_test
