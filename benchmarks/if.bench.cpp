// if_ inside a loop against C++'s own branch.

#include <xloom/if.hpp>
#include <xloom/loop_into.hpp>

#include "support.hpp"

namespace {

using namespace bench;

/// Each iteration adds x to h or takes it away; x tells which, so that no compiler can know.
struct rows : operands<vector, vector> {
    bool is_up(std::size_t t) const { return x(t % x.size()) > 0.0f; }
};

void hand_rows(rows& o)
{
    o.h.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t) {
        if (o.is_up(t))
            o.h = vector(o.h + o.x);
        else
            o.h = vector(o.h - o.x);
    }
}

void xloom_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::loop_into(
        [&o](std::int64_t t, vector& h) {
            h = xloom::if_(
                o.is_up(static_cast<std::size_t>(t)), [&] { return vector(h + o.x); }, [&] { return vector(h - o.x); });
            return true;
        },
        o.h, {}, {.max_trip_count = o.trips()});
}

/// The same with numbers.
using items = operands<float, vector>;

void hand_items(items& o)
{
    float h = 0.0f;
    for (std::size_t t = 0; t < o.iterations; ++t) {
        if (o.x(t % 2) > 0.0f)
            h = h + 0.5f;
        else
            h = h * 0.5f;
    }
    o.h = h;
}

void xloom_items(items& o)
{
    o.h = 0.0f;
    xloom::loop_into(
        [&x = o.x](std::int64_t t, float& h) {
            h = xloom::if_(
                x(static_cast<std::size_t>(t) % 2) > 0.0f, [&] { return h + 0.5f; }, [&] { return h * 0.5f; });
            return true;
        },
        o.h, {}, {.max_trip_count = o.trips()});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const T : lengths) {
        std::string const iterations = "/iterations:" + std::to_string(T);
        add_case("if_/f32/size:scalar" + iterations,
            [=] {
                return items{0.0f, vector{-1.0f, 1.0f}, vector{0.0f}, T};
            },
            {{"hand", hand_items}, {"xloom", xloom_items}});
        for (std::size_t const n : sizes)
            add_case("if_/f32/size:" + std::to_string(n) + iterations,
                [=] {
                    return rows{{vector::from_shape({n}), made_up<vector>({n}), vector{0.0f}, T}};
                },
                {{"hand", hand_rows}, {"xloom", xloom_rows}});
    }
    return run_cases(argc, argv);
}
