// A vector for each letter, learnt by gradient descent so that the largest items of a word's letters tell its
// language. Forward: gather_nd brings the vectors to the letters, scatter_nd with max pools those of a word.
// Backward: scatter_nd_vjp gives the gradient of each letter's vector in its word, gather_nd_vjp adds up
// those of a letter. The gradient is checked against a difference of the loss. What stderr gets, the vector
// of each word, is for letter_vectors.gnuplot.

#include <cmath>
#include <cstdio>
#include <string_view>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "../central_differences.hpp"

namespace {

using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<int, 2>;

constexpr std::size_t letters = 26, width = 2; // an item of a vector for each language
constexpr std::string_view words[] = {"kahvi", "talo", "yksi", "kuusi", "wine", "bread", "food", "queen"};
constexpr std::size_t count = std::size(words), finnish = 4; // of these words; the others are English

constexpr xloom::reduction max = xloom::reduction::max;

/// All letters of all words: each one's place in the table, and its word.
struct text {
    tuples letter, word;
};

text read_words()
{
    std::size_t length = 0;
    for (std::string_view const word : words)
        length += word.size();
    text all{tuples::from_shape({length, 1}), tuples::from_shape({length, 1})};
    std::size_t i = 0;
    for (std::size_t word = 0; word < count; ++word)
        for (char const c : words[word]) {
            all.letter(i, 0) = c - 'a';
            all.word(i++, 0) = static_cast<int>(word);
        }
    return all;
}

/// The pooled vectors of the words: the largest of each item.
matrix pooled(text const& all, matrix const& table)
{
    matrix const vectors = xloom::gather_nd<2>(table, all.letter);
    return xloom::scatter_nd(
        max, matrix(xt::zeros<double>({count, width})), all.word, vectors, {.include_self = false});
}

/// The mean of -log p(language), and its derivative by the pooled vectors.
double loss_of(matrix const& vectors, matrix& ct)
{
    double loss = 0;
    for (std::size_t word = 0; word < count; ++word) {
        std::size_t const language = word < finnish ? 0 : 1;
        double const odds = std::exp(vectors(word, 1 - language) - vectors(word, language));
        loss += std::log1p(odds) / count;
        ct(word, 1 - language) = odds / (1 + odds) / count;
        ct(word, language) = -ct(word, 1 - language);
    }
    return loss;
}

/// The gradient of the loss by the table of vectors.
matrix gradient_of(text const& all, matrix const& table, matrix const& ct)
{
    matrix const vectors = xloom::gather_nd<2>(table, all.letter);
    matrix d_vectors = xt::zeros_like(vectors);
    xloom::scatter_nd_vjp_into(max, matrix(xt::zeros_like(ct)), all.word, vectors, ct, {.updates = d_vectors},
        {.include_self = false});
    return xloom::gather_nd_vjp<2>(table.shape(), all.letter, d_vectors);
}

/// The largest difference between the gradient and differences of the loss.
double error_of(text const& all, matrix table, matrix const& gradient)
{
    matrix ignored = xt::zeros<double>({count, width});
    auto const loss = [&] { return loss_of(pooled(all, table), ignored); };
    return check_derivatives(table, gradient, 1e-6, loss).error;
}

} // namespace

int main()
{
    text const all = read_words();
    matrix table = matrix::from_shape({letters, width});
    for (std::size_t i = 0; i < table.size(); ++i)
        table.data()[i] = std::sin(static_cast<double>(7 * i)) / 10; // no two are equal
    matrix ct = xt::zeros<double>({count, width});

    loss_of(pooled(all, table), ct);
    bool const is_right = error_of(all, table, gradient_of(all, table, ct)) < 1e-8;
    std::printf("the gradient equals differences of the loss: %s\n", is_right ? "yes" : "no");
    for (int step = 0; step < 2000; ++step) {
        loss_of(pooled(all, table), ct);
        table -= 0.5 * gradient_of(all, table, ct);
    }
    matrix const vectors = pooled(all, table);
    for (std::size_t word = 0; word < count; ++word) {
        int const size = static_cast<int>(words[word].size());
        std::printf("%-6.*s %s\n", size, words[word].data(),
            vectors(word, 0) > vectors(word, 1) ? "Finnish" : "English");
        std::fprintf(
            stderr, "%.*s %.3f %.3f\n", size, words[word].data(), vectors(word, 0), vectors(word, 1));
    }
}
