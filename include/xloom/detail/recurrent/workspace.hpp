#pragma once
// The memory that calls of the recurrent operators use again.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <xloom/detail/check/recurrent.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/sequences.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Makes a vector large enough, without a copy of its items, which would double its capacity too.
///
/// Errors    shape_error: as check_fits_in_memory.
template <class T>
void grow(aligned_vector<T>& items, std::size_t count)
{
    check_fits_in_memory<T>(count);
    if (items.size() < count) {
        items.clear();
        items.resize(count);
    }
}

template <class Item>
struct recurrent_runner;
template <class Item, class Cell>
struct backward_runner;
template <class Family, class Item>
class recurrent_weights;

} // namespace detail

template <class Item>
class recurrent_workspace;

namespace detail {

/// Returns memory for `count` numbers, which are not set; not null, even for none.
///
/// Errors    shape_error: as check_fits_in_memory; std::bad_alloc.
template <class Item>
compute_t<Item>* numbers_of(recurrent_workspace<Item>& workspace, std::size_t count);

} // namespace detail

/// Reusable memory of the recurrent operators. It grows to the size that a call needs; a call that needs no
/// more than an earlier one allocates nothing. One call may use it at a time.
template <class Item>
class recurrent_workspace {
public:
    recurrent_workspace() = default;
    /// Makes room for all calls of these weights with up to T steps, N rows and the policy's threads.
    ///
    /// Errors    shape_error: sizes that cannot be counted in bytes.
    template <class Family, execution_policy Policy = serial_policy>
    explicit recurrent_workspace(detail::recurrent_weights<Family, Item> const& weights,
        batch_sizes const& batch, Policy const& policy = {});

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return numbers_.capacity() * sizeof(detail::compute_t<Item>) +
               sequences_.capacity() * sizeof(kernel::sequence<Item>) +
               (order_.capacity() + begins_.capacity()) * sizeof(std::size_t);
    }

private:
    friend struct detail::recurrent_runner<Item>;
    template <class, class>
    friend struct detail::backward_runner;
    friend detail::compute_t<Item>* detail::numbers_of<Item>(recurrent_workspace&, std::size_t);

    detail::aligned_vector<detail::compute_t<Item>> numbers_{};
    std::vector<std::size_t> order_{};
    std::vector<kernel::sequence<Item>> sequences_{};
    std::vector<std::size_t> begins_{};
};

namespace detail {

/// Requires that a call's arguments after its operands are Options or none, then at most a policy and a
/// workspace of the type W.
template <class Options, class W, class First, class... Env>
using options_policy_and_workspace = after_operands<Options, takes<a_policy, a_workspace<W>>, First, Env...>;

/// Returns the workspace of an environment, or a new one if there is none.
template <class W, class... Env>
decltype(auto) workspace_or_new(Env&... env)
{
    if constexpr (count_of_kind<a_workspace<W>, Env&...> == 0)
        return W();
    else
        return detail::first_of_kind<a_workspace<W>>(serial, env...);
}

template <class Item>
compute_t<Item>* numbers_of(recurrent_workspace<Item>& workspace, std::size_t count)
{
    grow(workspace.numbers_, std::max<std::size_t>(count, 1));
    return workspace.numbers_.data();
}

} // namespace detail

} // namespace xloom::inline XLOOM_ABI
