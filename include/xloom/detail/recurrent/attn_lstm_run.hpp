#pragma once
// The engine of AttnLSTM, the rows of an LSTM with a memory each, and the checks of its operands.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <xloom/detail/check/attn_lstm.hpp>
#include <xloom/detail/recurrent/attention_score.hpp>
#include <xloom/detail/recurrent/attn_lstm_family.hpp>
#include <xloom/detail/recurrent/forward.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// M [N, S, E] and the length of each row that is read.
template <class Item>
struct memory_operand {
    tensor_ref<Item const> M;
    lengths_ref lengths;
    std::size_t S = 0;

    std::size_t length(std::size_t n) const
    {
        return lengths.is_given() ? static_cast<std::size_t>(lengths[n]) : S;
    }
    kernel::memory_rows<Item> rows(std::size_t n) const
    {
        return {item_at(M, n), length(n), M.stride(1), M.stride(2)};
    }
};

/// The initial and final states of the rows, their memories, and the destinations of their alignments. Score
/// is bahdanau or score_ref.
template <class Item, class Score>
struct attn_lstm_states : recurrent_states<attn_lstm_family, Item> {
    using base = recurrent_states<attn_lstm_family, Item>;
    using T = compute_t<Item>;
    using score_type = decltype(score_for(
        std::declval<Score const&>(), std::declval<kernel::attn_lstm_parameters<T> const&>(), 0));

    Score const& score;
    batch_operands<Item> const& operands;
    memory_operand<Item> memory;
    state_rows<Item const> initial_attention, initial_alignment;
    state_rows<Item> Y_attention, Y_alignment;
    step_rows<Item> alignments;
    std::vector<kernel::attending_row<T, Item>>& attending; ///< one row for each sequence

    template <class Rows>
    struct part_rows : Rows {
        T* scratch;
    };

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& numbers) const
    {
        return make_rows_of<kernel::attn_lstm_rows<T, Item, score_type>>(part, numbers);
    }

    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        base::start(part, rows);
        auto const& p = detail::parameters_of(this->weights, part.d);
        for (std::size_t r = 0; r < part.count && p.attends; ++r) {
            std::size_t const n = part.first[r].row;
            kernel::fill_memory(p, memory.rows(n), rows.scratch, score_type::takes_exponentials,
                attending[part.number + r].memory);
            load_state(initial_attention, part.d, n, p.C, rows.attention(r));
            load_state(initial_alignment, part.d, n, memory.length(n), rows.alignment(r));
        }
    }

    template <class Part, class Rows>
    void finish(Part const& part, Rows const& rows) const
    {
        base::finish(part, rows);
        auto const& p = detail::parameters_of(this->weights, part.d);
        for (std::size_t r = 0; r < part.count; ++r) {
            std::size_t const n = part.first[r].row, length = memory.length(n);
            store_state(rows.attention(r), p.C, Y_attention, part.d, n);
            store_state(rows.alignment(r), length, Y_alignment, part.d, n);
            Y_alignment.zero_fill(part.d, n, length, memory.S);
            alignments.zero_fill(0, part.first[r].length, part.d, n, length, memory.S);
            alignments.zero_fill(part.first[r].length, operands.sizes.T, part.d, n, 0, memory.S);
        }
    }

protected:
    /// Returns a part's rows of a kernel, which is constructed from `arguments` too.
    template <class Rows, class Part, class... Arguments>
    part_rows<Rows> make_rows_of(
        Part const& part, kernel::arena<T>& numbers, Arguments const&... arguments) const
    {
        auto const& p = detail::parameters_of(this->weights, part.d);
        std::size_t longest = 0;
        for (std::size_t r = 0; r < part.count; ++r)
            longest = (std::max)(longest, memory.length(part.first[r].row));
        part_rows<Rows> rows{Rows(p, part.count, longest, score_for(score, p, part.d), numbers, arguments...),
            numbers.take(longest, p.E)};
        for (std::size_t r = 0; r < part.count; ++r)
            attending[part.number + r] = attend_to(p, part.d, part.first[r].row, numbers);
        rows.attend_to(attending.data() + part.number,
            alignments.is_given() || Y_attention.is_given() || Y_alignment.is_given());
        return rows;
    }

private:
    kernel::attending_row<T, Item> attend_to(kernel::attn_lstm_parameters<T> const& p, std::size_t d,
        std::size_t n, kernel::arena<T>& numbers) const
    {
        kernel::attending_row<T, Item> row{n, kernel::take_memory(p, memory.length(n), numbers), {}, 0};
        if (alignments.is_given()) {
            auto const [first, backwards] = operands.first_step(d, n);
            row.alignment = alignments(first, d, n);
            row.alignment_stride = backwards ? -alignments.stride() : alignments.stride();
        }
        return row;
    }
};

} // namespace detail

template <class Item>
class attention_workspace;

namespace detail {

/// Calls use(runner, states) with the runner and the states of a call.
template <class Item, class Score, class Policy, class Use>
void with_attn_lstm_runner(tensor_ref<Item const> const& X,
    recurrent_weights<attn_lstm_family, Item> const& weights, batch_sizes const& sizes,
    attn_lstm_start<Item> const& start, attn_lstm_outputs<Item> const& outputs, Score const& score,
    attention_workspace<Item>& workspace, Policy const& policy, Use const& use)
{
    batch_operands<Item> const operands = operands_of(weights, sizes, X, start, outputs);
    auto& attending = attending_of(workspace);
    attending.resize((std::max)(attending.size(), weights.sizes().D * sizes.N));
    using argument = score_argument<compute_t<Item>, Score>;
    argument const known_score(score);
    attn_lstm_states<Item, argument> const states{{weights, start, outputs}, known_score, operands,
        {start.M, start.memory_seq_lens, sizes.S}, {start.initial_attention, 0}, {start.initial_alignment, 0},
        {outputs.Y_attention, 0}, {outputs.Y_alignment, 0}, {outputs.alignments, 0}, attending};
    auto runner = detail::make_runner<Item>(weights, operands, workspace, policy);
    use(runner, states);
}

} // namespace detail

/// Reusable memory of AttnLSTM: see recurrent_workspace.
template <class Item>
class attention_workspace : public recurrent_workspace<Item> {
public:
    attention_workspace() = default;
    /// Makes room for all calls of these weights with up to T steps, N rows, S steps of memory and the
    /// policy's threads.
    ///
    /// Errors    shape_error: sizes that cannot be counted in bytes.
    template <execution_policy Policy = serial_policy>
    explicit attention_workspace(detail::recurrent_weights<detail::attn_lstm_family, Item> const& weights,
        batch_sizes const& sizes, Policy const& policy = {})
        : attention_workspace(bahdanau(), weights, sizes, policy)
    {}
    /// As above, of calls with this score.
    template <class Score, execution_policy Policy = serial_policy>
        requires attention_score<Score, detail::compute_t<Item>>
    explicit attention_workspace(Score const& score,
        detail::recurrent_weights<detail::attn_lstm_family, Item> const& weights, batch_sizes const& sizes,
        Policy const& policy = {})
    {
        static constexpr std::string_view op = "xloom::attention_workspace";
        detail::check_batch_sizes(op, weights.sizes(), sizes);
        detail::check_memory_sizes(op, weights.sizes(), sizes.N, sizes.S);
        detail::with_attn_lstm_runner<Item>({}, weights, sizes, {}, {}, score, *this, policy,
            [](auto& runner, auto const& states) { runner.reserve_all(states); });
    }

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return recurrent_workspace<Item>::bytes() +
               attending_.capacity() * sizeof(kernel::attending_row<detail::compute_t<Item>, Item>);
    }

private:
    friend auto& attending_of(attention_workspace& workspace) noexcept { return workspace.attending_; }

    std::vector<kernel::attending_row<detail::compute_t<Item>, Item>> attending_{};
};

namespace detail {

/// Returns the operands of a call that are read, with their names.
template <class Item, class Start>
auto named_attn_lstm_inputs(tensor_ref<Item const> const& X, Start const& start)
{
    return std::array{named("X", X), named("sequence_lens", start.sequence_lens),
        named("initial_h", start.initial_h), named("initial_c", start.initial_c), named("M", start.M),
        named("memory_seq_lens", start.memory_seq_lens), named("initial_attention", start.initial_attention),
        named("initial_alignment", start.initial_alignment)};
}

/// Checks the inputs of a call, and returns its sizes.
template <class Item>
batch_sizes check_attn_lstm_call(std::string_view op, tensor_ref<Item const> const& X,
    recurrent_weights<attn_lstm_family, Item> const& weights, attn_lstm_start<Item> const& start)
{
    batch_sizes batch = check_call(op, X, weights, start, named_attn_lstm_inputs(X, start)).batch;
    batch.S =
        check_memory(op, weights.sizes(), batch.N, shape_if_given(start.M), start.memory_seq_lens.is_given(),
            shape_if_given(start.initial_attention), shape_if_given(start.initial_alignment));
    check_lengths(op, "memory_seq_lens", start.memory_seq_lens, batch.N, "S", batch.S);
    return batch;
}

template <class Item, class Weights, class Start, class Outputs>
void check_attn_lstm_outputs(std::string_view op, Weights const& weights, batch_sizes const& sizes,
    tensor_ref<Item const> const& X, Start const& start, Outputs const& outputs)
{
    auto const& [T, N, S] = sizes;
    std::size_t const D = weights.sizes().D, H = weights.sizes().H, C = weights.sizes().C;
    check_outputs<Item>(
        op,
        [&] {
            return concat("T = ", sizes.T, ", N = ", sizes.N, ", D = ", weights.sizes().D,
                ", H = ", weights.sizes().H, ", S = ", sizes.S, " and C = ", weights.sizes().C);
        },
        std::array{
            output_requirement<Item>{"Y", "[T, D, N, H]", {T, D, N, H}, outputs.Y},
            output_requirement<Item>{"Y_h", "[D, N, H]", {D, N, H}, outputs.Y_h, "initial_h"},
            output_requirement<Item>{"Y_c", "[D, N, H]", {D, N, H}, outputs.Y_c, "initial_c"},
            output_requirement<Item>{"alignments", "[T, D, N, S]", {T, D, N, S}, outputs.alignments},
            output_requirement<Item>{
                "Y_attention", "[D, N, C]", {D, N, C}, outputs.Y_attention, "initial_attention"},
            output_requirement<Item>{
                "Y_alignment", "[D, N, S]", {D, N, S}, outputs.Y_alignment, "initial_alignment"},
        },
        named_attn_lstm_inputs(X, start));
}

/// Runs AttnLSTM, with the policy and the workspace of an environment.
template <class Item, class Score, class... Env>
void run_attn_lstm_call(tensor_ref<Item const> const& X,
    recurrent_weights<attn_lstm_family, Item> const& weights, batch_sizes const& sizes,
    attn_lstm_start<Item> const& start, attn_lstm_outputs<Item> const& outputs, Score const& score,
    Env&... env)
{
    auto&& workspace = detail::workspace_or_new<attention_workspace<Item>>(env...);
    auto const& policy = detail::policy_of(env...);
    detail::with_attn_lstm_runner(X, weights, sizes, start, outputs, score, workspace, policy,
        [&](auto& runner, auto const& states) { runner(states, policy); });
}

} // namespace detail

} // namespace xloom::inline XLOOM_ABI
