#include "external_data.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "budget.hpp"
#include "text.hpp"
#include "value.hpp"

namespace runner {

namespace {

namespace fs = std::filesystem;

/// The file of one tensor's items, and where they are in it.
class external_items {
public:
    external_items(onnx::TensorProto const& proto, fs::path const& folder) : proto_(proto)
    {
        fs::path const location = entry("location").value_or("");
        if (location.empty())
            refuse("is in another file, but names none");
        if (location.is_absolute() || std::ranges::count(location, fs::path("..")) != 0)
            refuse("is in the file {}, which is not below the model's folder", named(location));
        std::error_code failed;
        fs::path const root = fs::canonical(folder.empty() ? fs::path(".") : folder, failed);
        file_ = fs::canonical(root / location, failed);
        if (failed || !fs::is_regular_file(file_, failed))
            refuse("is in the file {}, which is none beside the model", named(location));
        if (std::mismatch(root.begin(), root.end(), file_.begin(), file_.end()).first != root.end())
            refuse("is in the file {}, where a link leads out of the model's folder", named(location));
        std::uint64_t const size = fs::file_size(file_, failed);
        offset_ = number("offset").value_or(0);
        if (failed || offset_ > size)
            refuse("begins at byte {} of the file {}, which has {} bytes", offset_, named(location), size);
        length_ = number("length").value_or(size - offset_);
        if (length_ > size - offset_)
            refuse("has {} bytes from byte {} of the file {} on, which has {} bytes", length_, offset_,
                named(location), size);
    }

    std::uint64_t length() const { return length_; }

    std::string read() const
    {
        std::string bytes(static_cast<std::size_t>(length_), '\0');
        std::ifstream file(file_, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(offset_));
        file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (static_cast<std::size_t>(file.gcount()) != bytes.size())
            refuse("is in the file {}, which cannot be read", named(file_.filename()));
        return bytes;
    }

private:
    template <class... Values>
    [[noreturn]] void refuse(fmt::format_string<Values const&...> text, Values const&... values) const
    {
        throw runner_error(
            fmt::format("the tensor {} {}", in_quotes(proto_.name()), fmt::format(text, values...)));
    }

    static std::string named(fs::path const& location) { return in_quotes(location.string()); }

    std::optional<std::string> entry(std::string_view key) const
    {
        for (auto const& each : proto_.external_data())
            if (each.key() == key)
                return each.value();
        return std::nullopt;
    }

    std::optional<std::uint64_t> number(std::string_view key) const
    {
        auto const text = entry(key);
        if (!text)
            return std::nullopt;
        std::uint64_t number = 0;
        char const* const end = text->data() + text->size();
        if (auto const [last, error] = std::from_chars(text->data(), end, number);
            text->empty() || last != end || error != std::errc())
            refuse("is in another file, whose {} {} is no number of bytes", key, in_quotes(*text));
        return number;
    }

    onnx::TensorProto const& proto_;
    fs::path file_{};
    std::uint64_t offset_ = 0, length_ = 0;
};

/// Reads the items of the tensors of a model into it.
class reader {
public:
    explicit reader(fs::path const& folder) : folder_(folder) {}

    void read(onnx::GraphProto& graph)
    {
        for (auto& each : *graph.mutable_initializer())
            read(each);
        read(*graph.mutable_node());
    }

    void read(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes)
    {
        for (auto& node : nodes)
            for (auto& attribute : *node.mutable_attribute()) {
                if (attribute.has_t())
                    read(*attribute.mutable_t());
                for (auto& each : *attribute.mutable_tensors())
                    read(each);
                if (attribute.has_sparse_tensor()) {
                    read(*attribute.mutable_sparse_tensor()->mutable_values());
                    read(*attribute.mutable_sparse_tensor()->mutable_indices());
                }
                if (attribute.has_g())
                    read(*attribute.mutable_g());
            }
    }

private:
    void read(onnx::TensorProto& proto)
    {
        if (proto.data_location() != onnx::TensorProto::EXTERNAL)
            return;
        external_items const items(proto, folder_);
        taken_.grow(static_cast<std::size_t>(items.length()));
        proto.set_raw_data(items.read());
        proto.clear_external_data();
        proto.set_data_location(onnx::TensorProto::DEFAULT);
    }

    fs::path const& folder_;
    reservation taken_{};
};

} // namespace

void read_external_data(onnx::ModelProto& model, fs::path const& folder)
{
    reader all(folder);
    all.read(*model.mutable_graph());
    for (auto& function : *model.mutable_functions())
        all.read(*function.mutable_node());
}

} // namespace runner
