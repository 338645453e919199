// Scan: numbers of states, inputs and outputs, axes, directions, a length, and a body that may break its
// word; scan, and scan_into with one of each.

#include <array>

#include <xloom/control_flow/scan.hpp>

#include "bodies.hpp"
#include "operators.hpp"

namespace fuzz {

namespace {

constexpr std::array<operand_counts, 4> all_counts{{{1, 1, 1}, {2, 3, 2}, {1, 0, 1}, {0, 2, 1}}};

struct call {
    std::size_t counts; ///< an index into all_counts
    tensors states, inputs;
    step_plan plan;
    xloom::scan_options options;
};

xloom::direction choose_direction(decoder& bytes)
{
    return static_cast<xloom::direction>(bytes.rarely() ? bytes.between(-1, 3) : bytes.between(0, 1));
}

/// As many entries as operands, mostly, or none.
template <class List, class Choose>
void choose_entries(decoder& bytes, List& list, std::size_t operands, Choose const& choose)
{
    if (bytes.flag())
        return;
    std::size_t const count = bytes.rarely() ? bytes.below(4) : operands;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back(choose(i));
}

/// An axis of a tensor of this rank, mostly.
std::int64_t choose_axis(decoder& bytes, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    if (bytes.rarely())
        return bytes.pick({r, -r - 1, std::numeric_limits<std::int64_t>::min(),
            std::numeric_limits<std::int64_t>::max(), std::int64_t{3}});
    return bytes.between(-std::max<std::int64_t>(r, 1), std::max<std::int64_t>(r, 1) - 1);
}

call choose(decoder& bytes)
{
    call chosen;
    chosen.counts = bytes.below(all_counts.size());
    operand_counts const counts = all_counts[chosen.counts];
    std::size_t const length = bytes.below(5);
    for (std::size_t i = 0; i < counts.states; ++i)
        chosen.states.push_back(tensor::counting(bytes.dims(3, 3)));
    std::vector<textbook::dims> shapes(counts.inputs);
    for (textbook::dims& shape : shapes)
        shape = bytes.dims(3, 3);
    auto& [input_axes, output_axes, input_directions, output_directions, given_length] = chosen.options;
    choose_entries(bytes, input_axes, shapes.size(),
        [&](std::size_t i) { return choose_axis(bytes, i < shapes.size() ? shapes[i].size() + 1 : 1); });
    choose_entries(
        bytes, input_directions, shapes.size(), [&](std::size_t) { return choose_direction(bytes); });
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        // Of the element, until time is put where the options have it.
        auto const rank = static_cast<std::int64_t>(shapes[i].size()) + 1;
        std::int64_t const axis = i < input_axes.size() ? input_axes[i] : 0;
        if (-rank <= axis && axis < rank && !bytes.rarely())
            shapes[i].insert(shapes[i].begin() + (axis < 0 ? axis + rank : axis),
                bytes.rarely() ? bytes.below(5) : length);
        chosen.inputs.push_back(tensor::counting(shapes[i]));
    }
    chosen.plan = choose_plan(bytes, counts.outputs);
    auto const& outputs = chosen.plan.outputs;
    choose_entries(bytes, output_axes, outputs.size(),
        [&](std::size_t k) { return choose_axis(bytes, k < outputs.size() ? outputs[k].size() + 1 : 1); });
    choose_entries(
        bytes, output_directions, outputs.size(), [&](std::size_t) { return choose_direction(bytes); });
    if (shapes.empty() ? !bytes.rarely() : bytes.flag())
        given_length = bytes.rarely() ? bytes.below(6) : length;
    return chosen;
}

/// The axis from the front, if there is one.
std::optional<std::size_t> axis_of(xloom::axes const& list, std::size_t i, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    std::int64_t const axis = list.empty() ? 0 : list[i];
    if (axis < -r || axis >= r)
        return std::nullopt;
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

bool is_reverse(xloom::directions const& list, std::size_t i)
{
    return !list.empty() && list[i] == xloom::direction::reverse;
}

template <class List>
bool fits(List const& list, std::size_t operands)
{
    return list.empty() || list.size() == operands;
}

bool are_directions(xloom::directions const& list)
{
    return std::all_of(list.begin(), list.end(),
        [](auto direction) { return static_cast<int>(direction) == 0 || static_cast<int>(direction) == 1; });
}

/// What is known before the body runs; sets the number of iterations.
expected_outcome outcome_of(call const& chosen, std::size_t& length)
{
    auto const& [input_axes, output_axes, input_directions, output_directions, given_length] = chosen.options;
    std::size_t const inputs = chosen.inputs.size(), outputs = chosen.plan.outputs.size();
    expected_outcome outcome;
    outcome.option = !fits(input_axes, inputs) || !fits(input_directions, inputs) ||
                     !fits(output_axes, outputs) || !fits(output_directions, outputs) ||
                     !are_directions(input_directions) || !are_directions(output_directions) ||
                     (inputs == 0 && !given_length);
    std::optional<std::size_t> common = inputs == 0 ? given_length : std::nullopt;
    for (std::size_t i = 0; i < inputs; ++i) {
        textbook::dims const& shape = chosen.inputs[i].shape;
        auto const axis = fits(input_axes, inputs) ? axis_of(input_axes, i, shape.size()) : std::nullopt;
        if (!axis) {
            outcome.shape = outcome.shape || shape.empty() || fits(input_axes, inputs);
            continue;
        }
        outcome.shape = outcome.shape || (common && *common != shape[*axis]);
        outcome.option = outcome.option || (given_length && *given_length != shape[*axis]);
        common = shape[*axis];
    }
    length = common.value_or(0);
    // An axis that no tensor has is refused before the body runs.
    for (std::size_t k = 0; k < outputs && fits(output_axes, outputs); ++k)
        outcome.shape = outcome.shape || !axis_of(output_axes, k, xloom::max_rank);
    return outcome;
}

struct expected_results {
    tensors states, outputs;
};

/// Runs the body as the textbook does. Requires that the rule has nothing against it so far; adds what it has
/// against the body.
expected_results reference(call const& chosen, std::size_t length, expected_outcome& outcome)
{
    expected_results results{chosen.states, {}};
    std::vector<tensors> elements(chosen.plan.outputs.size());
    for (std::size_t t = 0; t < length; ++t) {
        tensors x_t;
        for (std::size_t i = 0; i < chosen.inputs.size(); ++i) {
            tensor const& x = chosen.inputs[i];
            x_t.push_back(x.slice(*axis_of(chosen.options.scan_input_axes, i, x.shape.size()),
                is_reverse(chosen.options.scan_input_directions, i) ? length - 1 - t : t));
        }
        auto const [states, outputs] = take_step(chosen.plan, t, results.states, x_t);
        outcome.body = states.size() != results.states.size() || !keeps_outputs(chosen.plan, outputs);
        for (std::size_t i = 0; i < results.states.size(); ++i)
            outcome.body = outcome.body || states[i].shape != results.states[i].shape;
        // What the first iteration returns is what the outputs are made for.
        for (std::size_t k = 0; t == 0 && k < outputs.size(); ++k)
            outcome.shape =
                outcome.shape || !axis_of(chosen.options.scan_output_axes, k, outputs[k].shape.size() + 1);
        if (!outcome.is_legal())
            return results;
        results.states = states;
        for (std::size_t k = 0; k < outputs.size(); ++k)
            elements[k].push_back(outputs[k]);
    }
    for (std::size_t k = 0; k < elements.size(); ++k) {
        textbook::dims const& shape = chosen.plan.outputs[k];
        results.outputs.push_back(
            length == 0
                ? tensor({0})
                : stacked(elements[k], shape, *axis_of(chosen.options.scan_output_axes, k, shape.size() + 1),
                      is_reverse(chosen.options.scan_output_directions, k)));
    }
    return results;
}

void require_same(
    char const* op, expected_results const& expected, tensors const& states, tensors const& outputs)
{
    require(are_same(states, expected.states), std::string(op) + ": other final states than the textbook's");
    require(are_same(outputs, expected.outputs), std::string(op) + ": other outputs than the textbook's");
}

template <operand_counts Counts>
bool run_scan(call const& chosen, expected_outcome const& outcome, expected_results const& expected)
{
    auto body = [&, t = std::size_t{0}](auto const&... values) mutable {
        tensors const all{read(values)...};
        auto const elements = all.begin() + Counts.states;
        auto const [states, outputs] =
            take_step(chosen.plan, t++, {all.begin(), elements}, {elements, all.end()});
        return xloom::scan_step{write_all<Counts.states>(states), write_all<Counts.outputs>(outputs)};
    };
    auto const init = write_all<Counts.states>(chosen.states);
    auto const inputs = write_all<Counts.inputs>(chosen.inputs);
    tensors states, outputs;
    bool const has_run = runs(outcome, [&] {
        auto const result = xloom::scan(body, init, inputs, chosen.options);
        states = read_all(result.final_state);
        outputs = read_all(result.scan_outputs);
    });
    if (has_run)
        require_same("scan", expected, states, outputs);
    return has_run;
}

/// In place: the output's shape is the caller's, and may be another. `throws`: the body does, if it is
/// called.
void scan_one_into(decoder& bytes, call const& chosen, std::size_t length, expected_outcome outcome,
    bool throws, expected_results const& expected)
{
    auto const& element = chosen.plan.outputs[0];
    auto const axis = axis_of(chosen.options.scan_output_axes, 0, element.size() + 1);
    textbook::dims shape = element;
    if (axis)
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*axis), length);
    bool const is_other = bytes.rarely();
    if (is_other)
        shape = bytes.dims(3, 3);
    auto const real_axis = axis_of(chosen.options.scan_output_axes, 0, shape.size());
    outcome.shape = outcome.shape || !real_axis || shape[*real_axis] != length;
    if (outcome.is_legal() && is_other)
        return; // the body would have to know
    outcome.throws = outcome.is_legal() && throws;
    auto h =
        place<double>(textbook::array<double>{chosen.states[0].shape, chosen.states[0].items}, bytes.where());
    auto const x =
        place<double>(textbook::array<double>{chosen.inputs[0].shape, chosen.inputs[0].items}, bytes.where());
    placed_tensor<double> y(shape, bytes.where());
    auto const before = std::pair(h.memory, y.memory);
    auto body = [&, t = std::size_t{0}](placed_tensor<double>& state, auto const& x_t, auto& y_t) mutable {
        auto const items = to_array(state);
        tensor now(items.shape);
        now.items = items.items;
        auto const [states, outputs] = take_step(chosen.plan, t++, {now}, {read(x_t)});
        for (std::size_t i = 0; i < now.items.size(); ++i)
            state.memory[state.place_of(i)] = states.at(0).items[i];
        std::copy(outputs.at(0).items.begin(), outputs.at(0).items.end(), y_t.data());
    };
    bool const has_run = runs(outcome, [&] { xloom::scan_into(body, h, x, y, chosen.options); });
    if (has_run) {
        textbook::array<double> const state = to_array(h), output = to_array(y);
        require(are_same(state.items, expected.states[0].items),
            "scan_into: another final state than the textbook's");
        require(length == 0 || are_same(output.items, expected.outputs[0].items),
            "scan_into: another output than the textbook's");
        require(has_clean_gaps(h) && has_clean_gaps(y), "scan_into: written beside its operands");
    } else if (!outcome.throws) {
        require(are_same(h.memory, before.first) && are_same(y.memory, before.second),
            "scan_into: written, then the call refused");
    }
}

} // namespace

bool try_scan(decoder bytes)
{
    call const chosen = choose(bytes);
    std::size_t length = 0;
    expected_outcome const first_outcome = outcome_of(chosen, length);
    expected_outcome outcome = first_outcome;
    expected_results expected;
    if (outcome.is_legal())
        try {
            expected = reference(chosen, length, outcome);
        } catch (own_exception const&) {
            outcome.throws = true;
        }

    bool has_run = false;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((has_run = has_run || (I == chosen.counts && run_scan<all_counts[I]>(chosen, outcome, expected))),
            ...);
    }(std::make_index_sequence<all_counts.size()>());
    bool const is_well_behaved =
        chosen.plan.wrong == misdeed::none || chosen.plan.wrong == misdeed::throw_own;
    if (chosen.counts == 0 && is_well_behaved)
        scan_one_into(bytes, chosen, length, first_outcome, outcome.throws, expected);
    return has_run;
}

} // namespace fuzz
