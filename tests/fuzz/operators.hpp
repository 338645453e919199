#pragma once
// One call of an operator, chosen by bytes, legal or not: checked by a rule of its own and compared with the
// textbook.
//
// Each throws wrong_answer if xloom does anything but what it must: give the reference's result, where it
// returns true, or refuse with an error that fits and leave what it was given untouched.

#include "decoder.hpp"

namespace fuzz {

bool try_scan(decoder bytes);
bool try_loop(decoder bytes);
bool try_scatter_nd(decoder bytes);
bool try_gather_nd(decoder bytes);
bool try_attn_lstm(decoder bytes);
bool try_prefix(decoder bytes);
bool try_recurrent(decoder bytes);

/// The first byte tells the operator, below their number.
inline constexpr std::size_t operator_count = 7;
bool try_operator(std::span<unsigned char const> bytes);

} // namespace fuzz
