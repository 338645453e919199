#pragma once
// The vector-Jacobian product of a selective scan of one sequence, for a batch of channels at a time.
//
// The states before each of about sqrt(T) segments are kept. From the last segment to the first, its states
// and decays are computed again, with the bits of the forward pass, and then its steps go backwards.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/detail/kernel/selective_scan.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The cotangents of one sequence, and the gradients that have a row for each step or for each channel.
template <class Item>
struct selective_cotangents {
    item_rows<Item const> initial_state, ct_y, ct_final_state;
    item_rows<Item> ct_u, ct_delta, ct_z, ct_initial_state;
};

/// The sums of a group of channels: over the channels, ct_B and ct_C [T, states], and over the steps, ct_A
/// [states, channels], ct_D and ct_delta_bias. Channels are padded to whole batches.
template <class T>
struct selective_sums {
    std::size_t steps, states, channels;
    T *ct_B, *ct_C, *ct_A, *ct_D, *ct_delta_bias;

    selective_sums(
        std::size_t step_count, std::size_t state_count, std::size_t channel_count, arena<T>& memory)
        : steps(step_count),
          states(state_count),
          channels(whole_batches<T>(channel_count)),
          ct_B(memory.take(steps, states)),
          ct_C(memory.take(steps, states)),
          ct_A(memory.take(states, channels)),
          ct_D(memory.take(channels)),
          ct_delta_bias(memory.take(channels))
    {}
};

/// The memory in which steps are computed again.
template <class T>
class selective_record {
    static constexpr std::size_t width = batch_size<T>;

public:
    selective_record(std::size_t steps, std::size_t states, arena<T>& memory)
        : segment(xloom::detail::ceil_sqrt(steps)),
          row_(states * width),
          kept_(memory.take(segment == 0 ? 0 : xloom::detail::ceil_div(steps, segment), row_)),
          states_before_(memory.take(segment, row_)),
          decays_(memory.take(segment, row_)),
          y_(memory.take(segment, width)),
          carried_(memory.take(row_)),
          d_A_(memory.take(row_))
    {}

    std::size_t const segment; ///< the number of steps

    T* kept(std::size_t i) const { return kept_ + i * row_; }
    T* before(std::size_t i, std::size_t s) const { return states_before_ + i * row_ + s * width; }
    T* decay(std::size_t i, std::size_t s) const { return decays_ + i * row_ + s * width; }
    T* y(std::size_t i) const { return y_ + i * width; }
    T* carried(std::size_t s = 0) const { return carried_ + s * width; }
    T* ct_A(std::size_t s = 0) const { return d_A_ + s * width; }
    std::size_t row() const { return row_; }

private:
    std::size_t row_;
    T *kept_, *states_before_, *decays_, *y_, *carried_, *d_A_;
};

/// The backward pass of a batch of channels, from the final states to the initial ones.
template <class Item>
class selective_backward {
public:
    using channels_type = selective_channels<Item>;
    using T = typename channels_type::T;
    using V = typename channels_type::V;

    static constexpr std::size_t width = channels_type::width;

    selective_backward(channels_type const& channels, std::size_t count, selective_cotangents<Item> const& of,
        selective_record<T> const& record)
        : channels_(channels), count_(count), of_(of), record_(record)
    {}

    /// Adds to ct_B and ct_C, and sets the other sums from the channel `column` of the group on.
    XLOOM_FLATTEN void operator()(selective_sums<T> const& sums, std::size_t column)
    {
        std::size_t const steps = channels_.in.steps, states = channels_.in.states;
        channels_.load_states(of_.ct_final_state, record_.carried());
        std::fill_n(record_.ct_A(), record_.row(), T(0));
        keep_states();
        for (std::size_t end = steps; end != 0;) {
            std::size_t const begin = (end - 1) / record_.segment * record_.segment;
            compute_again(begin, end);
            for (std::size_t t = end; t-- > begin;)
                step_back(t, t - begin, sums);
            end = begin;
        }
        for (std::size_t s = 0; s < states; ++s)
            add(load_batch(record_.carried(s)), of_.ct_initial_state.transposed(), s);
        for (std::size_t s = 0; s < states; ++s)
            store_batch(sums.ct_A + s * sums.channels + column, load_batch(record_.ct_A(s)));
        store_batch(sums.ct_D + column, d_D_);
        store_batch(sums.ct_delta_bias + column, d_delta_bias_);
    }

private:
    /// Keeps the states before each segment.
    void keep_states() const
    {
        channels_.load_states(of_.initial_state, channels_.states());
        for (std::size_t t = 0; t < channels_.in.steps; ++t) {
            if (t % record_.segment == 0)
                std::copy_n(channels_.states(), record_.row(), record_.kept(t / record_.segment));
            channels_.advance(t, channels_.inputs(t), channels_.nothing);
        }
    }

    /// Computes the states before the steps of a segment, their decays, and y before the gate.
    void compute_again(std::size_t begin, std::size_t end) const
    {
        std::copy_n(record_.kept(begin / record_.segment), record_.row(), channels_.states());
        for (std::size_t t = begin; t < end; ++t) {
            V const y = channels_.output(
                t, channels_.inputs(t), [&](std::size_t s, V const& before, V const& decay, V const&) {
                    store_batch(record_.before(t - begin, s), before);
                    store_batch(record_.decay(t - begin, s), decay);
                });
            store_batch(record_.y(t - begin), y);
        }
    }

    /// Returns the sum over the channels, without the padding.
    T sum_of_channels(V const& values) const
    {
        if (count_ == width)
            return sum_of<T>(values);
        T items[width], sum(0);
        store_batch(items, values);
        for (std::size_t c = 0; c < count_; ++c)
            sum = sum + items[c];
        return sum;
    }

    /// Adds to row t of the channels, unless it is omitted.
    void add(V const& values, item_rows<Item> const& rows, std::size_t t) const
    {
        if (rows.first != nullptr)
            channels_.store(channels_.load(rows, t) + values, rows, t);
    }

    /// Goes back from the states after step t, the i-th of its segment, to those before it.
    void step_back(std::size_t t, std::size_t i, selective_sums<T> const& sums)
    {
        auto const& in = channels_.in;
        auto const of = channels_.inputs(t);
        V ct_y = of_.ct_y.first == nullptr ? V(T(0)) : channels_.load(of_.ct_y, t);
        if (in.z.first != nullptr) {
            V const z = channels_.load(in.z, t);
            auto const [share, slope] = differentiate(sigmoid{}, z);
            add(ct_y * load_batch(record_.y(i)) * multiply_add(z, slope, share), of_.ct_z, t);
            ct_y = ct_y * (z * share);
        }
        d_D_ = multiply_add(ct_y, of.u, d_D_);
        V d_size(T(0)), d_taken(T(0));
        for (std::size_t s = 0; s < in.states; ++s) {
            V const B(channels_.B(t, s)), before = load_batch(record_.before(i, s));
            V const decay = load_batch(record_.decay(i, s));
            V const after = multiply_add(decay, before, of.taken * B);
            V const ct_h = multiply_add(ct_y, V(channels_.C(t, s)), load_batch(record_.carried(s)));
            T &ct_C = sums.ct_C[t * in.states + s], &ct_B = sums.ct_B[t * in.states + s];
            ct_C = ct_C + sum_of_channels(ct_y * after);
            ct_B = ct_B + sum_of_channels(ct_h * of.taken);
            d_taken = multiply_add(ct_h, B, d_taken);
            V const carried = ct_h * decay, ct_rate = carried * before;
            d_size = multiply_add(ct_rate, channels_.A(s), d_size);
            store_batch(record_.ct_A(s), multiply_add(ct_rate, of.size, load_batch(record_.ct_A(s))));
            store_batch(record_.carried(s), carried);
        }
        V ct_delta = multiply_add(d_taken, of.u, d_size);
        if (in.delta_softplus)
            ct_delta = ct_delta * differentiate(softplus{}, of.raw_size).slope;
        d_delta_bias_ = d_delta_bias_ + ct_delta;
        add(ct_delta, of_.ct_delta, t);
        add(multiply_add(d_taken, of.size, channels_.D() * ct_y), of_.ct_u, t);
    }

    channels_type const& channels_;
    std::size_t count_;
    selective_cotangents<Item> const& of_;
    selective_record<T> const& record_;
    V d_D_ = V(T(0)), d_delta_bias_ = V(T(0));
};

} // namespace xloom::inline XLOOM_ABI::kernel
