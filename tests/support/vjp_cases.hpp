#pragma once
// Calls of the derivatives of ScatterND that cover every option, with random operands.

#include <string>
#include <vector>

#include "nd_operands.hpp"
#include "textbook_vjp.hpp"

/// Every valid combination of options; duplicates::error and the promises only if no slice is named twice.
inline std::vector<reduced_vjp_options> all_vjp_options(bool is_unique)
{
    using namespace xloom;
    std::vector<reduced_vjp_options> all;
    for (reduction const kind :
        {reduction::none, reduction::add, reduction::mul, reduction::max, reduction::min, reduction::mean})
        for (bounds const rule : {bounds::check, bounds::assume, bounds::drop, bounds::clip})
            for (bool const include_self : {true, false})
                for (duplicates const named : {duplicates::last, duplicates::first, duplicates::error})
                    for (ties const even : {ties::even, ties::first})
                        for (bool const promise : {false, true}) {
                            bool const is_valid = (named != duplicates::first || kind == reduction::none) &&
                                                  (is_unique || (named != duplicates::error && !promise));
                            if (is_valid)
                                all.push_back({.reduction = kind,
                                    .bounds = rule,
                                    .duplicates = named,
                                    .include_self = include_self,
                                    .ties = even,
                                    .unique = promise});
                        }
    return all;
}

inline std::string describe(reduced_vjp_options const& options)
{
    return std::string(name_of(options.reduction)) + ", bounds " +
           std::to_string(static_cast<int>(options.bounds)) + ", duplicates " +
           std::to_string(static_cast<int>(options.duplicates)) +
           (options.include_self ? "" : ", without self") +
           (options.ties == xloom::ties::first ? ", first" : "") + (options.unique ? ", unique" : "");
}

/// Operands of a call.
struct vjp_operands {
    textbook::array<double> ct, data;
    textbook::array<std::int64_t> indices;
    textbook::array<double> updates;
};

/// Small whole numbers, so that ties and zeros are frequent. With drop or clip some indices are out of range.
inline vjp_operands random_vjp_operands(std::mt19937& random, textbook::dims const& data_shape,
    textbook::dims const& front, std::size_t k, xloom::bounds rule = xloom::bounds::check)
{
    auto indices = random_indices(random, front, data_shape, k);
    if (!xloom::detail::guarantees_in_range(rule))
        for (std::int64_t& index : indices.items)
            index += random() % 4 == 0 ? (random() % 2 == 0 ? 20 : -20) : 0;
    auto const updates = random_items<double>(random, updates_shape(data_shape, indices.shape));
    return {
        random_items<double>(random, data_shape), random_items<double>(random, data_shape), indices, updates};
}

/// Tuples that are all different, in random order.
inline textbook::array<std::int64_t> different_indices(
    std::mt19937& random, std::size_t count, textbook::dims const& data_shape, std::size_t k)
{
    textbook::dims const indexed(data_shape.begin(), data_shape.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<std::size_t> slices(textbook::size_of(indexed));
    for (std::size_t i = 0; i < slices.size(); ++i)
        slices[i] = i;
    std::shuffle(slices.begin(), slices.end(), random);
    textbook::array<std::int64_t> indices{{count, k}, {}};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t const index : textbook::position_of(slices[i], indexed))
            indices.items.push_back(static_cast<std::int64_t>(index));
    return indices;
}
