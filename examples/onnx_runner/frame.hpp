#pragma once
// Places for what a graph knows by name: resolved once, before it runs.

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace runner {

/// Where a name is found from inside a graph: how many graphs outward, and its place there.
struct slot {
    std::size_t depth = 0;
    std::size_t place = 0;
};

/// The names of a graph, then those around it. A graph may use a name of its own that stands for something
/// else outside.
class name_table {
public:
    explicit name_table(name_table const* outer = nullptr)
        : outer_(outer), depth_(outer == nullptr ? 0 : outer->depth_ + 1)
    {}

    /// How many graphs are around it.
    std::size_t depth() const { return depth_; }
    std::size_t size() const { return places_.size(); }

    std::optional<slot> find(std::string const& name) const
    {
        std::size_t depth = 0;
        for (name_table const* each = this; each != nullptr; each = each->outer_, ++depth)
            if (auto const found = each->places_.find(name); found != each->places_.end())
                return slot{depth, found->second};
        return std::nullopt;
    }
    /// Its own place for a name, new or not.
    std::size_t place_of(std::string const& name)
    {
        return places_.emplace(name, places_.size()).first->second;
    }
    bool has_own(std::string const& name) const { return places_.contains(name); }

private:
    name_table const* outer_;
    std::size_t depth_;
    std::unordered_map<std::string, std::size_t> places_{};
};

/// What stands at the places of a graph and of those around it.
template <class T>
struct frame {
    frame const* outer = nullptr;
    std::vector<T> own{};

    T const& operator[](slot at) const
    {
        frame const* found = this;
        for (; at.depth != 0; --at.depth)
            found = found->outer;
        return found->own[at.place];
    }
};

} // namespace runner
