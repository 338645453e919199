// A callable that reduces on several threads: never for the same item at once, though a long slice is cut
// among them.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <vector>

#include <xloom/detail/tensor/xtensor.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/threads.hpp>

namespace scatter_nd_callable_threads_test {

using namespace xloom;

namespace {

/// An item that knows its number, so that a reduction sees which one it is called for.
struct numbered {
    int number;
    int sum;
};

struct calls {
    bool overlap;             ///< two at once for one item
    std::size_t threads_seen; ///< that took part in slice 0
    int sum;                  ///< of all items
};

calls scatter_ones(std::size_t slices, std::size_t length, std::size_t count)
{
    auto data = xt::xtensor<numbered, 2>::from_shape({slices, length});
    for (std::size_t i = 0; i < data.size(); ++i)
        data.data()[i] = {static_cast<int>(i), 0};
    auto indices = xt::xtensor<std::int64_t, 2>::from_shape({count, 1});
    for (std::size_t i = 0; i < count; ++i)
        indices(i, 0) = static_cast<std::int64_t>(i % slices);
    auto updates = xt::xtensor<numbered, 2>::from_shape({count, length});
    std::fill(updates.storage().begin(), updates.storage().end(), numbered{0, 1});

    std::vector<std::atomic<int>> running(data.size());
    std::vector<std::atomic<std::size_t>> thread_of(length);
    std::atomic<bool> overlap = false;
    auto const add = [&](numbered old, numbered const& update) {
        auto& calls_of_item = running[static_cast<std::size_t>(old.number)];
        if (calls_of_item.fetch_add(1) != 0)
            overlap = true;
        if (static_cast<std::size_t>(old.number) < length)
            thread_of[static_cast<std::size_t>(old.number)] =
                std::hash<std::thread::id>()(std::this_thread::get_id());
        calls_of_item.fetch_sub(1);
        return numbered{old.number, old.sum + update.sum};
    };
    scatter_nd_into(add, data, indices, updates, {}, thread_policy{2});

    std::vector<std::size_t> seen(thread_of.begin(), thread_of.end());
    std::sort(seen.begin(), seen.end());
    int sum = 0;
    for (numbered const& item : data.storage())
        sum += item.sum;
    return {overlap, static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin()), sum};
}

} // namespace

TEST_CASE("a long slice is cut among threads, each item in one piece")
{
    calls const found = scatter_ones(2, 4096, 16);
    CHECK(!found.overlap);
    CHECK(found.threads_seen == 2);
    CHECK(found.sum == 4096 * 16);
}

TEST_CASE("a short slice has one owner")
{
    calls const found = scatter_ones(64, 40, 4000);
    CHECK(!found.overlap);
    CHECK(found.threads_seen == 1);
    CHECK(found.sum == 40 * 4000);
}

} // namespace scatter_nd_callable_threads_test
