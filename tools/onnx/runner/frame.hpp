#pragma once
// Slots for the named values of a graph, resolved once before it runs.

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace runner {

/// The slot of a name as seen from a graph: the number of graphs outward, and the index there.
struct slot {
    std::size_t depth = 0;
    std::size_t place = 0;
};

/// The names of a graph and of the enclosing graphs. A graph's own name hides the same name outside.
class name_table {
public:
    explicit name_table(name_table const* outer = nullptr)
        : outer_(outer), depth_(outer == nullptr ? 0 : outer->depth_ + 1)
    {}

    /// Returns the number of enclosing graphs.
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
    /// Returns the graph's own index for a name, which is added if it is new.
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

/// The values in the slots of a graph and of the enclosing graphs.
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
