#pragma once
// Learns a dictionary.

#include <cstdint>
#include <functional>
#include <vector>

#include <xloom/interop/tbb.hpp>

#include "dictionary.hpp"
#include "parameters.hpp"

namespace g2p {

struct training_options {
    model_sizes sizes{};
    std::size_t epochs = 7;
    std::size_t batch_size = 64;
    double rate = 0.003;         ///< the largest one
    std::size_t warm_up = 500;   ///< steps until then; at most a tenth of all
    double longest_gradient = 1; ///< a longer one is scaled down
    std::uint64_t seed = 1;
};

/// What is known while an epoch runs, and at its end.
struct progress {
    std::size_t epoch = 0;    ///< counts from 1
    double done = 0;          ///< the part of all epochs, from 0 to 1
    double loss = 0;          ///< -log p of a phoneme, the mean over this epoch so far
    double phoneme_error = 0; ///< of the validation words after the last whole epoch, in percent
    double word_error = 0;
    double seconds = 0; ///< since the beginning
};

/// The weights of the epoch with the fewest wrong phonemes in the validation words, the last one of equals.
struct trained {
    parameters<float> weights;
    std::size_t epoch = 0; ///< whose weights they are; 0: training ended in the first one, these are its last
    std::vector<progress> curve; ///< of the whole epochs
};

/// Who watches. `is_over` is asked after each batch, and ends the training.
struct observer {
    std::function<void(progress const&)> after_batch, after_epoch;
    std::function<bool()> is_over;
};

/// Learns the training words. The results have the same bits for the same options, however many threads there
/// are.
trained train(split_dictionary const& words, training_options const& options,
    xloom::tbb_policy const& threads, observer const& who);

} // namespace g2p
