// infer_scan: no inputs, what holds of the first state too, and the largest lists and ranks.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include <xloom/infer/scan.hpp>

#include "is_constant.hpp"
#include "node_types.hpp"

namespace infer_scan_limits_test {

using namespace xloom;
using enum element_type;
using node_types::identity;

namespace {

constexpr partial_type scalar = tensor_type(float_, {});

constexpr partial_type of_rank(std::size_t rank)
{
    partial_shape dims;
    for (std::size_t axis = 0; axis < rank; ++axis)
        dims.insert(axis, 1);
    return tensor_type(float_, dims);
}

constexpr auto returns_scalar = [](type_list const&) { return type_list{scalar}; };
constexpr auto returns_nothing = [](type_list const&) { return type_list{}; };

constexpr bool no_inputs()
{
    return infer_scan({}, returns_scalar, type_list(1, untyped), {.num_scan_inputs = 0}) ==
               type_list{tensor_type(float_, {unknown})} &&
           infer_scan({untyped}, returns_scalar, type_list(1, untyped), {.opset = 8, .num_scan_inputs = 0}) ==
               type_list{tensor_type(float_, {unknown, unknown})};
}

/// Of Scan-8, which has sequence_lens before its scan inputs.
constexpr auto scan_input_of_no_inputs = [] {
    return infer_scan({}, identity, type_list(1, untyped), {.opset = 8, .num_scan_inputs = 1});
};

constexpr bool as_many_axes_as_there_may_be()
{
    type_list const inputs(max_operands, tensor_type(float_, {2, 3}));
    axes const second(max_operands, 1);
    return infer_scan(inputs, identity, type_list(max_operands, untyped),
               {.num_scan_inputs = max_operands, .scan_input_axes = second, .scan_output_axes = second}) ==
           inputs;
}

/// A scalar state of Scan-8 has no batch size, not even that of an axis that it had before.
constexpr bool scalar_states_have_no_batch_size()
{
    partial_shape dims{3};
    dims.erase(0);
    return infer_scan({untyped, tensor_type(float_, dims), tensor_type(float_, {2, 7, 5})}, returns_nothing,
               type_list(1, untyped), {.opset = 8, .num_scan_inputs = 1}) == type_list{scalar};
}

/// Of Scan-8, with a state of rank 1 or 2 whose batch size is not that of the scan input.
template <std::size_t Rank>
constexpr auto other_batch = [] {
    partial_shape dims{3, 5};
    if (Rank == 1)
        dims.erase(1);
    return infer_scan({untyped, tensor_type(float_, dims), tensor_type(float_, {2, 7, 5})}, returns_nothing,
        type_list(1, untyped), {.opset = 8, .num_scan_inputs = 1});
};

/// Of Scan-8, with a state of unknown rank; the body returns elements of this rank.
template <std::size_t Rank>
constexpr auto elements_of_scan_8 = [] {
    return infer_scan({untyped, tensor_type(float_), tensor_type(float_, {1, 1, 1})},
        [](type_list const& given) {
            return type_list{given[0], of_rank(Rank)};
        },
        type_list(2, untyped), {.opset = 8, .num_scan_inputs = 1});
};

constexpr bool the_largest_ranks()
{
    return infer_scan({of_rank(max_rank), of_rank(max_rank)}, identity, type_list(2, untyped),
               {.num_scan_inputs = 1}) == type_list(2, of_rank(max_rank)) &&
           elements_of_scan_8<max_rank - 2>()[1] == of_rank(max_rank);
}

constexpr auto no_tensor_as_state = [] {
    return infer_scan({scalar, tensor_type(float_, {3, 2})},
        [](type_list const&) {
            return type_list{sequence_of(scalar), scalar};
        },
        type_list(2, untyped), {.num_scan_inputs = 1});
};

} // namespace

TEST_CASE("infer_scan: no inputs, and as many as there may be")
{
    CHECK(always_holds<no_inputs>());
    check_refused<scan_input_of_no_inputs, option_error>(
        "xloom::infer_scan: num_scan_inputs must not exceed the number of states and scan inputs, but "
        "num_scan_inputs is 1 and there are 0. Count only the scan inputs.");
    CHECK(always_holds<as_many_axes_as_there_may_be>());
}

TEST_CASE("infer_scan: the batch size of the first state of Scan-8, and of scalars")
{
    CHECK(always_holds<scalar_states_have_no_batch_size>());
    check_refused<other_batch<2>, shape_error>(
        "xloom::infer_scan: a state must have the batch size of the scan inputs, but state[0] is [3, 5] and "
        "their batch size is 2. Give a state of that batch size.");
    check_refused<other_batch<1>, shape_error>(
        "xloom::infer_scan: a state must have the batch size of the scan inputs, but state[0] is [3] and "
        "their batch size is 2. Give a state of that batch size.");
}

TEST_CASE("infer_scan: the body must return tensors, also the first")
{
    check_refused<no_tensor_as_state, type_error>("xloom::infer_scan: the body must return tensors, but "
                                                  "output[0] is seq(float[]). Return a tensor.");
}

TEST_CASE("infer_scan: the largest ranks, and larger ones")
{
    CHECK(always_holds<the_largest_ranks>());
    std::string const too_many = "xloom::infer_scan: a tensor may have at most 16 axes (max_rank), but "
                                 "output[1] has ";
    check_refused<elements_of_scan_8<max_rank - 1>, shape_error>(too_many + "17. Merge some of them.");
    check_refused<elements_of_scan_8<max_rank>, shape_error>(too_many + "18. Merge some of them.");
}

} // namespace infer_scan_limits_test
