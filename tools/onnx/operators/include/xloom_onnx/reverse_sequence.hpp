#pragma once
// ReverseSequence.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct reverse_sequence_options {
    std::int64_t time_axis = 0, batch_axis = 1;
};

/// Reverses the first lengths[n] steps of each entry n of a batch.
///
/// Errors    option_error: axes other than 0 and 1. shape_error: not one length for each entry, or a length
///           beyond the time axis; before anything is written.
template <operand X, operand Lengths, class Y>
void reverse_sequence_into(
    X const& x, Lengths const& lengths, Y&& y, reverse_sequence_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::reverse_sequence";
    const_view_of<X> const from(x);
    const_view_of<Lengths> const counts(lengths);
    xloom::shape const& dims = from.shape();
    std::int64_t const time = options.time_axis, batch = options.batch_axis;
    if (dims.size() < 2 || !((time == 0 && batch == 1) || (time == 1 && batch == 0)))
        xloom::kernels::fail<xloom::option_error>(
            op, ": time_axis ", time, " and batch_axis ", batch, " must be 0 and 1 of ", dims);
    std::size_t const times = dims[time == 0 ? 0 : 1], entries = dims[time == 0 ? 1 : 0];
    if (counts.size() != entries)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": there are ", counts.size(), " lengths for a batch of ", entries);
    for (auto const each : counts)
        if (each < 0 || std::cmp_greater(each, times))
            xloom::kernels::fail<xloom::shape_error>(op, ": the length ", each, " is not in 0 .. ", times);
    auto const to = output_view("xloom_onnx::reverse_sequence_into", y, dims);
    if (to.size() == 0)
        return;
    std::size_t const inner = around(dims, 1).inner;
    for (std::size_t n = 0; n < entries; ++n) {
        auto const length = static_cast<std::size_t>(counts[n]);
        auto const place = [&](std::size_t t) {
            return (time == 0 ? t * entries + n : n * times + t) * inner;
        };
        for (std::size_t t = 0; t < times; ++t)
            std::copy_n(from.data() + place(t < length ? length - 1 - t : t), inner, to.data() + place(t));
    }
}

} // namespace xloom_onnx
