#pragma once
// What becomes of an index that lies outside its axis.

namespace xloom {

/// check: an index_error before the first write.  assume: you promise that there is none; verified in debug builds only.
/// drop: its update or element is left out.  clip: the nearest index that there is.
/// An index from -d to -1 lies inside an axis of length d: it counts from the end.
enum class bounds : unsigned char { check, assume, drop, clip };

} // namespace xloom
