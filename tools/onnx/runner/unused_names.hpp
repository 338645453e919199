#pragma once
// Names of values that a rewriting adds to a model, or removes from it.

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <onnx/onnx_pb.h>

namespace runner {

/// The names that values of a model have, those in bodies too. New ones are none of them.
class unused_names {
public:
    explicit unused_names(onnx::GraphProto const& graph) { add(graph); }

    /// Returns `base`, or if a value has that name `base` and a number.
    std::string make(std::string const& base)
    {
        std::string name = base;
        for (std::size_t& count = counts_[base]; !used_.insert(name).second;)
            name = base + "_" + std::to_string(++count);
        return name;
    }

private:
    void add(onnx::GraphProto const& graph);

    std::unordered_set<std::string> used_{};
    std::unordered_map<std::string, std::size_t> counts_{}; ///< the last number of each base
};

/// Erases the entries of a field of messages that have one of these names.
template <class Protos>
void erase_names(Protos& from, std::unordered_set<std::string> const& names)
{
    from.erase(std::remove_if(
                   from.begin(), from.end(), [&](auto const& each) { return names.contains(each.name()); }),
        from.end());
}

} // namespace runner
