#pragma once
// Products with a constant matrix, on the kernel of the recurrent operators.

#include <algorithm>
#include <array>
#include <type_traits>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/recurrent/packing.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// A packed matrix and a row of biases, padded to whole vectors.
template <class T>
struct matrix_parameters {
    using number = T;

    kernel::stored_matrix<T> B;
    T const* bias;
};

/// The function that packs a matrix.
template <class T, class Packing>
struct pack_matrix_functions {
    using item = T;
    using parameters = matrix_parameters<T>;

    parameters (*pack)(
        tensor_ref<T const> const& B, tensor_ref<T const> const& bias, Packing, kernel::arena<T>&);

    static constexpr pack_matrix_functions compiled() noexcept { return {&pack_matrix}; }

private:
    static parameters pack_matrix(tensor_ref<T const> const& B, tensor_ref<T const> const& bias,
        Packing packing, kernel::arena<T>& memory)
    {
        std::size_t const K = B.shape()[0], J = B.shape()[1];
        T* const row = memory.take(kernel::whole_batches<T>(J));
        for (std::size_t j = 0; j < J && bias.is_given() && !memory.only_counts(); ++j)
            row[j] = bias.data()[static_cast<std::ptrdiff_t>(j) * bias.stride(0)];
        kernel::strided_matrix<T> const items{B.data(), B.stride(0), B.stride(1)};
        return {detail::pack_matrix(packing, kernel::matrix_parts(items, K, J), memory), row};
    }
};

/// The function that multiplies by a packed matrix.
template <class T>
struct matrix_functions {
    using item = T;
    using parameters = matrix_parameters<T>;

    void (*multiply)(parameters const&, std::size_t rows, T const* A, std::size_t a_stride, T* C,
        std::size_t c_stride) noexcept;

    static constexpr matrix_functions compiled() noexcept { return {&multiply_rows}; }

private:
    static void multiply_rows(parameters const& matrix, std::size_t rows, T const* A, std::size_t a_stride,
        T* C, std::size_t c_stride) noexcept
    {
        constexpr std::size_t width = kernel::panel_width<T>, most = kernel::block_rows<T>;
        T const* const bias = matrix.bias;
        std::size_t const J = matrix.B.columns;
        std::size_t const rest = J % kernel::batch_size<T> == 0 ? 0 : J % width, whole = J - rest;
        kernel::multiply_columns<T>(rows, {A, a_stride}, matrix.B, {0, whole}, {bias, 0}, {C, c_stride});
        if (rest == 0)
            return;
        // The last panel is wider than the remaining columns of C.
        std::array<T, most * width> last;
        for (std::size_t row = 0; row < rows; row += most) {
            std::size_t const count = (std::min)(most, rows - row);
            kernel::multiply_columns<T>(count, {A + row * a_stride, a_stride}, matrix.B, {whole, rest},
                {bias + whole, 0}, {last.data(), width});
            for (std::size_t r = 0; r < count; ++r)
                std::copy_n(last.data() + r * width, rest, C + (row + r) * c_stride + whole);
        }
    }
};

} // namespace detail

/// A constant matrix B and a bias, packed once for products with many rows, few rows, or one.
///
///     C = A B + bias
///
/// Shapes    B [K, J], bias [J], A [M, K] -> C [M, J]; rows of A and of C at a stride each, rows of A may
///           overlap (the windows of a convolution). B and bias of any strides.
/// Types     float, double, user-defined scalars.
/// Errors    shape_error: the rank of B, the shape of bias, sizes that cannot be counted in bytes.
/// Order     each sum is bias, then the products along K in dependency chains of 128: its bits do not depend
///           on M.
/// Cost      M K J multiply-adds; for three rows or more near the processor's peak, for fewer limited by
///           cache bandwidth. Allocates nothing.
/// Real time each product after the first.
/// Aliasing  C must overlap neither A nor the matrix.
/// Threads   const members are thread-safe. Copies share the memory, moves copy.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const B = {{1, 2, 3}, {4, 5, 6}};
/// xt::xtensor<float, 1> const bias = {10, 20, 30};
/// xloom::packed_matrix<float> const multiply(B, bias);
/// xt::xtensor<float, 2> const A = {{1, 0}, {1, 1}};
/// auto C = xt::xtensor<float, 2>::from_shape({2, 3});
/// multiply(2, A.data(), 2, C.data(), 3);
/// C; // = [[11, 22, 33], [15, 27, 39]]
/// ```
template <class T>
class packed_matrix {
public:
    explicit packed_matrix(tensor_ref<T const> const& B, tensor_ref<T const> const& bias = {})
        : packed_(1, packer(B, bias, detail::full_packing()))
    {}
    /// Packs B in a storage (docs/weights.md).
    ///
    /// Errors    option_error: the storage cannot hold one of its numbers.
    packed_matrix(tensor_ref<T const> const& B, tensor_ref<T const> const& bias, weight_storage storage)
        requires kernel::has_storage_types<T>
        : storage_(storage), packed_(pack_stored(B, bias))
    {}

    /// Packs another matrix, in the same storage. Allocates nothing if its shape is the old one, in block
    /// storages the number of blocks, too, and no copy shares the memory; copies keep the old matrix.
    ///
    /// Errors    as the constructor's; the matrix is then as before.
    void assign(tensor_ref<T const> const& B, tensor_ref<T const> const& bias = {})
    {
        if constexpr (kernel::has_storage_types<T>)
            if (storage_ != weight_storage::full)
                return packed_.assign(1, packer(B, bias, detail::stored_packing{storage_}));
        packed_.assign(1, packer(B, bias, detail::full_packing()));
    }

    std::size_t depth() const noexcept { return matrix().depth; }
    std::size_t columns() const noexcept { return matrix().columns; }
    weight_storage storage() const noexcept { return storage_; }
    /// Returns the number of bytes of the packed matrix, which all copies share.
    std::size_t bytes() const noexcept { return packed_.bytes(); }

    /// Multiplies `rows` rows of A, at a stride of a_stride, into rows of C, at a stride of c_stride.
    void operator()(
        std::size_t rows, T const* A, std::size_t a_stride, T* C, std::size_t c_stride) const noexcept
    {
        flush_subnormals const flushing;
        level_.template functions<detail::matrix_functions<T>>().multiply(
            packed_[0], rows, A, a_stride, C, c_stride);
    }

private:
    using parameters = detail::shared_parameters<detail::matrix_parameters<T>>;
    using matrix_ref = tensor_ref<T const>;
    using bias_ref = tensor_ref<T const>;

    static constexpr std::string_view op = "xloom::packed_matrix";

    static void check_operands(matrix_ref const& B, bias_ref const& bias)
    {
        detail::check_rank(op, "B", B.rank());
        detail::check_rank(op, "bias", bias.rank());
        detail::check_given(op, "B", detail::shape_if_given(B), 2);
        std::size_t const K = B.shape()[0], J = B.shape()[1];
        if (!has_strides({K, J}, sizeof(T)))
            detail::fail<shape_error>(
                op, ": B must fit in memory, but it is ", B.shape(), ". Reduce its dimensions.");
        detail::check_shapes(op,
            std::array{detail::shape_requirement{"bias", "[J]", {J}, detail::shape_if_given(bias)}},
            [&] { return detail::concat("K = ", K, " and J = ", J); });
    }

    /// Checks B and bias, and returns what packs them.
    template <class Packing>
    auto packer(matrix_ref const& B, bias_ref const& bias, Packing packing) const
    {
        check_operands(B, bias);
        if constexpr (std::is_same_v<Packing, detail::stored_packing>)
            detail::check_stored(op, packing.storage, "B", B);
        return [&B, &bias, packing, this](std::size_t, kernel::arena<T>& memory) {
            return level_.template functions<detail::pack_matrix_functions<T, Packing>>().pack(
                B, bias, packing, memory);
        };
    }

    parameters pack_stored(matrix_ref const& B, bias_ref const& bias) const
    {
        detail::check_is_storage(op, storage_);
        return storage_ == weight_storage::full
                   ? parameters(1, packer(B, bias, detail::full_packing()))
                   : parameters(1, packer(B, bias, detail::stored_packing{storage_}));
    }

    kernel::stored_matrix<T> const& matrix() const noexcept { return packed_[0].B; }

    [[no_unique_address]] detail::vector_level level_{};
    weight_storage storage_ = weight_storage::full;
    parameters packed_;
};

} // namespace xloom::inline XLOOM_ABI
