#pragma once
// Tensors of DLPack, which NumPy, PyTorch, JAX and others hand over without a copy.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <dlpack/dlpack.h>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/tensor/element_view.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The type code of DLPack for items of type T.
template <class T>
constexpr DLDataTypeCode dlpack_code()
{
    constexpr element_type type = element_type_of<T>;
    constexpr bool is_built_in = std::is_arithmetic_v<T> && type != element_type::undefined;
    static_assert(is_built_in || type == element_type::float16 || type == element_type::bfloat16 ||
                      type == element_type::complex64 || type == element_type::complex128,
        "a tensor of DLPack holds numbers or bool, of storage types only float16 and bfloat16");
    if (type == element_type::bfloat16)
        return kDLBfloat;
    if (type == element_type::complex64 || type == element_type::complex128)
        return kDLComplex;
    if (type == element_type::float16 || std::is_floating_point_v<T>)
        return kDLFloat;
#ifdef DLPACK_MAJOR_VERSION
    if (std::is_same_v<T, bool>)
        return kDLBool;
#endif
    return std::is_signed_v<T> ? kDLInt : kDLUInt; // bool, too, before DLPack 1
}

/// The type of items T in DLPack.
template <class T>
constexpr DLDataType dlpack_type()
{
    return {static_cast<std::uint8_t>(dlpack_code<T>()), static_cast<std::uint8_t>(sizeof(T) * 8), 1};
}

/// True if items of a DLPack type are those of T.
template <class T>
bool holds_items(DLDataType const& type)
{
    constexpr std::uint8_t code_of_bool = 6; // since DLPack 0.8
    constexpr DLDataType own = dlpack_type<T>();
    bool const is_bool = std::is_same_v<T, bool> && (type.code == code_of_bool || type.code == kDLUInt);
    return type.bits == own.bits && type.lanes == 1 && (type.code == own.code || is_bool);
}

/// Returns the layout of a tensor of DLPack whose items have the type T.
///
/// Errors    type_error: other items, or memory of another device; shape_error: its rank is not `rank` (or
///           dynamic_rank), a dimension is negative, its size overflows, the address is not that of a T.
template <class T>
strided_layout dlpack_layout(DLTensor const& tensor, std::size_t rank)
{
    constexpr std::string_view op = "xloom::dlpack_tensor";
    if (tensor.device.device_type != kDLCPU)
        fail<type_error>(op, ": a tensor must be in the memory of the processor, device type ", int{kDLCPU},
            " of DLPack, but it is on device type ", int{tensor.device.device_type},
            ". Copy it to the processor.");
    if (!holds_items<T>(tensor.dtype))
        fail<type_error>(op, ": the items must be ", name_of(element_type_of<T>), ", of DLPack's type code ",
            int{dlpack_code<T>()}, " with ", sizeof(T) * 8, " bits, but they have the code ",
            int{tensor.dtype.code}, ", ", int{tensor.dtype.bits}, " bits and ", tensor.dtype.lanes,
            " lanes. Name their type.");
    if (tensor.ndim < 0)
        fail<shape_error>(
            op, ": the rank must not be negative, but ndim is ", tensor.ndim, ". Correct the tensor.");
    auto const axes = static_cast<std::size_t>(tensor.ndim);
    check_rank(op, "a tensor", axes);
    if (rank != dynamic_rank && axes != rank)
        fail<shape_error>(op, ": a tensor must have ", rank, " axes, as its type says, but it has ", axes,
            ". Name that rank, or none.");
    strided_layout layout;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        if (tensor.shape[axis] < 0)
            fail<shape_error>(op, ": a dimension must not be negative, but shape[", axis, "] is ",
                tensor.shape[axis], ". Correct the tensor.");
        if (!std::in_range<std::size_t>(tensor.shape[axis]))
            fail<shape_error>(op, ": the shape must fit in memory, but shape[", axis, "] is ",
                tensor.shape[axis], ". Correct the tensor.");
        layout.dims.push_back(static_cast<std::size_t>(tensor.shape[axis]));
    }
    if (!has_strides(layout.dims, sizeof(T)))
        fail<shape_error>(
            op, ": the shape must fit in memory, but it is ", layout.dims, ". Correct the tensor.");
    if (tensor.strides == nullptr)
        layout.strides = row_major_strides(layout.dims);
    else
        for (std::size_t axis = 0; axis < axes; ++axis) {
            if (layout.dims[axis] > 1 && !std::in_range<std::ptrdiff_t>(tensor.strides[axis]))
                fail<shape_error>(op, ": the items must be in memory, but strides[", axis, "] is ",
                    tensor.strides[axis], ". Correct the tensor.");
            layout.strides.push_back(static_cast<std::ptrdiff_t>(tensor.strides[axis]));
        }
    auto const address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    if (element_count(layout.dims) != 0 &&
        (tensor.data == nullptr || !std::in_range<std::uintptr_t>(address) || address % alignof(T) != 0))
        fail<shape_error>(op, ": the items must begin in memory at a multiple of ", alignof(T),
            " bytes, but data and byte_offset give ", address, ". Correct the tensor.");
    return layout;
}

/// Returns the tensor of a managed one, whose items are T, const if they are only read.
///
/// Errors    type_error: a version of DLPack that its header does not know; a tensor that must not be
///           written.
template <class T>
DLTensor const& tensor_of(DLManagedTensor const& managed)
{
    return managed.dl_tensor;
}
#ifdef DLPACK_MAJOR_VERSION
template <class T>
DLTensor const& tensor_of(DLManagedTensorVersioned const& managed)
{
    constexpr std::string_view op = "xloom::dlpack_tensor";
    if (managed.version.major != DLPACK_MAJOR_VERSION)
        fail<type_error>(op, ": a managed tensor must have the major version of DLPack's header, ",
            DLPACK_MAJOR_VERSION, ", but it has ", managed.version.major,
            ". Ask the other library for another version.");
    if (!std::is_const_v<T> && (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)
        fail<type_error>(op,
            ": a tensor that is written must not be read-only, but its flags say that it is. "
            "Name a const type of items, or copy it.");
    return managed.dl_tensor;
}
#endif

} // namespace detail

/// Calls the deleter of a managed tensor.
struct dlpack_deleter {
    template <class Managed>
    void operator()(Managed* tensor) const
    {
        if (tensor->deleter != nullptr)
            tensor->deleter(tensor);
    }
};

/// A managed tensor and the duty to call its deleter; release() hands both over to another library.
using dlpack_handle = std::unique_ptr<DLManagedTensor, dlpack_deleter>;
#ifdef DLPACK_MAJOR_VERSION
/// A handle of a managed tensor of DLPack 1, whose capsules in Python are named dltensor_versioned. Declared
/// with the header of DLPack 1 or newer only.
using dlpack_versioned_handle = std::unique_ptr<DLManagedTensorVersioned, dlpack_deleter>;
#endif

namespace detail {

/// Returns the tensor that a handle holds.
///
/// Errors    type_error: the handle is null; as tensor_of.
template <class T, class Managed>
DLTensor const& tensor_held_by(std::unique_ptr<Managed, dlpack_deleter> const& handle)
{
    if (handle == nullptr)
        fail<type_error>("xloom::dlpack_tensor: a handle must hold a tensor, but it is null. Pass one "
                         "that was not moved from.");
    return detail::tensor_of<T>(*handle);
}

} // namespace detail

/// A tensor of DLPack as an operand: T const to read it, T to write it. Its items stay where they are.
///
/// Shapes    Rank axes, or with dynamic_rank any number; strides of any sign.
/// Types     T: numbers, bool, float16, bfloat16, std::complex. A bool is a byte that is 0 or 1.
/// Errors    type_error: the items have another type, are not in the processor's memory or, with T to write,
///           are read-only; another major version of DLPack than its header's; a null handle. shape_error: a
///           negative rank, one other than Rank or above max_rank; a negative dimension; a size that
///           overflows; a null or misaligned address.
/// Source    DLPack, https://dmlc.github.io/dlpack/latest/.
/// Example
/// ```cpp
/// xloom::dlpack_handle handle = xloom::to_dlpack(xt::xtensor<float, 1>{1, 2, 3}); // or from another library
/// xloom::dlpack_tensor<float const, 1> const x(std::move(handle));
/// xloom::cumulative_sum(x); // = [1, 3, 6]
/// ```
template <class T, std::size_t Rank = dynamic_rank>
class dlpack_tensor {
public:
    /// Refers to a tensor, which must outlive this object.
    explicit dlpack_tensor(DLTensor const& tensor)
        : layout_(detail::dlpack_layout<std::remove_const_t<T>>(tensor, Rank)),
          data_(tensor.data == nullptr
                    ? nullptr
                    : reinterpret_cast<T*>(static_cast<std::byte*>(tensor.data) + tensor.byte_offset))
    {}

    /// Takes a managed tensor over. Its deleter is called when this object ends, also by an exception of the
    /// constructor.
    template <class Managed>
    explicit dlpack_tensor(std::unique_ptr<Managed, dlpack_deleter> managed)
        : dlpack_tensor(detail::tensor_held_by<T>(managed))
    {
        managed_ = {managed.release(), [](void* taken) { dlpack_deleter()(static_cast<Managed*>(taken)); }};
    }

    T* data() const noexcept { return data_; }
    xloom::shape const& shape() const noexcept { return layout_.dims; }
    /// Returns the strides in items.
    xloom::strides const& strides() const noexcept { return layout_.strides; }

private:
    std::unique_ptr<void, void (*)(void*)> managed_{nullptr, [](void*) {}};
    detail::strided_layout layout_;
    T* data_;
};

/// Tensors of DLPack are tensors; a const one is read.
template <class T, std::size_t Rank>
struct enable_tensor<dlpack_tensor<T, Rank>> {
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t rank = Rank;

    static T* data(dlpack_tensor<T, Rank>& tensor) { return tensor.data(); }
    static T const* data(dlpack_tensor<T, Rank> const& tensor) { return tensor.data(); }
    static auto const& shape(dlpack_tensor<T, Rank> const& tensor) { return tensor.shape(); }
    static auto const& strides(dlpack_tensor<T, Rank> const& tensor) { return tensor.strides(); }
};

namespace detail {

template <class T, std::size_t Rank>
struct owned<dlpack_tensor<T, Rank>> {
    using type = typename temporary_of<std::remove_const_t<T>,
        typename element_view<std::remove_const_t<T>, Rank>::shape_type>::type;
};

/// A container, and the managed tensor that refers to it.
template <class X, class Managed>
struct dlpack_owner {
    X container;
    std::array<std::int64_t, max_rank> dims{}, strides{};
    Managed managed{};
};

/// Returns a managed tensor that owns `x`, moved in if it is an rvalue.
template <class Managed, class X>
std::unique_ptr<Managed, dlpack_deleter> to_managed(std::string_view op, X&& x)
{
    using container = owned_t<X>;
    using owner_type = dlpack_owner<container, Managed>;
    check_rank(op, "x", detail::rank_of(x));
    auto owner = std::make_unique<owner_type>(owner_type{detail::to_owned(std::forward<X>(x))});
    strided_layout const layout = detail::layout_of(owner->container);
    std::copy(layout.dims.begin(), layout.dims.end(), owner->dims.begin());
    std::copy(layout.strides.begin(), layout.strides.end(), owner->strides.begin());
    DLTensor& tensor = owner->managed.dl_tensor;
    tensor.data = enable_tensor<container>::data(owner->container);
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int>(layout.dims.size());
    tensor.dtype = dlpack_type<item_t<container>>();
    tensor.shape = owner->dims.data();
    tensor.strides = owner->strides.data();
    owner->managed.manager_ctx = owner.get();
    owner->managed.deleter = [](Managed* managed) { delete static_cast<owner_type*>(managed->manager_ctx); };
    return std::unique_ptr<Managed, dlpack_deleter>(&owner.release()->managed);
}

} // namespace detail

/// Returns a managed tensor that owns `x`, moved in if it is an rvalue, for another library:
/// to_dlpack(std::move(x)).release(). The other library calls its deleter, on any thread.
///
/// Types     x: a tensor of items as dlpack_tensor's. What a view refers to is copied.
/// Errors    shape_error: a rank above max_rank.
/// Cost      an allocation, and a copy of an lvalue or a view.
/// Example   see dlpack_tensor.
template <class X>
dlpack_handle to_dlpack(X&& x)
{
    return detail::to_managed<DLManagedTensor>("xloom::to_dlpack", std::forward<X>(x));
}

#ifdef DLPACK_MAJOR_VERSION
/// Returns a managed tensor of DLPack 1 that owns `x`, as to_dlpack. Its flags say that the other library
/// alone owns the items. Declared with the header of DLPack 1 or newer only.
///
/// Types     as to_dlpack.
/// Errors    as to_dlpack.
/// Cost      as to_dlpack.
/// Example   see dlpack_tensor.
template <class X>
dlpack_versioned_handle to_dlpack_versioned(X&& x)
{
    auto handle =
        detail::to_managed<DLManagedTensorVersioned>("xloom::to_dlpack_versioned", std::forward<X>(x));
    handle->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    handle->flags = DLPACK_FLAG_BITMASK_IS_COPIED;
    return handle;
}
#endif

} // namespace xloom::inline XLOOM_ABI
