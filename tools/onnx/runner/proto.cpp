#include "proto.hpp"

#include <complex>
#include <limits>
#include <utility>

#include "byte_order.hpp"
#include "text.hpp"
#include "types.hpp"

// A TensorProto's items are stored in raw_data, as the bytes of a little-endian machine, or as entries of the
// typed field for their element type. Items of 2 and 4 bits are packed, the first one lowest: in bytes, or in
// entries that hold a byte each.

namespace runner {

namespace {

template <class T>
inline constexpr unsigned bits_of = 8 * sizeof(T);
template <element_type Element>
inline constexpr unsigned bits_of<xloom::small_int<Element>> =
    static_cast<unsigned>(xloom::small_int<Element>::width);
template <element_type Element>
inline constexpr unsigned bits_of<xloom::small_float<Element>> =
    Element == element_type::float4_e2m1 ? 4u
                                         : 8u * static_cast<unsigned>(sizeof(xloom::small_float<Element>));

template <class T>
inline constexpr std::size_t items_per_byte = bits_of<T> < 8 ? 8 / bits_of<T> : 1;
template <class T>
inline constexpr bool is_packed = bits_of<T> < 8;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
/// Types that are given as patterns of bits.
template <class T>
inline constexpr bool is_small = false;
template <element_type Element>
inline constexpr bool is_small<xloom::small_int<Element>> = true;
template <element_type Element>
inline constexpr bool is_small<xloom::small_float<Element>> = true;

/// Reads one tensor: its head, which the constructor checks, then its items.
class tensor_reader {
public:
    explicit tensor_reader(onnx::TensorProto const& proto)
        : proto_(proto),
          type_(static_cast<element_type>(proto.data_type())),
          dims_(read_dims()),
          count_(xloom::element_count(dims_))
    {}

    tensor read() const
    {
        return with_type(type_, [this]<class T>(std::type_identity<T>) {
            return proto_.has_raw_data() ? read_raw<T>() : read_typed<T>();
        });
    }

private:
    template <class... Values>
    [[noreturn]] void refuse(fmt::format_string<Values const&...> text, Values const&... values) const
    {
        throw runner_error(fmt::format("{} {}",
            proto_.name().empty() ? "a tensor" : "the tensor " + in_quotes(proto_.name()),
            fmt::format(text, values...)));
    }

    xloom::shape read_dims() const
    {
        if (proto_.data_type() <= 0 || proto_.data_type() >= static_cast<int>(xloom::element_type_count))
            refuse("has the element type {}, which is none of ONNX's", proto_.data_type());
        if (proto_.data_location() == onnx::TensorProto::EXTERNAL || proto_.external_data_size() != 0)
            refuse("keeps its items in another file, but there is no folder to find it in");
        if (proto_.has_segment())
            refuse("is a segment of another one, which is not implemented");
        if (static_cast<std::size_t>(proto_.dims_size()) > xloom::max_rank)
            refuse("has rank {}, more than {}", proto_.dims_size(), xloom::max_rank);
        for (std::int64_t const dim : proto_.dims())
            if (dim < 0)
                refuse("has the negative dimension {}", dim);
            else if (!std::in_range<std::size_t>(dim)) // where that has 32 bits
                refuse("has the dimension {}, which is more than can be counted", dim);
        xloom::shape const dims(proto_.dims().begin(), proto_.dims().end());
        if (!xloom::has_strides(dims, item_bytes(type_)))
            refuse("has the shape {}, which has more items than can be counted", dims);
        return dims;
    }

    /// Returns the number of entries for all items: of a typed field, or, of packed items, bytes.
    template <class T>
    std::size_t entries_needed() const
    {
        return is_complex<T> ? 2 * count_
                             : count_ / items_per_byte<T> + (count_ % items_per_byte<T> != 0 ? 1 : 0);
    }

    // The file's size is compared before anything is allocated for the items.
    template <class T>
    tensor read_raw() const
    {
        std::string const& bytes = proto_.raw_data();
        if constexpr (std::is_same_v<T, std::string>) {
            refuse("holds strings in raw_data, where they cannot be");
        } else {
            std::size_t const needed = is_packed<T> ? entries_needed<T>() : count_ * sizeof(T);
            if (bytes.size() != needed)
                refuse("is {}{} and needs {} bytes, but has {}", name_of(type_), dims_, needed, bytes.size());
            tensor result(type_, dims_);
            auto const items = result.items<T>();
            auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
            if constexpr (is_packed<T>)
                unpack(items, byte);
            else if constexpr (std::is_same_v<T, bool>)
                for (std::size_t i = 0; i < count_; ++i)
                    items[i] = boolean(byte(i));
            else
                copy_in_order<T>(
                    std::endian::little, bytes.data(), count_, reinterpret_cast<char*>(result.bytes()));
            return result;
        }
    }

    template <class T>
    tensor read_typed() const
    {
        auto const& entries = field_of<T>();
        std::size_t const needed = entries_needed<T>();
        if (static_cast<std::size_t>(entries.size()) != needed)
            refuse("is {}{} and needs {} entries of {}, but has {}", name_of(type_), dims_, needed,
                field_name<T>(), entries.size());
        tensor result(type_, dims_);
        auto const items = result.items<T>();
        auto const entry = [&](std::size_t i) -> decltype(auto) { return entries[static_cast<int>(i)]; };
        if constexpr (is_packed<T>) {
            unpack(items, [&](std::size_t i) { return pattern<8>(entry(i)); });
        } else {
            for (std::size_t i = 0; i < count_; ++i)
                if constexpr (is_complex<T>)
                    items[i] = T(entry(2 * i), entry(2 * i + 1));
                else if constexpr (is_small<T>)
                    items[i] = T::from_bits(pattern<bits_of<T>>(entry(i)));
                else if constexpr (std::is_same_v<T, bool>)
                    items[i] = boolean(entry(i));
                else if constexpr (std::is_integral_v<T>)
                    items[i] = integer<T>(entry(i));
                else
                    items[i] = entry(i);
        }
        return result;
    }

    template <class T>
    auto const& field_of() const
    {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>)
            return proto_.float_data();
        else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>)
            return proto_.double_data();
        else if constexpr (std::is_same_v<T, std::int64_t>)
            return proto_.int64_data();
        else if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
            return proto_.uint64_data();
        else if constexpr (std::is_same_v<T, std::string>)
            return proto_.string_data();
        else
            return proto_.int32_data();
    }

    template <class T>
    static constexpr char const* field_name()
    {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>)
            return "float_data";
        else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>)
            return "double_data";
        else if constexpr (std::is_same_v<T, std::int64_t>)
            return "int64_data";
        else if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
            return "uint64_data";
        else if constexpr (std::is_same_v<T, std::string>)
            return "string_data";
        else
            return "int32_data";
    }

    template <class T, class Byte>
    static void unpack(std::span<T> items, Byte byte)
    {
        constexpr std::size_t per_byte = items_per_byte<T>;
        for (std::size_t i = 0; i < items.size(); ++i)
            items[i] = T::from_bits(static_cast<unsigned>(byte(i / per_byte)) >> (i % per_byte * bits_of<T>));
    }

    bool boolean(std::int32_t entry) const
    {
        if (entry != 0 && entry != 1)
            refuse("holds {}, which is no bool", entry);
        return entry != 0;
    }

    template <class T, class Entry>
    T integer(Entry entry) const
    {
        if (!std::in_range<T>(entry))
            refuse("holds {}, which is no {}", entry, name_of(type_));
        return static_cast<T>(entry);
    }

    /// An entry's low bits. They may have been written with a sign.
    template <unsigned Bits>
    unsigned pattern(std::int32_t entry) const
    {
        if (entry < -(1 << (Bits - 1)) || entry >= 1 << Bits)
            refuse("holds {}, which is no pattern of {} bits", entry, Bits);
        return static_cast<unsigned>(entry) & ((1u << Bits) - 1);
    }

    onnx::TensorProto const& proto_;
    element_type type_;
    xloom::shape dims_;
    std::size_t count_;
};

} // namespace

tensor read_tensor(onnx::TensorProto const& proto) { return tensor_reader(proto).read(); }

} // namespace runner
