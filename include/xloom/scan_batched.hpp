#pragma once
// Scan-8: a batch of scans, each row with its own states and its own length.

#include <utility>

#include <xloom/check/scan_batched.hpp>
#include <xloom/run/scan/batch_rows.hpp>
#include <xloom/run/scan/scan_body.hpp>

namespace xloom {

namespace detail {

template <class Outputs>
struct as_tuple {
    using type = std::tuple<Outputs>;
};
template <class... Ys>
struct as_tuple<std::tuple<Ys...>> {
    using type = std::tuple<Ys...>;
};

/// True for a state of a batch: a tensor that is not statically known to lack the batch axis.
template <class X>
using has_batch_axis = std::bool_constant<is_scan_output<X>::value>;
/// True for a scan input of a batch: a tensor that is not statically known to lack batch and time axes, or a
/// lazy expression.
template <class X>
struct has_batch_and_time_axes : std::bool_constant<lazy<X>> {};
template <tensor X>
struct has_batch_and_time_axes<X>
    : std::bool_constant<enable_tensor<bare<X>>::rank != 0 && enable_tensor<bare<X>>::rank != 1> {};

/// True for the type of sequence_lens: a tensor of integers of rank 1, or std::nullopt.
template <class X>
inline constexpr bool is_sequence_lens = std::is_same_v<X, std::nullopt_t>;
template <tensor X>
inline constexpr bool is_sequence_lens<X> =
    std::is_integral_v<item_t<X>> && (enable_tensor<X>::rank == 1 || enable_tensor<X>::rank == dynamic_rank);

enum class scan_batched_fault { none, pack, state, foreign, input, lens, arity, loose, result };

template <class Body, class State, class Inputs, class Lens>
consteval scan_batched_fault find_scan_batched_fault()
{
    if constexpr (!is_flat<State> || !is_flat<Inputs>)
        return scan_batched_fault::pack;
    else if constexpr (!every_leaf<has_batch_axis, leaves_t<State>>)
        return scan_batched_fault::state;
    else if constexpr (!every_leaf<is_no_foreign_memory, Inputs>)
        return scan_batched_fault::foreign;
    else if constexpr (!every_leaf<has_batch_and_time_axes, Inputs>)
        return scan_batched_fault::input;
    else if constexpr (!is_sequence_lens<Lens>)
        return scan_batched_fault::lens;
    else {
        using rows = typename row_tuple<leaves_t<State>>::type;
        using call =
            call_of<Body, joined_t<leaves_t<rows const>, typename batch_cursors<Inputs>::input_arguments>>;
        if constexpr (!call::is_valid)
            return scan_batched_fault::arity;
        else if constexpr (std::is_same_v<bare<typename call::result>, scan_step<loose_values>>)
            return scan_batched_fault::loose;
        else
            return is_scan_step<bare<typename call::result>> ? scan_batched_fault::none
                                                             : scan_batched_fault::result;
    }
}

/// Checks sequence_lens and returns it as a vector; T for every row if it is omitted.
template <class Lens>
auto sequence_lengths(std::string_view op, Lens const& sequence_lens, batch_extent extent)
{
    if constexpr (std::is_same_v<Lens, std::nullopt_t>) {
        return std::vector<std::size_t>(extent.batch, extent.length);
    } else {
        check_rank(op, "sequence_lens", detail::rank_of(sequence_lens));
        strided_layout const layout = detail::layout_of(sequence_lens);
        using number = std::conditional_t<std::is_unsigned_v<item_t<Lens>>, std::uint64_t, std::int64_t>;
        std::vector<number> lengths(layout.dims.size() == 1 ? layout.dims[0] : 0);
        for (std::size_t b = 0; b < lengths.size(); ++b)
            lengths[b] = static_cast<number>(
                enable_tensor<Lens>::data(sequence_lens)[static_cast<std::ptrdiff_t>(b) * layout.strides[0]]);
        detail::check_sequence_lens(op, layout.dims, std::span<number const>(lengths), extent);
        return lengths;
    }
}

template <class Step, class Body, class State, class Inputs, class Lens>
auto run_scan_batched(Body& body, State state, Inputs const& inputs, Lens const& sequence_lens,
    scan_batched_options const& options)
{
    static constexpr std::string_view op = "xloom::scan_batched";
    auto const states = detail::leaves(state);
    detail::check_ranks(op, "init", states);
    detail::check_ranks(op, "scan_inputs", inputs);
    batch_extent const extent =
        check_scan_batched(op, detail::shapes_of(states), detail::shapes_of(inputs), options);
    auto const lengths = detail::sequence_lengths(op, sequence_lens, extent);

    typename row_tuple<leaves_t<State>>::type row{};
    using stack = batch_outputs<typename as_tuple<decltype(Step::scan_outputs)>::type>;
    stack outputs(op, extent);
    step_memory_pool recycled;
    for (std::size_t b = 0; b < extent.batch; ++b) {
        auto const length = static_cast<std::size_t>(lengths[b]);
        detail::for_each_leaf(
            states, [&](auto i, auto const& each) { detail::load_row(each, b, std::get<i>(row)); });
        auto elements = batch_cursors<Inputs>::start(inputs, b, length, options.input_directions);
        outputs.start_row(b);
        auto const push = [&](auto const& values, std::size_t t) { outputs.push(values, t); };
        detail::iterate<Step>(op, body, detail::leaves(row), elements, length, push, b);
        detail::for_each_leaf(
            states, [&](auto i, auto& each) { detail::store_row(each, b, std::get<i>(row)); });
    }

    auto stacked = std::move(outputs).finish();
    if constexpr (is_tuple<decltype(Step::scan_outputs)>)
        return scan_result<State, typename stack::type>{std::move(state), std::move(stacked)};
    else
        return scan_result<State, std::tuple_element_t<0, typename stack::type>>{
            std::move(state), std::move(std::get<0>(stacked))};
}

} // namespace detail

/// Runs an independent scan over each row of a batch; the rows may have different lengths.
///
///     for b in range(N):
///         states = init[b]
///         for t in range(sequence_lens[b]):
///             states, y[b, t] = body(states, x[b, t])
///         final_state[b] = states
///
/// As scan, but axis 0 of every operand is the batch and axis 1 of inputs and outputs is time; the body's
/// elements have neither.
///
/// Shapes    init [N, ...], scan inputs [N, T, ...], sequence_lens [N], each in [0, T]; std::nullopt: T for
///           every row. Outputs [N, T, ...], zeros (value-initialised items) from sequence_lens[b] on.
/// Options   input_directions: a reverse input starts at element sequence_lens[b] - 1 of its row; outputs
///           start at 0.
/// Errors    before the first iteration: shape_error, option_error; index_error: a sequence length outside
///           [0, T]. body_error as in scan.
/// Order     rows in order, each from its first to its last iteration.
/// Differs   from ONNX Runtime: a sequence length of 0 is valid. ONNX leaves the tail undefined; it is zero
///           here, as in ONNX Runtime.
/// Source    ONNX Scan-8; infer_scan has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<int, 1> const zero = {0, 0}, lens = {3, 1};
/// auto const add = [](int sum, int x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
/// auto const [total, running] = xloom::scan_batched(add, zero, x, lens);
/// total; // = [6, 4]
/// running; // = [[1, 3, 6], [4, 0, 0]]
/// ```
template <class Body, class Init, class Inputs, class Lens = std::nullopt_t>
auto scan_batched(Body&& body, Init&& init, Inputs const& scan_inputs,
    Lens const& sequence_lens = std::nullopt, scan_batched_options const& options = {})
{
    using namespace detail;
    using state = owned_t<Init>;
    using inputs = decltype(detail::evaluated_inputs(scan_inputs));
    constexpr scan_batched_fault fault = find_scan_batched_fault<Body, state, inputs, Lens>();
    static_assert(fault != scan_batched_fault::pack,
        "xloom::scan_batched: a pack is one value or a flat std::tuple of "
        "values, but a std::tuple stands inside a std::tuple");
    static_assert(fault != scan_batched_fault::state,
        "xloom::scan_batched: a state is a tensor whose axis 0 is the batch");
    static_assert(fault != scan_batched_fault::foreign,
        "xloom::scan_batched: a scan input must be a tensor of xtensor; wrap a std::vector or an Eigen "
        "matrix by xt::adapt, or specialise "
        "xloom::enable_tensor for its type");
    static_assert(fault != scan_batched_fault::input,
        "xloom::scan_batched: a scan input is a tensor whose axes 0 and 1 are batch and sequence");
    static_assert(fault != scan_batched_fault::lens,
        "xloom::scan_batched: sequence_lens is a tensor of integers of rank 1, or std::nullopt");
    static_assert(fault != scan_batched_fault::arity,
        "xloom::scan_batched: the body must be callable as body(state const&..., element const&...)");
    static_assert(fault != scan_batched_fault::loose,
        "xloom::scan_batched: a step holds one state and one scan output, each a value or a std::tuple of "
        "values; return "
        "scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}");
    static_assert(fault != scan_batched_fault::result,
        "xloom::scan_batched: the body must return xloom::scan_step{state, scan_outputs}");
    if constexpr (fault == scan_batched_fault::none) {
        using rows = typename row_tuple<leaves_t<state>>::type;
        using step = bare<typename call_of<Body,
            joined_t<leaves_t<rows const>, typename batch_cursors<inputs>::input_arguments>>::result>;
        constexpr step_fault wrong = find_step_fault<rows, step>();
        static_assert(wrong != step_fault::reference,
            "xloom::scan_batched: the body returned references, which could outlive the body's "
            "variables; return xloom::scan_step{...} without "
            "template arguments");
        using carried = typename carried_at_fault<rows, step, wrong>::type;
        static_assert(wrong != step_fault::lazy,
            "xloom::scan_batched: the body returned a lazy xtensor expression or a view, which would "
            "refer to the body's dead local variables; return "
            "xloom::scan_step{...} without template arguments, or a container");
        static_assert(
            wrong != step_fault::output, "xloom::scan_batched: a scan output must be a tensor or a scalar");
        static_assert(wrong != step_fault::output_item,
            "xloom::scan_batched: the items of a scan output must be default-constructible, copyable and no "
            "more aligned than xtensor "
            "aligns items; hold others by std::shared_ptr");
        static_assert(wrong != step_fault::count,
            "xloom::scan_batched: the body must return as many states as init has");
        static_assert(carried::fits(step_fault::kind),
            "xloom::scan_batched: a row of a state that is a tensor must be "
            "replaced by a tensor, a scalar one by a scalar");
        static_assert(carried::fits(step_fault::item_type),
            "xloom::scan_batched: a state must keep its element type; convert what the "
            "body returns, or give init that type (0.0, not 0, for "
            "a double)");
        static_assert(
            carried::fits(step_fault::rank), "xloom::scan_batched: a row of a state must keep its rank");
        static_assert(carried::fits(step_fault::fixed_shape),
            "xloom::scan_batched: a row of a state must keep its shape");
        if constexpr (wrong == step_fault::none)
            return run_scan_batched<step>(body, state(static_cast<Init&&>(init)),
                detail::evaluated_inputs(scan_inputs), sequence_lens, options);
        else
            return scan_result<state, std::tuple<>>{};
    } else {
        return scan_result<state, std::tuple<>>{};
    }
}

} // namespace xloom
