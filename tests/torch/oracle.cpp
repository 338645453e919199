// The calls of libtorch. Its headers of single operators take half the time of torch/torch.h to compile.

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_pack_padded_sequence.h>
#include <ATen/ops/_pad_packed_sequence.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "oracle.hpp"

namespace torch_oracle {
namespace {

using at::Tensor;

std::vector<std::int64_t> sizes_of(textbook::dims const& shape) { return {shape.begin(), shape.end()}; }

template <class T>
Tensor constant(textbook::array<T> const& from)
{
    Tensor to = at::empty(sizes_of(from.shape), std::is_same_v<T, double> ? at::kDouble : at::kLong);
    std::copy(from.items.begin(), from.items.end(), to.data_ptr<T>());
    return to;
}

/// A tensor that has a gradient; undefined if the operand is omitted.
Tensor variable(numbers const& from)
{
    return from.shape.empty() ? Tensor() : constant(from).requires_grad_();
}

numbers array_of(Tensor const& from)
{
    if (!from.defined())
        return {};
    Tensor const rows = from.detach().contiguous();
    auto const* const items = rows.data_ptr<double>();
    return {{rows.sizes().begin(), rows.sizes().end()}, {items, items + rows.numel()}};
}

/// The gradient of a variable, zeros if no result depends on it.
numbers gradient_of(Tensor const& variable)
{
    if (!variable.defined())
        return {};
    return array_of(
        variable.grad().defined() ? variable.grad() : at::zeros(variable.sizes(), variable.options()));
}

/// Adds to the gradients of all variables.
void backward(Tensor const& result, numbers const& ct)
{
    if (!ct.shape.empty())
        result.backward(constant(ct), /*retain_graph*/ true);
}

// ---- networks

/// The gates of a network: those of ONNX in torch's order.
std::vector<std::int64_t> gates_of(network kind)
{
    switch (kind) {
    case network::lstm:
        return {0, 2, 3, 1}; // i, f, g, o of i, o, f, c
    case network::gru:
        return {1, 0, 2}; // r, z, n of z, r, h
    default:
        return {0};
    }
}

/// The weights [gates H, ...] of a direction, or one half of its biases, in the order of torch.
Tensor part_of(Tensor const& weights, std::int64_t d, std::vector<std::int64_t> const& gates)
{
    auto const count = static_cast<std::int64_t>(gates.size());
    Tensor const part = weights.select(0, d);
    std::vector<std::int64_t> split = part.sizes().vec();
    split[0] /= count;
    split.insert(split.begin(), count);
    return part.reshape(split).index_select(0, at::tensor(gates)).reshape(part.sizes());
}

} // namespace

network_results run(
    network kind, network_operands const& in, std::string const& direction, network_cotangents const& ct)
{
    auto const gates = gates_of(kind);
    auto const T = static_cast<std::int64_t>(in.X.shape[0]), N = static_cast<std::int64_t>(in.X.shape[1]),
               D = static_cast<std::int64_t>(in.R.shape[0]), K = static_cast<std::int64_t>(in.R.shape[2]);
    Tensor const X = variable(in.X), W = variable(in.W), R = variable(in.R), B = variable(in.B),
                 initial_h = variable(in.initial_h), initial_c = variable(in.initial_c),
                 projection = variable(in.projection);
    bool const has_B = B.defined(), is_ragged = !in.sequence_lens.empty(),
               is_reverse = direction == "reverse";

    std::vector<Tensor> parameters;
    for (std::int64_t d = 0; d < D; ++d) {
        parameters.push_back(part_of(W, d, gates));
        parameters.push_back(part_of(R, d, gates));
        for (Tensor const& half : has_B ? B.chunk(2, 1) : std::vector<Tensor>())
            parameters.push_back(part_of(half, d, gates));
        if (projection.defined())
            parameters.push_back(projection.select(0, d));
    }
    auto const state_or_zeros = [&](Tensor const& state, std::int64_t length) {
        return state.defined() ? state : at::zeros({D, N, length}, at::kDouble);
    };
    Tensor const h = state_or_zeros(initial_h, K),
                 c = state_or_zeros(initial_c, projection.defined() ? projection.size(2) : K);

    Tensor Y, Y_h, Y_c;
    if (is_ragged) {
        Tensor const lengths = at::tensor(in.sequence_lens);
        auto const [items, counts] = at::_pack_padded_sequence(X, lengths, /*batch_first*/ false);
        Tensor packed;
        if (kind == network::lstm)
            std::tie(packed, Y_h, Y_c) =
                at::lstm(items, counts, {h, c}, parameters, has_B, 1, 0.0, true, D == 2);
        else if (kind == network::gru)
            std::tie(packed, Y_h) = at::gru(items, counts, h, parameters, has_B, 1, 0.0, true, D == 2);
        else
            std::tie(packed, Y_h) = at::rnn_tanh(items, counts, h, parameters, has_B, 1, 0.0, true, D == 2);
        Y = std::get<0>(at::_pad_packed_sequence(packed, counts, false, 0.0, T));
    } else {
        Tensor const input = is_reverse ? X.flip(0) : X;
        if (kind == network::lstm)
            std::tie(Y, Y_h, Y_c) = at::lstm(input, {h, c}, parameters, has_B, 1, 0.0, true, D == 2, false);
        else if (kind == network::gru)
            std::tie(Y, Y_h) = at::gru(input, h, parameters, has_B, 1, 0.0, true, D == 2, false);
        else
            std::tie(Y, Y_h) = at::rnn_tanh(input, h, parameters, has_B, 1, 0.0, true, D == 2, false);
        if (is_reverse)
            Y = Y.flip(0);
    }
    Y = Y.reshape({T, N, D, K}).transpose(1, 2);

    backward(Y, ct.Y);
    backward(Y_h, ct.Y_h);
    backward(Y_c, ct.Y_c);
    return {array_of(Y), array_of(Y_h), array_of(Y_c),
        {gradient_of(X), gradient_of(W), gradient_of(R), gradient_of(B), gradient_of(initial_h),
            gradient_of(initial_c), gradient_of(projection), {}}};
}

namespace {

/// Tuples [..., k] as k tensors of indices.
c10::List<c10::optional<Tensor>> columns_of(indices const& tuples)
{
    Tensor const all = constant(tuples);
    c10::List<c10::optional<Tensor>> columns;
    for (std::int64_t j = 0; j < all.size(-1); ++j)
        columns.push_back(all.select(-1, j));
    return columns;
}

/// Rows [n] as an index of the shape of updates [n, ...].
Tensor index_of_rows(indices const& rows, Tensor const& updates)
{
    std::vector<std::int64_t> shape(static_cast<std::size_t>(updates.dim()), 1);
    shape[0] = updates.size(0);
    return constant(rows).reshape(shape).expand_as(updates);
}

template <class Scatter>
scattered with_gradients(
    numbers const& ct, numbers const& data, numbers const& updates, Scatter const& operation)
{
    Tensor const to = variable(data), from = variable(updates);
    Tensor const result = operation(to, from);
    backward(result, ct);
    return {array_of(result), gradient_of(to), gradient_of(from)};
}

template <class Gather>
gathered with_gradient(numbers const& ct, numbers const& data, Gather const& operation)
{
    Tensor const from = variable(data);
    Tensor const result = operation(from);
    backward(result, ct);
    return {array_of(result), gradient_of(from)};
}

} // namespace

scattered index_put(
    numbers const& ct, numbers const& data, indices const& tuples, numbers const& updates, bool accumulate)
{
    return with_gradients(ct, data, updates, [&](Tensor const& to, Tensor const& from) {
        return at::index_put(to, columns_of(tuples), from, accumulate);
    });
}

scattered scatter(numbers const& ct, numbers const& data, indices const& rows, numbers const& updates)
{
    return with_gradients(ct, data, updates, [&](Tensor const& to, Tensor const& from) {
        return at::scatter(to, 0, index_of_rows(rows, from), from);
    });
}

scattered scatter_reduce(numbers const& ct, numbers const& data, indices const& rows, numbers const& updates,
    std::string const& reduce, bool include_self)
{
    return with_gradients(ct, data, updates, [&](Tensor const& to, Tensor const& from) {
        return at::scatter_reduce(to, 0, index_of_rows(rows, from), from, reduce, include_self);
    });
}

gathered index(numbers const& ct, numbers const& data, indices const& tuples)
{
    return with_gradient(ct, data, [&](Tensor const& from) { return at::index(from, columns_of(tuples)); });
}

gathered index_select(numbers const& ct, numbers const& data, indices const& rows)
{
    return with_gradient(
        ct, data, [&](Tensor const& from) { return at::index_select(from, 0, constant(rows)); });
}

gathered gather(numbers const& ct, numbers const& data, indices const& columns)
{
    return with_gradient(
        ct, data, [&](Tensor const& from) { return at::gather(from, 1, constant(columns)); });
}

} // namespace torch_oracle
