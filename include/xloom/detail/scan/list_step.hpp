#pragma once
// The step of a body over lists, which the body returns or fills.

#include <type_traits>
#include <utility>

#include <xloom/detail/scan/body_call.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The type of the step of a body that is called with Arguments: what it returns, or else Filled, which it
/// takes by reference as one more argument; void if it is neither.
template <class Body, class Filled, class... Arguments>
struct list_step_of {
    using returning = call_of<Body, std::tuple<Arguments...>>;
    using filling = call_of<Body, std::tuple<Arguments..., Filled&>>;

    static constexpr bool is_returned = returning::is_valid;
    static constexpr bool is_valid = returning::is_valid || filling::is_valid;

    static consteval auto step()
    {
        if constexpr (is_returned)
            return std::type_identity<bare<typename returning::result>>();
        else if constexpr (filling::is_valid)
            return std::conditional_t<std::is_void_v<typename filling::result>, std::type_identity<Filled>,
                std::type_identity<void>>();
        else
            return std::type_identity<void>();
    }
    using type = typename decltype(step())::type;
};

/// The step of the current iteration. A step that the body fills is that of the last iteration, with the
/// states of the iteration before it: their memory is used again.
template <class Step, bool IsReturned>
class current_step {
public:
    template <class Body, class... Arguments>
    Step& call(Body& body, Arguments const&... arguments)
    {
        if constexpr (IsReturned)
            step_ = body(arguments...);
        else
            body(arguments..., step_);
        return step_;
    }

    /// Makes the step's states the current ones.
    template <class States>
    void take_states(States& states)
    {
        if constexpr (IsReturned)
            states = std::move(step_.state);
        else
            std::swap(states, step_.state);
    }

private:
    Step step_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
