// Learns from CMUdict how words are pronounced, and pronounces words that are in no dictionary.
//
//   read_dictionary -> split -> train -> evaluate -> save_weights
//   load_weights -> pronouncer -> print
//
// The model is in model.hpp: a bidirectional LSTM (lstm_forward_into, lstm_vjp_into) reads the letters,
// an AttnLSTM (attn_lstm_forward_into, attn_lstm_vjp_into) says the phonemes, gather_nd and
// gather_nd_vjp look symbols up. pronouncer.cpp runs attn_lstm_cell in xloom::loop until a word has ended.
//
//   scripts/fetch-data                                       # build/data/cmudict.txt
//   grapheme_to_phoneme                  # trains on it; build/data/grapheme_to_phoneme.h5
//   grapheme_to_phoneme evaluate --storage int8       # the errors with weights of 8 bits
//   grapheme_to_phoneme pronounce scatter gather
//   grapheme_to_phoneme pronounce recurrences --plot .       # alignments.dat, letters.dat, phonemes.dat
//   gnuplot -e "folder='.'" examples/grapheme_to_phoneme/alignments.gnuplot      # alignments.svg

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "../run_program.hpp"
#include "command_line.hpp"
#include "evaluation.hpp"
#include "interrupt.hpp"
#include "plots.hpp"
#include "training_bar.hpp"
#include "weights_file.hpp"

namespace {

using namespace g2p;

using clock = std::chrono::steady_clock;

void print_errors(pronouncer const& model, std::vector<entry> const& words, xloom::tbb_policy const& threads,
    clock::time_point begin)
{
    error_counts const errors = evaluate(model, words, threads);
    double const seconds = std::chrono::duration<double>(clock::now() - begin).count();
    std::printf("phoneme error %.2f %%, word error %.1f %%, %.0f s\n", errors.phoneme_error(),
        errors.word_error(), seconds);
}

void run_training(command_line const& parsed)
{
    auto const begin = clock::now();
    xloom::tbb_policy const threads(parsed.threads);
    split_dictionary const words = split(read_dictionary(parsed.dictionary), parsed.most);
    std::printf("%zu words to learn, %zu to choose the weights, %zu held out\n", words.training.size(),
        words.validation.size(), words.test.size());
    std::fflush(stdout);

    require_writable(parsed.weights);
    training_bar bar(parsed.training.epochs);
    expect_interrupt();
    trained const best = train(words, parsed.training, threads,
        {.after_batch = [&](progress const& now) { bar.after_batch(now); },
            .after_epoch = [&](progress const& now) { bar.after_epoch(now); },
            .is_over = [] { return interrupted.load(); }});
    if (interrupted)
        std::fprintf(stderr, "\ninterrupted: the weights of %s are kept\n",
            best.epoch == 0 ? "this moment" : ("epoch " + std::to_string(best.epoch)).c_str());
    save_weights(parsed.weights, best.weights);
    if (!parsed.plot.empty())
        write_learning_curve(parsed.plot, best.curve);
    std::printf("weights: %s\n", parsed.weights.c_str());
    print_errors(pronouncer(best.weights, parsed.storage), words.test, threads, begin);
}

void run_evaluation(command_line const& parsed)
{
    auto const begin = clock::now();
    pronouncer const model(load_weights(parsed.weights), parsed.storage);
    print_errors(model, split(read_dictionary(parsed.dictionary), parsed.most).test,
        xloom::tbb_policy(parsed.threads), begin);
}

void run_pronouncing(command_line const& parsed)
{
    pronouncer const model(load_weights(parsed.weights), parsed.storage);
    for (std::string const& word : parsed.words) {
        transcription const greedy = model.greedy({word})[0];
        std::printf("%s: %s\n", word.c_str(), to_text(greedy.sounds).c_str());
        auto const found = model.beam(word, parsed.beam);
        for (std::size_t i = 0; i < std::min<std::size_t>(3, found.size()); ++i)
            std::printf("  %5.1f %%  %s\n", 100 * std::exp(found[i].log_probability),
                to_text(found[i].sounds).c_str());
        if (!parsed.plot.empty() && &word == &parsed.words.front())
            write_alignments(parsed.plot, word, found[0]);
    }
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("grapheme_to_phoneme", [&] {
        auto const parsed = read_command_line(argc, argv);
        if (!parsed)
            return;
        switch (parsed->task) {
        case command_line::task_kind::train:
            return run_training(*parsed);
        case command_line::task_kind::evaluate:
            return run_evaluation(*parsed);
        case command_line::task_kind::pronounce:
            return run_pronouncing(*parsed);
        }
    });
}
