#pragma once
// What the bodies of Loop and Scan share: carried states, which the body replaces at its end, and scan
// outputs.

#include <cstddef>
#include <string>
#include <vector>

#include "emission.hpp"

namespace compiler {

/// Returns the names as one operand of xloom: std::tie(a, b), or a alone.
std::string tied(std::vector<std::string> const& names);

/// True if a node of the body itself makes the value.
bool is_made_in(block const& body, variable const& value);

/// Returns the parameter of a body's lambda, with a name only if the body uses it.
std::string parameter(emission& out, std::string const& type, variable& value);

/// Whether a body gets a state as the container, or as a row of it, which keeps its shape.
enum class state_kind { container, row };

/// The carried states of a Loop or Scan. Call the functions in order.
class carried_states {
public:
    /// `states` are inputs of the body, `next` its outputs.
    carried_states(block const& body, std::vector<variable*> states, std::vector<variable*> next,
        state_kind kind = state_kind::container);

    /// Declares storage for the final states, the node's outputs, and writes lines that make it the initial
    /// ones, the node's inputs from `first_input` on.
    void start(emission& out, node& each, std::size_t first_input);
    /// Returns the storage, as an operand.
    std::string storage() const { return tied(storage_); }
    /// Appends the lambda's parameters.
    void add_parameters(emission& out, std::vector<std::string>& parameters) const;
    /// Writes the lines at the body's end. A state that becomes another, or a view of another, is copied
    /// before any is replaced.
    void update(emission& out) const;
    /// Writes the lines after the loop: final states that are rows get what their storage holds.
    void finish(emission& out, node& each) const;
    /// True if the value is one of the states at the start of the body.
    bool contains(variable const& value) const;

private:
    bool can_swap(variable const& value) const;
    bool is_of_state(variable const& value) const;
    bool is_in_place(std::size_t i) const;

    block const& body_;
    std::vector<variable*> states_, next_;
    std::vector<std::string> storage_{};
    state_kind kind_;
};

/// The scan outputs of a Loop or Scan that are used: written in place where the number of iterations and the
/// element's shape are known before the first, else to a growing_stack. Call the functions in order.
class scan_outputs {
public:
    explicit scan_outputs(block const& body) : body_(body) {}

    struct place {
        std::size_t axis = 0;
        bool is_reversed = false;
    };
    /// Adds output k of a node, whose elements are output `of_body` of its body.
    void add(node const& each, std::size_t k, std::size_t of_body, place at, bool is_in_place);
    /// True if the number of iterations must be known before the first.
    bool needs_trips() const;

    /// Gives the outputs in place their shapes: `leading` and the number of iterations as C++, around the
    /// element's.
    void start(emission& out, std::string_view op, std::vector<std::string> const& leading,
        std::string const& trips);
    /// Returns the outputs in place, as an operand.
    std::string storage() const;
    void add_parameters(emission& out, std::vector<std::string>& parameters);
    /// Writes the lines at the start of the body.
    void enter(emission& out);
    /// Writes the lines after the body's nodes.
    void leave(emission& out) const;
    /// Writes the lines after the loop.
    void finish(emission& out) const;

private:
    struct output {
        variable* element;
        variable* result;
        partial_type declared; ///< of the element: what no iteration makes has its dimensions
        place at;
        bool is_in_place;
        std::string storage{}; ///< the node's output, or the stack
        std::string row{};     ///< where the body writes the element
        bool is_bound = false; ///< nodes of the body write it there themselves
    };

    block const& body_;
    std::vector<output> all_{};
};

} // namespace compiler
