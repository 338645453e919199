#include "pronouncer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <xloom/control_flow/loop.hpp>
#include <xloom/indexing/gather_nd.hpp>

#include "networks.hpp"

namespace g2p {

namespace {

/// No word of CMUdict has more than twice as many phonemes as letters, except the shortest.
std::int64_t most_symbols(std::size_t letters) { return 2 * static_cast<std::int64_t>(letters) + 8; }

/// True if the last symbol was the end, which is also what stands before the first symbol.
bool has_ended(std::int64_t step, std::int32_t last) { return step > 0 && last == std::int32_t{end_of_word}; }

std::size_t column_of_largest(xt::xtensor<float, 2> const& rows, std::size_t row)
{
    auto const first = rows.data() + row * rows.shape()[1];
    return static_cast<std::size_t>(std::max_element(first, first + rows.shape()[1]) - first);
}

/// A hypothesis of the beam search: another one, and the symbol that comes next.
struct candidate {
    double score;
    std::size_t parent, symbol;
};

/// Returns what may follow the hypotheses, the best first: each symbol after each of them, and only the end
/// after the end. The last symbols are [width, 1], log p of the next ones [width, symbols].
std::vector<candidate> candidates_after(std::int64_t step, xt::xtensor<std::int32_t, 2> const& last,
    std::vector<double> const& scores, xt::xtensor<float, 2> const& logs)
{
    std::vector<candidate> candidates;
    for (std::size_t k = 0; k < scores.size(); ++k) {
        if (has_ended(step, last(k, 0))) {
            candidates.push_back({scores[k], k, end_of_word});
            continue;
        }
        for (std::size_t next = 0; next < symbols; ++next)
            candidates.push_back({scores[k] + logs(k, next), k, next});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
        [](candidate const& a, candidate const& b) { return a.score > b.score; });
    return candidates;
}

/// Returns hypothesis `row` of the last step, of a word of `letters` letters. `outputs` are the parents and
/// the symbols [T, width, 1] and the alignments [T, width, S] of all steps.
template <class Outputs>
transcription trace_back(Outputs const& outputs, std::size_t row, std::size_t letters)
{
    auto const& [parents, said, alignments] = outputs;
    transcription found;
    std::vector<std::size_t> rows;
    for (std::size_t t = said.shape()[0]; t-- > 0;) {
        std::int32_t const symbol = said(t, row, 0);
        row = static_cast<std::size_t>(parents(t, row, 0));
        if (symbol != std::int32_t{end_of_word}) {
            found.sounds.push_back(static_cast<std::uint8_t>(symbol));
            rows.push_back(row);
        }
    }
    std::reverse(found.sounds.begin(), found.sounds.end());
    std::reverse(rows.begin(), rows.end());
    found.alignments = xt::xtensor<float, 2>::from_shape({rows.size(), letters});
    for (std::size_t t = 0; t < rows.size(); ++t)
        for (std::size_t s = 0; s < letters; ++s)
            found.alignments(t, s) = alignments(t, rows[t], s);
    return found;
}

} // namespace

pronouncer::pronouncer(parameters<float> const& weights, xloom::weight_storage storage)
    : context_(weights.sizes().context),
      letters_(weights.letters),
      phonemes_(weights.phonemes),
      encoder_(encoder_constants(weights), encoder_options(), storage),
      decoder_(decoder_constants(weights), {}, storage),
      output_(weights.output_W, weights.output_B, storage)
{}

pronouncer::encoded pronouncer::encode(std::vector<std::string_view> const& words) const
{
    batch const spelled = batch_of(words);
    auto const X = xloom::gather_nd<3>(letters_, spelled.letters);
    auto const result = xloom::lstm(X, encoder_, {.sequence_lens = spelled.letter_counts});
    std::size_t const N = words.size(), S = X.shape()[1], E = 2 * encoder_.sizes().H;
    encoded all{xt::xtensor<float, 3>::from_shape({N, S, E}), spelled.letter_counts,
        matrix::from_shape({N, E}), matrix::from_shape({N, E})};
    std::copy(result.Y.begin(), result.Y.end(), all.memory.begin());
    std::copy(result.Y_h.begin(), result.Y_h.end(), all.h.begin());
    std::copy(result.Y_c.begin(), result.Y_c.end(), all.c.begin());
    return all;
}

pronouncer::matrix pronouncer::log_probabilities(matrix const& h) const
{
    std::size_t const N = h.shape()[0];
    matrix logs = matrix::from_shape({N, symbols});
    output_(N, h.data(), h.shape()[1], logs.data(), symbols);
    for (std::size_t n = 0; n < N; ++n) {
        float* const row = &logs(n, 0);
        float const largest = *std::max_element(row, row + symbols);
        float sum = 0;
        for (std::size_t k = 0; k < symbols; ++k)
            sum += std::exp(row[k] - largest);
        for (std::size_t k = 0; k < symbols; ++k)
            row[k] -= largest + std::log(sum);
    }
    return logs;
}

pronouncer::state pronouncer::start(encoded const& all) const
{
    std::size_t const N = all.h.shape()[0], S = all.memory.shape()[1];
    return {all.h, all.c, xt::zeros<float>({N, context_}), xt::zeros<float>({N, S}),
        xt::ones<std::int32_t>({N, std::size_t{1}}) * std::int32_t{end_of_word}};
}

std::vector<transcription> pronouncer::greedy(std::vector<std::string_view> const& words) const
{
    if (words.empty())
        return {};
    encoded const all = encode(words);
    std::size_t const N = words.size();
    xloom::attn_lstm_cell<float> decoder(decoder_, all.memory, all.counts);

    auto const say = [&](std::int64_t step, bool, matrix h, matrix c, matrix attention, matrix alignment,
                         numbers symbol) {
        matrix const x = xloom::gather_nd<2>(phonemes_, symbol);
        matrix const looked = alignment;
        decoder(h, c, attention, alignment, x, h);
        matrix const logs = log_probabilities(h);
        matrix log_p = xt::zeros<float>({N, std::size_t{1}});
        bool goes_on = false;
        for (std::size_t n = 0; n < N; ++n) {
            if (has_ended(step, symbol(n, 0)))
                continue;
            if (step == most_symbols(words[n].size())) {
                symbol(n, 0) = std::int32_t{end_of_word};
                continue;
            }
            std::size_t const said = column_of_largest(logs, n);
            symbol(n, 0) = static_cast<std::int32_t>(said);
            log_p(n, 0) = logs(n, said);
            goes_on = goes_on || said != end_of_word;
        }
        return xloom::loop_step{
            goes_on, std::tuple(h, c, attention, alignment, symbol), std::tuple(symbol, log_p, looked)};
    };
    auto const result = xloom::loop(say, start(all), {.max_trip_count = most_symbols(all.memory.shape()[1])});
    auto const& [said, log_p, alignments] = result.scan_outputs;

    std::vector<transcription> all_said(N);
    for (std::size_t n = 0; n < N; ++n) {
        auto& [sounds, log_probability, where] = all_said[n];
        std::size_t count = 0;
        for (; count < said.shape()[0] && said(count, n, 0) != std::int32_t{end_of_word}; ++count)
            sounds.push_back(static_cast<std::uint8_t>(said(count, n, 0)));
        for (std::size_t t = 0; t < said.shape()[0]; ++t)
            log_probability += log_p(t, n, 0);
        where = matrix::from_shape({count, words[n].size()});
        for (std::size_t t = 0; t < count; ++t)
            for (std::size_t s = 0; s < words[n].size(); ++s)
                where(t, s) = alignments(t, n, s);
    }
    return all_said;
}

std::vector<transcription> pronouncer::beam(std::string_view word, std::size_t width) const
{
    encoded const all = encode(std::vector(width, word)); // a row for each hypothesis
    xloom::attn_lstm_cell<float> decoder(decoder_, all.memory, all.counts);

    std::vector<double> scores(width, -std::numeric_limits<double>::infinity());
    scores[0] = 0; // all rows are equal at first

    auto const say = [&](std::int64_t step, bool, matrix h, matrix c, matrix attention, matrix alignment,
                         numbers const& symbol) {
        matrix const x = xloom::gather_nd<2>(phonemes_, symbol);
        matrix const looked = alignment;
        decoder(h, c, attention, alignment, x, h);
        matrix const logs = log_probabilities(h);
        std::vector<candidate> const candidates = candidates_after(step, symbol, scores, logs);
        numbers parents = numbers::from_shape({width, 1}), said = parents;
        bool goes_on = false;
        for (std::size_t k = 0; k < width; ++k) {
            auto const& [score, parent, next] = candidates[k];
            scores[k] = score;
            parents(k, 0) = static_cast<std::int32_t>(parent);
            said(k, 0) = static_cast<std::int32_t>(next);
            goes_on = goes_on || next != end_of_word;
        }
        auto const of_parents = [&](matrix const& rows) -> matrix {
            return xloom::gather_nd<2>(rows, parents);
        };
        return xloom::loop_step{goes_on,
            std::tuple(of_parents(h), of_parents(c), of_parents(attention), of_parents(alignment), said),
            std::tuple(parents, said, looked)};
    };
    auto const result = xloom::loop(say, start(all), {.max_trip_count = most_symbols(word.size())});
    std::vector<transcription> found(width);
    for (std::size_t k = 0; k < width; ++k) {
        found[k] = trace_back(result.scan_outputs, k, word.size());
        found[k].log_probability = scores[k];
    }
    return found;
}

} // namespace g2p
