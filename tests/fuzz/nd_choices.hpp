#pragma once
// What ScatterND's and GatherND's calls are made of.

#include <limits>
#include <optional>

#include <xloom/detail/core/bounds.hpp>

#include "decoder.hpp"
#include "support/nd_operands.hpp"

namespace fuzz {

inline constexpr xloom::bounds every_bounds[] = {
    xloom::bounds::check, xloom::bounds::assume, xloom::bounds::drop, xloom::bounds::clip};

/// Tuples of `k` for the axes of `data` from `b` on; indices outside where these are wanted.
inline textbook::array<std::int64_t> choose_indices(
    decoder& bytes, textbook::dims shape, textbook::dims const& data, std::size_t b)
{
    textbook::array<std::int64_t> indices{shape, {}};
    bool const strays = bytes.flag();
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i) {
        std::size_t const axis = b + (shape.empty() ? 0 : i % shape.back());
        auto const length = static_cast<std::int64_t>(axis < data.size() ? data[axis] : 3);
        std::int64_t index = length == 0 ? 0 : bytes.between(-length, length - 1);
        if (strays && bytes.below(4) == 0)
            index = bytes.pick({length, -length - 1, length + 2, std::numeric_limits<std::int64_t>::max(),
                std::numeric_limits<std::int64_t>::min()});
        indices.items.push_back(index);
    }
    return indices;
}

inline bool is_inside(std::int64_t index, std::size_t length)
{
    auto const most = static_cast<std::int64_t>(length);
    return -most <= index && index < most;
}

/// Does the rule refuse one of the indices? The shapes are right.
inline bool has_wrong_index(textbook::array<std::int64_t> const& indices, textbook::dims const& data,
    std::size_t b, xloom::bounds rule)
{
    std::size_t const k = indices.shape.back();
    for (std::size_t i = 0; i < indices.items.size(); ++i) {
        std::size_t const length = data[b + i % k];
        if (rule == xloom::bounds::clip ? length == 0
                                        : rule != xloom::bounds::drop && !is_inside(indices.items[i], length))
            return true;
    }
    return false;
}

/// The indices of a tuple counted from the front, clipped where that is the rule; none if the tuple is
/// omitted.
inline std::optional<textbook::dims> named_by(textbook::array<std::int64_t> const& indices, std::size_t tuple,
    textbook::dims const& data, std::size_t b, xloom::bounds rule)
{
    std::size_t const k = indices.shape.back();
    textbook::dims named;
    for (std::size_t j = 0; j < k; ++j) {
        std::int64_t index = indices.items[tuple * k + j];
        auto const length = static_cast<std::int64_t>(data[b + j]);
        if (!is_inside(index, data[b + j])) {
            if (rule == xloom::bounds::drop)
                return std::nullopt;
            index = index < 0 ? 0 : length - 1;
        }
        named.push_back(static_cast<std::size_t>(index < 0 ? index + length : index));
    }
    return named;
}

} // namespace fuzz
