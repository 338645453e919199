// AttnLSTM: any operand there or not, sizes from 0, lengths, options; any operand's shape damaged. Into the
// caller's outputs, or to a result.

#include <algorithm>

#include "operators.hpp"
#include "recurrent_choices.hpp"
#include "support/attn_lstm_calls.hpp"

namespace fuzz {

namespace {

template <class T>
struct call {
    textbook::attn_lstm_operands<T> in;
    textbook::attn_lstm_options textbook_options;
    xloom::attn_lstm_options options;
};

constexpr std::size_t activations = 3;

template <class T>
call<T> choose(decoder& bytes)
{
    std::mt19937 random(bytes.seed());
    recurrent_sizes rows{bytes.below(6), bytes.below(4), bytes.below(5),
        bytes.rarely() ? bytes.below(20) : 1 + bytes.below(9)};
    attention_sizes const attention{bytes.below(6), bytes.below(6), bytes.below(10), bytes.below(6)};
    call<T> chosen;
    chosen.textbook_options.direction = direction_names[bytes.below(3)];
    rows.D = chosen.textbook_options.direction == "bidirectional" ? 2 : 1;
    chosen.in = random_attn_lstm<T>(
        random, rows, attention, static_cast<unsigned>(bytes.byte() | bytes.byte() << 8) & with_all);
    chosen.textbook_options.activations = choose_activations<T>(bytes, random, rows.D, activations);
    if (bytes.flag())
        chosen.textbook_options.clip = 0.1 + static_cast<double>(bytes.below(8)) / 4;
    chosen.textbook_options.input_forget = bytes.flag();
    chosen.options = options_of(chosen.textbook_options);
    if (bytes.flag())
        chosen.options.hidden_size = static_cast<std::int64_t>(rows.H);
    return chosen;
}

template <class T>
std::vector<textbook::array<T>*> operands_of(textbook::attn_lstm_operands<T>& in)
{
    return {&in.X, &in.W, &in.R, &in.B, &in.initial_h, &in.initial_c, &in.P, &in.QW, &in.MW, &in.V, &in.M,
        &in.AW, &in.initial_attention, &in.initial_alignment};
}

/// An operand of another shape or omitted, a length that is none, an option that is none.
template <class T>
void damage(decoder& bytes, call<T>& chosen)
{
    auto& [in, ignored, options] = chosen;
    switch (std::size_t const what = bytes.below(8)) {
    case 0:
    case 1: {
        auto const operands = operands_of(in);
        return damage_shape(bytes, *operands[bytes.below(operands.size())]);
    }
    case 2:
        return damage_lengths(bytes, in.sequence_lens);
    case 3:
        return damage_lengths(bytes, in.memory_seq_lens);
    default:
        return damage_option(what - 4, bytes, options);
    }
}

/// The dimensions of a legal call's shapes.
struct dimensions {
    std::size_t T = 0, N = 0, I = 0, H = 0, D = 0, S = 0, E = 0, A = 0, L = 0, C = 0;
};

/// True if all shapes follow from the same dimensions, each of which is read where it stands alone.
template <class T>
bool has_right_shapes(textbook::attn_lstm_operands<T> const& in, std::size_t D)
{
    using textbook::is_absent;
    bool const attends = !is_absent(in.M);
    if (in.X.shape.size() != 3 || in.W.shape.size() != 3 || in.R.shape.size() != 3)
        return false;
    for (auto const* each : {&in.QW, &in.MW, &in.V})
        if (is_absent(*each) == attends)
            return false;
    if (!attends && !(is_absent(in.AW) && is_absent(in.initial_attention) &&
                        is_absent(in.initial_alignment) && in.memory_seq_lens.empty()))
        return false;
    dimensions is{in.X.shape[0], in.X.shape[1], in.X.shape[2], in.R.shape[2], D};
    if (attends) {
        if (in.M.shape.size() != 3 || in.MW.shape.size() != 3 ||
            (!is_absent(in.AW) && in.AW.shape.size() != 3))
            return false;
        is.S = in.M.shape[1];
        is.E = in.MW.shape[1];
        is.A = in.MW.shape[2];
        is.L = is_absent(in.AW) ? 0 : in.AW.shape[2];
        is.C = is_absent(in.AW) ? is.E : is.L;
    }
    auto const& [T_, N, I, H, D_, S, E, A, L, C] = is;
    return H > 0 && fits(in.W, {D, 4 * H, I + C}) && fits(in.R, {D, 4 * H, H}) && fits(in.B, {D, 8 * H}) &&
           fits(in.initial_h, {D, N, H}) && fits(in.initial_c, {D, N, H}) && fits(in.P, {D, 3 * H}) &&
           fits(in.QW, {D, H, A}) && fits(in.MW, {D, E, A}) && fits(in.V, {D, A}) && fits(in.M, {N, S, E}) &&
           fits(in.AW, {D, H + E, L}) && fits(in.initial_attention, {D, N, C}) &&
           fits(in.initial_alignment, {D, N, S}) &&
           (in.sequence_lens.empty() || in.sequence_lens.size() == N) &&
           (in.memory_seq_lens.empty() || in.memory_seq_lens.size() == N);
}

template <class T>
expected_outcome outcome_of(call<T> const& chosen)
{
    auto const& [in, ignored, options] = chosen;
    expected_outcome outcome;
    std::size_t const D = directions_of(options);
    outcome.shape = !has_right_shapes(in, D);
    outcome.option = is_refused(options, activations * D, in.R);
    if (in.X.shape.size() == 3)
        outcome.index = !lie_within(in.sequence_lens, in.X.shape[0]);
    if (in.M.shape.size() == 3)
        outcome.index = outcome.index || !lie_within(in.memory_seq_lens, in.M.shape[1]);
    return outcome;
}

/// What the damage left of the options is told to the textbook.
template <class T>
attn_lstm_arrays<double> reference(call<T> const& chosen)
{
    textbook::attn_lstm_options options = chosen.textbook_options;
    read_damaged(options, chosen.options);
    return textbook_attn_lstm(chosen.in, options);
}

/// Into outputs of any placement, some of them not wanted, one perhaps of another shape, Y_h or Y_c perhaps
/// where initial_h is.
template <class T>
bool attend_into(
    decoder& bytes, call<T> const& chosen, expected_outcome outcome, attn_lstm_tensors<T>& tensors)
{
    attn_lstm_arrays<double> const expected =
        outcome.is_legal() ? reference(chosen) : attn_lstm_arrays<double>{};
    std::array<bool, 6> is_wanted{};
    for (bool& each : is_wanted)
        each = bytes.flag();
    attn_lstm_places<T> places(expected, bytes.where(), is_wanted);
    if (outcome.is_legal() && bytes.rarely()) {
        std::size_t const which = bytes.below(6);
        textbook::dims const shape = bytes.damaged(expected.each()[which]->shape);
        outcome.shape = !shape.empty() && shape != expected.each()[which]->shape;
        is_wanted[which] = !shape.empty();
        places.tensors[which] = placed_tensor<T>(shape, bytes.where());
    }
    auto outputs = places.outputs();
    bool const is_in_place =
        !tensors.initial_h.layout.dims.empty() && is_wanted[1] && outcome.is_legal() && bytes.below(4) == 1;
    if (is_in_place)
        outputs.Y_h = tensors.initial_h;
    if (outcome.is_legal() && !chosen.in.initial_h.items.empty() && bytes.rarely()) {
        outputs.Y_c = tensors.initial_h;
        outcome.overlap = true;
    }
    std::vector<std::vector<T>> before{tensors.initial_h.memory};
    for (auto const& each : places.tensors)
        before.push_back(each.memory);

    xloom::attention_workspace<T> workspace;
    bool const has_run = runs(outcome, [&] {
        xloom::attn_lstm_weights<T> const weights(tensors.constants(), chosen.options);
        xloom::attn_lstm_into(tensors.X, weights, tensors.start(), outputs, workspace);
    });
    if (has_run) {
        if (is_in_place)
            places.tensors[1] = tensors.initial_h;
        require(difference(places.arrays(), expected) < tolerance<T>,
            "attn_lstm_into: another result than the textbook's");
        require(places.has_clean_gaps(), "attn_lstm_into: written beside the outputs");
        return true;
    }
    bool is_untouched = are_same(tensors.initial_h.memory, before[0]);
    for (std::size_t i = 0; i < places.tensors.size(); ++i)
        is_untouched = is_untouched && are_same(places.tensors[i].memory, before[i + 1]);
    require(is_untouched, "attn_lstm_into: written, then the call refused");
    return false;
}

template <class T>
bool try_type(decoder& bytes)
{
    call<T> chosen = choose<T>(bytes);
    if (bytes.below(4) == 3)
        damage(bytes, chosen);
    expected_outcome const outcome = outcome_of(chosen);
    attn_lstm_tensors<T> tensors(chosen.in, bytes.where());
    if (bytes.flag())
        return attend_into(bytes, chosen, outcome, tensors);
    xloom::attn_lstm_result<T> result;
    bool const has_run =
        runs(outcome, [&] { result = xloom::attn_lstm(tensors.X, tensors.inputs(), chosen.options); });
    if (has_run)
        require(
            difference(attn_lstm_arrays<T>{to_array(result.Y), to_array(result.Y_h), to_array(result.Y_c)},
                reference(chosen)) < tolerance<T>,
            "attn_lstm: another result than the textbook's");
    return has_run;
}

} // namespace

bool try_attn_lstm(decoder bytes) { return bytes.flag() ? try_type<double>(bytes) : try_type<float>(bytes); }

} // namespace fuzz
