// LSTM, GRU and RNN: any operand there or not, sizes from 0, lengths, options, storages of the weights; any
// operand's shape damaged. To a result, into the caller's outputs, or from the states to the next ones.

#include "operators.hpp"
#include "recurrent_choices.hpp"
#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/rnn_calls.hpp"
#include "support/rounded_weights.hpp"
#include "support/zero_blocks.hpp"

namespace fuzz {

namespace {

using textbook::array;

template <class Family, class T>
struct call {
    typename Family::template operands<T> in;
    typename Family::options textbook_options;
    typename Family::attributes options;
    xloom::weight_storage storage = xloom::weight_storage::full;
};

template <class Family>
constexpr std::size_t gates = Family::has_c              ? 4
                              : Family::activations == 2 ? 3
                                                         : 1;

template <class Family, class T>
call<Family, T> choose(decoder& bytes)
{
    std::mt19937 random(bytes.seed());
    call<Family, T> chosen;
    auto& options = chosen.textbook_options;
    options.direction = direction_names[bytes.below(3)];
    options.layout = static_cast<int>(bytes.below(2));
    recurrent_sizes const sizes{bytes.below(6), bytes.rarely() ? bytes.below(20) : bytes.below(4),
        bytes.below(9), bytes.rarely() ? bytes.below(70) : 1 + bytes.below(17),
        options.direction == "bidirectional" ? 2u : 1u};
    chosen.in = Family::template draw<T>(
        random, sizes, static_cast<unsigned>(bytes.byte()) & with_all, {.layout = options.layout});
    if constexpr (std::is_same_v<T, float>) {
        chosen.storage = xloom::weight_storages[bytes.below(xloom::weight_storages.size())];
        if (bytes.flag())
            zero_blocks(random, 0.3, chosen.in.R);
    }
    options.activations = choose_activations<T>(bytes, random, sizes.D, Family::activations);
    if (bytes.flag())
        options.clip = 0.1 + static_cast<double>(bytes.below(8)) / 4;
    Family::set_own(options, bytes.flag());
    chosen.options = Family::options_of(options);
    if (bytes.flag())
        chosen.options.hidden_size = static_cast<std::int64_t>(sizes.H);
    return chosen;
}

template <class Operands>
auto operands_of(Operands& in)
{
    std::vector operands{&in.X, &in.W, &in.R, &in.B, &in.initial_h};
    if constexpr (requires { in.P; })
        operands.insert(operands.end(), {&in.initial_c, &in.P});
    return operands;
}

/// An operand of another shape or omitted, a length that is none, an option that is none.
template <class Family, class T>
void damage(decoder& bytes, call<Family, T>& chosen)
{
    switch (std::size_t const what = bytes.below(8)) {
    case 0:
    case 1: {
        auto const operands = operands_of(chosen.in);
        return damage_shape(bytes, *operands[bytes.below(operands.size())]);
    }
    case 2:
        return damage_lengths(bytes, chosen.in.sequence_lens);
    case 3:
        chosen.options.layout = bytes.pick({2, -1, 0, 1});
        return;
    default:
        return damage_option(what - 4, bytes, chosen.options);
    }
}

/// T and N, of X of rank 3.
template <class T>
std::array<std::size_t, 2> batch_of(array<T> const& X, std::int64_t layout)
{
    return layout == 1 ? std::array{X.shape[1], X.shape[0]} : std::array{X.shape[0], X.shape[1]};
}

/// True if all shapes follow from the same dimensions, each of which is read where it stands alone.
template <class Family, class T>
bool has_right_shapes(call<Family, T> const& chosen)
{
    auto const& in = chosen.in;
    if (in.X.shape.size() != 3 || in.W.shape.size() != 3 || in.R.shape.size() != 3)
        return false;
    std::size_t const D = directions_of(chosen.options), G = gates<Family>, H = in.R.shape[2],
                      I = in.X.shape[2], N = batch_of(in.X, chosen.options.layout)[1];
    textbook::dims const state =
        chosen.options.layout == 1 ? textbook::dims{N, D, H} : textbook::dims{D, N, H};
    bool is_right = H > 0 && fits(in.W, {D, G * H, I}) && fits(in.R, {D, G * H, H}) &&
                    fits(in.B, {D, 2 * G * H}) && fits(in.initial_h, state) &&
                    (in.sequence_lens.empty() || in.sequence_lens.size() == N);
    if constexpr (requires { in.P; })
        is_right = is_right && fits(in.initial_c, state) && fits(in.P, {D, 3 * H});
    return is_right;
}

/// The number of activations that a call must have, if it has any. The schema's default of RNN's attribute,
/// two of Tanh, may be given for one direction.
template <class Family>
std::size_t activation_count(typename Family::attributes const& options)
{
    bool const is_default = std::is_same_v<Family, rnn_family> && options.activations.size() == 2 &&
                            std::all_of(options.activations.begin(), options.activations.end(),
                                [](auto name) { return name == "Tanh"; });
    return is_default ? 2 : Family::activations * directions_of(options);
}

template <class Family, class T>
expected_outcome outcome_of(call<Family, T> const& chosen)
{
    auto const& [in, ignored, options, storage] = chosen;
    expected_outcome outcome;
    outcome.shape = !has_right_shapes(chosen);
    outcome.option = is_refused(options, activation_count<Family>(options), in.R) || options.layout < 0 ||
                     options.layout > 1;
    if (in.X.shape.size() == 3)
        outcome.index = !lie_within(in.sequence_lens, batch_of(in.X, options.layout)[0]);
    return outcome;
}

template <class Family, class T>
recurrent_arrays<double> reference(call<Family, T> chosen)
{
    auto options = chosen.textbook_options;
    read_damaged(options, chosen.options);
    options.layout = static_cast<int>(chosen.options.layout);
    if constexpr (std::is_same_v<T, float>) {
        textbook::round_rows(chosen.storage, chosen.in.W, chosen.in.W.shape[2]);
        textbook::round_rows(chosen.storage, chosen.in.R, chosen.in.R.shape[2]);
    }
    return Family::template textbook<T>(chosen.in, options);
}

/// Storages that round the inputs of products, too, stay near the textbook only.
template <class T>
double tolerance_of(xloom::weight_storage storage)
{
    using enum xloom::weight_storage;
    return storage == dynamic_int8 || storage == dynamic_bfloat16 ? 0.2 : tolerance<T>;
}

template <class Family, class T>
typename Family::template weights<T> pack(
    call<Family, T> const& chosen, typename Family::template tensors<T> const& tensors)
{
    if constexpr (std::is_same_v<T, float>)
        return {tensors.constants(), chosen.options, chosen.storage};
    else
        return {tensors.constants(), chosen.options};
}

/// Into outputs of any placement, some of them not wanted, one perhaps of another shape.
template <class Family, class T>
bool recur_into(decoder& bytes, call<Family, T> const& chosen, expected_outcome outcome,
    typename Family::template tensors<T> const& tensors)
{
    auto const expected = outcome.is_legal() ? reference(chosen) : recurrent_arrays<double>{};
    std::array const is_wanted{bytes.flag(), bytes.flag(), bytes.flag()};
    output_tensors<T> out(expected, bytes.where(), is_wanted);
    if (outcome.is_legal() && bytes.rarely()) {
        textbook::dims const shape = bytes.damaged(expected.Y.shape);
        outcome.shape = !shape.empty() && shape != expected.Y.shape;
        out.Y = placed_tensor<T>(outcome.shape ? shape : textbook::dims(), bytes.where());
    }
    std::array const before{out.Y.memory, out.Y_h.memory, out.Y_c.memory};
    xloom::recurrent_workspace<T> workspace;
    bool const has_run =
        runs(outcome, [&] { Family::template call_into<T>(tensors, pack(chosen, tensors), out, workspace); });
    if (has_run) {
        require(out.difference_from(expected) < tolerance_of<T>(chosen.storage),
            "lstm_into, gru_into or rnn_into: another result than the textbook's");
        require(out.has_clean_gaps(), "lstm_into, gru_into or rnn_into: written beside the outputs");
    } else {
        require(are_same(out.Y.memory, before[0]) && are_same(out.Y_h.memory, before[1]) &&
                    are_same(out.Y_c.memory, before[2]),
            "lstm_into, gru_into or rnn_into: written, then the call refused");
    }
    return has_run;
}

/// From the states to the next ones, in the same memory.
template <class Family, class T>
void stream(call<Family, T> const& chosen, typename Family::template tensors<T> const& tensors)
{
    auto const expected = reference(chosen);
    output_tensors<T> out(expected, placement::row_major, {true, false, false});
    out.Y_h = tensors.initial_h;
    if constexpr (Family::has_c)
        out.Y_c = tensors.initial_c;
    xloom::recurrent_workspace<T> workspace;
    Family::template stream<T>(tensors, pack(chosen, tensors), out, workspace);
    require(out.difference_from(expected) < tolerance_of<T>(chosen.storage),
        "lstm_into, gru_into or rnn_into: another result than the textbook's in the states' memory");
    require(out.has_clean_gaps(), "lstm_into, gru_into or rnn_into: written beside the states");
}

template <class Family, class T>
bool has_states(typename Family::template operands<T> const& in)
{
    bool has_all = !textbook::is_absent(in.initial_h);
    if constexpr (Family::has_c)
        has_all = has_all && !textbook::is_absent(in.initial_c);
    return has_all;
}

template <class Family, class T>
bool try_call(decoder& bytes)
{
    auto chosen = choose<Family, T>(bytes);
    if (bytes.below(4) == 3)
        damage(bytes, chosen);
    expected_outcome const outcome = outcome_of(chosen);
    typename Family::template tensors<T> const tensors(chosen.in, bytes.where());
    if (bytes.flag()) {
        if (outcome.is_legal() && has_states<Family, T>(chosen.in) && bytes.flag()) {
            stream(chosen, tensors);
            return true;
        }
        return recur_into(bytes, chosen, outcome, tensors);
    }
    chosen.storage = xloom::weight_storage::full;
    recurrent_arrays<T> found;
    bool const has_run = runs(outcome, [&] { found = Family::template call<T>(tensors, chosen.options); });
    if (has_run)
        require(difference(found, reference(chosen)) < tolerance<T>,
            "lstm, gru or rnn: another result than the textbook's");
    return has_run;
}

template <class Family>
bool try_family(decoder& bytes)
{
    return bytes.flag() ? try_call<Family, double>(bytes) : try_call<Family, float>(bytes);
}

} // namespace

bool try_recurrent(decoder bytes)
{
    switch (bytes.below(3)) {
    case 0:
        return try_family<lstm_family>(bytes);
    case 1:
        return try_family<gru_family>(bytes);
    default:
        return try_family<rnn_family>(bytes);
    }
}

} // namespace fuzz
