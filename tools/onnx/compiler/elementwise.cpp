#include "elementwise.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <xloom_onnx/model/trailing_axes.hpp>

#include "emitters.hpp"
#include "signatures.hpp"
#include "text.hpp"

namespace compiler {

namespace {

bool is_float(element_type type) { return type == element_type::float_ || type == element_type::double_; }

/// The expression of an item of a node's result, from those of its operands.
struct item {
    std::string text;
    bool takes_batches; ///< where all operands are float, or all double
};

using item_function = std::function<item(node const&, std::vector<std::string> const&)>;

std::string joined(std::vector<std::string> const& all) { return fmt::format("{}", fmt::join(all, ", ")); }

/// An operation that C++ has an operator for, which is used for float and double.
item_function native(char const* sign, char const* name)
{
    return [=](node const& each, std::vector<std::string> const& x) {
        if (is_float(each.input(0).type.element()) && x.size() == 2)
            return item{fmt::format("({} {} {})", x[0], sign, x[1]), true};
        return item{fmt::format("xloom_onnx::{}({})", name, joined(x)), true};
    };
}

item_function function(char const* name, bool takes_batches = true)
{
    return [=](node const&, std::vector<std::string> const& x) {
        return item{fmt::format("xloom_onnx::{}({})", name, joined(x)), takes_batches};
    };
}

/// A function object with parameters, such as elu(1.0)(x).
item_function with_parameters(char const* name, std::vector<std::pair<char const*, double>> parameters)
{
    return [=](node const& each, std::vector<std::string> const& x) {
        std::vector<std::string> given;
        for (auto const& [attribute, otherwise] : parameters)
            given.push_back(number_literal(each.view().number(attribute, otherwise)));
        return item{fmt::format("xloom_onnx::{}({})({})", name, joined(given), joined(x)), true};
    };
}

item selu(node const& each, std::vector<std::string> const& x)
{
    bool const is_first = each.opset() < 6;
    return with_parameters("selu", {{"alpha", is_first ? 1.6732 : 1.67326319217681884765625},
                                       {"gamma", is_first ? 1.0507 : 1.05070102214813232421875}})(each, x);
}

item gelu(node const& each, std::vector<std::string> const& x)
{
    return function(each.view().text("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu")(each, x);
}

item mod(node const& each, std::vector<std::string> const& x)
{
    bool const is_float_remainder = each.view().integer("fmod", 0) != 0;
    if (!is_float_remainder &&
        (is_float(each.input(0).type.element()) || each.input(0).type.element() == element_type::float16 ||
            each.input(0).type.element() == element_type::bfloat16))
        throw runner::runner_error("Mod of floating-point numbers needs the attribute fmod = 1");
    return function(is_float_remainder ? "fmod" : "mod", false)(each, x);
}

item is_inf(node const& each, std::vector<std::string> const& x)
{
    bool const negative = each.view().integer("detect_negative", 1) != 0,
               positive = each.view().integer("detect_positive", 1) != 0;
    return {fmt::format("xloom_onnx::is_inf({}, {})({})", negative, positive, x[0]), true};
}

item clip(node const& each, std::vector<std::string> const& x)
{
    std::string const type = item_type(each.input(0).type.element());
    auto const limit = [&](std::size_t input, char const* attribute, double of_float, char const* of_type) {
        auto const view = each.view();
        if (each.opset() >= 11 && each.has(input))
            return x.at(input);
        if (each.opset() < 11 && (each.opset() >= 6 || view.has_attribute(attribute)))
            return fmt::format("static_cast<{}>({})", type, number_literal(view.number(attribute, of_float)));
        return fmt::format("std::numeric_limits<{}>::{}()", type, of_type);
    };
    constexpr double most = std::numeric_limits<float>::max();
    return {fmt::format("xloom_onnx::clip({}, {}, {})", x[0], limit(1, "min", -most, "lowest"),
                limit(2, "max", most, "max")),
        true};
}

std::string cast_options(runner::node_view const& view)
{
    std::string options;
    if (view.integer("saturate", 1) == 0)
        options += ".saturate = false";
    std::string const mode = view.text("round_mode", "up");
    if (mode != "up" && mode != "down" && mode != "nearest")
        throw runner::runner_error("round_mode is up, down or nearest, but is " + runner::in_quotes(mode));
    if (mode != "up")
        options += fmt::format("{}.round_mode = xloom::round_mode::{}", options.empty() ? "" : ", ", mode);
    return options.empty() ? "" : "{" + options + "}";
}

item cast(node const& each, std::vector<std::string> const& x)
{
    element_type const to = each.output().type.element();
    if (to == each.input(0).type.element())
        return {x[0], true};
    return {
        fmt::format("xloom_onnx::cast<{}>({})({})", item_type(to), cast_options(each.view()), x[0]), false};
}

item not_(node const&, std::vector<std::string> const& x)
{
    return {fmt::format("xloom_onnx::not_({})", x[0]), true};
}

std::unordered_map<std::string, item_function> const& table()
{
    static std::unordered_map<std::string, item_function> const all = [] {
        std::unordered_map<std::string, item_function> t;
        t["Add"] = native("+", "add");
        t["Sub"] = native("-", "sub");
        t["Mul"] = native("*", "mul");
        t["Div"] = native("/", "div");
        t["Mod"] = mod;
        t["Pow"] = function("pow");
        for (auto const& [name, to] : {std::pair{"Neg", "neg"}, {"Abs", "abs"}, {"Sign", "sign"},
                 {"Max", "max"}, {"Min", "min"}, {"Mean", "mean"}, {"Sqrt", "sqrt"}, {"Exp", "exp"},
                 {"Log", "log"}, {"Reciprocal", "reciprocal"}, {"Sin", "sin"}, {"Cos", "cos"}, {"Erf", "erf"},
                 {"Floor", "floor"}, {"Ceil", "ceil"}, {"Round", "round"}, {"Relu", "relu"}, {"Tanh", "tanh"},
                 {"Sigmoid", "sigmoid"}, {"Softplus", "softplus"}, {"Softsign", "softsign"},
                 {"HardSwish", "hard_swish"}, {"Less", "less"}, {"LessOrEqual", "less_or_equal"},
                 {"Greater", "greater"}, {"GreaterOrEqual", "greater_or_equal"}, {"Equal", "equal"},
                 {"And", "and_"}, {"Or", "or_"}, {"Xor", "xor_"}, {"IsNaN", "is_nan"}, {"Where", "where"}})
            t[name] = function(to);
        t["Sum"] = [](node const& each, std::vector<std::string> const& x) {
            return x.size() == 1 ? item{x[0], true} : native("+", "add")(each, x);
        };
        t["Not"] = not_;
        t["Clip"] = clip;
        t["IsInf"] = is_inf;
        t["Cast"] = cast;
        t["CastLike"] = cast;
        t["Gelu"] = gelu;
        t["Swish"] = with_parameters("swish", {{"alpha", 1.0}});
        t["Elu"] = with_parameters("elu", {{"alpha", 1.0}});
        t["LeakyRelu"] = with_parameters("leaky_relu", {{"alpha", 0.01}});
        t["ThresholdedRelu"] = with_parameters("thresholded_relu", {{"alpha", 1.0}});
        t["HardSigmoid"] = with_parameters("hard_sigmoid", {{"alpha", 0.2}, {"beta", 0.5}});
        t["Selu"] = selu;
        return t;
    }();
    return all;
}

/// True for a product of a column and a row, also of stacks of them: MatMul where K is known to be 1. It
/// multiplies item by item.
bool is_outer_product(node const& each)
{
    if (each.name != "MatMul")
        return false;
    auto const &a = each.input(0).type.shape(), &b = each.input(1).type.shape();
    return a.rank() >= 2 && b.rank() >= 2 && a[a.rank() - 1] == xloom::dim(1) &&
           b[b.rank() - 2] == xloom::dim(1);
}

item_function const& function_of(node const& each)
{
    return table().at(is_outer_product(each) ? "Mul" : each.name);
}

/// True if no known dimension says that `inner` is broadcast, and work on its items repeated.
bool is_as_large(partial_type const& inner, partial_type const& outer)
{
    return inner.shape().rank() == outer.shape().rank() &&
           std::equal(inner.shape().begin(), inner.shape().end(), outer.shape().begin(),
               [](xloom::dim const& a, xloom::dim const& b) {
                   return !a.has_value() || (b.has_value() ? a.value() == b.value() : a.value() != 1);
               });
}

/// True for the limits of Clip, which stand for scalars.
bool is_limit(node const& each, std::size_t i) { return each.name == "Clip" && i != 0; }

/// True for a binary operator before opset 7, whose attributes say how the second operand is broadcast to the
/// first one's shape.
bool has_legacy_broadcast(node const& each)
{
    if (each.opset() >= 7)
        return false;
    runner::signature const* const own = runner::find_signature(each.name, each.opset());
    return own != nullptr && own->find("broadcast") != nullptr;
}

/// How that is done.
enum class alignment {
    none,
    only_item,    ///< it stands for a scalar
    known_shapes, ///< also of shapes that are refused
    in_run        ///< only a run knows
};

alignment alignment_of(node const& each)
{
    if (!has_legacy_broadcast(each))
        return alignment::none;
    partial_type const &a = each.input(0).type, &b = each.input(1).type;
    bool const is_known = std::none_of(
        a.shape().begin(), a.shape().end(), [](xloom::dim const& dim) { return dim.is_unknown(); });
    if (is_known && a.shape() == b.shape())
        return alignment::none;
    auto const dims = static_shape(b);
    if (dims && xloom::element_count(*dims) == 1 && each.view().integer("broadcast", 0) != 0)
        return alignment::only_item;
    return dims && static_shape(a) ? alignment::known_shapes : alignment::in_run;
}

/// One lambda: parameters, operands, and the expression that it returns.
class chain {
public:
    /// A scalar chain is an expression of the operands themselves.
    chain(emission& out, std::set<node const*> const& fused, bool is_scalar)
        : out_(out), fused_(fused), is_scalar_(is_scalar)
    {}

    std::string expression_of(node& each)
    {
        std::vector<std::string> x;
        for (std::size_t i = 0; i < each.inputs.size(); ++i) {
            if (!each.has(i)) {
                x.emplace_back(); // the others keep their places
                continue;
            }
            variable& input = each.input(i);
            note_type(input.type.element());
            node* const maker = input.maker;
            x.push_back(
                maker != nullptr && fused_.contains(maker) ? expression_of(*maker) : operand(each, i));
        }
        item const made = function_of(each)(each, x);
        takes_batches_ = takes_batches_ && made.takes_batches;
        used_.push_back(&each);
        return made.text;
    }

    bool takes_batches() const { return takes_batches_; }
    std::vector<node*> const& used() const { return used_; }
    std::string parameters() const
    {
        std::string text;
        for (std::size_t i = 0; i < operands_.size(); ++i)
            text += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                takes_batches() ? "auto" : parameter_type(types_[i]), names_[i]);
        return text;
    }
    std::vector<std::string> const& operands() const { return operands_; }

private:
    static std::string parameter_type(element_type type)
    {
        return type == element_type::string ? "std::string const&" : item_type(type);
    }

    void note_type(element_type type)
    {
        if (!is_float(type))
            takes_batches_ = false;
        if (type_ == element_type::undefined)
            type_ = type;
        takes_batches_ = takes_batches_ && type == type_;
    }

    std::string operand(node& each, std::size_t i)
    {
        variable& input = each.input(i);
        if (is_inlined(each, i))
            return item_of(input);
        std::string const code = is_limit(each, i) ? only_item(out_, input)
                                 : i == 1          ? aligned(each)
                                                   : out_.operand(input);
        auto const found = std::find(operands_.begin(), operands_.end(), code);
        if (found != operands_.end())
            return names_[static_cast<std::size_t>(found - operands_.begin())];
        if (is_scalar_)
            return code;
        operands_.push_back(code);
        types_.push_back(input.type.element());
        names_.push_back(out_.unique(input.onnx_name + "_i"));
        return names_.back();
    }

    /// True for constants of one item that do not change the result's shape, but not for both operands.
    static bool is_inlined(node const& each, std::size_t i)
    {
        runner::tensor const* const t = each.input(i).tensor();
        if (t == nullptr || t->size() != 1 || t->type() == element_type::string)
            return false;
        if (i == 1 && has_legacy_broadcast(each)) {
            alignment const how = alignment_of(each);
            return how == alignment::none || how == alignment::only_item;
        }
        if (t->shape().empty() || is_limit(each, i))
            return true;
        return !has_legacy_broadcast(each) && !is_limit(each, 1) && each.inputs.size() == 2 &&
               each.has(1 - i) && each.input(1 - i).type.shape().rank() >= t->shape().size() &&
               !(i == 1 && is_inlined(each, 0));
    }

    std::string item_of(variable& input)
    {
        runner::tensor const& t = *input.tensor();
        return t.shape().empty() ? out_.operand(input) : item_expression(t, 0);
    }

    /// The second operand as it is broadcast.
    std::string aligned(node const& each)
    {
        variable &a = each.input(0), &b = each.input(1);
        alignment const how = alignment_of(each);
        if (how == alignment::none)
            return out_.operand(b);
        bool const broadcast = each.view().integer("broadcast", 0) != 0;
        std::int64_t const axis = each.view().integer("axis", -1);
        std::size_t const rank = a.type.shape().rank(), own = b.type.shape().rank();
        if (!broadcast && rank != own)
            throw runner::runner_error(fmt::format(
                "the shapes {} and {} differ, without broadcast = 1", a.type.shape(), b.type.shape()));
        if (how == alignment::only_item || rank == 0)
            return only_item(out_, b);
        std::string const code = out_.operand(b);
        if (how == alignment::in_run) {
            out_.include("xloom_onnx/model/trailing_axes.hpp");
            return fmt::format(
                "xloom_onnx::aligned_with({}, {}, {}, {})", out_.operand(a), code, broadcast, axis);
        }
        auto const dims =
            xloom_onnx::aligned_shape(*static_shape(a.type), *static_shape(b.type), broadcast, axis);
        if (dims.size() == own)
            return code;
        out_.include("xloom_onnx/model/trailing_axes.hpp");
        return fmt::format("xloom_onnx::with_trailing_axes({}, {})", code, dims.size() - own);
    }

    emission& out_;
    std::set<node const*> const& fused_;
    std::vector<std::string> operands_{}, names_{};
    std::vector<element_type> types_{};
    std::vector<node*> used_{};
    element_type type_ = element_type::undefined;
    bool takes_batches_ = true;
    bool is_scalar_;
};

/// Lets the result of a loop take the memory of a carried state that is an operand, if nothing else needs it.
void take_expired_state(emission& out, std::vector<node*> const& loop, variable& result)
{
    for (node const* const part : loop)
        for (variable* const input : part->inputs)
            if (input != nullptr && input->uses == 0 && out.take_state(result, *input, loop))
                return;
}

/// Returns an expression without parentheses around all of it, which only native() begins with.
std::string without_parentheses(std::string const& text)
{
    return text.starts_with('(') ? text.substr(1, text.size() - 2) : text;
}

} // namespace

std::vector<std::string> elementwise_operators()
{
    std::vector<std::string> names;
    for (auto const& [name, what] : table())
        names.push_back(name);
    return names;
}

bool is_elementwise(node const& each) { return table().contains(each.name) || is_outer_product(each); }

std::set<node const*> find_fused(block const& of)
{
    constexpr std::size_t most = 24; // nodes of one chain
    std::set<node const*> fused;
    std::unordered_map<node const*, std::size_t> sizes;
    for (node const& each : of.nodes) {
        if (!is_elementwise(each))
            continue;
        std::size_t& size = sizes[&each] = 1;
        bool const is_aligned_in_run = alignment_of(each) == alignment::in_run;
        for (std::size_t i = 0; i < each.inputs.size(); ++i) {
            variable const* const input = each.inputs[i];
            if (input == nullptr || input->maker == nullptr || input->uses != 1 ||
                !sizes.contains(input->maker))
                continue;
            if (!is_as_large(input->type, each.output().type) ||
                input->type.element() == element_type::string)
                continue;
            if ((is_limit(each, i) && !input->is_scalar()) || is_aligned_in_run ||
                size + sizes[input->maker] > most)
                continue;
            size += sizes[input->maker];
            fused.insert(input->maker);
        }
    }
    return fused;
}

void emit_elementwise(emission& out, node& each, std::set<node const*> const& fused)
{
    chain whole(out, fused, each.output().is_scalar());
    std::string const text = without_parentheses(whole.expression_of(each));
    for (node const* const part : whole.used())
        comment_on(out, *part);
    std::vector<std::string> const operands = whole.operands();
    for (node* const part : whole.used())
        for (variable* const input : part->inputs)
            if (input != nullptr)
                out.use(*input);
    out.release_unused(whole.used());
    out.include("xloom_onnx/elementwise.hpp");
    if (operands.empty()) {
        out.define(each.output(), text);
        return;
    }
    take_expired_state(out, whole.used(), each.output());
    std::string const target = out.target(each.output());
    std::string const lambda = fmt::format("[]({}) {{ return {}; }}", whole.parameters(), text);
    std::string const arguments = fmt::format("{}, {}", joined(operands), target);
    if (lambda.size() + arguments.size() + 28 < line_length) {
        out.line("xloom_onnx::map_into({}, {});", lambda, arguments);
        return;
    }
    out.line("xloom_onnx::map_into(");
    out.indent();
    out.line("{},", lambda);
    out.line("{});", arguments);
    out.outdent();
}

} // namespace compiler
