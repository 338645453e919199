#pragma once
// The only file that includes xtensor, of the releases 0.24.3 to 0.27.1.
//
// Why: 0.26 moved every header into folders, without forwarding headers. Up to 0.25, g++ in C++20 mode
// deduces xtensor<T, 4> as the type of the sum of two xarrays (it takes the allocator for a non-type
// parameter), whose evaluation throws bad_array_new_length: the specialisation below gives the intended type.

#include <xloom/detail/core/abi.hpp>

#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xbuffer_adaptor.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xeval.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#include <xtensor/xeval.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace xt::detail {

template <>
struct xtype_for_shape<svector<std::size_t, 4>> {
    template <class T, layout_type L>
    using type = xarray<T, L>;
};

} // namespace xt::detail
