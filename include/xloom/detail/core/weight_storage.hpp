#pragma once
// The types in which packed weights are stored.

#include <array>
#include <cstddef>
#include <string_view>

#include <xloom/detail/core/compiler.hpp>

XLOOM_BEGIN_FALSE_SHADOW

namespace xloom::inline XLOOM_ABI {

/// How packed weights are stored. Activations, sums and biases are of the type that computes.
///
/// full          the type that computes: float, or double for weights of double
/// float16       half the memory, 11 significant bits, up to 65504; a larger finite weight is an option_error
/// bfloat16      half the memory, 8 significant bits, the range of float
/// int8          a quarter of the memory, and a float for each output: integers from -127 to 127, with a
///               scale for each output of each matrix (a row of ONNX's W and R), max|w| / 127. A sum of
///               products with the integers, which the scale then multiplies, may overflow where the result
///               does not, if the magnitudes of the inputs have a sum above 2.6e36
/// dynamic_int8  weights as int8, and each product rounds the vectors that it takes (dynamic quantization):
///               each 1024 numbers x to integers from -127 to 127, with the scale max|x| / 127, so that sums
///               are exact. They are zeros if max|x| < 2^-100; if one is not finite, the outputs are NaN
/// dynamic_bfloat16  bfloat16, and each product rounds the vectors that it takes to bfloat16, too, to
///               nearest, ties to even; sums are of floats
/// block_sparse  full, without the blocks of 8 outputs and 4 inputs that are zeros; all of a matrix of which
///               more than 5/8 of the blocks are not. The results are those of full, but for the sign of
///               zeros and for infinite and NaN inputs, which make no NaN of a zero that is not stored
/// block_sparse_int8  int8 of the same blocks
///
/// Weights are rounded once, to nearest, ties to even. A narrow type is for matrices that do not fit in a
/// core's cache, where the time of a row is the time to read them.
enum class weight_storage : unsigned char {
    full,
    float16,
    bfloat16,
    int8,
    dynamic_int8,
    dynamic_bfloat16,
    block_sparse,
    block_sparse_int8
};

/// All storages, in the order of the enumerators.
inline constexpr std::array<weight_storage, 8> weight_storages{weight_storage::full, weight_storage::float16,
    weight_storage::bfloat16, weight_storage::int8, weight_storage::dynamic_int8,
    weight_storage::dynamic_bfloat16, weight_storage::block_sparse, weight_storage::block_sparse_int8};

namespace detail {

inline constexpr std::array<std::string_view, weight_storages.size()> weight_storage_names{"full", "float16",
    "bfloat16", "int8", "dynamic_int8", "dynamic_bfloat16", "block_sparse", "block_sparse_int8"};

} // namespace detail

/// Returns the name of an enumerator, such as "float16".
constexpr std::string_view name_of(weight_storage storage) noexcept
{
    auto const number = static_cast<std::size_t>(storage);
    return number < detail::weight_storage_names.size() ? detail::weight_storage_names[number] : "unknown";
}

} // namespace xloom::inline XLOOM_ABI

XLOOM_END_FALSE_WARNINGS
