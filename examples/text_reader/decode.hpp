#pragma once
// From the network's distributions to text.

#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

namespace reader {

/// Decodes the best path of connectionist temporal classification (CTC): the most probable code of each
/// column, without repetitions and blanks. Spaces at the ends are dropped, and repeated spaces are one.
///
/// Shapes    probabilities [columns, codes]; characters [codes].
std::string decode_best_path(xt::xtensor<float, 2> const& probabilities,
    std::vector<std::string> const& characters, std::size_t blank);

} // namespace reader
