// GatherND: data, indices, batch axes, bounds; to a result, or into the caller's.

#include <xloom/indexing/gather_nd.hpp>

#include "nd_choices.hpp"
#include "operators.hpp"
#include "outcome.hpp"

namespace fuzz {

namespace {

using array = textbook::array<float>;

struct call {
    array data;
    textbook::array<std::int64_t> indices;
    xloom::gather_nd_options options;
};

call choose(decoder& bytes)
{
    call chosen;
    chosen.data.shape = bytes.dims(4, 4);
    for (std::size_t i = 0; i < textbook::size_of(chosen.data.shape); ++i)
        chosen.data.items.push_back(static_cast<float>(i + 1));
    chosen.options = {bytes.rarely() ? bytes.between(-2, 5) : bytes.between(0, 2), bytes.pick(every_bounds)};

    auto const b = static_cast<std::size_t>(std::clamp<std::int64_t>(chosen.options.batch_dims, 0, 4));
    std::size_t const left = chosen.data.shape.size() - std::min(b, chosen.data.shape.size());
    textbook::dims shape(
        chosen.data.shape.begin(), chosen.data.shape.end() - static_cast<std::ptrdiff_t>(left));
    textbook::dims const front = bytes.dims(2, 3);
    shape.insert(shape.end(), front.begin(), front.end());
    shape.push_back(bytes.rarely() ? bytes.below(6) : bytes.below(left + 1));
    if (bytes.rarely())
        shape = bytes.damaged(shape);
    chosen.indices = choose_indices(bytes, shape, chosen.data.shape, b);
    return chosen;
}

expected_outcome outcome_of(call const& chosen)
{
    auto const& [data, indices, options] = chosen;
    std::size_t const r = data.shape.size(), q = indices.shape.size();
    expected_outcome outcome;
    outcome.shape = r == 0 || q == 0;
    outcome.option = !outcome.shape && (options.batch_dims < 0 ||
                                           options.batch_dims >= static_cast<std::int64_t>(std::min(q, r)));
    if (!outcome.is_legal())
        return outcome;
    auto const b = static_cast<std::size_t>(options.batch_dims);
    outcome.shape =
        b + indices.shape.back() > r ||
        !std::equal(data.shape.begin(), data.shape.begin() + options.batch_dims, indices.shape.begin());
    outcome.index = !outcome.shape && has_wrong_index(indices, data.shape, b, options.bounds);
    return outcome;
}

/// Requires a legal call. What is omitted is 0, or the old value.
array reference(call const& chosen, std::optional<array> const& before)
{
    auto const& [data, indices, options] = chosen;
    auto const b = static_cast<std::size_t>(options.batch_dims);
    textbook::dims const front(indices.shape.begin(), indices.shape.end() - 1);
    textbook::dims const rest(
        data.shape.begin() + static_cast<std::ptrdiff_t>(b + indices.shape.back()), data.shape.end());
    array output{front, {}};
    output.shape.insert(output.shape.end(), rest.begin(), rest.end());
    for (std::size_t tuple = 0; tuple < textbook::size_of(front); ++tuple) {
        auto const named = named_by(indices, tuple, data.shape, b, options.bounds);
        for (std::size_t i = 0; i < textbook::size_of(rest); ++i) {
            textbook::dims position = textbook::position_of(tuple, front);
            position.resize(b);
            for (textbook::dims const& part :
                {named.value_or(textbook::dims()), textbook::position_of(i, rest)})
                position.insert(position.end(), part.begin(), part.end());
            std::size_t const at = output.items.size();
            output.items.push_back(named    ? data.items[textbook::flat_of(position, data.shape)]
                                   : before ? before->items[at]
                                            : 0);
        }
    }
    return output;
}

/// Into a tensor of the right shape, or of another.
bool gather_into(decoder& bytes, call const& chosen, expected_outcome outcome,
    placed_tensor<float> const& data, placed_tensor<std::int64_t> const& indices)
{
    textbook::dims shape = outcome.is_legal() ? reference(chosen, std::nullopt).shape : bytes.dims(3, 3);
    if (bytes.rarely()) {
        textbook::dims const other = bytes.damaged(shape);
        outcome.shape = outcome.shape || (outcome.is_legal() && other != shape) || outcome.index;
        shape = other;
    }
    array before{shape, std::vector<float>(textbook::size_of(shape), -1)};
    auto output = place<float>(before, bytes.where());
    auto const memory = output.memory;
    bool const has_run = runs(outcome, [&] { xloom::gather_nd_into(data, indices, output, chosen.options); });
    if (has_run) {
        require(are_same(to_array(output).items, reference(chosen, before).items),
            "gather_nd_into: another result than the textbook's");
        require(has_clean_gaps(output), "gather_nd_into: written beside the output");
    } else {
        require(
            are_same(output.memory, memory), "gather_nd_into: the output was written, then the call refused");
    }
    return has_run;
}

} // namespace

bool try_gather_nd(decoder bytes)
{
    call const chosen = choose(bytes);
    expected_outcome const outcome = outcome_of(chosen);
    auto const data = place<float>(chosen.data, bytes.where());
    auto const indices = place<std::int64_t>(chosen.indices, bytes.where());
    if (bytes.flag())
        return gather_into(bytes, chosen, outcome, data, indices);
    auto const packed = to_tensor<xt::xarray<float>>(chosen.data);
    xt::xarray<float> output;
    bool const has_run = runs(outcome, [&] { output = xloom::gather_nd(packed, indices, chosen.options); });
    if (has_run) {
        array const found = to_array(output), expected = reference(chosen, std::nullopt);
        require(found.shape == expected.shape && are_same(found.items, expected.items),
            "gather_nd: another result than the textbook's");
    }
    return has_run;
}

} // namespace fuzz
