#pragma once
// Operands of scan_list and loop_list in the benchmarks.

#include <algorithm>
#include <limits>

#include "support.hpp"

namespace bench {

using matrix = xt::xtensor<float, 2>;

/// Lists of two states [n], two inputs and two outputs [T, n].
template <class Input>
struct list_operands {
    std::vector<Input> x;
    std::size_t iterations;
    std::vector<vector> h0, h;
    std::vector<matrix> y; ///< stay where they are, as h does, for the peer is bound to them
    using lists = std::pair<std::vector<vector>, std::vector<matrix>>;
    std::optional<lists>
        returned{}; ///< for a series that returns new tensors and reuses the memory of the last

    /// One input of each shape.
    list_operands(std::size_t T, std::size_t n, typename Input::shape_type const& shape)
        : x{made_up<Input>(shape), Input(0.5f * made_up<Input>(shape))},
          iterations(T),
          h0(2, xt::zeros<float>({n})),
          h(h0),
          y(2, matrix::from_shape({T, n}))
    {}

    std::int64_t trips() const { return static_cast<std::int64_t>(iterations); }
    lists results() const { return returned ? *returned : lists(h, y); }
    /// Clears the results, so that every series computes its own.
    void clear()
    {
        returned.reset();
        for (vector& state : h)
            state.fill(std::numeric_limits<float>::quiet_NaN());
        for (matrix& output : y)
            output.fill(std::numeric_limits<float>::quiet_NaN());
    }
};

} // namespace bench
