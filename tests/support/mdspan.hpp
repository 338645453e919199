#pragma once
// mdspan: the standard library's, or where it has none Kokkos', or else a class with the members of
// [mdspan.mdspan].

#include <array>
#include <cstddef>

#if __has_include(<mdspan>)
#include <mdspan>
#endif
#ifdef __cpp_lib_mdspan
#define XLOOM_TEST_MDSPAN std
#elif __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#define XLOOM_TEST_MDSPAN Kokkos
#endif

namespace support {

#ifdef XLOOM_TEST_MDSPAN

namespace library = XLOOM_TEST_MDSPAN;

template <class T, std::size_t Rank>
using mdspan = library::mdspan<T, library::dextents<std::size_t, Rank>, library::layout_stride>;

template <class T, std::size_t Rank>
mdspan<T, Rank> make_mdspan(
    T* data, std::array<std::size_t, Rank> const& dims, std::array<std::size_t, Rank> const& strides)
{
    using extents = library::dextents<std::size_t, Rank>;
    return {data, library::layout_stride::mapping<extents>(extents(dims), strides)};
}

#else

template <std::size_t Rank>
struct strided_mapping {
    std::array<std::size_t, Rank> dims, strides;
    static constexpr bool is_always_strided() noexcept { return true; }
};

template <class T, std::size_t Rank>
class mdspan {
public:
    using element_type = T;
    using reference = T&;
    using index_type = std::size_t;
    using mapping_type = strided_mapping<Rank>;
    using accessor_type = void;

    mdspan(T* data, mapping_type const& mapping) : data_(data), mapping_(mapping) {}
    static constexpr std::size_t rank() noexcept { return Rank; }
    T* const& data_handle() const noexcept { return data_; }
    std::size_t extent(std::size_t axis) const noexcept { return mapping_.dims[axis]; }
    std::size_t stride(std::size_t axis) const
        requires(Rank > 0)
    {
        return mapping_.strides[axis];
    }

private:
    T* data_;
    mapping_type mapping_;
};

template <class T, std::size_t Rank>
mdspan<T, Rank> make_mdspan(
    T* data, std::array<std::size_t, Rank> const& dims, std::array<std::size_t, Rank> const& strides)
{
    return {data, {dims, strides}};
}

#endif

} // namespace support
