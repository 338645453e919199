#pragma once
// The memory in which an operator wants the values of its steps: of states, and of outputs in their tensors.

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/scan/step.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The memory for one value of the steps of an operator; none for a value that is no step_value.
template <class Value>
struct step_value_memory {
    void offer_state(auto const&, auto*) {}
    void offer_output(auto const&, auto*) {}
    void replace(auto& state, Value& value) { detail::assign_carried(state, value); }
};
template <class Container>
class step_value_memory<step_value<Container>> {
    using item = typename Container::value_type;
    using storage = std::conditional_t<(alignof(item) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__),
        typename xt::xtensor<item, 1>::storage_type, // which a state has
        xt::uvector<item, std::allocator<item>>>;

public:
    /// Offers memory for a value of the state's shape. An optional has none.
    template <class State>
    void offer_state([[maybe_unused]] State const& state, [[maybe_unused]] auto* step)
    {
        if constexpr (tensor<State>) {
            std::size_t count = 1;
            for (auto const dim : enable_tensor<State>::shape(state))
                count *= static_cast<std::size_t>(dim);
            offer_own(count, step);
        }
    }

    /// Offers the memory of the writer's next element, if items are contiguous there.
    void offer_output(auto const& writer, auto* step)
    {
        if (item* const next = writer.next_in_place())
            place_.offer(next, writer.count(), step);
        else
            offer_own(writer.count(), step);
    }

    /// Replaces a state: exchanges the memory if the value is in the memory that was offered for it.
    template <class State>
    void replace(State& state, step_value<Container>& value)
    {
        if constexpr (is_xcontainer<State> && is_always_row_major<State> && is_always_row_major<Container>)
            if constexpr (std::is_same_v<typename State::storage_type, storage>)
                if (value.data() == own_.data() && detail::have_same_shape(state, value)) {
                    using std::swap;
                    swap(state.storage(), own_);
                    return;
                }
        detail::assign_carried(state, value);
    }

private:
    void offer_own(std::size_t count, auto* step)
    {
        own_.resize(count);
        place_.offer(own_.data(), count, step);
    }

    storage own_{};
    typename Container::storage_type::place place_{};
};

template <class Values>
struct step_value_memories {
    using type = std::tuple<step_value_memory<Values>>;
};
template <class... Values>
struct step_value_memories<std::tuple<Values...>> {
    using type = std::tuple<step_value_memory<Values>...>;
};

/// The memory for the values of the steps of an operator.
template <class Step>
class step_memory {
public:
    /// Returns call(), which is to be `step`, and offers memory for the values of that step. There may be no
    /// writers yet.
    template <class States, class... Writers, class Call>
    Step make(Step* step, States const& states, [[maybe_unused]] std::tuple<Writers...> const& writers,
        Call const& call)
    {
        detail::for_each_leaf(
            states_, [&](auto i, auto& memory) { memory.offer_state(std::get<i>(states), step); });
        if constexpr (sizeof...(Writers) != 0)
            detail::for_each_leaf(
                outputs_, [&](auto k, auto& memory) { memory.offer_output(std::get<k>(writers), step); });
        return call();
    }

    /// Replaces the states by those of a step.
    template <class States, class Values>
    void replace(States const& states, Values const& values)
    {
        detail::for_each_leaf(
            states_, [&](auto i, auto& memory) { memory.replace(std::get<i>(states), std::get<i>(values)); });
    }

private:
    typename step_value_memories<decltype(Step::state)>::type states_{};
    typename step_value_memories<decltype(Step::scan_outputs)>::type outputs_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
