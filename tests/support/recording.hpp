#pragma once
// What PyTorch 1.13 computed (tests/data/record_pytorch.py). XLOOM_TEST_DATA is the path of tests/data.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <xloom/tensor.hpp>

namespace recorded {

/// Tensors by their names, from a file of text.
class tensor_file {
public:
    explicit tensor_file(std::string const& path)
    {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            std::size_t const open = line.find(" ["), close = line.find("] ");
            if (open == std::string::npos || close == std::string::npos)
                continue; // the comment at the top
            std::string dims = line.substr(open + 2, close - open - 2);
            std::replace(dims.begin(), dims.end(), ',', ' ');
            tensors_[line.substr(0, open)] = {
                numbers<std::size_t>(dims), numbers<float>(line.substr(close + 2))};
        }
        REQUIRE_FALSE(tensors_.empty());
    }

    bool has(std::string const& name) const { return tensors_.count(name) != 0; }

    template <std::size_t Rank>
    xt::xtensor<float, Rank> tensor(std::string const& name) const
    {
        INFO(name);
        REQUIRE(has(name));
        auto const& [dims, items] = tensors_.at(name);
        REQUIRE(dims.size() == Rank);
        std::array<std::size_t, Rank> shape{};
        std::copy(dims.begin(), dims.end(), shape.begin());
        auto result = xt::xtensor<float, Rank>::from_shape(shape);
        REQUIRE(items.size() == result.size());
        std::copy(items.begin(), items.end(), result.begin());
        return result;
    }

private:
    template <class T>
    static std::vector<T> numbers(std::string const& text)
    {
        std::istringstream from(text);
        return {std::istream_iterator<T>(from), {}};
    }

    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<float>>> tensors_;
};

inline tensor_file const& pytorch()
{
    static tensor_file const file(XLOOM_TEST_DATA "/pytorch.txt");
    return file;
}

/// Checks that floats are equal to those of `expected` but for 1e-6 of the larger of 1 and the number.
template <class A, class B>
void check_equal(A const& actual, B const& expected)
{
    REQUIRE(actual.shape() == expected.shape());
    for (auto x = actual.begin(), y = expected.begin(); x != actual.end(); ++x, ++y)
        CHECK(std::abs(*x - *y) <= 1e-6f * std::max(1.0f, std::abs(*y)));
}

/// Y [T, D, N, H] as PyTorch's output [T, N, D H].
inline xt::xtensor<float, 3> output_of(xt::xtensor<float, 4> const& Y)
{
    auto const [T, D, N, H] = Y.shape();
    auto output = xt::xtensor<float, 3>::from_shape({T, N, D * H});
    for (std::size_t t = 0; t < T; ++t)
        for (std::size_t n = 0; n < N; ++n)
            for (std::size_t j = 0; j < D * H; ++j)
                output(t, n, j) = Y(t, j / H, n, j % H);
    return output;
}

} // namespace recorded
