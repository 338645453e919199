#pragma once
// A user's own container whose items are not contiguous.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include <xloom/detail/tensor/tensor.hpp>

namespace user {

/// Row-major items at every second place; the places between them must stay 99.
template <class T, std::size_t Rank>
struct spaced {
    std::array<std::size_t, Rank> dims{};
    std::vector<T> places{};

    spaced() = default;
    explicit spaced(std::array<std::size_t, Rank> const& dims_) : dims(dims_)
    {
        places.assign(std::accumulate(dims.begin(), dims.end(), std::size_t{2}, std::multiplies<>()), T(99));
    }

    T& operator[](std::size_t i) { return places[2 * i]; }
    T const& operator[](std::size_t i) const { return places[2 * i]; }

    /// Returns the items; an empty list if one was written between them.
    std::vector<T> items() const
    {
        std::vector<T> all;
        for (std::size_t i = 0; 2 * i < places.size(); ++i) {
            if (places[2 * i + 1] != T(99))
                return {};
            all.push_back((*this)[i]);
        }
        return all;
    }
};

} // namespace user

template <class T, std::size_t Rank>
struct xloom::enable_tensor<user::spaced<T, Rank>> {
    using spaced = user::spaced<T, Rank>;
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    static T* data(spaced& s) { return s.places.data(); }
    static T const* data(spaced const& s) { return s.places.data(); }
    static auto const& shape(spaced const& s) { return s.dims; }
    static std::array<std::ptrdiff_t, Rank> strides(spaced const& s)
    {
        std::array<std::ptrdiff_t, Rank> steps{};
        std::ptrdiff_t step = 2;
        for (std::size_t axis = Rank; axis-- != 0; step *= static_cast<std::ptrdiff_t>(s.dims[axis]))
            steps[axis] = step;
        return steps;
    }
    static spaced make(xloom::shape const& dims)
    {
        std::array<std::size_t, Rank> own{};
        std::copy(dims.begin(), dims.end(), own.begin());
        return spaced(own);
    }
    template <std::size_t R>
    using rebind = user::spaced<T, R>;
};
