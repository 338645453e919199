#pragma once
// The named weights of an ONNX file.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

class weights {
public:
    /// Reads every float32 initializer of the file's main graph. Throws std::runtime_error, in one line, if
    /// that is not possible.
    explicit weights(std::string path);

    /// The weight of this name. Throws std::runtime_error if the file lacks it or holds it with another
    /// shape.
    template <std::size_t Rank>
    xt::xtensor<float, Rank> get(std::string const& name, std::array<std::size_t, Rank> const& shape) const
    {
        std::vector<float> const& values = find(name, {shape.begin(), shape.end()});
        xt::xtensor<float, Rank> weight(shape);
        std::copy(values.begin(), values.end(), weight.begin());
        return weight;
    }

private:
    struct tensor {
        std::vector<std::size_t> shape;
        std::vector<float> values;
    };

    std::vector<float> const& find(std::string const& name, std::vector<std::size_t> const& shape) const;

    std::string path_;
    std::map<std::string, tensor> tensors_;
};
