#pragma once
// Runs of independent units of work, such as heads or blocks of channels, on the threads of a policy.

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/recurrent/workspace.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The units of a call, which process `elements` elements together.
struct unit_sizes {
    std::size_t units, elements;
    std::size_t scratch;    ///< count of numbers that one unit computes in
    std::size_t shared = 0; ///< count of numbers that all units share
};

/// A run of units, divided into at least one part for the threads of a policy, and its memory.
template <class Item>
class unit_run {
    using T = compute_t<Item>;

public:
    /// Errors    shape_error: as check_fits_in_memory; std::bad_alloc.
    unit_run(unit_sizes const& sizes, recurrent_workspace<Item>& workspace, policy_ref const& policy)
        : units_(sizes.units),
          parts_((std::min)(parts_for(policy, sizes.elements), std::max<std::size_t>(units_, 1))),
          scratch_items_(sizes.scratch),
          policy_(policy)
    {
        kernel::arena<T> size;
        size.take(sizes.shared);
        size.take(parts_, sizes.scratch);
        kernel::arena<T> memory(numbers_of(workspace, size.used()));
        shared_ = memory.take(sizes.shared);
        scratch_ = memory.take(parts_, sizes.scratch);
    }

    /// Returns the memory that all units share.
    T* shared() const noexcept { return shared_; }

    /// Calls f(unit, memory) for each unit, while subnormal numbers are zeros. `memory` is an arena of
    /// `scratch` numbers.
    template <class F>
    void for_each(F const& f) const
    {
        flush_subnormals const flushing;
        policy_.for_each(parts_, [&](std::size_t part) {
            for (auto [unit, end] = range_of_part(part, parts_, units_); unit < end; ++unit) {
                kernel::arena<T> memory(scratch_ + part * scratch_items_);
                f(unit, memory);
            }
        });
    }

private:
    std::size_t units_, parts_, scratch_items_;
    policy_ref const& policy_;
    T *shared_ = nullptr, *scratch_ = nullptr;
};

/// Calls Functions::run(operands..., workspace, policy) of the current vector level, with the workspace and
/// the policy of an environment. The environment is valid; options in it are passed over.
template <class Functions, class Item, class... Operands, class... Env>
void run_at_level(std::tuple<Operands const&...> const& operands, Env&... env)
{
    auto&& workspace = detail::workspace_or_new<recurrent_workspace<Item>>(env...);
    std::apply(
        [&](auto const&... each) {
            vector_level().functions<Functions>().run(each..., workspace, policy_ref(policy_of(env...)));
        },
        operands);
}

} // namespace xloom::inline XLOOM_ABI::detail
