#pragma once
// What is between the recurrences of the network: products, lengths and logistic functions, with their
// derivatives.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xtensor.hpp>

#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/tensor.hpp>

template <class Item, std::size_t Rank>
using tensor = xt::xtensor<Item, Rank>;

/// A strided tensor in the memory of another one, which must outlive it.
template <class Item, std::size_t Rank>
struct slice {
    Item* first;
    std::array<std::size_t, Rank> shape;
    std::array<std::ptrdiff_t, Rank> strides;
};

template <class Item, std::size_t Rank>
struct xloom::enable_tensor<slice<Item, Rank>> {
    using value_type = std::remove_const_t<Item>;
    static constexpr std::size_t rank = Rank;
    static Item* data(slice<Item, Rank> const& of) { return of.first; }
    static auto const& shape(slice<Item, Rank> const& of) { return of.shape; }
    static auto const& strides(slice<Item, Rank> const& of) { return of.strides; }
};

/// The product C = A W of rows with a matrix W [K, J], and its derivatives.
template <class Item>
class product {
public:
    /// Packs W for both directions.
    void assign(tensor<Item, 2> const& W)
    {
        std::size_t const K = W.shape()[0], J = W.shape()[1];
        pack(forward_, W);
        slice<Item const, 2> const transposed{W.data(), {J, K}, {1, std::ptrdiff_t(J)}};
        pack(backward_, transposed);
    }

    void operator()(std::size_t rows, Item const* A, Item* C) const
    {
        (*forward_)(rows, A, forward_->depth(), C, forward_->columns());
    }

    /// Computes the derivative by A, and adds to that by W.
    void vjp(std::size_t rows, Item const* A, Item const* ct_C, Item* ct_A, tensor<Item, 2>& ct_W)
    {
        std::size_t const K = ct_W.shape()[0], J = ct_W.shape()[1];
        (*backward_)(rows, ct_C, J, ct_A, K);
        transpose(rows, K, A);
        slice<Item const, 2> const matrix{ct_C, {rows, J}, {std::ptrdiff_t(J), 1}};
        pack(cotangents_, matrix);
        sum_.resize({K, J});
        (*cotangents_)(K, transposed_A_.data(), rows, sum_.data(), J);
        ct_W += sum_;
    }

private:
    using packed = std::optional<xloom::packed_matrix<Item>>;

    /// Transposes A, 16 rows at a time, which write whole cache lines.
    void transpose(std::size_t rows, std::size_t K, Item const* A)
    {
        transposed_A_.resize({K, rows});
        for (std::size_t first = 0; first < rows; first += 16)
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t n = first; n < std::min(first + 16, rows); ++n)
                    transposed_A_(k, n) = A[n * K + k];
    }

    static void pack(packed& to, xloom::tensor_ref<Item const> const& matrix)
    {
        if (to)
            to->assign(matrix);
        else
            to.emplace(matrix);
    }

    packed forward_, backward_, cotangents_;
    tensor<Item, 2> transposed_A_, sum_;
};

/// Returns the sum of a[i] b[i], which is 16 sums, so that a vector unit can compute it.
template <class Item>
Item dot(Item const* a, Item const* b, std::size_t size)
{
    constexpr std::size_t lanes = 16;
    std::array<Item, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= size; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += a[i + lane] * b[i + lane];
    for (; i < size; ++i)
        sums[0] += a[i] * b[i];
    Item sum = 0;
    for (Item const each : sums)
        sum += each;
    return sum;
}

/// Scales a row to a length, in place. Returns the factor.
template <class Item>
Item normalise(Item* row, std::size_t size, Item length)
{
    Item const factor = length / std::sqrt(dot(row, row, size) + Item(1e-6));
    for (std::size_t i = 0; i < size; ++i)
        row[i] *= factor;
    return factor;
}

/// Turns the derivative by the scaled row into that by the row as it was.
template <class Item>
void normalise_vjp(Item const* row, std::size_t size, Item length, Item factor, Item* ct)
{
    Item const along = dot(row, ct, size) / (length * length);
    for (std::size_t i = 0; i < size; ++i)
        ct[i] = factor * (ct[i] - along * row[i]);
}

/// Scales the rows of `size` items to a length, and keeps the factors.
template <class Rows, class Item>
void normalise_rows(Rows& rows, std::size_t size, Item length, tensor<Item, 1>& factors)
{
    for (std::size_t n = 0; n < factors.size(); ++n)
        factors(n) = normalise(rows.data() + n * size, size, length);
}

template <class Rows, class Item>
void normalise_rows_vjp(
    Rows const& rows, std::size_t size, Item length, tensor<Item, 1> const& factors, Rows& ct)
{
    for (std::size_t n = 0; n < factors.size(); ++n)
        normalise_vjp(rows.data() + n * size, size, length, factors(n), ct.data() + n * size);
}

template <class Item>
Item logistic(Item x)
{
    return 1 / (1 + std::exp(-x));
}

template <class Item>
Item log_logistic(Item x)
{
    return std::min(x, Item(0)) - std::log1p(std::exp(-std::abs(x)));
}
