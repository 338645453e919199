#pragma once
// The residuals of a scan: what its backward pass needs of the forward pass.

#include <vector>

#include <xloom/detail/scan/kept_states.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// The states that a forward pass of a scan kept, and the shapes of its outputs.
template <class State>
struct scan_record {
    kept_states<packed_slots, State> states;
    std::vector<shape> output_shapes{};
};

} // namespace detail

template <class State>
class scan_residuals;

namespace detail {

/// Returns the residuals for an operator.
template <class State>
scan_record<State>& record_of(scan_residuals<State>& residuals)
{
    return residuals;
}

} // namespace detail

/// The memory of scan_forward_into's states, from which scan_backward_into begins. State is the type of the
/// states: one type or a std::tuple. It grows to the size that a call needs; a call that needs no more than
/// an earlier one allocates nothing. One call may use it at a time.
template <class State>
class scan_residuals : private detail::scan_record<State> {
public:
    explicit scan_residuals(checkpoint const& checkpoints = checkpoint::all())
        : detail::scan_record<State>{detail::kept_states<detail::packed_slots, State>(checkpoints)}
    {}

    /// Returns the number of bytes allocated for the states' items.
    std::size_t bytes() const
    {
        return std::apply([](auto const&... each) { return (std::size_t{0} + ... + each.bytes()); },
            this->states.state_slots());
    }

private:
    template <class S>
    friend detail::scan_record<S>& detail::record_of(scan_residuals<S>& residuals);
};

} // namespace xloom::inline XLOOM_ABI
