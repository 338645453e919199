// The names of the activations, and which alpha and beta each takes.

#include <doctest/doctest.h>

#include <array>

#include <xloom/detail/core/activation.hpp>

namespace core_activation_test {

using namespace xloom;

namespace {

using names = std::array<std::string_view, 3>;

constexpr bool are_consumed_in_order()
{
    constexpr std::array<double, 2> alphas{0.5, 7}, betas{0.25, 8};
    detail::activation_list const found =
        parse_activations("op", names{"LeakyRelu", "Tanh", "HardSigmoid"}, alphas, betas);
    return found == detail::activation_list{{activation::leaky_relu, 0.5, 0}, {activation::tanh},
                        {activation::hard_sigmoid, 7, 0.25}};
}

constexpr bool have_defaults(activation_dialect dialect, activation_function expected, std::string_view name)
{
    return parse_activations("op", std::array<std::string_view, 1>{name}, {}, {}, dialect) ==
           detail::activation_list{expected};
}

constexpr bool run_out_in_the_middle()
{
    constexpr std::array<double, 1> alphas{3};
    detail::activation_list const found = parse_activations("op", names{"Elu", "Elu", "LeakyRelu"}, alphas);
    return found == detail::activation_list{
                        {activation::elu, 3}, {activation::elu, 1}, {activation::leaky_relu, 0.01}};
}

constexpr bool case_does_not_matter()
{
    return parse_activations("op", names{"sigmoid", "TANH", "softSign"}) ==
           detail::activation_list{{activation::sigmoid}, {activation::tanh}, {activation::softsign}};
}

constexpr bool defaults()
{
    constexpr auto onnx = activation_dialect::onnx, microsoft = activation_dialect::microsoft;
    return have_defaults(onnx, {activation::thresholded_relu, 1}, "ThresholdedRelu") &&
           have_defaults(microsoft, {activation::thresholded_relu, 0}, "ThresholdedRelu") &&
           have_defaults(onnx, {activation::affine, 1, 0}, "Affine") &&
           have_defaults(microsoft, {activation::affine, 0, 0}, "Affine") &&
           have_defaults(microsoft, {activation::scaled_tanh, 0, 0}, "ScaledTanh") &&
           have_defaults(microsoft, {activation::leaky_relu, 0.01}, "LeakyRelu") &&
           have_defaults(microsoft, {activation::hard_sigmoid, 0.2, 0.5}, "HardSigmoid") &&
           have_defaults(microsoft, {activation::elu, 1}, "Elu") &&
           have_defaults(onnx, {activation::elu, 1}, "Elu");
}

} // namespace

TEST_CASE("alphas and betas, at compile time and at run time")
{
    static_assert(are_consumed_in_order());
    CHECK(are_consumed_in_order());
    static_assert(run_out_in_the_middle());
    CHECK(run_out_in_the_middle());
    static_assert(case_does_not_matter());
    CHECK(case_does_not_matter());
    static_assert(defaults());
    CHECK(defaults());
}

TEST_CASE("every name is its own")
{
    for (std::size_t kind = 0; kind < activation_count; ++kind) {
        auto const expected = static_cast<activation>(kind);
        CHECK(
            parse_activations("op", std::array<std::string_view, 1>{name_of(expected)})[0].kind == expected);
    }
    CHECK(name_of(activation::softmax) == "Softmax");
}

TEST_CASE("a number that is no activation has no name")
{
    static_assert(name_of(static_cast<activation>(activation_count)) == "unknown");
    CHECK(name_of(static_cast<activation>(255)) == "unknown");
}

TEST_CASE("what is refused")
{
    CHECK_THROWS_WITH_AS(parse_activations("xloom::lstm", names{"Sigmoid", "Tan", "Tanh"}),
        "xloom::lstm: an activation must be one that ONNX names, but activations[1] is \"Tan\". Choose one "
        "of Relu, Tanh, Sigmoid, Affine, "
        "LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus and Softmax.",
        option_error);
    CHECK_THROWS_WITH_AS(parse_activations("xloom::lstm", std::array<std::string_view, 7>{}),
        "xloom::lstm: there may be at most 6 activations, but activations has 7. Give fewer.", option_error);
}

} // namespace core_activation_test
