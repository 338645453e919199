// merge_dim, merge_shape, merge_type, bind_body_inputs: the official ONNX tests of mergeInShapeInfo, and
// every refusal.

#include <doctest/doctest.h>

#include <optional>

#include <xloom/infer/merge.hpp>

#include "is_constant.hpp"

namespace infer_merge_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

// --- the official tests: inferred = source_shape, declared = target_shape, each for tensors and sparse
// tensors ---

struct merge_case {
    char const* id;
    partial_shape inferred;
    partial_shape declared;
    std::optional<partial_shape> merged; // std::nullopt: a shape_error
};

constexpr merge_case official_cases[] = {
    {"MergeShapeInfoHasShape/source_only", {1}, unknown_rank, partial_shape{1}},
    {"MergeShapeInfoHasShape/target_only", unknown_rank, {1}, partial_shape{1}},
    {"MergeShapeInfoPreferValueOverParam/source_value", {1}, {"A"}, partial_shape{1}},
    {"MergeShapeInfoPreferValueOverParam/target_value", {"A"}, {1}, partial_shape{1}},
    {"MergeShapeInfoCombineShapes/both", {unknown, 2}, {1, unknown}, partial_shape{1, 2}},
    {"MergeShapeInfoCombineShapes/value_over_param", {unknown, 2}, {1, "A"}, partial_shape{1, 2}},
    {"MergeShapeInfoMismatches/rank", {unknown, 2}, {1, unknown, 1}, std::nullopt},
    {"MergeShapeInfoMismatches/dim_value", {2, 2}, {2, 1}, std::nullopt},
    {"MergeShapeInfoMismatches/param_prefers_target", {"A"}, {"B"}, partial_shape{"B"}},
};

constexpr partial_type float_tensor(partial_shape const& dims) { return tensor_type(float_, dims); }
constexpr partial_type float_sparse(partial_shape const& dims) { return sparse_tensor_type(float_, dims); }

constexpr bool holds(merge_case const& c)
{
    if (!c.merged)
        return detail::find_conflict(c.inferred, c.declared) != detail::conflict::none;
    return detail::merge_shape(c.inferred, c.declared) == *c.merged &&
           merge_type(float_tensor(c.inferred), float_tensor(c.declared)) == float_tensor(*c.merged) &&
           merge_type(float_sparse(c.inferred), float_sparse(c.declared)) == float_sparse(*c.merged);
}

constexpr bool all_official_cases_hold()
{
    for (merge_case const& c : official_cases)
        if (!holds(c))
            return false;
    return true;
}

template <std::size_t I>
constexpr auto merge_shapes_of =
    [] { return detail::merge_shape(official_cases[I].inferred, official_cases[I].declared); };

template <std::size_t I>
constexpr auto merge_tensors_of = [] {
    return merge_type(float_tensor(official_cases[I].inferred), float_tensor(official_cases[I].declared));
};

template <std::size_t I>
constexpr auto merge_sparse_tensors_of = [] {
    return merge_type(float_sparse(official_cases[I].inferred), float_sparse(official_cases[I].declared));
};

// --- what they leave out ---

constexpr bool every_pair_of_dims()
{
    return detail::merge_dim(2, 2) == 2 && detail::merge_dim(2, "A") == 2 &&
           detail::merge_dim(2, unknown) == 2 && detail::merge_dim("A", 2) == 2 &&
           detail::merge_dim("A", "B") == "B" && detail::merge_dim("A", unknown) == "A" &&
           detail::merge_dim(unknown, 2) == 2 && detail::merge_dim(unknown, "B") == "B" &&
           detail::merge_dim(unknown, unknown) == unknown && detail::merge_dim(-7, unknown) == -7;
}

constexpr bool an_unknown_rank_is_not_a_scalar()
{
    return detail::merge_shape(unknown_rank, unknown_rank) == unknown_rank &&
           detail::merge_shape({}, unknown_rank) == partial_shape{} &&
           detail::merge_shape(unknown_rank, {}) == partial_shape{} &&
           detail::find_conflict(partial_shape{}, partial_shape{1}) == detail::conflict::rank;
}

/// As many axes as there may be, so that none past the last is read.
constexpr bool the_longest_shapes_merge()
{
    partial_shape inferred, declared;
    for (std::size_t axis = 0; axis < max_rank; ++axis) {
        inferred.insert(axis, unknown);
        declared.insert(axis, 2);
    }
    return detail::merge_shape(inferred, declared) == declared &&
           detail::find_conflict(inferred, declared) == detail::conflict::none;
}

/// Shapes that had an axis more, on which they differ.
constexpr bool removed_axes_do_not_conflict()
{
    partial_shape inferred{2, 3}, declared{2, 4};
    inferred.erase(1);
    declared.erase(1);
    return detail::find_conflict(inferred, declared) == detail::conflict::none &&
           detail::merge_shape(inferred, declared) == partial_shape{2};
}

constexpr bool types_merge()
{
    return merge_type(untyped, float_tensor({2})) == float_tensor({2}) &&
           merge_type(float_tensor({2}), untyped) == float_tensor({2}) &&
           merge_type(tensor_type(undefined, {unknown, 3}), float_tensor({2, unknown})) ==
               float_tensor({2, 3}) &&
           merge_type(float_tensor({2}), tensor_type(undefined)) == float_tensor({2}) &&
           merge_type(optional_of(sequence_of(float_tensor({unknown}))),
               optional_of(sequence_of(tensor_type(undefined, {2})))) ==
               optional_of(sequence_of(float_tensor({2}))) &&
           merge_type(sequence_of(untyped), sequence_of(float_tensor({2}))) == sequence_of(float_tensor({2}));
}

constexpr bool what_agrees_is_mergeable()
{
    return is_mergeable(untyped, float_tensor({2})) &&
           is_mergeable(float_tensor({unknown, "N"}), float_tensor({2, "M"})) &&
           is_mergeable(tensor_type(undefined), float_tensor({2})) &&
           !is_mergeable(float_tensor({2}), float_sparse({2})) &&
           !is_mergeable(float_tensor({2}), tensor_type(double_, {2})) &&
           !is_mergeable(float_tensor({2}), float_tensor({2, 2})) &&
           !is_mergeable(float_tensor({2}), float_tensor({3}));
}

constexpr bool a_body_declares_more()
{
    type_list const given{tensor_type(int64), untyped, float_tensor({3})};
    type_list const declared{tensor_type(int64, {1}), tensor_type(bool_, {}), float_tensor({"N"})};
    return detail::bind_body_inputs(given, declared) ==
               type_list{tensor_type(int64, {1}), tensor_type(bool_, {}), float_tensor({3})} &&
           detail::bind_body_inputs({}, {}) == type_list{};
}

TEST_CASE("merge: the official ONNX tests")
{
    static_assert(all_official_cases_hold());
    for (merge_case const& c : official_cases) {
        CAPTURE(c.id);
        CHECK(holds(c));
    }

    std::string const rank = "an inferred shape must have the declared rank, but the ",
                      dimension = "an inferred dimension must equal the declared one, but the ",
                      no_shape = ". Declare what is inferred, or no shape.",
                      symbol = ". Declare what is inferred, or a symbol.";
    check_refused<merge_shapes_of<6>, shape_error>(
        "xloom::merge_shape: " + rank + "shape is inferred as [?, 2] and declared as [1, ?, 1]" + no_shape);
    check_refused<merge_tensors_of<6>, shape_error>(
        "xloom::merge_type: " + rank + "type is inferred as float[?, 2] and declared as float[1, ?, 1]" +
        no_shape);
    check_refused<merge_sparse_tensors_of<6>, shape_error>(
        "xloom::merge_type: " + rank +
        "type is inferred as sparse float[?, 2] and declared as sparse float[1, ?, 1]" + no_shape);

    check_refused<merge_shapes_of<7>, shape_error>(
        "xloom::merge_shape: " + dimension + "shape is inferred as [2, 2] and declared as [2, 1]" + symbol);
    check_refused<merge_tensors_of<7>, shape_error>(
        "xloom::merge_type: " + dimension + "type is inferred as float[2, 2] and declared as float[2, 1]" +
        symbol);
    check_refused<merge_sparse_tensors_of<7>, shape_error>(
        "xloom::merge_type: " + dimension +
        "type is inferred as sparse float[2, 2] and declared as sparse float[2, 1]" + symbol);
}

TEST_CASE("merge: rules beyond the official tests")
{
    CHECK(always_holds<every_pair_of_dims>());
    CHECK(always_holds<an_unknown_rank_is_not_a_scalar>());
    CHECK(always_holds<the_longest_shapes_merge>());
    CHECK(always_holds<removed_axes_do_not_conflict>());
    CHECK(always_holds<types_merge>());
    CHECK(always_holds<what_agrees_is_mergeable>());
    CHECK(always_holds<a_body_declares_more>());
}

TEST_CASE("merge: contradictions")
{
    constexpr auto dims = [] { return detail::merge_dim(2, 3); };
    constexpr auto kinds = [] { return merge_type(float_tensor({2}), sequence_of(float_tensor({2}))); };
    constexpr auto contents = [] {
        return merge_type(sequence_of(float_tensor({})), sequence_of(float_sparse({})));
    };
    constexpr auto elements = [] {
        return merge_type(optional_of(tensor_type(int4)), optional_of(tensor_type(uint4)));
    };
    check_refused<dims, shape_error>(
        "xloom::merge_dim: an inferred dimension must equal the declared one, but the dimension is inferred "
        "as 2 and declared as 3. "
        "Declare what is inferred, or a symbol.");
    check_refused<kinds, type_error>(
        "xloom::merge_type: an inferred type must be of the declared kind, but the type is inferred as "
        "float[2] and declared as "
        "seq(float[2]). Declare what is inferred, or nothing.");
    check_refused<contents, type_error>(
        "xloom::merge_type: an inferred type must be of the declared kind, but the type is inferred as "
        "seq(float[]) and declared as "
        "seq(sparse float[]). Declare what is inferred, or nothing.");
    check_refused<elements, type_error>(
        "xloom::merge_type: an inferred type must have the declared element type, but the type is inferred "
        "as optional(int4[...]) and "
        "declared as optional(uint4[...]). Declare what is inferred, or nothing.");
}

TEST_CASE("bind_body_inputs: contradictions")
{
    constexpr auto count = [] {
        return detail::bind_body_inputs({tensor_type(int64), tensor_type(bool_)}, {untyped});
    };
    constexpr auto element = [] {
        return detail::bind_body_inputs({untyped, tensor_type(float_)}, {untyped, tensor_type(bool_)});
    };
    constexpr auto rank = [] { return detail::bind_body_inputs({float_tensor({2})}, {float_tensor({})}); };
    check_refused<count, type_error>(
        "xloom::bind_body_inputs: a body must declare as many inputs as it is given, but it declares 1 and "
        "is given 2: [int64[...], "
        "bool[...]]. Declare one for each.");
    check_refused<element, type_error>(
        "xloom::bind_body_inputs: an inferred type must have the declared element type, but input[1] is "
        "inferred as float[...] and "
        "declared as bool[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::bind_body_inputs: an inferred shape must have the declared rank, but input[0] is inferred as "
        "float[2] and declared as "
        "float[]. Declare what is inferred, or no shape.");
}

} // namespace

} // namespace infer_merge_test
