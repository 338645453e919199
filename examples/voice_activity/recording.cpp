#include "recording.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#if __has_include(<sndfile.hh>)
#include <sndfile.hh>
#endif

namespace {

[[noreturn]] void refuse(std::string const& path, std::string const& why)
{
    throw std::runtime_error("the recording " + path + " " + why);
}

/// Returns how many whole chunks there are, in samples.
std::size_t whole_chunks(std::string const& path, std::size_t samples)
{
    if (samples < chunk_size)
        refuse(path, "must have at least 512 samples (32 ms), but has " + std::to_string(samples));
    return samples / chunk_size * chunk_size;
}

std::vector<float> read_raw(std::string const& path)
{
    auto const bytes = static_cast<std::size_t>(std::filesystem::file_size(path));
    if (bytes % 2 != 0)
        refuse(path, "is truncated: it ends before the last sample that it should hold");
    std::vector<float> items(whole_chunks(path, bytes / 2));
    std::vector<char> read(2 * items.size());
    if (!std::ifstream(path, std::ios::binary).read(read.data(), static_cast<std::streamsize>(read.size())))
        refuse(path, "is damaged: its samples cannot be read");
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(read[i]); };
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i] = static_cast<std::int16_t>(byte(2 * i) | byte(2 * i + 1) << 8) / 32768.0F;
    return items;
}

#if __has_include(<sndfile.hh>)
/// libsndfile reads what there is of a truncated file; that the header promises more, it only notes in its
/// log.
bool is_truncated(SndfileHandle& file)
{
    std::array<char, 16384> log{};
    file.command(SFC_GET_LOG_INFO, log.data(), static_cast<int>(log.size()));
    std::string const text = log.data();
    auto const data = text.find("\ndata : ");
    return data != std::string::npos &&
           text.substr(data + 1, text.find('\n', data + 1) - data).find("should be") != std::string::npos;
}

std::vector<float> read_other(std::string const& path)
{
    SndfileHandle file(path);
    if (file.error() != SF_ERR_NO_ERROR)
        refuse(path, std::string("cannot be read: ") + file.strError());
    if (file.samplerate() != sample_rate)
        refuse(path, "must have 16000 samples a second, but has " + std::to_string(file.samplerate()));
    if (file.channels() != 1)
        refuse(path, "must have one channel, but has " + std::to_string(file.channels()));
    if (is_truncated(file))
        refuse(path, "is truncated: it ends before the last sample that it should hold");
    std::vector<float> items(whole_chunks(path, static_cast<std::size_t>(file.frames())));
    auto const wanted = static_cast<sf_count_t>(items.size());
    if (file.read(items.data(), wanted) != wanted)
        refuse(path, "is damaged: its samples cannot be read");
    return items;
}
#else
std::vector<float> read_other(std::string const& path)
{
    refuse(path, "must end in .raw: the program is built without libsndfile");
}
#endif

} // namespace

recording read_recording(std::string const& path)
{
    if (!std::filesystem::is_regular_file(path))
        refuse(path, "is not there, or is no file");
    std::filesystem::path const file = path;
    auto const items = file.extension() == ".raw" ? read_raw(path) : read_other(path);
    xt::xtensor<float, 2> chunks({items.size() / chunk_size, chunk_size});
    std::copy(items.begin(), items.end(), chunks.begin());
    return {file.filename().string(), std::move(chunks)};
}
