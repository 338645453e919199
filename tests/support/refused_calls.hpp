#pragma once
// Calls that recurrent operators refuse, and the sentences that say so.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "placed_tensor.hpp"
#include "xtensor_extras.hpp"

namespace refused_calls {

using floats = placed_tensor<float>;
using lengths = xt::xtensor<std::int64_t, 1>;

/// A tensor of ones.
inline floats ones(textbook::dims const& shape)
{
    floats tensor(shape, placement::row_major);
    tensor.memory.assign(tensor.memory.size(), 1);
    return tensor;
}

/// Checks that a call throws an Error with this text.
template <class Error, class Call>
void refuse(std::string const& text, Call const& call)
{
    CHECK_THROWS_WITH_AS(call(), text.c_str(), Error);
}

/// The sentence about the constants' shapes, around the facts.
inline std::string misshapen(std::string const& facts, std::string const& sizes)
{
    return "the operands must have the shapes that " + sizes + " give them, but " + facts +
           ". Give it that shape.";
}

/// The same sentence of operands that have as many items as they must.
inline std::string reshapable(std::string const& sentence)
{
    return sentence.substr(0, sentence.rfind(". ")) + ". Reshape it.";
}

} // namespace refused_calls
