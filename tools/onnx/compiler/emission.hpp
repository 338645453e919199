#pragma once
// The text of a header while it is made: lines of the function, members, names, buffers.

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "names.hpp"
#include "program.hpp"

namespace compiler {

/// Where the constants of a model are stored: in the header, or in a file beside it.
enum class weights_place { embedded, file };

struct options {
    std::string name = "model";
    std::string source{};    ///< the model's file name, for the first comment
    std::string enclosing{}; ///< the namespace; empty: none
    weights_place weights = weights_place::embedded;
    std::map<std::string, std::vector<std::int64_t>> shapes{}; ///< of inputs, in place of the declared ones
    std::map<std::string, std::string> values{};    ///< of inputs that are constants; items between commas
    std::map<std::string, std::string> operators{}; ///< custom ones: full names and their C++ functions
    std::vector<std::string> includes{};            ///< headers that declare them
};

/// The bytes of the constants that are stored in a file.
class weights_file {
public:
    static constexpr std::size_t alignment = 64;

    /// Appends the items of a tensor. Returns where they begin.
    std::size_t append(runner::tensor const& t);
    std::string const& bytes() const { return bytes_; }

private:
    std::string bytes_{};
};

class emission {
public:
    explicit emission(options const& given);

    options const& chosen() const { return options_; }

    // Lines of the function that is being written.
    template <class... Args>
    void line(fmt::format_string<Args...> text, Args&&... args)
    {
        write(fmt::format(text, std::forward<Args>(args)...));
    }
    void write(std::string_view text);
    void indent() { ++depth_; }
    void outdent() { --depth_; }
    std::string take_body() { return std::move(body_); }

    void include(std::string_view header) { includes_.emplace(header); }
    std::set<std::string> const& includes() const { return includes_; }
    std::string unique(std::string_view name) { return names_.unique(name); }
    void reserve(std::string_view identifier) { names_.reserve(identifier); }

    // Members.
    void add_member(std::string declaration) { members_.push_back(std::move(declaration)); }
    std::vector<std::string> const& members() const { return members_; }
    /// Declares memory that calls write; the operator is then not const.
    void add_memory(std::string declaration);
    /// Returns the name of the scratch memory that operators share.
    std::string workspace()
    {
        return shared_memory("xloom_onnx::workspace", "scratch", "xloom_onnx/workspace.hpp");
    }
    /// Returns the name of the memory that scans share for elements that are not contiguous.
    std::string scan_workspace()
    {
        return shared_memory("xloom::scan_workspace", "elements", "xloom/control_flow/scan.hpp");
    }
    std::vector<std::string> const& memory() const { return memory_; }
    std::vector<std::string> const& arrays() const { return arrays_; }
    weights_file const& weights() const { return weights_; }

    // Values.
    /// Returns the expression of a value that exists: a variable's name, a literal, a constant's member.
    std::string operand(variable& value);
    /// Returns a constant tensor as a view member, whatever its rank.
    std::string constant_view(variable& value);
    /// Returns the name of the storage for a value that a node makes, which it declares on first use.
    std::string target(variable& value);
    /// Writes the line that makes a value of the expression: the definition of a scalar, or an assignment.
    void define(variable& value, std::string const& expression);
    /// Writes the definition of a view. If it views another value's items, that keeps its memory as long as
    /// the view is used.
    void define_view(variable& value, variable* viewed, std::string const& expression);
    /// Gives a value a name or place of its own in advance.
    void bind(variable& value, std::string code) { value.code = std::move(code); }
    /// Lets a value take the memory of a carried state that its makers read last. Returns false if it has
    /// memory already, if inference does not know that types and shapes are equal, or if one of the makers
    /// reads a view of the state, too.
    bool take_state(variable& value, variable const& state, std::vector<node*> const& makers);
    /// Declares memory of a value's type that is not shared with others.
    std::string own_memory(std::string_view name, partial_type const& type);

    // The end of values, after which their memory serves others.
    void begin_block();
    void end_block();
    void use(variable& value);
    /// Ends the life of the values of this block that no node needs any more. Those that `readers`, which are
    /// not written yet, read through a view live on: it may be broadcast, so that writing their output item
    /// by item would overwrite what is still read.
    void release_unused(std::vector<node*> const& readers = {});

private:
    std::string shared_memory(std::string const& type, std::string_view name, std::string_view header);
    /// Returns the expression of a constant's value, which may be a sequence or an optional.
    std::string expression_of(runner::value const& constant, partial_type const& type);
    std::string buffer_key(partial_type const& type) const;

    options const& options_;
    name_scope names_{};
    std::string body_{};
    std::size_t depth_ = 1;
    std::set<std::string> includes_{};
    std::vector<std::string> members_{}, memory_{}, arrays_{};
    std::map<std::string, std::string> shared_memory_{}; ///< its names, by type
    weights_file weights_{};
    std::map<variable const*, std::string> views_{};
    std::deque<variable> parts_{};                     ///< the tensors of constant sequences
    std::map<variable const*, std::string> buffers_{}; ///< the members that hold values
    std::map<std::string, std::vector<std::string>> free_{};
    std::vector<std::vector<variable*>> living_{};
};

} // namespace compiler
