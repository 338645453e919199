#pragma once
// The errors of a model on words that it has not learnt.

#include <xloom/interop/tbb.hpp>

#include "edit_distance.hpp"
#include "pronouncer.hpp"

namespace g2p {

/// Says words greedily and counts what is wrong.
error_counts evaluate(
    pronouncer const& model, std::vector<entry> const& words, xloom::tbb_policy const& threads);

} // namespace g2p
