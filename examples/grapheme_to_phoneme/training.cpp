#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "adam.hpp"
#include "batches.hpp"
#include "evaluation.hpp"
#include "model.hpp"

namespace g2p {

namespace {

/// A model that is trained batch by batch.
class learner {
public:
    learner(training_options const& options, random_bits& random, std::size_t steps,
        xloom::tbb_policy const& threads)
        : options_(options),
          steps_(steps),
          warm_up_(std::min(options.warm_up, steps / 10)),
          threads_(threads),
          weights_(initial_parameters<float>(options.sizes, random)),
          gradient_(options.sizes),
          adam_(options.sizes),
          model_(threads)
    {}

    /// Takes a step and returns the loss before it.
    double learn(batch const& words)
    {
        double const loss = model_.gradient(weights_, words, gradient_);
        double const length = length_of(gradient_);
        double const scale = length > options_.longest_gradient ? options_.longest_gradient / length : 1;
        adam_.step(weights_, gradient_, scale, rate_at(step_++, steps_, warm_up_, options_.rate), threads_);
        return loss;
    }

    std::size_t step() const { return step_; }
    parameters<float> const& weights() const { return weights_; }

private:
    training_options const& options_;
    std::size_t steps_, warm_up_, step_ = 0;
    xloom::tbb_policy const& threads_;
    parameters<float> weights_, gradient_;
    adam<float> adam_;
    model<float, xloom::tbb_policy> model_;
};

} // namespace

trained train(split_dictionary const& words, training_options const& options,
    xloom::tbb_policy const& threads, observer const& who)
{
    auto const begin = std::chrono::steady_clock::now();
    random_bits random(options.seed);
    std::vector<example> const examples = examples_of(words.training);
    std::size_t const batches = (examples.size() + options.batch_size - 1) / options.batch_size,
                      steps = options.epochs * batches;
    learner model(options, random, steps, threads);
    trained best;
    double fewest_errors = std::numeric_limits<double>::infinity();
    progress now;
    auto const update = [&](auto const& tell) {
        now.done = static_cast<double>(model.step()) / static_cast<double>(steps);
        now.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        tell(now);
    };
    while (now.epoch < options.epochs) {
        ++now.epoch;
        double sum = 0, count = 0;
        for (batch const& each : shuffled_batches(examples, options.batch_size, random)) {
            double const targets = static_cast<double>(each.symbols());
            sum += model.learn(each) * targets;
            count += targets;
            now.loss = sum / count;
            update(who.after_batch);
            if (who.is_over()) {
                if (best.epoch == 0)
                    best.weights = model.weights();
                return best;
            }
        }
        error_counts const errors = evaluate(pronouncer(model.weights()), words.validation, threads);
        now.phoneme_error = errors.phoneme_error();
        now.word_error = errors.word_error();
        if (now.phoneme_error <= fewest_errors) { // of equals, the later one
            fewest_errors = now.phoneme_error;
            best.weights = model.weights();
            best.epoch = now.epoch;
        }
        update(who.after_epoch);
        best.curve.push_back(now);
    }
    return best;
}

} // namespace g2p
