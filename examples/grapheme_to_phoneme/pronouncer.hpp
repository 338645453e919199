#pragma once
// Says words with a trained model.

#include <string_view>
#include <tuple>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/packed_matrix.hpp>

#include "batches.hpp"
#include "parameters.hpp"

namespace g2p {

/// A pronunciation, its probability, and where the model looked before it said each sound: before the first
/// one nowhere, because it begins with what it knows of the whole word.
struct transcription {
    pronunciation sounds;
    double log_probability = 0;       ///< of the sounds and, unless they are too many, the end
    xt::xtensor<float, 2> alignments; ///< [sounds, letters]: the weights of the letters
};

/// Weights, packed to say words. Const members are thread-safe.
class pronouncer {
public:
    explicit pronouncer(
        parameters<float> const& weights, xloom::weight_storage storage = xloom::weight_storage::full);

    /// Says each word by taking the most probable symbol at each step. A word is said as if it were alone.
    std::vector<transcription> greedy(std::vector<std::string_view> const& words) const;

    /// Returns the most probable pronunciations that a beam search finds, the best one first. `width` of them
    /// are kept at each step.
    std::vector<transcription> beam(std::string_view word, std::size_t width) const;

private:
    /// What the encoder knows of N words: the memory [N, S, E] and the decoder's first state [N, H].
    struct encoded {
        xt::xtensor<float, 3> memory;
        xt::xtensor<std::int32_t, 1> counts;
        xt::xtensor<float, 2> h, c;
    };
    encoded encode(std::vector<std::string_view> const& words) const;

    using matrix = xt::xtensor<float, 2>;
    using numbers = xt::xtensor<std::int32_t, 2>; ///< [N, 1]: tuples of one index

    /// What a step of the decoder carries on: h, c, the attention, the weights of the letters, the last
    /// symbols.
    using state = std::tuple<matrix, matrix, matrix, matrix, numbers>;
    state start(encoded const& all) const;

    /// Returns log p of each symbol, [N, symbols], of the decoder's states [N, H].
    matrix log_probabilities(matrix const& h) const;

    std::size_t context_;
    xt::xtensor<float, 2> letters_, phonemes_;
    xloom::lstm_weights<float> encoder_;
    xloom::attn_lstm_weights<float> decoder_;
    xloom::packed_matrix<float> output_;
};

} // namespace g2p
