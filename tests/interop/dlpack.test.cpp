// Tensors of DLPack, as C structs that another library fills, and as those that it gets.

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include <xloom/control_flow/scan.hpp>
#include <xloom/indexing.hpp>
#include <xloom/interop/dlpack.hpp>
#include <xloom/parallel/cumulative.hpp>

namespace dlpack_test {

using namespace xloom;

namespace {

/// What another library hands over: items, a shape and strides of its own, and a count of deleters' calls.
struct foreign {
    std::vector<float> items = {1, 2, 3, 4, 5, 6};
    std::vector<std::int64_t> dims = {2, 3}, strides = {};
    int deleted = 0;
    DLManagedTensor managed{};

    foreign() { refill(); }
    foreign(foreign const&) = delete;

    void refill()
    {
        managed.dl_tensor = {items.data(), {kDLCPU, 0}, static_cast<int>(dims.size()), {kDLFloat, 32, 1},
            dims.data(), strides.empty() ? nullptr : strides.data(), 0};
        managed.manager_ctx = this;
        managed.deleter = [](DLManagedTensor* self) { ++static_cast<foreign*>(self->manager_ctx)->deleted; };
    }
    DLTensor& tensor() { return managed.dl_tensor; }
};

auto const add = [](xt::xtensor<float, 1> const& s, auto const& x_t) { return scan_step{s + x_t}; };
xt::xtensor<float, 1> const zero = {0, 0, 0};

} // namespace

TEST_CASE("a tensor of another library is read and written where it is")
{
    foreign other;
    dlpack_tensor<float const, 2> const x(other.tensor());
    CHECK(x.data() == other.items.data());
    CHECK(scan(add, zero, x).final_state == xt::xtensor<float, 1>{5, 7, 9});
    CHECK(cumulative_sum(x) == xt::xtensor<float, 2>{{1, 2, 3}, {5, 7, 9}});
    dlpack_tensor<float> y(other.tensor());
    scatter_nd_into(y, xt::xtensor<int, 2>{{1}}, xt::xtensor<float, 2>{{7, 8, 9}});
    CHECK(other.items == std::vector<float>{1, 2, 3, 7, 8, 9});
    CHECK(scatter_nd(dlpack_tensor<float, 2>(other.tensor()), xt::xtensor<int, 2>{{0}},
              xt::xtensor<float, 2>{{0, 0, 0}}) == xt::xtensor<float, 2>{{0, 0, 0}, {7, 8, 9}});
    CHECK(other.items == std::vector<float>{1, 2, 3, 7, 8, 9});
    CHECK(gather_nd(y, xt::xtensor<int, 2>{{1}}) == xt::xarray<float>{{7, 8, 9}});
}

TEST_CASE("strides and an offset")
{
    foreign other;
    other.dims = {3, 2};
    other.strides = {-1, 3};
    other.refill();
    other.tensor().byte_offset = 2 * sizeof(float);
    dlpack_tensor<float const, 2> const x(other.tensor()); // [[3, 6], [2, 5], [1, 4]]
    CHECK(cumulative_sum(x) == xt::xtensor<float, 2>{{3, 6}, {5, 11}, {6, 15}});
}

TEST_CASE("a managed tensor is deleted once, by its last owner")
{
    foreign other;
    {
        dlpack_tensor<float, 2> first(dlpack_handle(&other.managed));
        dlpack_tensor<float, 2> const second(std::move(first));
        CHECK(other.deleted == 0);
        CHECK(second.data() == other.items.data());
    }
    CHECK(other.deleted == 1);
    CHECK_THROWS_AS((dlpack_tensor<double, 2>(dlpack_handle(&other.managed))), type_error);
    CHECK(other.deleted == 2);
    CHECK_THROWS_WITH_AS(
        (dlpack_tensor<float>(dlpack_handle())), doctest::Contains("but it is null"), type_error);
    other.managed.deleter = nullptr;
    dlpack_tensor<float>(dlpack_handle(&other.managed)).data();
    CHECK(other.deleted == 2);
}

TEST_CASE("a container is handed over")
{
    xt::xtensor<std::int16_t, 2> x = {{1, 2}, {3, 4}};
    std::int16_t const* const items = x.data();
    dlpack_handle const handle = to_dlpack(std::move(x));
    DLTensor const& tensor = handle->dl_tensor;
    CHECK(tensor.data == items);
    CHECK(tensor.ndim == 2);
    CHECK(int{tensor.dtype.code} == kDLInt);
    CHECK(int{tensor.dtype.bits} == 16);
    CHECK(tensor.shape[1] == 2);
    CHECK(tensor.strides[0] == 2);
    CHECK(dlpack_tensor<std::int16_t const, 2>(tensor).data()[3] == 4);

    std::vector<double> const kept = {1, 2};
    DLManagedTensor* const released = to_dlpack(kept).release();
    CHECK(static_cast<double*>(released->dl_tensor.data)[1] == 2);
    CHECK(released->dl_tensor.data != kept.data());
    released->deleter(released);
    CHECK(to_dlpack(xt::xarray<float>(2.0f))->dl_tensor.ndim == 0);
    auto const deep = xt::xarray<float>::from_shape(std::vector<std::size_t>(17, 1));
    CHECK_THROWS_WITH_AS(to_dlpack(-deep),
        doctest::Contains("xloom::to_dlpack: a tensor may have at most 16 axes (max_rank), but x has 17"),
        shape_error);
}

TEST_CASE("the types of items")
{
    auto const code = [](auto item) { return int{detail::dlpack_type<decltype(item)>().code}; };
    CHECK(code(std::int8_t()) == kDLInt);
    CHECK(code(std::uint64_t()) == kDLUInt);
#ifdef DLPACK_MAJOR_VERSION
    CHECK(code(true) == kDLBool);
#else
    CHECK(code(true) == kDLUInt);
#endif
    CHECK(detail::holds_items<bool>({kDLUInt, 8, 1}));
    CHECK(code(double()) == kDLFloat);
    CHECK(code(float16()) == kDLFloat);
    CHECK(code(bfloat16()) == kDLBfloat);
    CHECK(code(std::complex<float>()) == kDLComplex);
    CHECK(detail::holds_items<bool>({6, 8, 1}));
    CHECK(!detail::holds_items<std::uint8_t>({6, 8, 1}));
}

#ifdef DLPACK_MAJOR_VERSION

TEST_CASE("a managed tensor of DLPack 1 is taken over, and deleted once")
{
    foreign other;
    int deleted = 0;
    DLManagedTensorVersioned managed{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION + 7}, &deleted,
        [](DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); },
        DLPACK_FLAG_BITMASK_READ_ONLY, other.tensor()};
    {
        dlpack_tensor<float const, 2> const x(dlpack_versioned_handle{&managed});
        CHECK(x.data() == other.items.data());
        CHECK(cumulative_sum(x) == xt::xtensor<float, 2>{{1, 2, 3}, {5, 7, 9}});
        CHECK(deleted == 0);
    }
    CHECK(deleted == 1);
    CHECK_THROWS_WITH_AS((dlpack_tensor<float, 2>(dlpack_versioned_handle{&managed})),
        doctest::Contains("must not be read-only"), type_error);
    CHECK(deleted == 2);
    managed.flags = 0;
    dlpack_tensor<float, 2>(dlpack_versioned_handle{&managed}).data()[0] = 7;
    CHECK(other.items[0] == 7);
    managed.version.major = DLPACK_MAJOR_VERSION + 1;
    CHECK_THROWS_WITH_AS((dlpack_tensor<float const, 2>(dlpack_versioned_handle{&managed})),
        doctest::Contains("but it has 2"), type_error);
    CHECK(deleted == 4);
}

TEST_CASE("a container is handed over in DLPack 1")
{
    xt::xtensor<bool, 1> x = {true, false};
    bool const* const items = x.data();
    dlpack_versioned_handle const handle = to_dlpack_versioned(std::move(x));
    CHECK(handle->version.major == DLPACK_MAJOR_VERSION);
    CHECK(handle->version.minor == DLPACK_MINOR_VERSION);
    CHECK(handle->flags == DLPACK_FLAG_BITMASK_IS_COPIED);
    CHECK(handle->dl_tensor.data == items);
    CHECK(int{handle->dl_tensor.dtype.code} == kDLBool);
    CHECK(!dlpack_tensor<bool const, 1>(handle->dl_tensor).data()[1]);
}

#endif

TEST_CASE("what is refused")
{
    foreign other;
    DLTensor& tensor = other.tensor();
    auto const refused = [&](char const* text, auto error) {
        CHECK_THROWS_WITH_AS((dlpack_tensor<float, 2>(tensor)), doctest::Contains(text), decltype(error));
        other.refill();
    };
    tensor.device.device_type = kDLCUDA;
    refused("device type 2", type_error(""));
    tensor.dtype = {kDLFloat, 64, 1};
    refused("64 bits", type_error(""));
    tensor.dtype.lanes = 4;
    refused("4 lanes", type_error(""));
    tensor.ndim = -1;
    refused("ndim is -1", shape_error(""));
    tensor.ndim = 1;
    refused("2 axes, as its type says, but it has 1", shape_error(""));
    other.dims[1] = -3;
    refused("shape[1] is -3", shape_error(""));
    other.dims = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    other.refill();
    refused("must fit in memory", shape_error(""));
    if (sizeof(std::size_t) == 4) {
        other.dims = {2, (std::int64_t{1} << 32) + 3};
        refused("shape[1] is 4294967299", shape_error(""));
        other.dims = {2, 3};
        other.strides = {(std::int64_t{1} << 32) + 3, 1};
        other.refill();
        refused("strides[0] is 4294967299", shape_error(""));
        other.strides = {};
        other.refill();
        tensor.byte_offset = std::uint64_t{1} << 32;
        refused("must begin in memory", shape_error(""));
    }
    other.dims = {2, 3};
    other.refill();
    tensor.byte_offset = 2;
    refused("multiple of 4 bytes", shape_error(""));
    tensor.data = nullptr;
    refused("multiple of 4 bytes", shape_error(""));
    std::vector<std::int64_t> const ones(17, 1);
    tensor.ndim = 17;
    tensor.shape = const_cast<std::int64_t*>(ones.data());
    CHECK_THROWS_WITH_AS((dlpack_tensor<float>(tensor)), doctest::Contains("at most 16 axes"), shape_error);
    other.dims = {0, 3};
    other.refill();
    tensor.data = nullptr;
    CHECK(cumulative_sum(dlpack_tensor<float const, 2>(tensor)).shape(1) == 3);
}

} // namespace dlpack_test
