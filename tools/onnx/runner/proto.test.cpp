// read_tensor: every element type in both of ONNX's forms, and what is refused.

#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <onnx/onnx-data_pb.h>

#include "compare.hpp"
#include "proto.hpp"

namespace {

using namespace runner;

onnx::TensorProto tensor_proto(element_type type, std::initializer_list<std::int64_t> dims)
{
    onnx::TensorProto proto;
    proto.set_name("w");
    proto.set_data_type(static_cast<int>(type));
    for (std::int64_t const dim : dims)
        proto.add_dims(dim);
    return proto;
}

onnx::TensorProto raw(
    element_type type, std::initializer_list<std::int64_t> dims, std::initializer_list<unsigned> bytes)
{
    auto proto = tensor_proto(type, dims);
    proto.set_raw_data(std::string());
    for (unsigned const byte : bytes)
        proto.mutable_raw_data()->push_back(static_cast<char>(byte));
    return proto;
}

onnx::TensorProto in_int32(
    element_type type, std::initializer_list<std::int64_t> dims, std::initializer_list<std::int32_t> entries)
{
    auto proto = tensor_proto(type, dims);
    for (std::int32_t const entry : entries)
        proto.add_int32_data(entry);
    return proto;
}

template <class T>
std::vector<T> read_as(onnx::TensorProto const& proto)
{
    tensor const read = read_tensor(proto);
    auto const items = read.items<T>();
    return {items.begin(), items.end()};
}

template <class T>
std::vector<float> floats(onnx::TensorProto const& proto)
{
    auto const items = read_as<T>(proto);
    return {items.begin(), items.end()};
}

template <class T>
std::vector<int> ints(onnx::TensorProto const& proto)
{
    auto const items = read_as<T>(proto);
    return {items.begin(), items.end()};
}

std::string complaint(onnx::TensorProto const& proto)
{
    try {
        read_tensor(proto);
    } catch (runner_error const& error) {
        return error.what();
    }
    return "none";
}

using floats_t = std::vector<float>;
using ints_t = std::vector<int>;

} // namespace

TEST_CASE("items of whole bytes in raw_data")
{
    using e = element_type;
    CHECK(read_as<float>(raw(e::float_, {2}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0})) == floats_t{1, -2});
    CHECK(read_as<double>(raw(e::double_, {1}, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f})) == std::vector<double>{1.5});
    CHECK(ints<std::int8_t>(raw(e::int8, {2}, {0xff, 0x7f})) == ints_t{-1, 127});
    CHECK(ints<std::uint8_t>(raw(e::uint8, {2}, {0xff, 0x7f})) == ints_t{255, 127});
    CHECK(ints<std::int16_t>(raw(e::int16, {2}, {0xfe, 0xff, 2, 1})) == ints_t{-2, 258});
    CHECK(ints<std::uint16_t>(raw(e::uint16, {2}, {0xfe, 0xff, 2, 1})) == ints_t{65534, 258});
    CHECK(read_as<std::int32_t>(raw(e::int32, {1}, {0xfd, 0xff, 0xff, 0xff})) == ints_t{-3});
    CHECK(read_as<std::uint32_t>(raw(e::uint32, {1}, {0xfd, 0xff, 0xff, 0xff})) ==
          std::vector<std::uint32_t>{4294967293u});
    CHECK(read_as<std::int64_t>(raw(e::int64, {1}, {0, 0, 0, 0, 1, 0, 0, 0})) ==
          std::vector<std::int64_t>{std::int64_t(1) << 32});
    CHECK(read_as<std::uint64_t>(raw(e::uint64, {1}, {0, 0, 0, 0, 0, 0, 0, 0x80})) ==
          std::vector<std::uint64_t>{std::uint64_t(1) << 63});
    CHECK(ints<bool>(raw(e::bool_, {3}, {0, 1, 0})) == ints_t{0, 1, 0});
    CHECK(read_as<std::complex<float>>(raw(e::complex64, {1}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})) ==
          std::vector<std::complex<float>>{{1, 2}});
    CHECK(read_as<std::complex<double>>(
              raw(e::complex128, {1}, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40})) ==
          std::vector<std::complex<double>>{{1, 2}});
    CHECK(floats<xloom::float16>(raw(e::float16, {2}, {0, 0x3e, 0, 0xc0})) == floats_t{1.5, -2});
    CHECK(floats<xloom::bfloat16>(raw(e::bfloat16, {2}, {0xc0, 0x3f, 0, 0xc0})) == floats_t{1.5, -2});
    CHECK(floats<xloom::float8_e4m3fn>(raw(e::float8_e4m3fn, {2}, {0x38, 0xc4})) == floats_t{1, -3});
    CHECK(floats<xloom::float8_e4m3fnuz>(raw(e::float8_e4m3fnuz, {2}, {0x40, 0xc4})) == floats_t{1, -1.5});
    CHECK(floats<xloom::float8_e5m2>(raw(e::float8_e5m2, {2}, {0x3c, 0xc2})) == floats_t{1, -3});
    CHECK(floats<xloom::float8_e5m2fnuz>(raw(e::float8_e5m2fnuz, {2}, {0x40, 0xc2})) == floats_t{1, -1.5});
    CHECK(floats<xloom::float8_e8m0>(raw(e::float8_e8m0, {2}, {127, 130})) == floats_t{1, 8});
}

TEST_CASE("packed items in raw_data: the first one lowest, the last byte filled up")
{
    using e = element_type;
    CHECK(ints<xloom::int4>(raw(e::int4, {3}, {0xf1, 0x08})) == ints_t{1, -1, -8});
    CHECK(ints<xloom::uint4>(raw(e::uint4, {3}, {0xf1, 0x08})) == ints_t{1, 15, 8});
    CHECK(ints<xloom::int2>(raw(e::int2, {5}, {0b11'10'01'00, 0b10})) == ints_t{0, 1, -2, -1, -2});
    CHECK(ints<xloom::uint2>(raw(e::uint2, {5}, {0b11'10'01'00, 0b10})) == ints_t{0, 1, 2, 3, 2});
    CHECK(floats<xloom::float4_e2m1>(raw(e::float4_e2m1, {3}, {0x92, 0x07})) == floats_t{1, -0.5, 6});
}

TEST_CASE("items in the typed fields")
{
    using e = element_type;
    auto with = [](e type, std::initializer_list<std::int64_t> dims, auto add) {
        auto proto = tensor_proto(type, dims);
        add(proto);
        return proto;
    };
    CHECK(read_as<float>(with(e::float_, {2}, [](auto& p) { p.add_float_data(1), p.add_float_data(-2); })) ==
          floats_t{1, -2});
    CHECK(read_as<std::complex<float>>(with(e::complex64, {}, [](auto& p) {
        p.add_float_data(1), p.add_float_data(-2);
    })) == std::vector<std::complex<float>>{{1, -2}});
    CHECK(read_as<double>(with(e::double_, {}, [](auto& p) { p.add_double_data(0.1); })) ==
          std::vector<double>{0.1});
    CHECK(read_as<std::complex<double>>(with(e::complex128, {1}, [](auto& p) {
        p.add_double_data(1), p.add_double_data(-2);
    })) == std::vector<std::complex<double>>{{1, -2}});
    CHECK(read_as<std::int64_t>(with(e::int64, {1}, [](auto& p) { p.add_int64_data(-5); })) ==
          std::vector<std::int64_t>{-5});
    CHECK(read_as<std::uint32_t>(with(e::uint32, {1}, [](auto& p) { p.add_uint64_data(4294967295u); })) ==
          std::vector<std::uint32_t>{4294967295u});
    CHECK(read_as<std::uint64_t>(with(e::uint64, {1}, [](auto& p) {
        p.add_uint64_data(~std::uint64_t(0));
    })) == std::vector<std::uint64_t>{~std::uint64_t(0)});
    CHECK(read_as<std::string>(with(e::string, {2}, [](auto& p) {
        p.add_string_data("a"), p.add_string_data("");
    })) == std::vector<std::string>{"a", ""});
    CHECK(read_as<std::int32_t>(in_int32(e::int32, {2}, {-1, 2147483647})) == ints_t{-1, 2147483647});
    CHECK(ints<std::int8_t>(in_int32(e::int8, {2}, {-128, 127})) == ints_t{-128, 127});
    CHECK(ints<std::uint8_t>(in_int32(e::uint8, {1}, {255})) == ints_t{255});
    CHECK(ints<std::int16_t>(in_int32(e::int16, {1}, {-32768})) == ints_t{-32768});
    CHECK(ints<std::uint16_t>(in_int32(e::uint16, {1}, {65535})) == ints_t{65535});
    CHECK(ints<bool>(in_int32(e::bool_, {3}, {0, 1, 0})) == ints_t{0, 1, 0});
    CHECK(floats<xloom::float16>(in_int32(e::float16, {3}, {0x3e00, 0xc000, -0x4000})) ==
          floats_t{1.5, -2, -2});
    CHECK(floats<xloom::bfloat16>(in_int32(e::bfloat16, {1}, {0x3fc0})) == floats_t{1.5});
    CHECK(floats<xloom::float8_e4m3fn>(in_int32(e::float8_e4m3fn, {1}, {0xc4})) == floats_t{-3});
    CHECK(floats<xloom::float8_e4m3fnuz>(in_int32(e::float8_e4m3fnuz, {1}, {0xc4})) == floats_t{-1.5});
    CHECK(floats<xloom::float8_e5m2>(in_int32(e::float8_e5m2, {1}, {0xc2})) == floats_t{-3});
    CHECK(floats<xloom::float8_e5m2fnuz>(in_int32(e::float8_e5m2fnuz, {1}, {0xc2})) == floats_t{-1.5});
    CHECK(floats<xloom::float8_e8m0>(in_int32(e::float8_e8m0, {1}, {130})) == floats_t{8});
    CHECK(ints<xloom::int4>(in_int32(e::int4, {3}, {0xf1, 0x08})) == ints_t{1, -1, -8});
    CHECK(ints<xloom::uint4>(in_int32(e::uint4, {3}, {0xf1, 0x08})) == ints_t{1, 15, 8});
    CHECK(ints<xloom::int2>(in_int32(e::int2, {5}, {0b11'10'01'00, 0b10})) == ints_t{0, 1, -2, -1, -2});
    CHECK(ints<xloom::uint2>(in_int32(e::uint2, {5}, {-28, 2})) == ints_t{0, 1, 2, 3, 2});
    CHECK(floats<xloom::float4_e2m1>(in_int32(e::float4_e2m1, {3}, {0x92, 0x07})) == floats_t{1, -0.5, 6});
}

TEST_CASE("shapes, and tensors without items")
{
    CHECK(read_tensor(raw(element_type::uint8, {}, {7})).shape() == xloom::shape{});
    CHECK(read_tensor(raw(element_type::uint8, {2, 1}, {7, 8})).shape() == xloom::shape{2, 1});
    for (int type = 1; type < static_cast<int>(xloom::element_type_count); ++type) {
        tensor const read = read_tensor(tensor_proto(static_cast<element_type>(type), {3, 0}));
        CHECK(static_cast<int>(read.type()) == type);
        CHECK(read.shape() == xloom::shape{3, 0});
    }
}

TEST_CASE("too little, too much, or nothing at all")
{
    using e = element_type;
    CHECK(complaint(raw(e::float_, {2}, {0, 0, 0, 0, 0, 0, 0})) ==
          "the tensor 'w' is float[2] and needs 8 bytes, but has 7");
    CHECK(complaint(raw(e::float_, {}, {0, 0, 0, 0, 0})) ==
          "the tensor 'w' is float[] and needs 4 bytes, but has 5");
    CHECK(complaint(raw(e::int4, {3}, {0})) == "the tensor 'w' is int4[3] and needs 2 bytes, but has 1");
    CHECK(complaint(raw(e::uint2, {4}, {0, 0})) == "the tensor 'w' is uint2[4] and needs 1 bytes, but has 2");
    CHECK(complaint(tensor_proto(e::float_, {})) ==
          "the tensor 'w' is float[] and needs 1 entries of float_data, but has 0");
    CHECK(complaint(in_int32(e::int4, {3}, {0, 0, 0})) ==
          "the tensor 'w' is int4[3] and needs 2 entries of int32_data, but has 3");
    CHECK(complaint(tensor_proto(e::complex64, {2})) ==
          "the tensor 'w' is complex64[2] and needs 4 entries of float_data, but has 0");
    CHECK(complaint(in_int32(e::int64, {1}, {1})) ==
          "the tensor 'w' is int64[1] and needs 1 entries of int64_data, but has 0");
    CHECK(complaint(raw(e::string, {1}, {65})) ==
          "the tensor 'w' holds strings in raw_data, where they cannot be");
}

TEST_CASE("entries that their element type cannot hold")
{
    using e = element_type;
    CHECK(complaint(in_int32(e::int8, {1}, {128})) == "the tensor 'w' holds 128, which is no int8");
    CHECK(complaint(in_int32(e::uint16, {1}, {-1})) == "the tensor 'w' holds -1, which is no uint16");
    CHECK(complaint(in_int32(e::float16, {1}, {65536})) ==
          "the tensor 'w' holds 65536, which is no pattern of 16 bits");
    CHECK(complaint(in_int32(e::uint4, {2}, {-129})) ==
          "the tensor 'w' holds -129, which is no pattern of 8 bits");
    CHECK(complaint(in_int32(e::bool_, {1}, {-1})) == "the tensor 'w' holds -1, which is no bool");
    CHECK(complaint(raw(e::bool_, {2}, {1, 0xfe})) == "the tensor 'w' holds 254, which is no bool");
    auto proto = tensor_proto(e::uint32, {1});
    proto.add_uint64_data(std::uint64_t(1) << 32);
    CHECK(complaint(proto) == "the tensor 'w' holds 4294967296, which is no uint32");
}

TEST_CASE("shapes that no file can fill are refused before anything is allocated")
{
    using e = element_type;
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    CHECK(complaint(tensor_proto(e::float_, {2, -1})) == "the tensor 'w' has the negative dimension -1");
    CHECK(complaint(raw(e::uint8, {std::int64_t(1) << 60}, {1})) ==
          "the tensor 'w' is uint8[1152921504606846976] and needs 1152921504606846976 bytes, but has 1");
    CHECK(
        complaint(tensor_proto(e::string, {std::int64_t(1) << 40})) ==
        "the tensor 'w' is string[1099511627776] and needs 1099511627776 entries of string_data, but has 0");
    CHECK(complaint(tensor_proto(e::float_, {huge})) ==
          "the tensor 'w' has the shape [9223372036854775807], which has more items than can be counted");
    CHECK(complaint(tensor_proto(e::int2, {std::int64_t(1) << 32, std::int64_t(1) << 32})) ==
          "the tensor 'w' has the shape [4294967296, 4294967296], which has more items than can be counted");
    CHECK(complaint(tensor_proto(e::float_, {0, huge, huge})) ==
          "the tensor 'w' has the shape [0, 9223372036854775807, 9223372036854775807], which has more items "
          "than can be counted");
    CHECK(complaint(raw(e::uint8, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})) ==
          "the tensor 'w' has rank 17, more than 16");
    CHECK(complaint(raw(e::uint8, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})) == "none");
}

TEST_CASE("no element type, external data, segments")
{
    for (int const type : {-1, 0, 27, 1000000}) {
        auto proto = raw(element_type::uint8, {1}, {1});
        proto.set_data_type(type);
        CHECK(complaint(proto) ==
              "the tensor 'w' has the element type " + std::to_string(type) + ", which is none of ONNX's");
    }
    CHECK(complaint({}) == "a tensor has the element type 0, which is none of ONNX's");
    auto elsewhere = raw(element_type::uint8, {1}, {1});
    elsewhere.set_data_location(onnx::TensorProto::EXTERNAL);
    CHECK(complaint(elsewhere) ==
          "the tensor 'w' keeps its items in another file, but there is no folder to find it in");
    auto part = raw(element_type::uint8, {1}, {1});
    part.mutable_segment()->set_begin(0);
    CHECK(complaint(part) == "the tensor 'w' is a segment of another one, which is not implemented");
}

TEST_CASE("a recorded value is read as the type that the graph declares")
{
    onnx::TypeProto of_anything, of_tensor, of_sequence, of_optional, of_map;
    (void)of_tensor.mutable_tensor_type(), (void)of_sequence.mutable_sequence_type(),
        (void)of_optional.mutable_optional_type(), (void)of_map.mutable_map_type();
    auto const read = [](auto const& message, onnx::TypeProto const& type) {
        std::istringstream file(message.SerializeAsString());
        try {
            recorded_value const found = read_recorded(file, "a/input_0.pb", type);
            return found.name + " = " + describe(found.held);
        } catch (runner_error const& error) {
            return std::string(error.what());
        }
    };
    onnx::TensorProto const w = raw(element_type::uint8, {2}, {7, 8});
    CHECK(read(w, of_anything) == "w = uint8[2]");
    CHECK(read(w, of_tensor) == "w = uint8[2]");
    CHECK(read(w, of_map) == "sparse tensors, maps and opaque types are not implemented");
    CHECK(read(raw(element_type::uint8, {3}, {7}), of_tensor) ==
          "a/input_0.pb: the tensor 'w' is uint8[3] and needs 3 bytes, but has 1");

    onnx::SequenceProto tensors, sequences, optionals, mixed, sparse, maps;
    tensors.set_name("s");
    *tensors.add_tensor_values() = w;
    *tensors.add_tensor_values() = w;
    CHECK(read(tensors, of_sequence) == "s = sequence of 2");
    *sequences.add_sequence_values() = tensors;
    CHECK(read(sequences, of_sequence) == " = sequence of 1");
    *optionals.add_optional_values()->mutable_tensor_value() = w;
    CHECK(read(optionals, of_sequence) == " = sequence of 1");
    mixed = tensors;
    *mixed.add_sequence_values() = tensors;
    CHECK(read(mixed, of_sequence) == "a/input_0.pb: the sequence 's' has elements of several kinds");
    (void)sparse.add_sparse_tensor_values(), (void)maps.add_map_values();
    CHECK(read(sparse, of_sequence) == "sparse tensors and maps are not implemented");
    CHECK(read(maps, of_sequence) == "sparse tensors and maps are not implemented");

    onnx::OptionalProto none, tensor, sequence, optional, sparse_tensor, map;
    none.set_name("o");
    CHECK(read(none, of_optional) == "o = empty optional");
    *tensor.mutable_tensor_value() = w;
    CHECK(read(tensor, of_optional) == " = optional uint8[2]");
    *sequence.mutable_sequence_value() = tensors;
    CHECK(read(sequence, of_optional) == " = optional sequence of 2");
    *optional.mutable_optional_value() = tensor;
    CHECK(read(optional, of_optional) == " = optional optional uint8[2]");
    (void)sparse_tensor.mutable_sparse_tensor_value(), (void)map.mutable_map_value();
    CHECK(read(sparse_tensor, of_optional) == "sparse tensors and maps are not implemented");
    CHECK(read(map, of_optional) == "sparse tensors and maps are not implemented");

    std::istringstream damaged("no message");
    CHECK_THROWS_WITH_AS(read_recorded(damaged, "a/input_0.pb", of_sequence),
        "the file a/input_0.pb is no sequence of ONNX, or a damaged one", runner_error);
    CHECK_THROWS_WITH_AS(
        read_recorded("nowhere.pb", of_tensor), "the file nowhere.pb cannot be opened", runner_error);
}
