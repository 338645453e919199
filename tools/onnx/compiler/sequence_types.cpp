#include "sequence_types.hpp"

#include "inference.hpp"
#include "text.hpp"

namespace compiler {

namespace {

using xloom::type_kind;

/// The same type, of which only the rank of the tensor is known.
partial_type with_open_dims(partial_type const& type)
{
    if (!type.shape().has_rank())
        return type;
    xloom::partial_shape dims;
    for (std::size_t a = 0; a < type.shape().rank(); ++a)
        dims.insert(a, xloom::unknown);
    return type.with_shape(dims);
}

/// True if the values must be of one C++ type, but are not.
bool differs(partial_type const& a, partial_type const& b)
{
    return has_cpp_type(a) && has_cpp_type(b) && cpp_type(a) != cpp_type(b);
}

class completion {
public:
    void run(block& of)
    {
        do {
            has_changed_ = false;
            visit(of);
        } while (has_changed_);
    }

private:
    /// Gives a value what is known of another type.
    void learn(variable& value, partial_type const& other)
    {
        partial_type const known = with_open_dims(other);
        if (!other.is_wrapped() && !other.is_tensor())
            return;
        partial_type completed = value.type;
        if (value.type.is_untyped()) {
            completed = known;
        } else if (value.type.kind() == other.kind()) {
            if (value.type.element() == element_type::undefined)
                completed = completed.with_element(known.element());
            if (!value.type.shape().has_rank())
                completed = completed.with_shape(known.shape());
        }
        if (completed == value.type)
            return;
        value.type = completed;
        value.is_completed = true;
        has_changed_ = true;
    }

    void learn_inner(variable& wrapper, type_kind kind, partial_type const& inner)
    {
        if (!inner.is_untyped() && inner.kind() != type_kind::sparse_tensor)
            learn(wrapper, inner.wrapped_in(kind));
    }

    /// Requires one C++ type of two values.
    void join(node const& at, variable& a, variable& b)
    {
        if (!a.type.is_wrapped() && !b.type.is_wrapped())
            return;
        learn(a, b.type);
        learn(b, a.type);
        require_agreement(at, a.type, b.type);
    }

    /// Requires that a value has the type of the tensors in a sequence, or of what is in an optional.
    void join_inner(node const& at, variable& wrapper, type_kind kind, variable& inner)
    {
        learn_inner(wrapper, kind, inner.type);
        if (!wrapper.type.is_wrapped() || wrapper.type.kind() != kind)
            return;
        learn(inner, wrapper.type.inner());
        require_agreement(at, wrapper.type.inner(), inner.type);
    }

    static void require_agreement(node const& at, partial_type const& a, partial_type const& b)
    {
        if (differs(a, b))
            throw runner::runner_error(
                fmt::format("{}: a sequence or an optional would hold {} and {}, but code needs one rank",
                    runner::describe(*at.step->node), a, b));
    }

    void visit(block& of)
    {
        for (node& each : of.nodes) {
            for (auto const& [attribute, body] : each.bodies)
                visit(*body);
            visit(each);
        }
    }

    void visit(node& each)
    {
        if (each.name == "SequenceInsert" || each.name == "SequenceAt" || each.name == "SequenceErase") {
            bool const inserts = each.name == "SequenceInsert";
            if (inserts)
                join_inner(each, each.input(0), type_kind::sequence, each.input(1));
            if (each.name == "SequenceAt")
                join_inner(each, each.input(0), type_kind::sequence, each.output());
            else
                join(each, each.input(0), each.output());
        } else if (each.name == "SequenceConstruct") {
            for (variable* const input : each.inputs)
                join_inner(each, each.output(), type_kind::sequence, *input);
        } else if (each.name == "Optional") {
            join_inner(each, each.output(), type_kind::optional, each.input(0));
        } else if (each.name == "OptionalGetElement") {
            if (each.input(0).type.kind() == type_kind::optional)
                join_inner(each, each.input(0), type_kind::optional, each.output());
            else
                join(each, each.input(0), each.output());
        } else if (each.name == "If") {
            for (auto const& [attribute, body] : each.bodies)
                for (std::size_t k = 0; k < each.outputs.size() && k < body->outputs.size(); ++k)
                    if (each.wants(k))
                        join(each, *body->outputs[k], each.output(k));
        } else if (each.name == "Loop") {
            visit_loop(each);
        }
    }

    void visit_loop(node& each)
    {
        block& body = each.body("body");
        for (std::size_t i = 0; 2 + i < each.inputs.size(); ++i) {
            if (1 + i >= body.outputs.size())
                return;
            join(each, each.input(2 + i), *body.inputs[2 + i]);
            join(each, *body.inputs[2 + i], *body.outputs[1 + i]);
            if (each.wants(i))
                join(each, *body.outputs[1 + i], each.output(i));
        }
    }

    bool has_changed_ = false;
};

} // namespace

partial_type type_of_constant(runner::value const& constant)
{
    if (constant.is_tensor())
        return runner::type_of(constant);
    if (constant.is_optional())
        return constant.as_optional().held ? optional_of(type_of_constant(*constant.as_optional().held))
                                           : xloom::untyped;
    runner::sequence const& all = constant.as_sequence();
    if (all.empty())
        return xloom::untyped;
    partial_type type = type_of_constant(all[0]);
    for (runner::value const& each : all)
        if (differs(type_of_constant(each), type))
            return sequence_of(type.with_shape(xloom::unknown_rank));
    return sequence_of(all.size() == 1 ? type : with_open_dims(type));
}

void complete_sequence_types(block& of) { completion().run(of); }

} // namespace compiler
