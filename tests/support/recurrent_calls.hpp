#pragma once
// The way from the textbook's operands and options to a call of lstm, gru or rnn, and back: the same text for
// all three. lstm_calls.hpp, gru_calls.hpp and rnn_calls.hpp say what is an operator's own.

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <xloom/detail/recurrent/batch_run.hpp>

#include "nd_operands.hpp"
#include "placed_tensor.hpp"
#include "random_recurrent.hpp"

/// The outputs of a call; Y_c has no shape where the operator has none.
template <class T>
struct recurrent_arrays {
    textbook::array<T> Y{}, Y_h{}, Y_c{};

    std::array<textbook::array<T> const*, 3> each() const { return {&Y, &Y_h, &Y_c}; }
};

template <class Results>
recurrent_arrays<double> arrays_of(Results const& from)
{
    return {from.Y, from.Y_h, from.Y_c};
}

/// The largest difference, divided by the expected number where that is above 1. Infinity if shapes differ,
/// one alone is NaN, or one is an infinity that the other is not.
template <class T>
double difference(textbook::array<T> const& found, textbook::array<double> const& expected)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (found.shape != expected.shape)
        return infinity;
    double largest = 0;
    for (std::size_t i = 0; i < expected.items.size(); ++i) {
        double const a = static_cast<double>(found.items[i]), b = expected.items[i];
        if (std::isnan(a) != std::isnan(b) || (a != b && (std::isinf(a) || std::isinf(b))))
            return infinity;
        if (a != b && !std::isnan(b))
            largest = std::fmax(largest, std::fabs(a - b) / std::fmax(1, std::fabs(b)));
    }
    return largest;
}

template <class T>
double difference(recurrent_arrays<T> const& found, recurrent_arrays<double> const& expected)
{
    return std::fmax(difference(found.Y, expected.Y),
        std::fmax(difference(found.Y_h, expected.Y_h), difference(found.Y_c, expected.Y_c)));
}

template <class T>
bool have_same_bits(textbook::array<T> const& a, textbook::array<T> const& b)
{
    return a.shape == b.shape && a.items.size() == b.items.size() &&
           (a.items.empty() || std::memcmp(a.items.data(), b.items.data(), a.items.size() * sizeof(T)) == 0);
}

template <class T>
bool have_same_bits(recurrent_arrays<T> const& a, recurrent_arrays<T> const& b)
{
    return have_same_bits(a.Y, b.Y) && have_same_bits(a.Y_h, b.Y_h) && have_same_bits(a.Y_c, b.Y_c);
}

inline textbook::array<std::int32_t> lengths_of(std::vector<std::int32_t> const& lengths)
{
    return lengths.empty() ? textbook::array<std::int32_t>{}
                           : textbook::array<std::int32_t>{{lengths.size()}, lengths};
}

/// What all three take.
template <class T>
struct common_tensors {
    placed_tensor<T> X, W, R, B, initial_h;
    placed_tensor<std::int32_t> sequence_lens;

    template <class Operands>
    common_tensors(Operands const& from, placement how)
        : X(place<T>(from.X, how)),
          W(place<T>(from.W, how)),
          R(place<T>(from.R, how)),
          B(place<T>(from.B, how)),
          initial_h(place<T>(from.initial_h, how)),
          sequence_lens(place<std::int32_t>(lengths_of(from.sequence_lens), how))
    {}

    xloom::lengths_ref lengths() const
    {
        return sequence_lens.layout.dims.empty() ? xloom::lengths_ref() : xloom::lengths_ref(sequence_lens);
    }
};

/// Outputs in memory of the caller's, as many as are wanted.
template <class T>
struct output_tensors {
    placed_tensor<T> Y, Y_h, Y_c;

    /// Y if is_wanted[0], and so on.
    output_tensors(recurrent_arrays<double> const& like, placement how, std::array<bool, 3> const& is_wanted)
        : Y(is_wanted[0] ? like.Y.shape : textbook::dims(), how),
          Y_h(is_wanted[1] ? like.Y_h.shape : textbook::dims(), how),
          Y_c(is_wanted[2] ? like.Y_c.shape : textbook::dims(), how)
    {}

    bool has_clean_gaps() const
    {
        return ::has_clean_gaps(Y) && ::has_clean_gaps(Y_h) && ::has_clean_gaps(Y_c);
    }
    /// Of those that are wanted.
    double difference_from(recurrent_arrays<double> const& expected) const
    {
        double largest = 0;
        for (auto const& [found, wanted] :
            {std::pair(&Y, &expected.Y), std::pair(&Y_h, &expected.Y_h), std::pair(&Y_c, &expected.Y_c)})
            if (!found->layout.dims.empty())
                largest = std::fmax(largest, difference(to_array(*found), *wanted));
        return largest;
    }
};

/// What all three have of options. Alphas and betas are listed for those activations alone that take one.
template <class To, class From>
To common_options(From const& from)
{
    To to;
    to.direction = xloom::parse_direction("test", from.direction);
    for (xloom::activation_function const& function : from.activations) {
        using xloom::activation;
        to.activations.push_back(xloom::name_of(function.kind));
        switch (function.kind) {
        case activation::affine:
        case activation::scaled_tanh:
        case activation::hard_sigmoid:
            to.activation_alpha.push_back(function.alpha);
            to.activation_beta.push_back(function.beta);
            break;
        case activation::leaky_relu:
        case activation::thresholded_relu:
        case activation::elu:
            to.activation_alpha.push_back(function.alpha);
            break;
        default:
            break;
        }
    }
    if (from.clip != textbook::no_clip)
        to.clip = from.clip;
    if constexpr (requires { from.layout; })
        to.layout = from.layout;
    return to;
}

inline std::string const direction_names[] = {"forward", "reverse", "bidirectional"};

/// Any bit of `which` set or not.
inline unsigned random_choice(std::mt19937& random) { return static_cast<unsigned>(random()) & with_all; }

/// The text of the error that a call throws; empty if it throws none.
template <class Error = xloom::error, class F>
std::string error_of(F const& f)
{
    try {
        f();
    } catch (Error const& thrown) {
        return thrown.what();
    }
    return "";
}

/// The last h of a cell that runs over all steps of X [T, N, I], from states of zeros.
template <class Family, class Cell>
std::vector<float> last_h_of(Cell cell, typename Family::template operands<float> const& in, std::size_t H)
{
    std::size_t const T = in.X.shape[0], N = in.X.shape[1], size = N * in.X.shape[2];
    std::vector<float> h(N * H), c(N * H);
    for (std::size_t t = 0; t < T; ++t) {
        auto const x_t = std::span<float const>(in.X.items).subspan(t * size, size);
        if constexpr (Family::has_c)
            cell(h, c, x_t);
        else
            cell(h, x_t);
    }
    return h;
}

/// The operands of a call, as tensors. initial_c, P and projection have no shape where the operator has none.
template <class Names, class T>
struct recurrent_tensors : common_tensors<T> {
    placed_tensor<T> initial_c{}, P{}, projection{};

    explicit recurrent_tensors(
        typename Names::template operands<T> const& from, placement how = placement::row_major)
        : common_tensors<T>(from, how)
    {
        if constexpr (requires { from.initial_c; }) {
            initial_c = place<T>(from.initial_c, how);
            P = place<T>(from.P, how);
            projection = place<T>(from.projection, how);
        }
    }

    auto constants() const
    {
        typename Names::template constants<T> to{ref_of(this->W), ref_of(this->R), ref_of(this->B)};
        if constexpr (requires { to.P; }) {
            to.P = ref_of(P);
            to.projection = ref_of(projection);
        }
        return to;
    }
    auto start() const
    {
        typename Names::template start<T> to{this->lengths(), ref_of(this->initial_h)};
        if constexpr (requires { to.initial_c; })
            to.initial_c = ref_of(initial_c);
        return to;
    }
    auto inputs() const
    {
        typename Names::template inputs<T> to{
            ref_of(this->W), ref_of(this->R), ref_of(this->B), this->lengths(), ref_of(this->initial_h)};
        if constexpr (requires { to.initial_c; }) {
            to.initial_c = ref_of(initial_c);
            to.P = ref_of(P);
            to.projection = ref_of(projection);
        }
        return to;
    }
};

/// An operator for tests that are written once for all of them. Names has its types and functions:
/// lstm_names, gru_names, rnn_names.
template <class Names>
struct recurrent_family : Names {
    static constexpr std::size_t activations = Names::default_activations.size();
    /// The operator with a state c beside h.
    static constexpr bool has_c = requires(typename Names::template operands<float> in) { in.initial_c; };

    template <class T>
    using operands = typename Names::template operands<T>;
    template <class T>
    using tensors = recurrent_tensors<Names, T>;
    template <class T>
    using weights = typename Names::template weights<T>;
    using options = textbook::recurrent_options;

    static auto options_of(options const& from)
    {
        auto to = common_options<typename Names::attributes>(from);
        if constexpr (requires { to.input_forget; })
            to.input_forget = from.input_forget;
        if constexpr (requires { to.linear_before_reset; })
            to.linear_before_reset = from.linear_before_reset;
        return to;
    }

    template <class T>
    static recurrent_arrays<double> textbook(operands<T> const& in, options const& how)
    {
        return arrays_of(Names::in_textbook(in, how));
    }

    template <class T>
    static recurrent_arrays<T> call(
        operands<T> const& in, options const& how, placement where = placement::row_major)
    {
        return call<T>(tensors<T>(in, where), options_of(how));
    }

    template <class T>
    static recurrent_arrays<T> call(tensors<T> const& in, typename Names::attributes const& how)
    {
        return to_arrays<T>(Names::run(in.X, in.inputs(), how));
    }

    template <class T, class Policy = xloom::serial_policy>
    static recurrent_arrays<T> call(
        operands<T> const& in, weights<T> const& packed, Policy const& policy = {})
    {
        tensors<T> const given(in);
        return to_arrays<T>(Names::run(given.X, packed, given.start(), policy));
    }

    template <class T>
    static void call_into(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& out,
        xloom::recurrent_workspace<T>& workspace)
    {
        Names::run_into(in.X, packed, in.start(), refs_of(out), workspace);
    }

    /// From the states to the next ones, in place.
    template <class T>
    static void stream(tensors<T> const& in, weights<T> const& packed, output_tensors<T>& states,
        xloom::recurrent_workspace<T>& workspace)
    {
        auto start = in.start();
        start.initial_h = states.Y_h;
        if constexpr (has_c)
            start.initial_c = states.Y_c;
        Names::run_into(in.X, packed, start, refs_of(states), workspace);
    }

    template <class T>
    static xloom::recurrent_workspace<T> workspace(weights<T> const& packed, xloom::batch_sizes const& batch)
    {
        return xloom::recurrent_workspace(packed, batch);
    }

private:
    template <class T, class Results>
    static recurrent_arrays<T> to_arrays(Results const& from)
    {
        recurrent_arrays<T> to{to_array(from.Y), to_array(from.Y_h)};
        if constexpr (has_c)
            to.Y_c = to_array(from.Y_c);
        return to;
    }

    template <class T>
    static auto refs_of(output_tensors<T>& out)
    {
        typename Names::template outputs<T> to{ref_of(out.Y), ref_of(out.Y_h)};
        if constexpr (has_c)
            to.Y_c = ref_of(out.Y_c);
        return to;
    }
};
