#include "generated_detector.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

#include <xtensor/xbuilder.hpp>

#include "encoder.hpp"
#include "load_detector.hpp"
#include "recording.hpp"

xt::xtensor<float, 1> generated_detector::operator()(xt::xtensor<float, 2> const& chunks)
{
    xt::xtensor<float, 2> input = xt::zeros<float>({std::size_t{1}, context_size + chunk_size});
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128});
    auto probability = xt::xtensor<float, 1>::from_shape({chunks.shape(0)});
    for (std::size_t t = 0; t < chunks.shape(0); ++t) {
        // A chunk follows the last samples of the one before.
        std::copy_n(&input(0, chunk_size), context_size, &input(0, 0));
        std::copy_n(&chunks(t, 0), chunk_size, &input(0, context_size));
        model_.run_into(results_, input, state, sample_rate);
        std::swap(state, results_.stateN);
        probability(t) = results_.output(0, 0);
    }
    return probability;
}

detector_function load_detector(std::string const& file, lstm_weighting lstm)
{
    if (lstm != lstm_weighting())
        throw std::runtime_error("the generated network has its weights as they are");
    return [model = std::make_shared<generated_detector>(file)](
               xt::xtensor<float, 2> const& chunks) { return (*model)(chunks); };
}
