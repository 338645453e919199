#include "recurrent_cost.hpp"

#include <algorithm>

#include "moves.hpp"

namespace runner {

namespace {

/// The indices of the inputs, which are the same in all operators; those from QW on are AttnLSTM's.
struct at {
    static constexpr std::size_t X = 0, R = 2, QW = 8, MW = 9, V = 10, M = 11;
};

/// 16-bit floats are computed as float.
std::size_t number_bytes(tensor const& t) { return std::max(t.item_size(), sizeof(float)); }

/// Returns the length of a row padded to whole cache lines.
std::size_t filled_up(std::size_t numbers)
{
    constexpr std::size_t line = 16; // of float, the smallest
    return (numbers + line - 1) / line * line;
}

bool has_rank_3(call const& node, std::size_t i)
{
    return node.has(i) && node.tensor_at(i).shape().size() == 3;
}

} // namespace

void require_affordable(call const& node)
{
    if (!has_rank_3(node, at::X) || !has_rank_3(node, at::R))
        return; // the operator will say so
    tensor const& x = node.tensor_at(at::X);
    xloom::shape const &rows = x.shape(), &weights = node.tensor_at(at::R).shape();
    require_room_for(x, {rows[0], rows[1], weights[0], weights[2]});
    auto const size_of = [&](std::size_t i) {
        return node.has(i) ? static_cast<double>(node.tensor_at(i).size()) : 0;
    };
    double products = 0;
    for (std::size_t i = 1; i < node.input_count(); ++i)
        products += size_of(i);
    if (has_rank_3(node, at::M))
        products += static_cast<double>(node.tensor_at(at::M).shape()[1]) * size_of(at::V);
    spend_products(products * static_cast<double>(rows[0]) * static_cast<double>(rows[1]));
}

std::size_t packed_bytes(std::map<std::size_t, tensor const*> const& weights)
{
    auto const last_dim = [&](std::size_t i) {
        auto const found = weights.find(i);
        return found == weights.end() || found->second->shape().empty()
                   ? 1
                   : std::max<std::size_t>(found->second->shape().back(), 1);
    };
    std::size_t bytes = 0;
    for (auto const& [i, each] : weights) {
        std::size_t const row = last_dim(i < at::QW ? at::R : i);
        bytes += (each->size() + row - 1) / row * filled_up(row) * number_bytes(*each);
    }
    return bytes;
}

std::size_t working_bytes(call const& node)
{
    if (!has_rank_3(node, at::X) || !has_rank_3(node, at::R))
        return 0;
    constexpr std::size_t together = 96, states_and_sums = 8; // rows, and numbers for each unit of a row
    tensor const& x = node.tensor_at(at::X);
    xloom::shape const &dims = x.shape(), &weights = node.tensor_at(at::R).shape();
    std::size_t const N = dims[node.integer("layout", 0) == 0 ? 1 : 0], D = weights[0], H = weights[2];
    std::size_t numbers = D * std::max(N, together) * (2 * dims[2] + states_and_sums * filled_up(H));
    numbers += D * H * (dims[0] * dims[1] + 2 * N);
    if (has_rank_3(node, at::M) && has_rank_3(node, at::MW)) {
        xloom::shape const &memory = node.tensor_at(at::M).shape(), &keys = node.tensor_at(at::MW).shape();
        numbers += D * N * (memory[1] + 1) * (filled_up(keys[2]) + filled_up(memory[2]));
    }
    return numbers * number_bytes(x);
}

} // namespace runner
