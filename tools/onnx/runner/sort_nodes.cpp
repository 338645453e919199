#include "sort_nodes.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "node_bodies.hpp"
#include "text.hpp"

namespace runner {

namespace {

using node_list = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using name_set = std::unordered_set<std::string>;

/// Which nodes of a list read what others make.
class dependencies {
public:
    /// `read` has the names that each node and its bodies read.
    dependencies(node_list const& nodes, std::vector<name_set> const& read)
        : nodes_(nodes), readers_(read.size()), waiting_(read.size())
    {
        std::unordered_map<std::string, std::size_t> makers;
        for (std::size_t i = 0; i < read.size(); ++i)
            for (std::string const& name : node(i).output())
                if (!name.empty())
                    makers.emplace(name, i);
        for (std::size_t i = 0; i < read.size(); ++i)
            for (std::string const& name : read[i])
                if (auto const found = makers.find(name); found != makers.end() && found->second != i) {
                    readers_[found->second].push_back(i);
                    ++waiting_[i];
                }
    }

    /// Returns the nodes in order, those that could come earlier in that of the list.
    std::vector<std::size_t> order()
    {
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            if (waiting_[i] == 0)
                ready.push(i);
        std::vector<std::size_t> sorted;
        while (!ready.empty()) {
            std::size_t const next = ready.top();
            ready.pop();
            sorted.push_back(next);
            for (std::size_t const reader : readers_[next])
                if (--waiting_[reader] == 0)
                    ready.push(reader);
        }
        if (sorted.size() != waiting_.size())
            refuse_cycle();
        return sorted;
    }

private:
    onnx::NodeProto const& node(std::size_t i) const { return nodes_[static_cast<int>(i)]; }

    /// Each node that waits reads from another one that waits: backwards, a node comes again.
    [[noreturn]] void refuse_cycle() const
    {
        std::vector<std::size_t> maker(waiting_.size());
        for (std::size_t i = 0; i < readers_.size(); ++i)
            if (waiting_[i] != 0)
                for (std::size_t const reader : readers_[i])
                    maker[reader] = i;
        auto const is_waiting = [](std::size_t count) { return count != 0; };
        auto at = static_cast<std::size_t>(
            std::find_if(waiting_.begin(), waiting_.end(), is_waiting) - waiting_.begin());
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            at = maker[at];
        std::vector<std::size_t> cycle{at};
        for (std::size_t each = maker[at]; each != at; each = maker[each])
            cycle.push_back(each);
        std::string names;
        for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), 8); ++i)
            names += (i == 0 ? "" : ", ") + describe(node(cycle[i]));
        throw runner_error(
            fmt::format("{} nodes form a cycle, each of which reads what the next one makes: {}{}",
                cycle.size(), names, cycle.size() > 8 ? ", ..." : ""));
    }

    node_list const& nodes_;
    std::vector<std::vector<std::size_t>> readers_;
    std::vector<std::size_t> waiting_; ///< the number of nodes that each one waits for
};

name_set sort_body(onnx::GraphProto& graph);

/// Sorts nodes, and returns the names that they and their bodies read.
name_set sort(node_list& nodes)
{
    std::vector<name_set> read;
    for (auto& node : nodes) {
        name_set& names = read.emplace_back(node.input().begin(), node.input().end());
        for_each_body(node, [&](onnx::GraphProto& body) { names.merge(sort_body(body)); });
    }
    std::vector<std::size_t> const order = dependencies(nodes, read).order();
    if (!std::is_sorted(order.begin(), order.end())) {
        node_list sorted;
        for (std::size_t const i : order)
            sorted.Add()->Swap(nodes.Mutable(static_cast<int>(i)));
        nodes.Swap(&sorted);
    }
    name_set all;
    for (name_set& names : read)
        all.merge(names);
    return all;
}

/// Sorts a body, and returns the names that it reads from the graphs around it.
name_set sort_body(onnx::GraphProto& graph)
{
    name_set names = sort(*graph.mutable_node());
    for (auto const& output : graph.output())
        names.insert(output.name());
    for (auto const& input : graph.input())
        names.erase(input.name());
    for (auto const& initializer : graph.initializer())
        names.erase(initializer.name());
    for (auto const& node : graph.node())
        for (std::string const& output : node.output())
            names.erase(output);
    return names;
}

} // namespace

void sort_nodes(node_list& nodes) { sort(nodes); }

} // namespace runner
