// The scans of bench_dispatch, in one build.

#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/recurrent/selective_scan.hpp>

#include "dispatch_operands.hpp"

namespace bench::XLOOM_BENCH_BUILD {
namespace {

/// A scan of [N, T, H] along T, of numbers near 1.
template <class T, class Op>
struct item_scan {
    xt::xtensor<T, 3> x, y;

    explicit item_scan(dispatch_work const& work)
        : x(uniform<xt::xtensor<T, 3>>({work.N, work.T, work.H}, 0.01f, 1) + T(1)), y(x)
    {}

    void operator()() { xloom::associative_scan_into(Op(), x, y, {.axis = 1}); }
};

template <class T>
struct recurrence {
    xt::xtensor<T, 3> a, b, y;

    explicit recurrence(dispatch_work const& work)
        : a(uniform<xt::xtensor<T, 3>>({work.N, work.T, work.H}, 1, 1)),
          b(uniform<xt::xtensor<T, 3>>({work.N, work.T, work.H}, 1, 2)),
          y(a)
    {}

    void operator()() { xloom::linear_recurrence_into(a, b, T(1), y, {.axis = 1}); }
};

/// H channels of 16 states.
template <class T>
struct selective {
    using tensor = xt::xtensor<T, 3>;

    tensor u, delta, B, C, y;
    xt::xtensor<T, 2> A;
    xloom::recurrent_workspace<T> workspace{};

    explicit selective(dispatch_work const& work)
        : u(uniform<tensor>({work.N, work.T, work.H}, 1, 1)),
          delta(uniform<tensor>({work.N, work.T, work.H}, 1, 2)),
          B(uniform<tensor>({work.N, work.T, 16}, 1, 3)),
          C(uniform<tensor>({work.N, work.T, 16}, 1, 4)),
          y(u),
          A(uniform<xt::xtensor<T, 2>>({work.H, 16}, 1, 5))
    {
        A -= T(1);
    }

    void operator()()
    {
        xloom::selective_scan_into(
            u, {.delta = delta, .A = A, .B = B, .C = C}, {.y = y}, {.delta_softplus = true}, workspace);
    }
};

/// Returns the call of the operator that the kind names after the element type.
template <class T>
built_call make_scan_of(std::string_view kind, dispatch_work const& work)
{
    if (kind == "add")
        return call_of(std::make_shared<item_scan<T, xloom::detail::reduce_add_t>>(work));
    if (kind == "mul")
        return call_of(std::make_shared<item_scan<T, xloom::detail::reduce_mul_t>>(work));
    if (kind == "max")
        return call_of(std::make_shared<item_scan<T, xloom::detail::reduce_max_t>>(work));
    if constexpr (std::is_floating_point_v<T>) {
        if (kind == "linear_recurrence")
            return call_of(std::make_shared<recurrence<T>>(work));
        if (kind == "selective_scan")
            return call_of(std::make_shared<selective<T>>(work));
    }
    return {};
}

} // namespace

built_call make_scan(dispatch_work const& work)
{
    std::string_view const kind = work.kind, type = kind.substr(0, kind.find(' ')),
                           op = kind.substr(kind.find(' ') + 1);
    if (type == "float")
        return make_scan_of<float>(op, work);
    if (type == "double")
        return make_scan_of<double>(op, work);
    if (type == "int32")
        return make_scan_of<std::int32_t>(op, work);
    return make_scan_of<std::int64_t>(op, work);
}

} // namespace bench::XLOOM_BENCH_BUILD
