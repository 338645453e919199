// What gather_nd_vjp and gather_nd_vjp_into refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include <xloom/gradients/gather_nd_vjp.hpp>

#include "support/xtensor_extras.hpp"

namespace errors_gather_nd_vjp_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

/// Both calls must end in this error, and leave the output as it is.
template <class Error, class Ct, class Indices>
void refuse(
    std::string const& text, Ct const& ct, Indices const& indices, gather_nd_vjp_options const& options = {})
{
    CHECK_THROWS_WITH_AS(
        gather_nd_vjp({4}, indices, ct, options), ("xloom::gather_nd_vjp: " + text).c_str(), Error);
    vector ct_data = {1, 2, 3, 4};
    CHECK_THROWS_WITH_AS(gather_nd_vjp_into(indices, ct, ct_data, options),
        ("xloom::gather_nd_vjp_into: " + text).c_str(), Error);
    CHECK(ct_data == vector{1, 2, 3, 4});
}

vector const ct = {1, 2};

} // namespace

TEST_CASE("gather_nd_vjp refuses shapes that do not fit together")
{
    refuse<shape_error>("ct must have the shape of gather_nd's output, indices.shape[:-1] ++ data.shape[b + "
                        "k:] = [3], but it is [2] (data [4], indices [3, 1]). Give it that shape.",
        ct, tuples{{0}, {1}, {2}});
    refuse<shape_error>("data and indices must have at least one axis, but indices has the shape []. Give it "
                        "an axis of length 1.",
        ct, 0);
    refuse<shape_error>("indices' last axis must be no longer than data's rank less batch_dims, but indices "
                        "is [2, 2], data is [4] and batch_dims is 0. Index fewer axes.",
        ct, tuples{{0, 0}, {1, 1}});
    CHECK_THROWS_WITH_AS(gather_nd_vjp({4, 2}, tuples{{0}, {1}}, matrix{{1}, {2}}),
        "xloom::gather_nd_vjp: ct must have the shape of gather_nd's output, indices.shape[:-1] ++ "
        "data.shape[b + k:] = [2, 2], but it is [2, 1] (data [4, 2], indices [2, 1]). Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(gather_nd_vjp<2>({4}, tuples{{0}, {1}}, ct),
        "xloom::gather_nd_vjp: the result must have the requested rank, but data has the shape [4] and the "
        "requested rank is 2. Request 1.",
        shape_error);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_WITH_AS(gather_nd_vjp(shape{most}, tuples{{0}, {1}}, ct),
        ("xloom::gather_nd_vjp: the size of a result must fit in memory, but ct_data would have the shape [" +
            std::to_string(most) + "]. Reduce a dimension.")
            .c_str(),
        shape_error);
    CHECK_THROWS_WITH_AS(gather_nd_vjp(std::vector<int>(17, 1), tuples{{0}, {1}}, ct),
        "xloom::gather_nd_vjp: a tensor may have at most 16 axes (max_rank), but data has 17. Merge some of "
        "them.",
        shape_error);
}

TEST_CASE("gather_nd_vjp refuses options, and indices out of range")
{
    refuse<option_error>("batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is 1 (data [4], indices "
                         "[2, 1]). Name fewer axes.",
        ct, tuples{{0}, {1}}, {.batch_dims = 1});
    refuse<option_error>("batch_dims must be in [0, min(q, r) - 1] = [0, 0], but it is -1 (data [4], indices "
                         "[2, 1]). Name fewer axes.",
        ct, tuples{{0}, {1}}, {.batch_dims = -1});
    refuse<index_error>("an index into an axis of length d must be in [-d, d - 1], but indices[0, 0] is 4 "
                        "(axis 0 of length 4) and indices[1, 0] is -5 (axis 0 of length 4). Correct it, or "
                        "choose bounds::drop or bounds::clip.",
        ct, tuples{{4}, {-5}});
    CHECK_THROWS_WITH_AS(gather_nd_vjp({0}, tuples{{0}, {1}}, ct, {.bounds = bounds::clip}),
        "xloom::gather_nd_vjp: an index can be clipped to an axis that has items only, but axis 0 of data "
        "has length 0. Choose bounds::drop.",
        index_error);
#ifndef NDEBUG
    refuse<index_error>("indices must keep the promise options.unique, but indices[0] names slice [1] and "
                        "indices[1] names slice [1]. Do not promise it.",
        ct, tuples{{1}, {-3}}, {.unique = true});
    refuse<index_error>("indices must keep the promise options.sorted, but indices[0] names slice [1] and "
                        "indices[1] names slice [0]. Do not promise it.",
        ct, tuples{{1}, {0}}, {.sorted = true});
    CHECK_THROWS_WITH_AS(gather_nd_vjp({2, 3}, xt::xtensor<int, 3>{{{1}, {0}}, {{2}, {2}}},
                             matrix{{1, 2}, {3, 4}}, {.batch_dims = 1, .unique = true}),
        "xloom::gather_nd_vjp: indices must keep the promise options.unique, but indices[1, 0] names slice "
        "[1, 2] and indices[1, 1] names slice [1, 2]. Do not promise it.",
        index_error);
#endif
}

TEST_CASE("gather_nd_vjp_into refuses outputs that share memory")
{
    vector own = {1, 2, 3, 4};
    tuples const indices = {{0}, {1}};
    auto const part = xt::view(own, xt::range(1, 3));
    CHECK_THROWS_WITH_AS(gather_nd_vjp_into(indices, part, own),
        "xloom::gather_nd_vjp_into: an operand that is written must have memory of its own, but ct_data "
        "overlaps ct. Copy one of the two.",
        overlap_error);
    CHECK(own == vector{1, 2, 3, 4});
    auto repeated = xt::strided_view(own, {xt::range(0, 1)});
    auto wide = xt::adapt(
        own.data(), 4, xt::no_ownership(), std::array<std::size_t, 1>{4}, std::array<std::ptrdiff_t, 1>{0});
    static_cast<void>(repeated);
    CHECK_THROWS_WITH_AS(gather_nd_vjp_into(indices, ct, wide),
        "xloom::gather_nd_vjp_into: every item of ct_data must have memory of its own, but ct_data has the "
        "shape [4] and the strides [0]. Write to a container.",
        overlap_error);
}

} // namespace errors_gather_nd_vjp_test
