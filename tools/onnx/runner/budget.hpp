#pragma once
// Limits on the resources of models. Model files are untrusted: no number in one may exhaust memory or run
// for a day.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runner {

/// The limits of a model; the defaults are those of the programs.
struct budget {
    using seconds = std::chrono::duration<double>;
    static constexpr std::uint64_t any_steps = std::numeric_limits<std::uint64_t>::max();
    static constexpr seconds any_time{std::numeric_limits<double>::infinity()};

    /// Of all values and packed weights that models hold together, and of what the calls of functions become.
    /// The files of models are held beside them: initializers until a model is ready, all else as long as it.
    std::size_t bytes = std::size_t{1} << 31;
    std::size_t tensor_bytes = std::size_t{1} << 28; ///< of one tensor that an operator makes
    std::uint64_t steps = 100'000'000;
    seconds time{60}; ///< from the moment when the budget is set
};

/// Returns the budget of the process: only memory is limited until one is set.
budget const& current_budget();

/// A scope with another budget, of which no steps and no time are spent yet.
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

/// Spends steps; one node or graph that runs is a step. Throws a runner_error if no steps or no time is left.
void spend_steps(std::uint64_t count = 1);
/// Spends a step per 2^16 products of numbers: tensors of allowed size may have very many.
void spend_products(double count);
/// Throws a runner_error if no time is left. Call it periodically in long loops.
void require_time();

/// A reservation of bytes of the budget during its lifetime. Throws a runner_error if too few are left.
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
