#pragma once
// The container of a result that has the rank of an operand.

#include <xloom/detail/tensor/tensor_ref.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class X>
struct result_container {
    using type = xt::xarray<first_item_t<X>>;
};
template <tensor X>
    requires(enable_tensor<bare<X>>::rank != dynamic_rank)
struct result_container<X> {
    using type = xt::xtensor<item_t<X>, enable_tensor<bare<X>>::rank>;
};

/// The container of a result for an operand of type X: of its rank, if that is known at compile time.
template <class X>
using result_container_t = typename result_container<X>::type;

} // namespace xloom::inline XLOOM_ABI::detail
