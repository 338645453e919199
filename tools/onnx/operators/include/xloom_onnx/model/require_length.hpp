#pragma once
// The check of sequences that are mapped together.

#include <cstddef>

#include <xloom/kernels.hpp>

namespace xloom_onnx {

/// Requires that a sequence has as many elements as another.
///
/// Errors    shape_error.
template <class Sequence>
void require_length(Sequence const& sequence, std::size_t length)
{
    if (sequence.size() != length)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx: sequences that are mapped together must be equally long, but one has ",
            sequence.size(), " elements and another ", length);
}

} // namespace xloom_onnx
