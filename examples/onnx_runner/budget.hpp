#pragma once
// What models may take of the machine. They come from files, which may lie: a number in one must not be worth
// all memory, or a day.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runner {

/// As the programs set it, unless they are told otherwise.
struct budget {
    using seconds = std::chrono::duration<double>;
    static constexpr std::uint64_t any_steps = std::numeric_limits<std::uint64_t>::max();
    static constexpr seconds any_time{std::numeric_limits<double>::infinity()};

    std::size_t bytes = std::size_t{1} << 31;        ///< of all that models hold together
    std::size_t tensor_bytes = std::size_t{1} << 28; ///< of one tensor that an operator makes
    std::uint64_t steps = 100'000'000;
    seconds time{60}; ///< from the moment when the budget is set
};

/// The budget of the process: nothing but memory is limited until one is set.
budget const& current_budget();

/// Another budget while it lives, its steps and time not spent yet.
class with_budget {
public:
    explicit with_budget(budget const& own);
    ~with_budget();
    with_budget(with_budget const&) = delete;
    with_budget& operator=(with_budget const&) = delete;

private:
    budget before_;
    std::uint64_t steps_before_;
    std::chrono::steady_clock::time_point start_before_;
};

/// A node or a graph that runs is a step. Throws a runner_error if there are no more, or no more time.
void spend_steps(std::uint64_t count = 1);
/// So are 2^16 products of numbers: tensors that are small enough may have very many.
void spend_products(double count);
/// Throws a runner_error if there is no more time. To be called now and then in long loops.
void require_time();

/// Bytes that are taken while it lives. Throws a runner_error if there are not so many left.
class reservation {
public:
    explicit reservation(std::size_t bytes = 0) { grow(bytes); }
    ~reservation();
    reservation(reservation const&) = delete;
    reservation& operator=(reservation const&) = delete;

    std::size_t bytes() const { return bytes_; }
    void grow(std::size_t more);

private:
    std::size_t bytes_ = 0;
};

} // namespace runner
