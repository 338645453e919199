#include "recording.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <sndfile.hh>

namespace {

[[noreturn]] void refuse(std::string const& path, std::string const& why)
{
    throw std::runtime_error("the recording " + path + " " + why);
}

bool is_raw(std::filesystem::path const& path) { return path.extension() == ".raw"; }

SndfileHandle open(std::string const& path)
{
    if (!std::filesystem::is_regular_file(path))
        refuse(path, "is not there, or is no file");
    if (is_raw(path))
        return SndfileHandle(
            path, SFM_READ, SF_FORMAT_RAW | SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE, 1, sample_rate);
    return SndfileHandle(path);
}

/// libsndfile reads what there is of a truncated file; that the header promises more, it only notes in its
/// log.
bool is_truncated(std::string const& path, SndfileHandle& file)
{
    if (is_raw(path))
        return std::filesystem::file_size(path) % sizeof(short) != 0;
    std::array<char, 16384> log{};
    file.command(SFC_GET_LOG_INFO, log.data(), static_cast<int>(log.size()));
    std::string const text = log.data();
    auto const data = text.find("\ndata : ");
    return data != std::string::npos &&
           text.substr(data + 1, text.find('\n', data + 1) - data).find("should be") != std::string::npos;
}

} // namespace

recording read_recording(std::string const& path)
{
    SndfileHandle file = open(path);
    if (file.error() != SF_ERR_NO_ERROR)
        refuse(path, std::string("cannot be read: ") + file.strError());
    if (file.samplerate() != sample_rate)
        refuse(path, "must have 16000 samples a second, but has " + std::to_string(file.samplerate()));
    if (file.channels() != 1)
        refuse(path, "must have one channel, but has " + std::to_string(file.channels()));
    if (is_truncated(path, file))
        refuse(path, "is truncated: it ends before the last sample that it should hold");

    auto const samples = static_cast<std::size_t>(file.frames());
    if (samples < chunk_size)
        refuse(path, "must have at least 512 samples (32 ms), but has " + std::to_string(samples));
    xt::xtensor<float, 2> chunks({samples / chunk_size, chunk_size});
    auto const wanted = static_cast<sf_count_t>(chunks.size());
    if (file.read(chunks.data(), wanted) != wanted)
        refuse(path, "is damaged: its samples cannot be read");
    return {std::filesystem::path(path).filename().string(), std::move(chunks)};
}
