// Mistakes in calls over ranks.
// clang-format off
// 1: xloom::distributed_associative_scan_into: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 2: xloom::associative_scan_into: a result is written, so it must be a tensor in memory, not const
// 3: xloom::distributed_linear_recurrence_into: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 4: xloom::linear_recurrence_into: h must have the element type of a and b
// 5: xloom::distributed_gather_nd_into: items are sent to other ranks as bytes, so their type must be trivially copyable
// 6: xloom::distributed_scatter_nd_into: updates must be a tensor; broadcast() is not distributed
// 7: xloom::distributed_scatter_nd_into: items are sent to other ranks as bytes, so their type must be trivially copyable
// 8: xloom::all_reduce_gradients: the arguments are all_reduce_gradients(gradients, sums, batches[, policy])
// 9: xloom::all_reduce_gradients: gradients must be a tensor whose first axis is that of micro-batches, or a flat std::tuple of them
// 10: xloom::all_reduce_gradients: sums are written, so they must be variables or views of them; pass several as std::tie(dW, dR)
// 11: xloom::all_reduce_gradients: there must be one sum for each gradient, with its element type, which is trivially copyable and has a sum
// 12: xloom::all_reduce_gradients: there must be one sum for each gradient, with its element type, which is trivially copyable and has a sum
// clang-format on
#include <string>
#include <vector>

#include <xloom/ranks/all_reduce_gradients.hpp>
#include <xloom/ranks/distributed_associative_scan.hpp>
#include <xloom/ranks/distributed_gather_nd.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>

/// A scalar with the operations of a number, which cannot be sent as bytes.
struct counted {
    double value = 0;

    counted() = default;
    explicit counted(double v) : value(v) {}
    counted(counted const& other) : value(other.value) {}
    counted& operator=(counted const&) = default;

    friend counted operator+(counted const& a, counted const& b) { return counted(a.value + b.value); }
    friend counted operator*(counted const& a, counted const& b) { return counted(a.value * b.value); }
    friend counted operator/(counted const& a, counted const& b) { return counted(a.value / b.value); }
};

int main()
{
    using namespace xloom;
    xt::xtensor<float, 1> const x = {1, 2, 3};
    xt::xtensor<float, 1> y = x;
    xt::xtensor<double, 1> wide = {1, 2, 3};
    xt::xtensor<float, 2> const dW = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<float, 1> sum = {0, 0};
    xt::xtensor<double, 1> wide_sum = {0, 0};
    xt::xtensor<std::string, 1> words = {"a", "b", "c"};
    [[maybe_unused]] auto const join = [](std::string const& a, std::string const& b) { return a + b; };
    xt::xtensor<counted, 1> numbers = xt::xtensor<counted, 1>::from_shape({3});
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {2}, {1}};
    single_rank const alone;
    distributed_axis const axis(alone, 3);
#if CASE == 0
    distributed_associative_scan_into(reduction::add, x, y, axis, {}, serial);
    distributed_linear_recurrence_into(x, x, 0.0f, y, axis, {}, serial);
    distributed_gather_nd_into(x, indices, y, axis, {}, serial);
    distributed_scatter_nd_into(y, indices, x, axis, {}, serial);
    all_reduce_gradients(dW, sum, axis, serial);
#elif CASE == 1
    distributed_associative_scan_into(join, words, words, axis);
#elif CASE == 2
    distributed_associative_scan_into(reduction::add, x, x, axis);
#elif CASE == 3
    distributed_linear_recurrence_into(numbers, numbers, counted(), numbers, axis);
#elif CASE == 4
    distributed_linear_recurrence_into(x, x, 0.0f, wide, axis);
#elif CASE == 5
    distributed_gather_nd_into(words, indices, words, axis);
#elif CASE == 6
    distributed_scatter_nd_into(y, indices, broadcast(1.0f), axis);
#elif CASE == 7
    distributed_scatter_nd_into(words, indices, words, axis);
#elif CASE == 8
    all_reduce_gradients(dW, sum, axis, 2);
#elif CASE == 9
    all_reduce_gradients(std::vector<float>{1}, sum, axis);
#elif CASE == 10
    all_reduce_gradients(dW, xt::xtensor<float, 1>(sum), axis);
#elif CASE == 11
    all_reduce_gradients(dW, wide_sum, axis);
#elif CASE == 12
    all_reduce_gradients(std::tie(dW, dW), sum, axis);
#endif
    static_cast<void>(y), static_cast<void>(wide), static_cast<void>(sum);
    static_cast<void>(wide_sum), static_cast<void>(words), static_cast<void>(numbers);
}
