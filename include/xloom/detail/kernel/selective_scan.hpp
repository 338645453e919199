#pragma once
// The selective scan of one sequence, for a batch of channels at a time: SIMD lanes are channels, states
// follow one another, and both the states and the rows of A stay in the L1 cache for all time steps.

#include <cstddef>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/item_rows.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The inputs of a selective scan of one sequence, all but its initial state. u, delta, z, B and C have a row
/// for each step: of channels, and of states. A has a row for each channel; D and delta_bias are a row each.
template <class Item>
struct selective_inputs {
    std::size_t steps = 0, states = 0;
    bool delta_softplus = false;
    item_rows<Item const> u, delta, A, B, C, D, z, delta_bias;
};

/// The states of a batch of channels.
template <class Item>
class selective_channels {
public:
    using T = xloom::detail::compute_t<Item>;
    using V = batch_t<T>;

    static constexpr std::size_t width = batch_size<T>;

    /// The inputs of a step: `size` is delta, as the recurrence has it, `taken` its product with u.
    struct step_inputs {
        V u, raw_size, size, taken;
    };

    selective_channels(
        selective_inputs<Item> const& inputs, std::size_t first, std::size_t count, arena<T>& memory)
        : in(inputs),
          first_(first),
          count_(count),
          A_(memory.take(inputs.states, width)),
          h_(memory.take(inputs.states, width))
    {
        if (memory.only_counts())
            return;
        D_ = row_of(in.D);
        delta_bias_ = row_of(in.delta_bias);
        item_rows<Item const> const transposed = in.A.transposed();
        for (std::size_t s = 0; s < in.states; ++s)
            store_batch(A_ + s * width, load(transposed, s));
    }

    V const& D() const { return D_; }
    V A(std::size_t s) const { return load_batch(A_ + s * width); }
    T B(std::size_t t, std::size_t s) const { return static_cast<T>(*in.B.at(t, s)); }
    T C(std::size_t t, std::size_t s) const { return static_cast<T>(*in.C.at(t, s)); }
    T* states() const { return h_; }

    V load(item_rows<Item const> const& rows, std::size_t t) const
    {
        return load_channels<T>(rows, t, first_, count_);
    }
    void store(V const& values, item_rows<Item> const& rows, std::size_t t) const
    {
        store_channels<T>(values, rows, t, first_, count_);
    }

    /// Loads a state, whose rows are channels; zeros if it is omitted.
    void load_states(item_rows<Item const> const& from, T* to) const
    {
        item_rows<Item const> const transposed = from.transposed();
        for (std::size_t s = 0; s < in.states; ++s)
            store_batch(to + s * width, from.first == nullptr ? V(T(0)) : load(transposed, s));
    }
    /// Stores a state, unless it is omitted.
    void store_states(T const* from, item_rows<Item> const& to) const
    {
        if (to.first == nullptr)
            return;
        item_rows<Item> const transposed = to.transposed();
        for (std::size_t s = 0; s < in.states; ++s)
            store(load_batch(from + s * width), transposed, s);
    }

    step_inputs inputs(std::size_t t) const
    {
        V const u = load(in.u, t), raw = load(in.delta, t) + delta_bias_;
        V const size = in.delta_softplus ? softplus{}(raw) : raw;
        return {u, raw, size, size * u};
    }

    /// Computes the states after a step. visit(s, before, decay, after) receives each.
    template <class Visit>
    XLOOM_ALWAYS_INLINE void advance(std::size_t t, step_inputs const& of, Visit const& visit) const
    {
        for (std::size_t s = 0; s < in.states; ++s) {
            V const before = load_batch(h_ + s * width), decay = kernel::exp_of(of.size * A(s));
            V const after = multiply_add(decay, before, of.taken * V(B(t, s)));
            store_batch(h_ + s * width, after);
            visit(s, before, decay, after);
        }
    }

    /// Receives what advance() and output() visit, and ignores it.
    static constexpr auto nothing = [](std::size_t, V const&, V const&, V const&) {};

    /// Computes the states after a step, and returns its y before the gate. visit as in advance().
    template <class Visit>
    XLOOM_ALWAYS_INLINE V output(std::size_t t, step_inputs const& of, Visit const& visit) const
    {
        V y = D_ * of.u;
        advance(t, of, [&](std::size_t s, V const& before, V const& decay, V const& after) {
            visit(s, before, decay, after);
            y = multiply_add(after, V(C(t, s)), y);
        });
        return y;
    }

    selective_inputs<Item> const& in;

private:
    V row_of(item_rows<Item const> const& row) const { return row.first == nullptr ? V(T(0)) : load(row, 0); }

    std::size_t first_, count_;
    T *A_, *h_;
    V D_{}, delta_bias_{};
};

/// The outputs of a selective scan of one sequence.
template <class Item>
struct selective_outputs {
    item_rows<Item const> initial_state;
    item_rows<Item> y, final_state;
};

/// Runs all steps of a batch of channels.
template <class Item>
XLOOM_FLATTEN void selective_scan(
    selective_channels<Item> const& channels, selective_outputs<Item> const& out)
{
    using V = typename selective_channels<Item>::V;
    auto const& in = channels.in;
    channels.load_states(out.initial_state, channels.states());
    for (std::size_t t = 0; t < in.steps; ++t) {
        V y = channels.output(t, channels.inputs(t), channels.nothing);
        if (in.z.first != nullptr) {
            V const z = channels.load(in.z, t);
            y = y * (z * sigmoid{}(z));
        }
        if (out.y.first != nullptr)
            channels.store(y, out.y, t);
    }
    channels.store_states(channels.states(), out.final_state);
}

} // namespace xloom::inline XLOOM_ABI::kernel
