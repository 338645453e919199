// Callers whose namespace declares functions with names that the library uses itself: it calls its own.

#include <doctest/doctest.h>

#include <xloom/xloom.hpp>

namespace hostile {

/// A scalar, so that every tensor of it brings this namespace into the lookup of unqualified calls.
struct number {
    double value = 0;
    friend number operator+(number a, number b) { return {a.value + b.value}; }
    friend number operator*(number a, number b) { return {a.value * b.value}; }
    friend number operator/(number a, number b) { return {a.value / b.value}; }
    friend bool operator<(number a, number b) { return a.value < b.value; }
    friend bool operator==(number, number) = default;
};

struct no_answer {};

// Better matches than templates of the library that take a value, a tuple or several.
#define HOSTILE(name)                                                                                                                      \
    template <class... Ts>                                                                                                                 \
    no_answer name(Ts&&...) = delete;
HOSTILE(leaves)
HOSTILE(shape_of)
HOSTILE(poison)
HOSTILE(iterate)
HOSTILE(layout_of)
HOSTILE(for_each_leaf)
HOSTILE(assign_carried)
HOSTILE(require_room)
HOSTILE(fail_reshaped)
HOSTILE(enter_all)
HOSTILE(leave_all)
HOSTILE(call_body)
HOSTILE(copy_items)
HOSTILE(have_same_shape)
HOSTILE(shapes_of)
HOSTILE(places_of)
HOSTILE(memory_of)
HOSTILE(evaluated_inputs)
HOSTILE(input_elements)
HOSTILE(output_elements)
HOSTILE(const_leaves)
HOSTILE(run_bodies)
#undef HOSTILE

/// Bodies of this namespace bring it in too.
struct sum {
    template <class State, class Element>
    auto operator()(State const& state, Element const& x_t) const
    {
        return xloom::scan_step{number{state + x_t}, number{state + x_t}};
    }
};
struct add_in_place {
    void operator()(number& state, number const& x_t, number& y_t) const { y_t = state = state + x_t; }
};
struct twice {
    auto operator()(std::int64_t, bool, number v) const { return xloom::loop_step{true, v + v, v}; }
};

} // namespace hostile

TEST_CASE("a caller's functions do not replace the library's")
{
    using hostile::number;
    xt::xtensor<number, 1> const x = {number{1}, number{2}, number{3}};
    auto const [total, running] = xloom::scan(hostile::sum(), number{0}, x);
    CHECK(total == number{6});
    CHECK(running(1) == number{3});

    number state{0};
    xt::xtensor<number, 1> y = x;
    xloom::scan_into(hostile::add_in_place(), state, x, y);
    CHECK(state == number{6});
    CHECK(y(2) == number{6});

    auto const doubled = xloom::loop(hostile::twice(), number{1}, {.max_trip_count = 3});
    CHECK(doubled.final_state == number{8});
    CHECK(doubled.scan_outputs(2) == number{4});

    xt::xtensor<int, 2> const indices = {{2}, {0}};
    CHECK(xloom::gather_nd<1>(x, indices)(0) == number{3});
    xt::xtensor<number, 1> const updates = {number{7}, number{8}};
    CHECK(xloom::scatter_nd(x, indices, updates)(2) == number{7});
}
