#include "operators.hpp"

namespace fuzz {

bool try_operator(std::span<unsigned char const> bytes)
{
    decoder rest(bytes);
    switch (rest.below(operator_count)) {
    case 0:
        return try_scan(rest);
    case 1:
        return try_loop(rest);
    case 2:
        return try_scatter_nd(rest);
    case 3:
        return try_gather_nd(rest);
    case 4:
        return try_attn_lstm(rest);
    case 5:
        return try_prefix(rest);
    default:
        return try_recurrent(rest);
    }
}

} // namespace fuzz
