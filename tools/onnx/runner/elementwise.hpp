#pragma once
// The element-wise loops for all functions of one item and of two items.

#include "broadcast.hpp"
#include "graph.hpp"
#include "moves.hpp"
#include "text.hpp"
#include "types.hpp"

namespace runner {

/// Returns f applied to each item.
template <class Result, class A, class F>
tensor map_items(tensor const& a, F f)
{
    tensor result = new_tensor(xloom::element_type_of<Result>, a.shape());
    A const* const from = a.items<A>().data();
    Result* const to = result.items<Result>().data();
    std::size_t const size = a.size();
    for (std::size_t i = 0; i < size; ++i)
        to[i] = f(from[i]);
    return result;
}

/// Returns f applied to each pair of items, after broadcasting.
template <class Result, class A, class B, class F>
tensor map_items(tensor const& a, tensor const& b, F f)
{
    tensor result = new_tensor(xloom::element_type_of<Result>, broadcast(a.shape(), b.shape()));
    xloom::shape const& dims = result.shape();
    A const* const first = a.items<A>().data();
    B const* const second = b.items<B>().data();
    Result* to = result.items<Result>().data();
    for (rows walk(dims, {broadcast_steps(a.shape(), dims), broadcast_steps(b.shape(), dims)}); !walk.done();
         walk.next()) {
        A const* const x = first + walk.offset(0);
        B const* const y = second + walk.offset(1);
        std::size_t const length = walk.length();
        if (walk.step(0) == 1 && walk.step(1) == 1) {
            for (std::size_t i = 0; i < length; ++i)
                to[i] = f(x[i], y[i]);
        } else {
            for (std::size_t i = 0; i < length; ++i)
                to[i] = f(x[static_cast<std::ptrdiff_t>(i) * walk.step(0)],
                    y[static_cast<std::ptrdiff_t>(i) * walk.step(1)]);
        }
        to += length;
    }
    return result;
}

/// Converts a number for + - *: 16-bit floats to float; integers to unsigned ones, so that they wrap around.
template <class T>
constexpr auto modular(T x)
{
    if constexpr (std::is_integral_v<T>)
        return static_cast<
            std::conditional_t<sizeof(T) < sizeof(std::uint32_t), std::uint32_t, std::make_unsigned_t<T>>>(x);
    else
        return +x;
}

/// Function objects for the larger and the smaller of two numbers; NaN if one of them is NaN.
struct larger {
    template <class T>
    T operator()(T a, T b) const
    {
        return +a != +a || +a > +b ? a : b;
    }
};
struct smaller {
    template <class T>
    T operator()(T a, T b) const
    {
        return +a != +a || +a < +b ? a : b;
    }
};

/// Returns input 1 of a binary operator in the shape for broadcasting. Up to opset 6 the attributes
/// `broadcast` and `axis` give it; `axis` is the axis of A that B's first axis is aligned with.
inline tensor second_operand(call const& c)
{
    tensor const& a = c.tensor_at(0);
    tensor const& b = c.tensor_at(1);
    if (c.opset() >= 7 || a.shape() == b.shape())
        return b;
    if (c.integer("broadcast", 0) == 0)
        throw runner_error(
            fmt::format("the shapes {} and {} differ, without broadcast = 1", a.shape(), b.shape()));
    if (b.size() == 1)
        return b.reshaped({});
    xloom::shape dims = b.shape();
    std::int64_t const axis = c.integer("axis", -1);
    while (axis >= 0 && dims.size() + static_cast<std::size_t>(axis) < a.shape().size())
        dims.push_back(1);
    if (broadcast(a.shape(), dims) != a.shape())
        throw runner_error(fmt::format("the shape {} cannot be broadcast to {}", b.shape(), a.shape()));
    return b.reshaped(dims);
}

} // namespace runner
