#pragma once
// An execution policy that takes its threads from oneTBB (Debian: libtbb-dev; link with TBB::tbb).

#include <algorithm>
#include <memory>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <xloom/detail/core/policy.hpp>

namespace xloom::inline XLOOM_ABI {

/// An execution policy that runs the parts of an operator's work in a oneTBB arena of at most `concurrency`
/// threads, the calling one included, and no more than the processor has. Copies share the arena, moves copy.
/// Thread-safe.
///
/// Cost      a new arena, whose threads have to join it first, takes tens of microseconds: make one policy
///           for many calls.
/// Example
/// ```cpp
/// xt::xtensor<int, 1> const x = {1, 2, 3};
/// xt::xtensor<int, 2> const indices = {{0}, {2}};
/// xloom::gather_nd(x, indices, {}, xloom::tbb_policy(2)); // = [1, 3]
/// ```
class tbb_policy {
public:
    explicit tbb_policy(std::size_t concurrency)
        : concurrency_(std::clamp<std::size_t>(
              concurrency, 1, static_cast<std::size_t>(tbb::info::default_concurrency()))),
          arena_(std::make_shared<tbb::task_arena>(static_cast<int>(concurrency_)))
    {}
    tbb_policy(tbb_policy const&) = default;
    tbb_policy& operator=(tbb_policy const&) = default;

    std::size_t concurrency() const noexcept { return concurrency_; }

    template <class F>
    void for_each(std::size_t parts, F const& f) const
    {
        run(parts, detail::part_ref(f));
    }

private:
    /// Calls f(part) for each part, isolated: a thread that waits for tasks of f's own begins no other part.
    /// Not a template, so that those of oneTBB are not instantiated for each F.
    void run(std::size_t parts, detail::part_ref f) const
    {
        if (parts == 1) // entering an arena costs more than some small calls
            return f(0);
        auto const run_part = [f](std::size_t part) { tbb::this_task_arena::isolate([&] { f(part); }); };
        arena_->execute(
            [&] { tbb::parallel_for(std::size_t{0}, parts, run_part, tbb::simple_partitioner{}); });
    }

    std::size_t concurrency_;
    std::shared_ptr<tbb::task_arena> arena_;
};

} // namespace xloom::inline XLOOM_ABI
