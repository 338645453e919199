#pragma once
// A recording, cut into the chunks that the network takes.

#include <cstddef>
#include <string>

#include <xtensor/xtensor.hpp>

inline constexpr int sample_rate = 16000;
inline constexpr std::size_t chunk_size = 512;
inline constexpr double chunk_seconds = static_cast<double>(chunk_size) / sample_rate; // 32 ms

struct recording {
    std::string name; ///< the file's name without its folder
    xt::xtensor<float, 2>
        chunks; ///< [T, chunk_size], samples in [-1, 1); a last part shorter than a chunk is omitted
};

/// Reads a mono 16 kHz file of any format that libsndfile knows; one that ends in .raw holds 16-bit
/// little-endian samples and no header, and is read without libsndfile. Throws std::runtime_error, in one
/// line, for any other file, for a damaged one and for one shorter than a chunk.
recording read_recording(std::string const& path);
