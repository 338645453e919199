#pragma once
// The scan outputs of a list, of a loop whose number of iterations is unknown until its end.

#include <cstdint>
#include <utility>
#include <vector>

#include <xloom/detail/scan/list_outputs.hpp>
#include <xloom/detail/scan/output_capacity.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The scan outputs of a list, stacked along axis 0, whose output_capacity grows.
///
/// Why no memory is reserved for guaranteed iterations: models come with any trip count, and a body that
/// gives up must not wait for their memory.
template <tensor Y>
class growable_list_outputs {
public:
    using stacked = typename list_outputs<Y>::stacked;

    growable_list_outputs(std::string_view op, std::size_t count, std::int64_t limit)
        : stack_(op, count, along_axis_0), capacity_(limit, no_certain_iterations)
    {}

    /// Appends the outputs of iteration t.
    void push(std::vector<Y> const& values, std::size_t t)
    {
        stack_.check_count(values, t);
        if (t == 0) {
            std::size_t bytes = 0;
            for (Y const& value : values)
                bytes += element_count(detail::shape_of(value)) * sizeof(item_t<Y>);
            capacity_.start(bytes, is_stacked_in_unwritten_memory<Y>);
            stack_.open(values, capacity_.size());
        } else if (t == capacity_.size()) {
            capacity_.grow();
            stack_.resize(capacity_.size(), t);
        }
        stack_.push(values, t);
    }

    std::vector<stacked> finish(std::size_t length) &&
    {
        if (length == 0)
            stack_.open_empty();
        else if (length != capacity_.size())
            stack_.resize(length, length);
        return std::move(stack_).finish();
    }

private:
    static inline scan_options const along_axis_0{};
    static constexpr std::int64_t no_certain_iterations = 0;

    list_outputs<Y> stack_;
    output_capacity capacity_;
};

} // namespace xloom::inline XLOOM_ABI::detail
