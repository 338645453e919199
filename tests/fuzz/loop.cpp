// Loop: trip count, condition and stop token, each there or not, carried values of changing shape, outputs;
// loop, and loop_into with one of each.

#include <array>

#include <xloom/control_flow/loop.hpp>

#include "bodies.hpp"
#include "operators.hpp"

namespace fuzz {

namespace {

/// A loop that the rule lets run for ever is ended by an exception.
constexpr std::size_t patience = 8;

constexpr std::array<operand_counts, 4> all_counts{{{1, 0, 1}, {2, 0, 2}, {1, 0, 0}, {0, 0, 1}}};

struct call {
    std::size_t counts; ///< an index into all_counts
    tensors states;
    std::vector<textbook::dims>
        later_shapes; ///< of the first state, one for each iteration from the first on, until they end
    step_plan plan;
    std::optional<std::int64_t> max_trip_count;
    std::optional<bool> cond;
    std::size_t next = 0; ///< the number of iterations in which the body's condition is true
    bool has_stop = false;
    std::optional<std::size_t>
        stops_at; ///< the iteration in which the body requests an end; `patience`: before the first
};

call choose(decoder& bytes)
{
    call chosen;
    chosen.counts = bytes.below(all_counts.size());
    for (std::size_t i = 0; i < all_counts[chosen.counts].states; ++i)
        chosen.states.push_back(tensor::counting(bytes.dims(3, 3)));
    chosen.later_shapes.resize(bytes.flag() ? 0 : bytes.below(4));
    for (textbook::dims& shape : chosen.later_shapes)
        shape = bytes.dims(3, 3);
    chosen.plan = choose_plan(bytes, all_counts[chosen.counts].outputs);
    if (bytes.below(3) != 0)
        chosen.max_trip_count = bytes.rarely() ? bytes.pick({std::numeric_limits<std::int64_t>::min(),
                                                     std::numeric_limits<std::int64_t>::max()})
                                               : bytes.between(-2, 6);
    chosen.cond = bytes.pick<std::optional<bool>>({true, false, std::nullopt, std::nullopt});
    chosen.next = bytes.below(patience + 2);
    chosen.has_stop = bytes.below(4) == 0;
    if (bytes.flag())
        chosen.stops_at = bytes.below(patience + 1);
    return chosen;
}

struct loop_step_result {
    step_result values;
    bool cond;
};

/// One iteration, as the bodies under test and the reference take it.
loop_step_result take_loop_step(
    call const& chosen, std::size_t t, tensors const& states, xloom::stop_source& stop)
{
    if (t == patience)
        throw own_exception();
    if (chosen.stops_at == t)
        stop.request_stop();
    step_result values = take_step(chosen.plan, t, states, {});
    if (t < chosen.later_shapes.size() && !values.states.empty()) {
        double const first = values.states[0].items.empty() ? 0 : values.states[0].items[0];
        values.states[0] = tensor(chosen.later_shapes[t], first);
    }
    return {values, t + 1 < chosen.next};
}

struct expected_results {
    tensors states;
    std::vector<tensors> elements; ///< of each output
    bool cond = true, stopped = false;
    std::size_t trips = 0;
};

/// Adds to the rule what is found while it runs. With `room` the outputs end after this number of iterations.
expected_results reference(call const& chosen, expected_outcome& outcome, std::size_t room)
{
    expected_results results{
        chosen.states, std::vector<tensors>(chosen.plan.outputs.size()), chosen.cond.value_or(true)};
    xloom::stop_source stop;
    if (chosen.stops_at == patience)
        stop.request_stop();
    while (results.cond &&
           (!chosen.max_trip_count || static_cast<std::int64_t>(results.trips) < *chosen.max_trip_count)) {
        results.stopped = chosen.has_stop && stop.stop_requested();
        if (results.stopped)
            break;
        if (results.trips == room) {
            outcome.shape = true;
            break;
        }
        loop_step_result const step = take_loop_step(chosen, results.trips, results.states, stop);
        outcome.body = step.values.states.size() != results.states.size() ||
                       !keeps_outputs(chosen.plan, step.values.outputs);
        if (!outcome.is_legal())
            break;
        results.states = step.values.states;
        for (std::size_t k = 0; k < step.values.outputs.size(); ++k)
            results.elements[k].push_back(step.values.outputs[k]);
        ++results.trips;
        results.cond = step.cond || !chosen.cond;
    }
    return results;
}

/// The same with an exception of the body's.
expected_results reference_of(call const& chosen, expected_outcome& outcome, std::size_t room = patience + 1)
{
    try {
        if (outcome.is_legal())
            return reference(chosen, outcome, room);
    } catch (own_exception const&) {
        outcome.throws = true;
    }
    return {};
}

/// The options, and where the body requests an end.
struct control {
    xloom::stop_source stop{};
    xloom::loop_options options{};

    explicit control(call const& chosen) : options{chosen.max_trip_count, chosen.cond}
    {
        if (chosen.has_stop)
            options.stop = stop.get_token();
        if (chosen.stops_at == patience)
            stop.request_stop();
    }
};

template <class Status>
void require_same_end(std::string const& op, expected_results const& expected, Status const& found)
{
    require(found.trip_count == static_cast<std::int64_t>(expected.trips),
        op + ": another trip count than the textbook's");
    require(found.cond == expected.cond && found.stopped == expected.stopped,
        op + ": another end than the textbook's");
}

tensor output_of(call const& chosen, expected_results const& expected, std::size_t k)
{
    return expected.trips == 0 ? tensor({0})
                               : stacked(expected.elements[k], chosen.plan.outputs[k], 0, false);
}

template <operand_counts Counts>
bool run_loop(call const& chosen, expected_outcome const& outcome, expected_results const& expected)
{
    control with(chosen);
    auto const body = [&](std::int64_t t, bool, auto const&... states) {
        auto const [values, cond] =
            take_loop_step(chosen, static_cast<std::size_t>(t), {read(states)...}, with.stop);
        return xloom::loop_step{
            cond, write_all<Counts.states>(values.states), write_all<Counts.outputs>(values.outputs)};
    };
    return runs(outcome, [&] {
        auto const result = xloom::loop(body, write_all<Counts.states>(chosen.states), with.options);
        require_same_end("loop", expected, result);
        require(are_same(read_all(result.final_state), expected.states),
            "loop: other carried values than the textbook's");
        tensors const outputs = read_all(result.scan_outputs);
        for (std::size_t k = 0; k < outputs.size(); ++k)
            require(are_same(outputs[k], output_of(chosen, expected, k)),
                "loop: another output than the textbook's");
    });
}

void loop_one_into(decoder& bytes, call const& chosen, expected_outcome outcome)
{
    std::size_t const room = bytes.below(patience + 1);
    textbook::dims shape = chosen.plan.outputs[0];
    shape.insert(shape.begin(), room);
    if (bytes.rarely())
        shape.clear();
    bool const is_certain = chosen.max_trip_count && !chosen.cond && !chosen.has_stop;
    outcome.shape = shape.empty() || (is_certain && *chosen.max_trip_count > static_cast<std::int64_t>(room));
    bool const is_refused_at_once = !outcome.is_legal();
    expected_results const expected = reference_of(chosen, outcome, room);

    control with(chosen);
    doubles state = to_tensor<doubles>(chosen.states[0]);
    placed_tensor<double> y(shape, bytes.where());
    auto const before = y.memory;
    auto const body = [&](std::int64_t t, doubles& v, auto& y_t) {
        auto const [values, cond] = take_loop_step(chosen, static_cast<std::size_t>(t), {read(v)}, with.stop);
        v = to_tensor<doubles>(values.states.at(0));
        std::copy(values.outputs.at(0).items.begin(), values.outputs.at(0).items.end(), y_t.data());
        return cond;
    };
    xloom::loop_status status{};
    if (runs(outcome, [&] { status = xloom::loop_into(body, state, y, with.options); })) {
        require_same_end("loop_into", expected, status);
        require(are_same(read(state), expected.states[0]),
            "loop_into: another carried value than the textbook's");
        textbook::array<double> const found = to_array(y);
        std::vector<double> items = output_of(chosen, expected, 0).items;
        items.resize(found.items.size(), gap<double>());
        require(are_same(found.items, items),
            "loop_into: another output than the textbook's, or written beyond the last iteration");
        require(has_clean_gaps(y), "loop_into: written beside the output");
    } else if (is_refused_at_once) {
        require(are_same(y.memory, before) && are_same(read(state), chosen.states[0]),
            "loop_into: written, then the call refused");
    }
}

} // namespace

bool try_loop(decoder bytes)
{
    call const chosen = choose(bytes);
    expected_outcome first_outcome;
    first_outcome.option = !chosen.max_trip_count && !chosen.cond && !chosen.has_stop;
    expected_outcome outcome = first_outcome;
    expected_results const expected = reference_of(chosen, outcome);
    // Room for all iterations that are certain is made at once: not for these.
    bool const is_huge = chosen.max_trip_count.value_or(0) > 100 && !chosen.cond && !chosen.has_stop;
    bool has_run = false;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((has_run = has_run ||
                    (I == chosen.counts && !is_huge && run_loop<all_counts[I]>(chosen, outcome, expected))),
            ...);
    }(std::make_index_sequence<all_counts.size()>());
    bool const is_well_behaved =
        chosen.plan.wrong == misdeed::none || chosen.plan.wrong == misdeed::throw_own;
    if (chosen.counts == 0 && is_well_behaved)
        loop_one_into(bytes, chosen, first_outcome);
    return has_run;
}

} // namespace fuzz
