#include "traineddata.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace reader {

namespace {

constexpr std::size_t most_components = 1000;

std::string_view name_of(component which)
{
    switch (which) {
    case component::lstm:
        return "lstm";
    case component::lstm_unicharset:
        return "lstm-unicharset";
    case component::lstm_recoder:
        return "lstm-recoder";
    }
    return "unknown";
}

} // namespace

traineddata::traineddata(std::vector<char> bytes) : bytes_(std::move(bytes))
{
    byte_reader table("traineddata", bytes_);
    std::size_t const count = table.read_in<std::uint32_t>("the number of components", 1, most_components);
    std::size_t const begin = sizeof(std::uint32_t) + count * sizeof(std::int64_t);
    std::vector<std::optional<std::size_t>> offsets(count);
    std::size_t last = begin;
    for (std::size_t i = 0; i < count; ++i) {
        auto const offset = table.read<std::int64_t>(join("the offset of component ", i));
        if (offset == -1)
            continue;
        if (std::cmp_less(offset, last) || std::cmp_greater(offset, bytes_.size()))
            table.fail(join("the offset of component ", i, " must be from ", last, " to ", bytes_.size(),
                ", but is ", offset));
        last = static_cast<std::size_t>(offset);
        offsets[i] = last;
    }
    components_.resize(count);
    std::size_t end = bytes_.size();
    for (std::size_t i = count; i-- > 0;)
        if (offsets[i]) {
            components_[i] = std::span<char const>(bytes_).subspan(*offsets[i], end - *offsets[i]);
            end = *offsets[i];
        }
}

byte_reader traineddata::open(component which) const
{
    auto const number = static_cast<std::size_t>(which);
    if (number >= components_.size() || components_[number].empty())
        throw traineddata_error("traineddata", 0,
            join("the file must have the component ", name_of(which), " (", number, "), but has none"));
    return {std::string(name_of(which)), components_[number]};
}

traineddata read_traineddata(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!std::filesystem::is_regular_file(path) || !file)
        throw std::runtime_error("the file cannot be opened");
    std::vector<char> bytes(std::filesystem::file_size(path));
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        throw std::runtime_error("the file cannot be read");
    return traineddata(std::move(bytes));
}

} // namespace reader
