// Runs of generated code that ask neither the allocator nor the kernel for anything.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collatz.hpp"
#include "doubling.hpp"
#include "quantized.hpp"
#include "real_time/steady.hpp"
#ifdef SILERO_WEIGHTS
#include "silero_vad_16k_op15.hpp"
#endif

namespace {

constexpr std::size_t runs = 5'000;

} // namespace

TEST_CASE("Loops with conditions, the one in the other")
{
    doubling model;
    doubling::outputs results;
    xt::xtensor<float, 1> const x = {1, 2, 3};
    steady::check(runs, [&] { model.run_into(results, x, 1000); });
    CHECK(results.sums.shape(0) == 8);

    collatz nested;
    collatz::outputs of_nested;
    xt::xtensor<std::int64_t, 1> const starts = {6, 27, 2, 97};
    steady::check(runs, [&] { nested.run_into(of_nested, starts); });
    CHECK(of_nested.steps(1) == 111);
}

TEST_CASE("a DynamicQuantizeLSTM of weights that are inputs")
{
    quantized model;
    quantized::outputs results;
    xt::xtensor<float, 3> const X = {{{1}, {-2}}};
    xt::xtensor<std::int8_t, 3> const given = {{{100, 100, 100, 100}}};
    xt::xtensor<float, 1> const scale = {0.01F};
    steady::check(runs, [&] { model.run_into(results, X, given, scale); });
    CHECK(results.Z(0, 0, 0, 0) > 0);
}

#ifdef SILERO_WEIGHTS
TEST_CASE("Silero's network on chunks of 32 ms, its state carried")
{
    silero_vad_16k_op15 model(SILERO_WEIGHTS);
    silero_vad_16k_op15::outputs results;
    xt::xtensor<float, 2> const chunk = 0.1F * xt::ones<float>({1, 576});
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128});
    steady::check(runs, [&] {
        model.run_into(results, chunk, state);
        std::copy(results.stateN.begin(), results.stateN.end(), state.begin());
    });
    CHECK(results.output(0, 0) > 0);
}
#endif
