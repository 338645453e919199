// The gradient of the whole model's loss against differences of the loss.

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include <xloom/types.hpp>

#include "../central_differences.hpp"
#include "model.hpp"

namespace {

using namespace g2p;

/// Weights that are large enough for every part of the model to matter.
parameters<double> large_parameters(model_sizes const& sizes)
{
    random_bits random(3);
    auto weights = initial_parameters<double>(sizes, random);
    weights.for_each([&](char const*, auto& tensor) {
        for (double& item : tensor)
            item = 4 * uniform(random) - 2;
    });
    return weights;
}

} // namespace

TEST_CASE("the gradient is that of the loss")
{
    constexpr model_sizes sizes{3, 2, 3, 5};
    std::vector<entry> const words{{"ab", {{1, 2, 3}, {1, 3}}}, {"c", {{4}}}, {"xyz'", {{5, 6}}}};
    batch const some = batch_of(examples_of(words));
    auto weights = large_parameters(sizes);
    parameters<double> gradient(sizes);
    model<double, xloom::serial_policy> of(xloom::serial);
    double const loss = of.gradient(weights, some, gradient);
    CHECK(of.loss(weights, some) == loss);
    CHECK(std::abs(loss - std::log(40.0)) < 3);

    weights.for_each(
        [&](char const* name, auto& tensor, auto const& derivative) {
            derivative_check const found =
                check_derivatives(tensor, derivative, 1e-5, [&] { return of.loss(weights, some); });
            CHECK_MESSAGE(found.error < 1e-9, std::string(name));
            CHECK_MESSAGE(found.largest > 1e-3, std::string(name)); // the difference is not that of rounding
        },
        gradient);
}
