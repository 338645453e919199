#pragma once
// The definitions of the operators, word for word, on a tensor that is nothing but a shape and numbers: what
// the tests compare with.

#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace textbook {

using dims = std::vector<std::size_t>;

struct tensor {
    dims shape;
    std::vector<double> items; // row-major

    explicit tensor(dims shape_ = {}, double value = 0)
        : shape(std::move(shape_)),
          items(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()), value)
    {}

    /// 1, 2, 3, ... in row-major order.
    static tensor counting(dims shape)
    {
        tensor result(std::move(shape));
        std::iota(result.items.begin(), result.items.end(), 1.0);
        return result;
    }

    /// The slice at position t of an axis, without that axis.
    tensor slice(std::size_t axis, std::size_t t) const
    {
        tensor result(without(axis));
        for_each_of_slice(axis, t, [&](std::size_t from, std::size_t to) { result.items[to] = items[from]; });
        return result;
    }

    void put(std::size_t axis, std::size_t t, tensor const& element)
    {
        for_each_of_slice(
            axis, t, [&](std::size_t to, std::size_t from) { items[to] = element.items[from]; });
    }

private:
    dims without(std::size_t axis) const
    {
        dims rest = shape;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
        return rest;
    }

    template <class F>
    void for_each_of_slice(std::size_t axis, std::size_t t, F&& f) const
    {
        std::size_t position = 0;
        for (std::size_t flat = 0; flat < items.size(); ++flat)
            if (index(flat)[axis] == t)
                f(flat, position++);
    }

    dims index(std::size_t flat) const
    {
        dims result(shape.size());
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            result[axis] = flat % shape[axis];
            flat /= shape[axis];
        }
        return result;
    }
};

/// One scan input, one state, one output: h = body(h, x_t); y_t = h.
struct scan_result {
    tensor final_state;
    tensor scan_outputs;
};

inline scan_result scan(std::function<tensor(tensor const&, tensor const&)> const& body, tensor h,
    tensor const& x, std::size_t input_axis, bool input_reverse, std::size_t output_axis, bool output_reverse)
{
    std::size_t const length = x.shape[input_axis];
    dims output_shape = h.shape;
    output_shape.insert(output_shape.begin() + static_cast<std::ptrdiff_t>(output_axis), length);
    tensor y(output_shape);
    for (std::size_t t = 0; t < length; ++t) {
        h = body(h, x.slice(input_axis, input_reverse ? length - 1 - t : t));
        y.put(output_axis, output_reverse ? length - 1 - t : t, h);
    }
    return {h, y};
}

/// A scan of the first lens[b] elements of each row b; the outputs are zeros from there on.
inline scan_result scan_batched(std::function<tensor(tensor const&, tensor const&)> const& body, tensor h,
    tensor const& x, std::vector<std::size_t> const& lens, bool reverse)
{
    dims y_shape = h.shape;
    y_shape.insert(y_shape.begin() + 1, x.shape[1]);
    tensor y(y_shape);
    for (std::size_t b = 0; b < lens.size(); ++b) {
        dims row_shape = x.slice(0, b).shape;
        row_shape[0] = lens[b];
        tensor row(row_shape);
        for (std::size_t t = 0; t < lens[b]; ++t)
            row.put(0, t, x.slice(0, b).slice(0, t));
        scan_result const result = scan(body, h.slice(0, b), row, 0, reverse, 0, false);
        tensor row_y = y.slice(0, b);
        for (std::size_t t = 0; t < lens[b]; ++t)
            row_y.put(0, t, result.scan_outputs.slice(0, t));
        h.put(0, b, result.final_state);
        y.put(0, b, row_y);
    }
    return {h, y};
}

/// h + x, and weights so that the order of the elements matters: h / 2 + x.
inline tensor decaying_sum(tensor const& h, tensor const& x)
{
    tensor result = h;
    for (std::size_t i = 0; i < h.items.size(); ++i)
        result.items[i] = h.items[i] / 2 + x.items[i];
    return result;
}

} // namespace textbook
