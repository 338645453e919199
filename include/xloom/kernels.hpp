#pragma once
// Building blocks for operators of one's own, which work on the memory of tensors: SIMD batches and functions
// of them, copies between layouts, what is known of a tensor's type, memory and errors.
//
// A program that defines XLOOM_NO_SIMD, or a target without vector units, has batches of one number.

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/batches.hpp>
#include <xloom/detail/kernel/functions.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/tensor.hpp>

namespace xloom::inline XLOOM_ABI::kernels {

// --- SIMD batches ---

/// True for float and double if the target has vector units for them.
using kernel::has_simd;
/// batch_t<T>: the batch of a T that has vector units, else T itself.
using kernel::batch_t;
/// batch_size<T>: the number of items in batch_t<T>.
using kernel::batch_size;
/// is_batch<V>: true for a batch, false for a number.
using kernel::is_batch;
/// is_mask<V>: true for the result of a comparison of batches.
using kernel::is_mask;
/// batch_item_t<V>: the item type of a batch or mask; of a number its own type.
using kernel::batch_item_t;

/// load_batch(from): the batch_size items from a pointer on.
using kernel::load_batch;
/// store_batch(to, batch): writes a batch's items from a pointer on.
using kernel::store_batch;
/// load_first(from, count, fill): the first `count` items, fewer than batch_size, and then `fill`.
using kernel::load_first;
/// store_first(batch, to, count): writes the first `count` items, fewer than batch_size.
using kernel::store_first;
/// first_item<T>(batch): the first item.
using kernel::first_item;

// --- Functions of numbers and batches: an item has the bits that it has alone ---

/// multiply_add(a, b, c): a * b + c, rounded once if the processor can.
using kernel::multiply_add;
/// divide(a, b): a / b, rounded once.
using kernel::divide;
/// select(condition, yes, no): item by item one of two.
using kernel::select;
/// sum_of<T>(batch): the sum of a batch's items.
using kernel::sum_of;
/// item_by_item(f, x) or (f, x, y): f of the items of batches, one by one.
using kernel::item_by_item;
/// map(x, y, count, f): y[i] = f(x[i]), by batches; f takes a batch.
using kernel::map;

/// exp_of(x): e to the power of x, for every x. In batches of floats it is 0 from -87.7 down and infinity
/// from 88.4 up; in batches of doubles from -708.8 down and from 709.5 up.
using kernel::exp_of;
/// full_exp(x): e to the power of x, for every x, with subnormal results.
using kernel::full_exp;
/// expm1_of(x): exp(x) - 1 without cancellation near 0, for x <= 88 (float) or x <= 709 (double).
using kernel::expm1_of;
/// The natural logarithm, log_of(x).
using kernel::log_of;
/// The sine, sin_of(x).
using kernel::sin_of;
/// The cosine, cos_of(x).
using kernel::cos_of;
/// The error function, erf_of(x).
using kernel::erf_of;
/// Function objects of activations: relu{}(x) and so on. NaN stays NaN.
using kernel::relu, kernel::sigmoid, kernel::softplus, kernel::softsign, kernel::tanh;
/// softmax(x, y, count): y = exp(x - max(x)) / sum(exp(x - max(x))) of a row; y may be x.
using kernel::softmax;

// --- Products: how many sums of a matrix product fit in registers ---

/// block_rows<T>: the number of rows of a block.
using kernel::block_rows;
/// panel_batches<T>: the number of batches of columns of a block.
using kernel::panel_batches;
/// blocks{length, most}: a partition into as few blocks of at most `most` as possible, of nearly equal sizes.
using kernel::blocks;
/// with_count<Least, Most>(count, f): calls f with `count` as a compile-time constant.
using kernel::with_count;

// --- Copies ---

/// strided_copy(dims, from_strides, to_strides)(from, to): copies items between two layouts of one shape.
using kernel::strided_copy;
/// copy_transposed(from, from_stride, to, to_stride, rows, columns): copies a matrix and transposes it.
using kernel::copy_transposed;

// --- Types, layouts, memory, errors ---

/// number<T>: a type whose values convert to a number, such as float, std::int8_t, float16.
using detail::number;
/// is_small_float<T>: true for float16 and the other storage types of floating-point numbers.
using detail::is_small_float;
/// compute_t<T>: the type in which items are computed, float for storage floats, else T.
using detail::compute_t;
/// item_t<X>: the type of a tensor's items; of a number its own type.
using detail::item_t;
/// tensor_view<X>: a tensor that does not own its items.
using detail::tensor_view;
/// is_always_row_major<X>: true if the items of every X are contiguous in row-major order.
using detail::is_always_row_major;
/// layout_of(x): a tensor's shape and strides, a strided_layout with the members dims and strides.
using detail::layout_of;
/// The type of a layout.
using detail::strided_layout;
/// is_row_major(layout): true if the items are contiguous in row-major order.
using detail::is_row_major;
/// aligned_vector<T>: a std::vector whose memory begins at a cache line.
using detail::aligned_vector;
/// fail<Error>(parts...): throws an Error whose message is the parts' texts; aborts without exceptions.
using detail::fail;

} // namespace xloom::inline XLOOM_ABI::kernels
