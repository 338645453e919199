#include "random_input.hpp"

#include <algorithm>

#include "graph.hpp"
#include "moves.hpp"
#include "proto.hpp"
#include "text.hpp"
#include "types.hpp"

namespace runner {

namespace {

/// The largest integer that is made of a type; 0 for types of no integers.
template <class T>
inline constexpr int most_of = std::is_integral_v<T> ? 9 : 0;
template <element_type Element>
inline constexpr int most_of<xloom::small_int<Element>> = std::min(
    9, (1 << (xloom::small_int<Element>::width - (xloom::small_int<Element>::is_signed ? 1 : 0))) - 1);

template <class T>
T random_item(std::mt19937& source)
{
    std::normal_distribution<float> normal;
    if constexpr (std::is_same_v<T, std::string>)
        return {};
    else if constexpr (std::is_same_v<T, bool>)
        return std::uniform_int_distribution<int>(0, 1)(source) != 0;
    else if constexpr (most_of<T> != 0)
        return static_cast<T>(std::uniform_int_distribution<int>(0, most_of<T>)(source));
    else
        return static_cast<T>(normal(source));
}

tensor random_tensor(onnx::TypeProto_Tensor const& declared, std::mt19937& source)
{
    auto const type = static_cast<element_type>(declared.elem_type());
    if (declared.elem_type() <= 0 || declared.elem_type() >= static_cast<int>(xloom::element_type_count))
        throw runner_error(fmt::format("the element type {} is none of ONNX's", declared.elem_type()));
    xloom::shape dims;
    for (auto const& dim : declared.shape().dim())
        dims.push_back(
            dim.has_dim_value() && dim.dim_value() >= 0 ? static_cast<std::size_t>(dim.dim_value()) : 1);
    tensor result = new_tensor(type, dims);
    with_type(type, [&]<class T>(std::type_identity<T>) {
        constexpr std::size_t between_looks = 1 << 16; // at the clock
        auto const items = result.items<T>();
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i % between_looks == 0)
                require_time();
            items[i] = random_item<T>(source);
        }
    });
    return result;
}

} // namespace

value random_input(onnx::TypeProto const& type, std::mt19937& source)
{
    switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
        return random_tensor(type.tensor_type(), source);
    case onnx::TypeProto::kSequenceType:
        return sequence{};
    case onnx::TypeProto::kOptionalType:
        return value::optional_value{};
    default:
        throw not_implemented("its type is none of tensor, sequence and optional");
    }
}

value default_input(onnx::GraphProto const& graph, onnx::ValueInfoProto const& input, std::mt19937& source)
{
    auto const is_input = [&](onnx::TensorProto const& tensor) { return tensor.name() == input.name(); };
    auto const initializer = std::find_if(graph.initializer().begin(), graph.initializer().end(), is_input);
    return initializer == graph.initializer().end() ? random_input(input.type(), source)
                                                    : read_tensor(*initializer);
}

} // namespace runner
