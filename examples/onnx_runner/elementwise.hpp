#pragma once
// One loop for all functions of one item, one for all functions of two.

#include "broadcast.hpp"
#include "graph.hpp"
#include "moves.hpp"
#include "text.hpp"
#include "types.hpp"

namespace runner {

/// f of each item.
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

/// f of each pair of items, after broadcasting.
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

/// A number as + - * take it: 16-bit floats as float; whole numbers without sign, so that they wrap around.
template <class T>
constexpr auto modular(T x)
{
    if constexpr (std::is_integral_v<T>)
        return static_cast<
            std::conditional_t<sizeof(T) < sizeof(std::uint32_t), std::uint32_t, std::make_unsigned_t<T>>>(x);
    else
        return +x;
}

/// The larger and the smaller of two; NaN if one of them is.
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

/// Input 1 of an operator of two, in the shape that broadcasting asks for. Up to opset 6 a model says so with
/// attributes: `broadcast`, and `axis` where B's first axis is to meet one of A's.
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
