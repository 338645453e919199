// What scatter_nd_vjp and scatter_nd_vjp_into refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <string>

#include <xloom/gradients/scatter_nd_vjp.hpp>

#include "../support/reduced_options.hpp"
#include "support/xtensor_extras.hpp"

namespace errors_scatter_nd_vjp_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using tuples = xt::xtensor<std::int64_t, 2>;

/// Both calls must end in this error, and leave the outputs as they are.
template <class Error, class Ct, class Indices>
void refuse(std::string const& text, Ct const& ct, Indices const& indices, vector const& updates,
    reduced_vjp_options const& options = {})
{
    vector const data = {1, 2, 3, 4};
    CHECK_THROWS_WITH_AS(scatter_nd_vjp(options.reduction, data, indices, updates, ct, options),
        ("xloom::scatter_nd_vjp: " + text).c_str(), Error);
    vector ct_data = {1, 2, 3, 4}, ct_updates = {5, 6};
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(options.reduction, data, indices, updates, ct,
                             {.data = ct_data, .updates = ct_updates}, options),
        ("xloom::scatter_nd_vjp_into: " + text).c_str(), Error);
    CHECK(ct_data == vector{1, 2, 3, 4});
    CHECK(ct_updates == vector{5, 6});
}

vector const ct = {10, 20, 30, 40}, updates = {1, 2};
tuples const indices = {{0}, {1}};

/// The call with these outputs must end in this error.
template <class Error>
void refuse_outputs(std::string const& text,
    scatter_nd_gradients<tensor_ref<double>, tensor_ref<double>> const& gradients, vector const& cotangents,
    vector const& old, vector const& values)
{
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, indices, values, cotangents, gradients),
        ("xloom::scatter_nd_vjp_into: " + text).c_str(), Error);
}

} // namespace

TEST_CASE("scatter_nd_vjp refuses shapes that do not fit together")
{
    refuse<shape_error>("ct must have the shape of scatter_nd's result, which is data's, but ct is [3] and "
                        "data is [4]. Give it that shape.",
        vector{1, 2, 3}, indices, updates);
    refuse<shape_error>(
        "ct must have the shape of scatter_nd's result, which is data's, but ct is [4, 1] and "
        "data is [4]. Give it that shape.",
        matrix{{1}, {2}, {3}, {4}}, indices, updates);
    refuse<shape_error>(
        "updates must have the shape indices.shape[:-1] ++ data.shape[1:] = [2], but it is [3] "
        "(data [4], indices [2, 1]). Give updates that shape.",
        ct, indices, vector{1, 2, 3});
    refuse<shape_error>("indices' last axis must be no longer than data's rank, but indices is [1, 2] and "
                        "data is [4]. Index fewer axes.",
        ct, tuples{{0, 0}}, updates);
    CHECK_THROWS_WITH_AS(scatter_nd_vjp(xt::xarray<double>(1.0), indices, updates, xt::xarray<double>(1.0)),
        "xloom::scatter_nd_vjp: data and indices must have at least one axis, but data has the shape []. "
        "Give it an axis of length 1.",
        shape_error);
    auto const deep = xt::xarray<double>::from_shape(std::vector<std::size_t>(17, 1));
    CHECK_THROWS_WITH_AS(scatter_nd_vjp(vector{1}, indices, updates, deep),
        "xloom::scatter_nd_vjp: a tensor may have at most 16 axes (max_rank), but ct has 17. Merge some of "
        "them.",
        shape_error);
    auto d_deep = deep;
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(ct, indices, updates, ct, {.data = d_deep}),
        "xloom::scatter_nd_vjp_into: a tensor may have at most 16 axes (max_rank), but ct_data has 17. Merge "
        "some of them.",
        shape_error);
}

TEST_CASE("scatter_nd_vjp refuses options, and indices out of range")
{
    refuse<option_error>("duplicates::first requires reduction::none, but reduction is add. Choose "
                         "duplicates::last, with which every update counts.",
        ct, indices, updates, {.reduction = reduction::add, .duplicates = duplicates::first});
    refuse<option_error>("the reduction must be one of xloom's, but it is number 6. Choose one.", ct, indices,
        updates, {.reduction = static_cast<reduction>(6)});
    refuse<option_error>("options.ties must be even or first, but it is number 2. Choose one.", ct, indices,
        updates, {.ties = static_cast<ties>(2)});
    refuse<index_error>(
        "an index into an axis of length d must be in [-d, d - 1], but indices[1, 0] is 4 (axis "
        "0 of length 4). Correct it, or choose bounds::drop or bounds::clip.",
        ct, tuples{{0}, {4}}, updates);
    refuse<index_error>(
        "with duplicates::error a slice may be named once, but indices[0] names slice [1] and "
        "indices[1] names slice [1]. Choose duplicates::last.",
        ct, tuples{{1}, {-3}}, updates, {.reduction = reduction::mul, .duplicates = duplicates::error});
#ifndef NDEBUG
    refuse<index_error>("indices must keep the promise options.unique, but indices[0] names slice [1] and "
                        "indices[1] names slice [1]. Do not promise it.",
        ct, tuples{{1}, {1}}, updates, {.unique = true});
    refuse<index_error>("indices must keep the promise options.sorted, but indices[0] names slice [1] and "
                        "indices[1] names slice [0]. Do not promise it.",
        ct, tuples{{1}, {0}}, updates, {.sorted = true});
#endif
}

TEST_CASE("scatter_nd_vjp_into refuses outputs of another shape, and those that share memory")
{
    vector cotangents = ct, old = {1, 2, 3, 4}, values = updates, short_one = {7, 7, 7};
    refuse_outputs<shape_error>(
        "ct_data must have the shape of data, [4], but it is [3]. Give it that shape.", {.data = short_one},
        cotangents, old, values);
    refuse_outputs<shape_error>("ct_updates must have the shape of updates, [2], but it is [3]. Give it that "
                                "shape.",
        {.updates = short_one}, cotangents, old, values);
    std::string const rule = "an operand that is written must have memory of its own, but ";
    refuse_outputs<overlap_error>(
        rule + "ct_data overlaps data. Copy one of the two.", {.data = old}, cotangents, old, values);
    refuse_outputs<overlap_error>(rule + "ct_updates overlaps updates. Copy one of the two.",
        {.updates = values}, cotangents, old, values);
    vector wide = {1, 2, 3, 4, 5, 6};
    auto first = xt::view(wide, xt::range(0, 4)), second = xt::view(wide, xt::range(2, 6)),
         part = xt::view(wide, xt::range(3, 5));
    refuse_outputs<overlap_error>(rule + "ct_data overlaps ct_updates. Copy one of the two.",
        {.data = first, .updates = part}, cotangents, old, values);
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, indices, values, first, {.data = second}),
        ("xloom::scatter_nd_vjp_into: " + rule + "ct_data overlaps ct. Copy one of the two.").c_str(),
        overlap_error);
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, indices, values, first, {.updates = part}),
        ("xloom::scatter_nd_vjp_into: " + rule + "ct_updates overlaps ct. Copy one of the two.").c_str(),
        overlap_error);
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, indices, values, cotangents, {.data = cotangents}),
        ("xloom::scatter_nd_vjp_into: " + rule + "ct_data overlaps ct. Copy one of the two.").c_str(),
        overlap_error);
    auto reversed = xt::view(cotangents, xt::range(3, xt::placeholders::_, -1));
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, indices, values, cotangents, {.data = reversed}),
        ("xloom::scatter_nd_vjp_into: " + rule + "ct_data overlaps ct. Copy one of the two.").c_str(),
        overlap_error);
    tuples own = indices;
    auto numbers = xt::adapt(
        reinterpret_cast<double*>(own.data()), 2, xt::no_ownership(), std::array<std::size_t, 1>{2});
    CHECK_THROWS_WITH_AS(scatter_nd_vjp_into(old, own, values, cotangents, {.updates = numbers}),
        ("xloom::scatter_nd_vjp_into: " + rule + "ct_updates overlaps indices. Copy one of the two.").c_str(),
        overlap_error);
    auto repeated = xt::adapt(short_one.data(), 4, xt::no_ownership(), std::array<std::size_t, 1>{4},
        std::array<std::ptrdiff_t, 1>{0});
    refuse_outputs<overlap_error>(
        "every item of ct_data must have memory of its own, but ct_data has the shape "
        "[4] and the strides [0]. Write to a container.",
        {.data = repeated}, cotangents, old, values);
    CHECK(cotangents == ct);
    CHECK(old == vector{1, 2, 3, 4});
    CHECK(values == updates);
    CHECK(wide == vector{1, 2, 3, 4, 5, 6});
}

} // namespace errors_scatter_nd_vjp_test
