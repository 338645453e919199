#pragma once
// One element type with every reduction, ScatterND against the textbook.

#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <type_traits>

#include <xloom/indexing/scatter_nd.hpp>

#include "nd_operands.hpp"
#include "rounded.hpp"

// What ONNX says of a reduction, in the plainest arithmetic that there is for the type.
template <class T>
T textbook_reduce(xloom::reduction kind, T const& old, T const& update)
{
    if constexpr (std::is_same_v<T, bool>) {
        bool const is_or = kind == xloom::reduction::add || kind == xloom::reduction::max;
        return kind == xloom::reduction::none ? update : is_or ? old || update : old && update;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return kind == xloom::reduction::none ? update : old + update;
    } else if constexpr (requires(T a) { a < a; }) {
        // Integers modulo a power of two.
        using number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
        auto const a = static_cast<number>(old), b = static_cast<number>(update);
        switch (kind) {
        case xloom::reduction::add:
            return static_cast<T>(a + b);
        case xloom::reduction::mul:
            return static_cast<T>(a * b);
        case xloom::reduction::max:
            return old > update ? old : update;
        case xloom::reduction::min:
            return old < update ? old : update;
        default:
            return update;
        }
    } else {
        return kind == xloom::reduction::add   ? old + update
               : kind == xloom::reduction::mul ? textbook::rounded(old, update)
                                               : update;
    }
}

template <class T>
T item_from(int number)
{
    if constexpr (std::is_same_v<T, std::string>)
        return std::string(1, static_cast<char>('d' + number));
    else if constexpr (std::is_same_v<T, bool>)
        return number > 0;
    else if constexpr (requires { typename T::value_type; })
        return T(static_cast<typename T::value_type>(number), 1);
    else
        return static_cast<T>(number);
}

/// Single items (k = r) and slices (k < r), with duplicates.
template <class T>
void check_type(std::initializer_list<xloom::reduction> kinds)
{
    std::mt19937 random(3);
    for (std::size_t const k : {std::size_t{1}, std::size_t{2}}) {
        textbook::dims const data_shape{5, 3}, front{2, 6};
        auto const indices = random_indices(random, front, data_shape, k);
        textbook::array<T> data{data_shape, {}}, updates{updates_shape(data_shape, indices.shape), {}};
        for (std::size_t i = 0; i < textbook::size_of(data.shape); ++i)
            data.items.push_back(item_from<T>(static_cast<int>(random() % 7) - 3));
        for (std::size_t i = 0; i < textbook::size_of(updates.shape); ++i)
            updates.items.push_back(item_from<T>(static_cast<int>(random() % 7) - 3));
        auto const tensor = to_tensor<xt::xtensor<T, 2>>(data);
        auto const index_tensor = to_tensor<xt::xarray<std::int64_t>>(indices);
        auto const update_tensor = to_tensor<xt::xarray<T>>(updates);
        for (xloom::reduction const kind : kinds) {
            auto const expected = textbook::scatter_nd(data, indices, updates,
                [kind](T const& old, T const& update) { return textbook_reduce<T>(kind, old, update); });
            CAPTURE(xloom::name_of(kind));
            CAPTURE(k);
            CHECK(to_array(xloom::scatter_nd(kind, tensor, index_tensor, update_tensor)).items ==
                  expected.items);
        }
    }
}

inline constexpr auto all_five = {xloom::reduction::none, xloom::reduction::add, xloom::reduction::mul,
    xloom::reduction::max, xloom::reduction::min};
