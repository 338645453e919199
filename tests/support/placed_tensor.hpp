#pragma once
// A tensor with the memory layout that a test wants: dense or with gaps, its axes in either order, forwards
// or backwards.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include <xloom/detail/tensor/tensor_ref.hpp>

#include "textbook_nd.hpp"

enum class placement { row_major, column_major, backwards, spread };

inline constexpr placement every_placement[] = {
    placement::row_major, placement::column_major, placement::backwards, placement::spread};

/// What stands in the gaps: whoever reads it is found out.
template <class T>
T gap()
{
    if constexpr (std::is_integral_v<T>)
        return std::numeric_limits<T>::max();
    else
        return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
}

template <class T>
struct placed_tensor {
    xloom::detail::strided_layout layout{};
    std::ptrdiff_t origin = 0; ///< the position of the first item
    std::vector<T> memory{};

    placed_tensor() = default;
    placed_tensor(textbook::dims const& shape, placement how)
        : layout{{shape.begin(), shape.end()}, xloom::strides(shape.size(), 0)}
    {
        std::ptrdiff_t step = how == placement::spread ? 2 : 1;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            std::size_t const axis = how == placement::column_major ? i : shape.size() - 1 - i;
            auto const length = static_cast<std::ptrdiff_t>(std::max<std::size_t>(shape[axis], 1));
            layout.strides[axis] = how == placement::backwards ? -step : step;
            if (how == placement::backwards)
                origin += step * (length - 1);
            step = step * length + (how == placement::spread ? 3 : 0);
        }
        memory.assign(static_cast<std::size_t>(step), gap<T>());
    }

    std::ptrdiff_t place_of(textbook::dims const& position) const
    {
        std::ptrdiff_t place = origin;
        for (std::size_t axis = 0; axis < position.size(); ++axis)
            place += static_cast<std::ptrdiff_t>(position[axis]) * layout.strides[axis];
        return place;
    }
    /// Returns the position of an item by its number in row-major order.
    std::size_t place_of(std::size_t number) const
    {
        std::ptrdiff_t place = origin;
        for (std::size_t axis = layout.dims.size(); axis-- > 0; number /= layout.dims.data()[axis])
            place +=
                static_cast<std::ptrdiff_t>(number % layout.dims.data()[axis]) * layout.strides.data()[axis];
        return static_cast<std::size_t>(place);
    }
};

template <class T>
struct xloom::enable_tensor<placed_tensor<T>> {
    using value_type = T;
    static constexpr std::size_t rank = xloom::dynamic_rank;

    static T* data(placed_tensor<T>& tensor) { return tensor.memory.data() + tensor.origin; }
    static T const* data(placed_tensor<T> const& tensor) { return tensor.memory.data() + tensor.origin; }
    static auto const& shape(placed_tensor<T> const& tensor) { return tensor.layout.dims; }
    static auto const& strides(placed_tensor<T> const& tensor) { return tensor.layout.strides; }
};

template <class T, class From>
placed_tensor<T> place(textbook::array<From> const& from, placement how = placement::row_major)
{
    placed_tensor<T> tensor(from.shape, how);
    for (std::size_t flat = 0; flat < from.items.size(); ++flat)
        tensor.memory[tensor.place_of(flat)] = static_cast<T>(from.items[flat]);
    return tensor;
}

/// Refers to the tensor, or to nothing if it has no axis.
template <class T>
xloom::tensor_ref<T const> ref_of(placed_tensor<T> const& tensor)
{
    return tensor.layout.dims.empty() ? xloom::tensor_ref<T const>() : xloom::tensor_ref<T const>(tensor);
}

template <class T>
xloom::tensor_ref<T> ref_of(placed_tensor<T>& tensor)
{
    return tensor.layout.dims.empty() ? xloom::tensor_ref<T>() : xloom::tensor_ref<T>(tensor);
}

/// True if the gaps hold what they held at first.
template <class T>
bool has_clean_gaps(placed_tensor<T> const& tensor)
{
    std::vector<bool> is_item(tensor.memory.size());
    textbook::dims const shape(tensor.layout.dims.begin(), tensor.layout.dims.end());
    for (std::size_t flat = 0; flat < textbook::size_of(shape); ++flat)
        is_item[tensor.place_of(flat)] = true;
    for (std::size_t i = 0; i < is_item.size(); ++i)
        if (!is_item[i] && tensor.memory[i] == tensor.memory[i])
            return false;
    return true;
}
