#include "broadcast.hpp"
#include "text.hpp"

namespace runner {

xloom::shape broadcast(xloom::shape const& a, xloom::shape const& b)
{
    xloom::shape dims(std::max(a.size(), b.size()), 1);
    for (std::size_t back = 1; back <= dims.size(); ++back) {
        std::size_t const x = back <= a.size() ? a[a.size() - back] : 1;
        std::size_t const y = back <= b.size() ? b[b.size() - back] : 1;
        if (x != y && x != 1 && y != 1)
            throw runner_error(fmt::format("the shapes {} and {} cannot be broadcast to one", a, b));
        dims[dims.size() - back] = x == 1 ? y : x;
    }
    return dims;
}

xloom::strides broadcast_steps(xloom::shape const& from, xloom::shape const& to)
{
    xloom::strides steps(to.size(), 0);
    if (xloom::element_count(from) == 0)
        return steps;
    std::size_t step = 1;
    for (std::size_t back = 1; back <= from.size(); ++back) {
        std::size_t const dim = from[from.size() - back];
        if (dim != 1)
            steps[to.size() - back] = static_cast<std::ptrdiff_t>(step);
        step *= dim;
    }
    return steps;
}

rows::rows(xloom::shape const& dims, std::initializer_list<xloom::strides> steps)
{
    std::size_t const size = xloom::element_count(dims);
    if (size == 0)
        return;
    xloom::static_vector<axis, xloom::max_rank> merged;
    for (std::size_t a = 0; a < dims.size(); ++a) {
        if (dims[a] == 1)
            continue;
        axis next{dims[a], {}, 0};
        bool joins = !merged.empty();
        for (std::size_t n = 0; n < steps.size(); ++n) {
            next.steps[n] = steps.begin()[n][a];
            joins = joins && merged.back().steps[n] == next.steps[n] * static_cast<std::ptrdiff_t>(next.dim);
        }
        if (joins) {
            next.dim *= merged.back().dim;
            merged.back() = next;
        } else {
            merged.push_back(next);
        }
    }
    if (!merged.empty()) {
        row_ = merged.back();
        merged.erase(merged.size() - 1);
    }
    outer_ = merged;
    left_ = size / row_.dim;
}

void rows::next()
{
    --left_;
    for (std::size_t a = outer_.size(); a-- > 0;) {
        axis& each = outer_[a];
        bool const wraps = ++each.position == each.dim;
        // At its end an axis returns to its beginning.
        std::ptrdiff_t const steps = wraps ? 1 - static_cast<std::ptrdiff_t>(each.dim) : 1;
        for (std::size_t n = 0; n < most_operands; ++n)
            offsets_[n] += steps * each.steps[n];
        if (!wraps)
            return;
        each.position = 0;
    }
}

} // namespace runner
