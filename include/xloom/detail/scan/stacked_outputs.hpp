#pragma once
// Stacked outputs: the values that a body returned in all iterations, along a new axis.

#include <array>
#include <utility>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

inline constexpr std::size_t dynamic_length = static_cast<std::size_t>(-1);

template <class Y, std::size_t Length>
consteval auto stacked_type()
{
    if constexpr (!tensor<Y>) {
        if constexpr (Length == dynamic_length)
            return std::type_identity<xt::xtensor<Y, 1>>{};
        else
            return std::type_identity<xt::xtensor_fixed<Y, xt::fixed_shape<Length>>>{};
    } else if constexpr (is_fixed_shape<shape_type_t<Y>> && Length != dynamic_length) {
        return []<std::size_t... Dims>(xt::fixed_shape<Dims...>) {
            return std::type_identity<xt::xtensor_fixed<item_t<Y>, xt::fixed_shape<Length, Dims...>>>{};
        }(shape_type_t<Y>{});
    } else {
        constexpr std::size_t rank = enable_tensor<Y>::rank;
        return std::type_identity<
            typename enable_tensor<Y>::template rebind<rank == dynamic_rank ? dynamic_rank : rank + 1>>{};
    }
}

/// The container that stacks values of type Y: the same family with one rank more; scalars give an
/// xt::xtensor<Y, 1>. With a static number of iterations, scalars and values of fixed shape give an
/// xt::xtensor_fixed.
template <class Y, std::size_t Length>
using stacked_t = typename decltype(stacked_type<Y, Length>())::type;

/// A writer of elements, one by one, into a tensor allocated for them.
template <class Item>
class output_writer {
public:
    output_writer() = default;

    output_writer(Item* data, kernel::time_axis const& time)
        : data_(data),
          at_(time.first),
          stride_(time.stride),
          element_(time.element),
          in_place_(is_row_major(time.element)),
          count_(element_count(time.element.dims))
    {}

    shape const& element_shape() const { return element_.dims; }
    std::size_t count() const { return count_; }

    /// Returns where the next element is, if its items are contiguous in row-major order; nullptr also if
    /// there is no tensor yet.
    Item* next_in_place() const { return in_place_ && data_ ? data_ + at_ : nullptr; }

    /// Writes the next element, unless it is there already. Requires is_shaped_like(y, element_shape()) and
    /// space for another element.
    template <class Y>
    void push(Y const& y)
    {
        if constexpr (std::is_same_v<Y, Item> || !tensor<Y>)
            data_[at_] = y;
        else if (is_always_row_major<Y> && in_place_) {
            if (enable_tensor<Y>::data(y) != data_ + at_)
                std::copy_n(enable_tensor<Y>::data(y), count_, data_ + at_);
        } else
            kernel::strided_copy(element_.dims, detail::layout_of(y).strides, element_.strides)(
                enable_tensor<Y>::data(y), data_ + at_);
        at_ += stride_;
    }

    void skip(std::size_t elements) { at_ += static_cast<std::ptrdiff_t>(elements) * stride_; }

private:
    Item* data_ = nullptr;
    std::ptrdiff_t at_ = 0;
    std::ptrdiff_t stride_ = 0;
    strided_layout element_{};
    bool in_place_ = true;
    std::size_t count_ = 0;
};

/// Returns the shape of an element that a body returned for output k.
///
/// Errors    shape_error: over max_rank.
template <class Y>
shape output_element_shape(std::string_view op, std::size_t k, Y const& value)
{
    check_rank(op, "scan_outputs", detail::rank_of(value), k);
    return detail::shape_of(value);
}

/// The rank of an element; dynamic_rank if its type does not fix it.
template <class Y>
inline constexpr std::size_t element_rank = 0;
template <tensor Y>
inline constexpr std::size_t element_rank<Y> = enable_tensor<Y>::rank;

/// Returns the shape that is known from an element's type: a fixed shape's dimensions, 0 for those of a
/// static rank.
template <class Y>
shape shape_of_type()
{
    if constexpr (!tensor<Y>)
        return {};
    else if constexpr (is_fixed_shape<shape_type_t<Y>>)
        return
            []<std::size_t... Dims>(xt::fixed_shape<Dims...>) { return shape{Dims...}; }(shape_type_t<Y>{});
    else
        return enable_tensor<Y>::rank == dynamic_rank ? shape{} : shape(enable_tensor<Y>::rank, 0);
}

/// Makes a result of the given shape, in new memory unless it has that shape.
template <class Stacked>
void make_shape(Stacked& result, shape const& dims)
{
    if constexpr (!is_fixed_shape<shape_type_t<Stacked>>)
        if (!detail::is_shaped_like(result, dims))
            result = enable_tensor<Stacked>::make(dims);
}

/// Reallocates result k, stacked along axis 0, for `length` elements and keeps the first `kept`; the writer
/// appends after them.
template <class Stacked, class Writer>
void resize_stacked(
    std::string_view op, std::size_t k, Stacked& result, Writer& writer, std::size_t length, std::size_t kept)
{
    Stacked resized = enable_tensor<Stacked>::make(
        stacked_shape(op, k, writer.element_shape(), length, sizeof(item_t<Stacked>), {}));
    strided_layout const to = detail::layout_of(resized);
    kernel::strided_copy(
        insert_axis(writer.element_shape(), 0, kept), detail::layout_of(result).strides, to.strides)(
        enable_tensor<Stacked>::data(std::as_const(result)), enable_tensor<Stacked>::data(resized));
    result = std::move(resized);
    writer = {enable_tensor<Stacked>::data(result), kernel::time_axis(to, 0, length, false)};
    writer.skip(kept);
}

template <class Outputs, std::size_t Length>
struct stacked_tuple {
    using type = stacked_t<Outputs, Length>;
    using writers = std::tuple<output_writer<item_t<type>>>;
    using values = std::tuple<Outputs>;
    static constexpr std::array<std::size_t, 1> ranks = {element_rank<Outputs>};
};
template <class... Ys, std::size_t Length>
struct stacked_tuple<std::tuple<Ys...>, Length> {
    using type = std::tuple<stacked_t<Ys, Length>...>;
    using writers = std::tuple<output_writer<item_t<stacked_t<Ys, Length>>>...>;
    using values = std::tuple<Ys...>;
    static constexpr std::array<std::size_t, sizeof...(Ys)> ranks = {element_rank<Ys>...};
};

/// The scan outputs of a run, allocated when the first elements determine the shapes.
template <class Outputs, std::size_t Length>
class stacked_outputs {
    using stack = stacked_tuple<Outputs, Length>;

public:
    using type = typename stack::type;

    /// The ranks of the elements.
    static constexpr auto const& ranks = stack::ranks;

    /// Allocates `length` elements of the shapes of `values`, a tuple of references.
    template <class Values>
    void open(std::string_view op, Values const& values, std::size_t length, scan_options const& options)
    {
        auto const results = detail::leaves(results_);
        std::array<shape, std::tuple_size_v<Values>> all_dims;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using stacked = bare<decltype(std::get<k>(results))>;
            all_dims[k] = stacked_shape(
                op, k, output_element_shape(op, k, value), length, sizeof(item_t<stacked>), options);
        });
        detail::for_each_leaf(results, [&](auto k, auto& result) {
            using stacked = bare<decltype(result)>;
            std::size_t const axis = wrap_axis(axis_option(options.scan_output_axes, k), all_dims[k].size());
            detail::make_shape(result, all_dims[k]);
            std::get<k>(writers_) = {enable_tensor<stacked>::data(result),
                kernel::time_axis(
                    detail::layout_of(result), axis, length, is_reverse(options.scan_output_directions, k))};
        });
    }

    /// Allocates the outputs of zero iterations: the dimensions that the types do not fix are 0; a dynamic
    /// rank gives [0].
    void open_empty(std::string_view op, scan_options const& options)
    {
        detail::for_each_leaf(detail::leaves(results_), [&](auto k, auto& result) {
            using value = std::tuple_element_t<k, typename stack::values>;
            using item = item_t<decltype(result)>;
            if constexpr (enable_tensor<bare<decltype(result)>>::rank == dynamic_rank)
                detail::make_shape(result, {0});
            else
                detail::make_shape(
                    result, stacked_shape(op, k, shape_of_type<value>(), 0, sizeof(item), options));
        });
    }

    /// Appends the elements of iteration t, a tuple of references. Requires open().
    template <class Values>
    void push(std::string_view op, Values const& values, std::size_t t)
    {
        detail::for_each_leaf(values, [&]<class Value>(auto k, Value const& value) {
            if constexpr (tensor<Value>) {
                auto const& writer = std::get<k>(writers_);
                if (!detail::is_shaped_like(value, writer.element_shape()))
                    detail::fail_reshaped(
                        op, "scan_outputs", k, writer.element_shape(), detail::describe_shape(value), t);
            }
        });
        detail::for_each_leaf(values, [&](auto k, auto const& value) { std::get<k>(writers_).push(value); });
    }

    /// Reallocates every result, stacked along axis 0, for `length` elements and keeps the first `kept`.
    void resize(std::string_view op, std::size_t length, std::size_t kept)
    {
        detail::for_each_leaf(detail::leaves(results_), [&](auto k, auto& result) {
            detail::resize_stacked(op, k, result, std::get<k>(writers_), length, kept);
        });
    }

    auto const& writers() const { return writers_; }

    type&& finish() && { return std::move(results_); }

private:
    type results_{};
    typename stack::writers writers_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
