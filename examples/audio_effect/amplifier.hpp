#pragma once
// The trained model as an audio thread runs it.

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <xloom/recurrent/lstm_cell.hpp>

/// An LSTM of H units that reads a sample x each step: the output is x + readout * h.
struct amplifier_model {
    xloom::lstm_weights<float> weights;
    std::vector<float> readout; ///< [H]
};

/// One channel, at rest. Channels of one model share its weights.
class amplifier {
public:
    explicit amplifier(amplifier_model const& model)
        : cell_(model.weights), readout_(model.readout), h_(readout_.size()), c_(readout_.size())
    {}

    /// Computes the next block of the output from that of the input, of the same size, or in place: the
    /// callback of an audio thread. Allocates nothing, takes no lock, makes no system call.
    void process(std::span<float const> in, std::span<float> out) noexcept
    {
        xloom::flush_subnormals const flushing; // for the cell and for what surrounds it
        for (std::size_t t = 0; t < in.size(); ++t) {
            cell_(h_, c_, in.subspan(t, 1));
            out[t] = std::inner_product(h_.begin(), h_.end(), readout_.begin(), in[t]);
        }
    }

private:
    xloom::lstm_cell<float> cell_;
    std::vector<float> readout_, h_, c_;
};
