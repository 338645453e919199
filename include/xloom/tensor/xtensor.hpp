#pragma once
// The only file that includes xtensor: its releases 0.24.3 to 0.27.1 under one roof.
//
// Why: 0.26 moved every header into folders without forwarders. And up to 0.25, under C++20, g++ gives the
// sum of two xarrays the type xtensor<T, 4> (the allocator is taken for a non-type parameter), whose
// evaluation throws bad_array_new_length: the specialisation below names the type that was meant.

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
