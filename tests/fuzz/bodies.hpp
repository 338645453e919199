#pragma once
// Steps of scans and loops on textbook tensors: what the bodies compute, under test and in the reference.

#include <optional>
#include <tuple>
#include <utility>

#include <xloom/detail/tensor/tensor.hpp>

#include "decoder.hpp"
#include "outcome.hpp"
#include "support/nd_operands.hpp"
#include "support/tensors.hpp"

namespace fuzz {

using textbook::tensor;
using tensors = std::vector<tensor>;
using doubles = xt::xarray<double>;

/// What a body does wrong, in one iteration.
enum class misdeed { none, reshape_state, reshape_output, throw_own };

/// The numbers of operands of a call, which a program knows when it is compiled.
struct operand_counts {
    std::size_t states, inputs, outputs;
};

struct step_plan {
    std::vector<textbook::dims> outputs{}; ///< the shapes of the elements
    misdeed wrong = misdeed::none;
    std::size_t when = 0;
    textbook::dims other_shape{};
};

struct step_result {
    tensors states, outputs;
};

/// Halves every state and adds what is in the elements, weighted so that no two items count alike.
inline step_result take_step(step_plan const& plan, std::size_t t, tensors states, tensors const& elements)
{
    bool const is_wrong = plan.wrong != misdeed::none && t == plan.when;
    if (is_wrong && plan.wrong == misdeed::throw_own)
        throw own_exception();
    double sum = static_cast<double>(t);
    for (std::size_t i = 0; i < elements.size(); ++i)
        for (std::size_t j = 0; j < elements[i].items.size(); ++j)
            sum += static_cast<double>((i + 2) * (j + 1)) * elements[i].items[j];
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t j = 0; j < states[i].items.size(); ++j)
            sum += states[i].items[j] = states[i].items[j] / 2 + sum + static_cast<double>(i + 3 * j);
    tensors outputs;
    for (textbook::dims const& shape : plan.outputs) {
        outputs.emplace_back(shape);
        for (double& item : outputs.back().items)
            item = sum += 1;
    }
    if (is_wrong && plan.wrong == misdeed::reshape_state && !states.empty())
        states.back() = tensor(plan.other_shape);
    if (is_wrong && plan.wrong == misdeed::reshape_output && !outputs.empty())
        outputs.back() = tensor(plan.other_shape);
    return {states, outputs};
}

inline step_plan choose_plan(decoder& bytes, std::size_t outputs)
{
    step_plan plan;
    plan.outputs.resize(outputs);
    for (textbook::dims& shape : plan.outputs)
        shape = bytes.dims(2, 3);
    if (bytes.below(6) == 0) {
        plan.wrong = static_cast<misdeed>(1 + bytes.below(3));
        // The first iteration tells the outputs' shapes.
        plan.when = bytes.below(3) + (plan.wrong == misdeed::reshape_output ? 1 : 0);
        plan.other_shape = bytes.dims(3, 3);
    }
    return plan;
}

/// True if the outputs have the planned shapes.
inline bool keeps_outputs(step_plan const& plan, tensors const& outputs)
{
    for (std::size_t k = 0; k < outputs.size(); ++k)
        if (outputs[k].shape != plan.outputs[k])
            return false;
    return true;
}

template <class Tensor>
tensor read(Tensor const& from)
{
    tensor to(textbook::dims(from.shape().begin(), from.shape().end()));
    std::copy_n(from.data(), to.items.size(), to.items.begin());
    return to;
}

template <class... Tensors>
tensors read_all(std::tuple<Tensors...> const& all)
{
    return std::apply([](auto const&... each) { return tensors{read(each)...}; }, all);
}

/// Returns the first N tensors of a list as a tuple.
template <std::size_t N>
auto write_all(tensors const& list)
{
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<decltype(static_cast<void>(I), doubles())...>(to_tensor<doubles>(list.at(I))...);
    }(std::make_index_sequence<N>());
}

/// The elements of all iterations along an axis, in their order or from the last to the first.
inline tensor stacked(
    tensors const& elements, textbook::dims const& element, std::size_t axis, bool is_reverse)
{
    textbook::dims shape = element;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), elements.size());
    tensor all(shape);
    for (std::size_t t = 0; t < elements.size(); ++t)
        all.put(axis, is_reverse ? elements.size() - 1 - t : t, elements[t]);
    return all;
}

inline bool are_same(tensor const& a, tensor const& b)
{
    return a.shape == b.shape && are_same(a.items, b.items);
}

inline bool are_same(tensors const& a, tensors const& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
        [](tensor const& x, tensor const& y) { return are_same(x, y); });
}

} // namespace fuzz
