#pragma once
// The derivatives of ScatterND and GatherND by their definitions, slot by slot in double precision.

#include <cmath>
#include <optional>
#include <utility>

#include "reduced_options.hpp"
#include "textbook_nd.hpp"

namespace textbook {

/// The position in data that item `rest` of the slice of tuple number `tuple` names; none if it is dropped.
inline std::optional<std::size_t> slot_of(array<std::int64_t> const& indices, std::size_t tuple,
    dims const& rest, dims const& data_shape, xloom::bounds rule, std::size_t b = 0)
{
    array<std::int64_t> one{{1, indices.shape.back()}, {}};
    for (std::size_t j = 0; j < one.shape[1]; ++j) {
        std::int64_t index = indices.items[tuple * one.shape[1] + j];
        auto const length = static_cast<std::int64_t>(data_shape[b + j]);
        if (index < -length || index >= length) {
            if (rule == xloom::bounds::drop)
                return std::nullopt;
            index = index < 0 ? 0 : length - 1;
        }
        one.items.push_back(index);
    }
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    dims position = position_of(tuple, front);
    position.resize(b);
    dims const indexed(data_shape.begin() + static_cast<std::ptrdiff_t>(b), data_shape.end());
    dims const after = named_position(one, 0, rest, indexed);
    position.insert(position.end(), after.begin(), after.end());
    return flat_of(position, data_shape);
}

inline bool is_equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The gradients of one slot's values, given in the order of their application; `has_old` if the first one is
/// the old value. There is at least one update.
inline std::vector<double> slot_gradients(
    double ct, std::vector<double> const& values, bool has_old, reduced_vjp_options const& options)
{
    std::vector<double> gradients(values.size(), 0.0);
    double const count = static_cast<double>(values.size());
    switch (options.reduction) {
    case xloom::reduction::none:
        if (options.duplicates == xloom::duplicates::first)
            gradients[has_old ? 1 : 0] = ct;
        else
            gradients.back() = ct;
        return gradients;
    case xloom::reduction::add:
        return std::vector<double>(values.size(), ct);
    case xloom::reduction::mean:
        return std::vector<double>(values.size(), ct / count);
    case xloom::reduction::mul:
        for (std::size_t i = 0; i < values.size(); ++i) {
            gradients[i] = ct;
            for (std::size_t j = 0; j < values.size(); ++j)
                gradients[i] *= j == i ? 1.0 : values[j];
        }
        return gradients;
    default:
        break;
    }
    double result = values[0];
    for (double const value : values)
        if (std::isnan(result) || std::isnan(value))
            result = std::nan("");
        else if (options.reduction == xloom::reduction::max ? value > result : value < result)
            result = value;
    double tied = 0;
    for (double const value : values)
        tied += is_equal(value, result) ? 1 : 0;
    bool is_given = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_equal(values[i], result))
            continue;
        if (options.ties == xloom::ties::even)
            gradients[i] = ct / tied;
        else if (!is_given)
            gradients[i] = ct;
        is_given = true;
    }
    return gradients;
}

struct gradients {
    array<double> ct_data, ct_updates;
};

inline gradients scatter_nd_vjp(array<double> const& ct, array<double> const& data,
    array<std::int64_t> const& indices, array<double> const& updates, reduced_vjp_options const& options)
{
    std::size_t const k = indices.shape.back();
    dims const rest(data.shape.begin() + static_cast<std::ptrdiff_t>(k), data.shape.end());
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    gradients result{ct, {updates.shape, std::vector<double>(updates.items.size(), 0.0)}};
    std::vector<std::vector<std::size_t>> updates_of(data.items.size());
    for (std::size_t tuple = 0; tuple < size_of(front); ++tuple)
        for (std::size_t i = 0; i < size_of(rest); ++i)
            if (auto const slot = slot_of(indices, tuple, position_of(i, rest), data.shape, options.bounds))
                updates_of[*slot].push_back(tuple * size_of(rest) + i);
    bool const has_old = options.include_self || options.reduction == xloom::reduction::none;
    for (std::size_t slot = 0; slot < data.items.size(); ++slot) {
        std::vector<std::size_t> const& numbers = updates_of[slot];
        if (numbers.empty())
            continue;
        std::vector<double> values;
        if (has_old)
            values.push_back(data.items[slot]);
        for (std::size_t const number : numbers)
            values.push_back(updates.items[number]);
        std::vector<double> const found = slot_gradients(ct.items[slot], values, has_old, options);
        result.ct_data.items[slot] = has_old ? found[0] : 0.0;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            result.ct_updates.items[numbers[i]] = found[i + (has_old ? 1 : 0)];
    }
    return result;
}

/// The sum of the cotangents of all copies of each item.
inline array<double> gather_nd_vjp(array<double> const& ct, dims const& data_shape,
    array<std::int64_t> const& indices, std::size_t b, xloom::bounds rule)
{
    std::size_t const k = indices.shape.back();
    dims const rest(data_shape.begin() + static_cast<std::ptrdiff_t>(b + k), data_shape.end());
    dims const front(indices.shape.begin(), indices.shape.end() - 1);
    array<double> result{data_shape, std::vector<double>(size_of(data_shape), 0.0)};
    for (std::size_t tuple = 0; tuple < size_of(front); ++tuple)
        for (std::size_t i = 0; i < size_of(rest); ++i)
            if (auto const slot = slot_of(indices, tuple, position_of(i, rest), data_shape, rule, b))
                result.items[*slot] += ct.items[tuple * size_of(rest) + i];
    return result;
}

} // namespace textbook
