#pragma once
// Stacked outputs of a loop whose number of iterations is unknown until its end.

#include <cstdint>
#include <utility>

#include <xloom/detail/scan/output_capacity.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Scan outputs stacked along axis 0, whose output_capacity grows.
template <class Outputs>
class growable_outputs {
public:
    using type = typename stacked_outputs<Outputs, dynamic_length>::type;

    growable_outputs(std::string_view op, std::int64_t limit, std::int64_t certain)
        : op_(op), capacity_(limit, certain)
    {}

    /// Appends the outputs of one iteration, a tuple of references.
    template <class Values>
    void push(Values const& values, std::int64_t iteration)
    {
        auto const t = static_cast<std::size_t>(iteration);
        if (t == 0) {
            start(values);
            stack_.open(op_, values, capacity_.size(), {});
        } else if (t == capacity_.size()) {
            capacity_.grow();
            stack_.resize(op_, capacity_.size(), t);
        }
        stack_.push(op_, values, t);
    }

    type finish(std::int64_t trip_count) &&
    {
        auto const length = static_cast<std::size_t>(trip_count);
        if (length == 0)
            stack_.open_empty(op_, {});
        else if (length != capacity_.size())
            stack_.resize(op_, length, length);
        return std::move(stack_).finish();
    }

private:
    template <class Values>
    void start(Values const& values)
    {
        std::size_t bytes = 0;
        bool is_unwritten = true;
        detail::for_each_leaf(values, [&](auto k, auto const& value) {
            using output = bare<decltype(value)>;
            bytes += element_count(output_element_shape(op_, k, value)) * sizeof(item_t<output>);
            is_unwritten = is_unwritten && is_stacked_in_unwritten_memory<output>;
        });
        capacity_.start(bytes, is_unwritten);
    }

    std::string_view op_;
    output_capacity capacity_;
    stacked_outputs<Outputs, dynamic_length> stack_;
};

} // namespace xloom::inline XLOOM_ABI::detail
