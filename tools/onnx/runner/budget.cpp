#include "budget.hpp"

#include <algorithm>
#include <atomic>
#include <sstream>

#include "text.hpp"
#include "value.hpp"

namespace runner {

namespace {

using clock = std::chrono::steady_clock;

budget current{.steps = budget::any_steps, .time = budget::any_time};
std::atomic<std::size_t> bytes_taken = 0;
std::atomic<std::uint64_t> steps_taken = 0;
clock::time_point start{};

/// "0.5", "60".
std::string text_of(budget::seconds time)
{
    std::ostringstream text;
    text << time.count();
    return text.str();
}

} // namespace

budget const& current_budget() { return current; }

with_budget::with_budget(budget const& own)
    : before_(current), steps_before_(steps_taken), start_before_(start)
{
    current = own;
    steps_taken = 0;
    start = clock::now();
}

with_budget::~with_budget()
{
    current = before_;
    steps_taken = steps_before_;
    start = start_before_;
}

void require_time()
{
    if (current.time != budget::any_time && clock::now() - start > current.time)
        throw runner_error(fmt::format("the model takes more than {} s", text_of(current.time)));
}

void spend_steps(std::uint64_t count)
{
    if (count > current.steps || steps_taken.fetch_add(count) > current.steps - count)
        throw runner_error(fmt::format("the model takes more than {} steps", current.steps));
    require_time();
}

void spend_products(double count)
{
    spend_steps(static_cast<std::uint64_t>(std::min(count, 0x1p63) / 0x1p16));
}

void reservation::grow(std::size_t more)
{
    if (more > current.bytes || bytes_taken.fetch_add(more) > current.bytes - more) {
        if (more <= current.bytes)
            bytes_taken -= more;
        throw runner_error(fmt::format("all tensors together would take more than {} bytes", current.bytes));
    }
    bytes_ += more;
}

reservation::~reservation() { bytes_taken -= bytes_; }

} // namespace runner
