// ScatterND: data, indices, updates, every option; to a copy, into what was moved in, or in place.

#include <set>

#include <xloom/indexing/scatter_nd.hpp>

#include "../support/reduced_options.hpp"
#include "nd_choices.hpp"
#include "operators.hpp"
#include "outcome.hpp"

namespace fuzz {

namespace {

using array = textbook::array<float>;
using xloom::reduction, xloom::bounds, xloom::duplicates;

/// A reduction of the caller's for which the order matters.
constexpr auto half_and = [](float old, float update) { return old / 2 + update; };

struct call {
    array data;
    textbook::array<std::int64_t> indices;
    array updates;
    reduced_options options;
    bool is_callable = false; ///< half_and reduces
};

array choose_items(decoder& bytes, textbook::dims const& shape)
{
    constexpr float special[] = {
        0, -0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.1f};
    bool const has_special = bytes.flag();
    array items{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        items.items.push_back(has_special && bytes.rarely() ? bytes.pick(special)
                                                            : static_cast<float>(bytes.between(-9, 9)) / 2);
    return items;
}

call choose(decoder& bytes)
{
    call chosen;
    chosen.options.reduction = static_cast<reduction>(bytes.rarely() ? bytes.below(256) : bytes.below(6));
    chosen.options.bounds = bytes.pick(every_bounds);
    chosen.options.duplicates = bytes.pick({duplicates::last, duplicates::first, duplicates::error});
    chosen.options.include_self = !bytes.flag();
    chosen.options.accumulate_in_float = bytes.flag();
    chosen.options.unique = bytes.rarely();
    chosen.options.sorted = bytes.rarely();
    chosen.is_callable = bytes.below(4) == 1;
    if (chosen.is_callable)
        chosen.options.reduction = reduction::none;

    textbook::dims const shape = bytes.dims(4, 4);
    textbook::dims tuples = bytes.dims(2, 4);
    std::size_t const k = bytes.below(shape.size() + 1);
    tuples.push_back(k);
    textbook::dims updates = updates_shape(shape, tuples);
    if (bytes.rarely())
        tuples = bytes.damaged(tuples);
    if (bytes.rarely())
        updates = bytes.damaged(updates);
    chosen.indices = choose_indices(bytes, tuples, shape, 0);
    chosen.data = choose_items(bytes, shape);
    chosen.updates = choose_items(bytes, updates);
    return chosen;
}

/// The slices in the order in which they are named, by number; those omitted are not among them.
std::vector<std::size_t> slices_of(call const& chosen)
{
    textbook::dims const& shape = chosen.data.shape;
    std::size_t const k = chosen.indices.shape.back();
    textbook::dims const indexed(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(k));
    textbook::dims const front(chosen.indices.shape.begin(), chosen.indices.shape.end() - 1);
    std::vector<std::size_t> slices;
    for (std::size_t tuple = 0; tuple < textbook::size_of(front); ++tuple)
        if (auto const named = named_by(chosen.indices, tuple, shape, 0, chosen.options.bounds))
            slices.push_back(textbook::flat_of(*named, indexed));
    return slices;
}

expected_outcome outcome_of(call const& chosen)
{
    auto const& [data, indices, updates, options, is_callable] = chosen;
    expected_outcome outcome;
    bool const replaces = !is_callable && options.reduction == reduction::none;
    outcome.option =
        options.reduction > reduction::mean || (options.duplicates == duplicates::first && !replaces);
    outcome.shape = data.shape.empty() || indices.shape.empty() || indices.shape.back() > data.shape.size() ||
                    updates.shape != updates_shape(data.shape, indices.shape);
    if (outcome.shape)
        return outcome;
    outcome.index = has_wrong_index(indices, data.shape, 0, options.bounds);
    if (outcome.index)
        return outcome;
    std::vector<std::size_t> const slices = slices_of(chosen);
    bool const repeats = std::set(slices.begin(), slices.end()).size() != slices.size();
    outcome.index = (repeats && (options.duplicates == duplicates::error || options.unique)) ||
                    (options.sorted && !std::is_sorted(slices.begin(), slices.end()));
    return outcome;
}

float reduced(call const& chosen, float old, float update)
{
    if (chosen.is_callable)
        return half_and(old, update);
    switch (chosen.options.reduction) {
    case reduction::none:
        return update;
    case reduction::mul:
        return old * update;
    case reduction::max:
        return std::isnan(old) || update <= old ? old : update;
    case reduction::min:
        return std::isnan(old) || update >= old ? old : update;
    default:
        return old + update;
    }
}

/// Requires a legal call.
array reference(call const& chosen)
{
    auto const& [data, indices, updates, options, is_callable] = chosen;
    array result = data;
    std::size_t const k = indices.shape.back();
    std::size_t const size =
        textbook::size_of({data.shape.begin() + static_cast<std::ptrdiff_t>(k), data.shape.end()});
    textbook::dims const front(indices.shape.begin(), indices.shape.end() - 1);
    textbook::dims const indexed(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<std::size_t> met(textbook::size_of(indexed));
    for (std::size_t tuple = 0; tuple < textbook::size_of(front); ++tuple) {
        auto const named = named_by(indices, tuple, data.shape, 0, options.bounds);
        if (!named)
            continue;
        std::size_t const slice = textbook::flat_of(*named, indexed);
        std::size_t const earlier = met[slice]++;
        if (earlier != 0 && options.duplicates == duplicates::first)
            continue;
        for (std::size_t i = 0; i < size; ++i) {
            float& item = result.items[slice * size + i];
            float const update = updates.items[tuple * size + i];
            item = earlier == 0 && !options.include_self ? update : reduced(chosen, item, update);
        }
    }
    if (!is_callable && options.reduction == reduction::mean)
        for (std::size_t i = 0; i < result.items.size(); ++i)
            if (std::size_t const count = met[i / size]; count != 0)
                result.items[i] /= static_cast<float>(count + (options.include_self ? 1 : 0));
    return result;
}

/// Calls f(operands..., reduction if there is one, options).
template <class F>
void with_reduction(call const& chosen, F const& f)
{
    if (chosen.is_callable)
        f(half_and, chosen.options);
    else
        f(chosen.options.reduction, chosen.options);
}

bool scatter_into(
    decoder& bytes, call chosen, expected_outcome outcome, placed_tensor<std::int64_t> const& indices)
{
    auto data = place<float>(chosen.data, bytes.where());
    bool const is_own_update = bytes.rarely() && chosen.data.shape == chosen.updates.shape;
    auto const updates = place<float>(chosen.updates, bytes.where());
    outcome.overlap = is_own_update && !chosen.data.items.empty();
    auto const memory = data.memory;
    bool const has_run = runs(outcome, [&] {
        with_reduction(chosen, [&](auto const& reduce, reduced_options const& options) {
            xloom::scatter_nd_into(reduce, data, indices, is_own_update ? data : updates, options);
        });
    });
    if (has_run) {
        require(are_same(to_array(data).items, reference(chosen).items),
            "scatter_nd_into: another result than the textbook's");
        require(has_clean_gaps(data), "scatter_nd_into: written beside the data");
    } else {
        require(are_same(data.memory, memory), "scatter_nd_into: data was written, then the call refused");
    }
    return has_run;
}

} // namespace

bool try_scatter_nd(decoder bytes)
{
    call const chosen = choose(bytes);
    expected_outcome const outcome = outcome_of(chosen);
    auto const indices = place<std::int64_t>(chosen.indices, bytes.where());
    std::size_t const way = bytes.below(3);
    if (way == 2)
        return scatter_into(bytes, chosen, outcome, indices);
    auto const updates = place<float>(chosen.updates, bytes.where());
    auto data = to_tensor<xt::xarray<float>>(chosen.data);
    xt::xarray<float> result;
    bool const has_run = runs(outcome, [&] {
        with_reduction(chosen, [&](auto const& reduce, reduced_options const& options) {
            result = way == 0 ? xloom::scatter_nd(reduce, data, indices, updates, options)
                              : xloom::scatter_nd(reduce, std::move(data), indices, updates, options);
        });
    });
    if (has_run)
        require(are_same(to_array(result).items, reference(chosen).items),
            "scatter_nd: another result than the textbook's");
    if (!has_run || way == 0)
        require(are_same(to_array(data).items, chosen.data.items),
            "scatter_nd: what was handed over has changed");
    return has_run;
}

} // namespace fuzz
