#include "budget.hpp"

#include <algorithm>
#include <atomic>

#include "value.hpp"

namespace runner {

namespace {

budget limits;
std::atomic<std::size_t> bytes_taken = 0;
std::atomic<std::uint64_t> steps_taken = 0;

} // namespace

budget const& current_budget() { return limits; }

with_budget::with_budget(budget const& own) : before_(limits), steps_before_(steps_taken)
{
    limits = own;
    steps_taken = 0;
}

with_budget::~with_budget()
{
    limits = before_;
    steps_taken = steps_before_;
}

void spend_steps(std::uint64_t count)
{
    if (count > limits.steps || steps_taken.fetch_add(count) > limits.steps - count)
        throw runner_error(xloom::detail::concat("the model takes more than ", limits.steps, " steps"));
}

void spend_products(double count) { spend_steps(static_cast<std::uint64_t>(std::min(count, 0x1p63) / 0x1p16)); }

void reservation::grow(std::size_t more)
{
    if (more > limits.bytes || bytes_taken.fetch_add(more) > limits.bytes - more) {
        if (more <= limits.bytes)
            bytes_taken -= more;
        throw runner_error(xloom::detail::concat("all tensors together would take more than ", limits.bytes, " bytes"));
    }
    bytes_ += more;
}

reservation::~reservation() { bytes_taken -= bytes_; }

} // namespace runner
