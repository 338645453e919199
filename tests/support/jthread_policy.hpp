#pragma once
// An execution policy that starts a std::jthread for each part.

#include <cstddef>
#include <thread>
#include <vector>

struct jthread_policy {
    std::size_t parts;

    std::size_t concurrency() const { return parts; }

    template <class F>
    void for_each(std::size_t count, F const& f) const
    {
        std::vector<std::jthread> running;
        for (std::size_t part = 0; part < count; ++part)
            running.emplace_back([&f, part] { f(part); });
    }
};
