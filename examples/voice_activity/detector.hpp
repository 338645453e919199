#pragma once
// Voice activity detection: how probable is it that somebody speaks, chunk by chunk?

#include <xtensor/xtensor.hpp>

#include <xloom/recurrent/lstm_cell.hpp>

#include "encoder.hpp"
#include "load_detector.hpp"
#include "recording.hpp"
#include "weights.hpp"

class detector {
public:
    explicit detector(weights const& model, lstm_weighting lstm = {});

    /// chunks [T, chunk_size] -> the probability of speech in each, [T].
    xt::xtensor<float, 1> operator()(xt::xtensor<float, 2> const& chunks);

private:
    encoder encode_;
    xloom::lstm_cell<float> lstm_;
    xt::xtensor<float, 3> decoder_weight_;
    float decoder_bias_;

    float decode(xt::xtensor<float, 1> const& h) const noexcept;
};
