#include "emission.hpp"

#include <algorithm>

#include "text.hpp"

namespace compiler {

namespace {

/// True if an operand of these nodes is a view of the value.
bool is_viewed_in(std::vector<node*> const& readers, variable const& value)
{
    for (node const* const reader : readers)
        for (variable const* const input : reader->inputs)
            for (variable const* each = input == nullptr ? nullptr : input->viewed; each != nullptr;
                 each = each->viewed)
                if (each == &value)
                    return true;
    return false;
}

/// The dimensions of a tensor between braces.
std::string dims_of(xloom::shape const& dims) { return fmt::format("{{{}}}", fmt::join(dims, ", ")); }

} // namespace

std::size_t weights_file::append(runner::tensor const& t)
{
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    std::size_t const at = bytes_.size();
    bytes_.append(reinterpret_cast<char const*>(t.bytes()), t.size() * t.item_size());
    return at;
}

emission::emission(options const& given) : options_(given)
{
    for (std::string_view const each : own_identifiers)
        names_.reserve(each);
    names_.reserve(given.name);
}

void emission::write(std::string_view text)
{
    body_.append(4 * depth_, ' ');
    body_ += text;
    body_ += '\n';
}

void emission::add_memory(std::string declaration) { memory_.push_back(std::move(declaration)); }

std::string emission::shared_memory(std::string const& type, std::string_view name, std::string_view header)
{
    std::string& own = shared_memory_[type];
    if (own.empty()) {
        own = unique(name);
        include(header);
        add_memory(fmt::format("{} {}{{}};", type, own));
    }
    return own;
}

std::string emission::operand(variable& value)
{
    if (!value.code.empty())
        return value.code;
    if (value.constant == nullptr)
        throw runner::runner_error(
            "the value " + runner::in_quotes(value.onnx_name) + " is used before it is made");
    if (value.tensor() == nullptr) {
        value.code = unique(value.onnx_name);
        std::string const expression = expression_of(*value.constant, value.type);
        add_member(fmt::format("{} const {} = {};", cpp_type(value.type), value.code, expression));
        return value.code;
    }
    return value.code = value.is_scalar() ? item_expression(*value.tensor(), 0) : constant_view(value);
}

std::string emission::constant_view(variable& value)
{
    if (auto const found = views_.find(&value); found != views_.end())
        return found->second;
    runner::tensor const& t = *value.tensor();
    std::string const name = unique(value.onnx_name);
    std::string const type = item_type(t.type());
    std::size_t const rank = t.shape().size();
    std::string const note = fmt::format(" // {}", comment_text(value.onnx_name));
    if (t.type() == element_type::string) {
        include("xloom_onnx/model/constant.hpp");
        add_member(fmt::format(
            "xt::xtensor<std::string, {}> const {} =\n        xloom_onnx::string_constant<{}>({}, {{{}}});{}",
            rank, name, rank, dims_of(t.shape()), item_list(t), note));
    } else if (t.size() == 0) {
        add_member(fmt::format("xloom::element_view<{} const, {}> const {}{{nullptr, {}}};{}", type, rank,
            name, dims_of(t.shape()), note));
    } else if (options_.weights == weights_place::file && t.size() * t.item_size() > 64) {
        include("xloom_onnx/model/weights_file.hpp");
        add_member(fmt::format("xloom::element_view<{} const, {}> const {}{{weights.items<{}>({}), {}}};{}",
            type, rank, name, type, weights_.append(t), dims_of(t.shape()), note));
    } else {
        std::string const array = unique(name + "_items");
        std::string const list = item_list(t);
        bool const is_short = list.size() + array.size() + type.size() + 40 < line_length;
        arrays_.push_back(fmt::format("{}static constexpr {} {}[]{{{}{}{}}};",
            t.size() * t.item_size() >= 64 ? "alignas(64) " : "", type, array, is_short ? "" : "\n", list,
            is_short ? "" : "\n"));
        add_member(fmt::format("xloom::element_view<{} const, {}> const {}{{{}, {}}};{}", type, rank, name,
            array, dims_of(t.shape()), note));
    }
    return views_[&value] = name;
}

std::string emission::expression_of(runner::value const& constant, partial_type const& type)
{
    if (constant.is_tensor()) {
        parts_.push_back({.onnx_name = "element", .type = type, .constant = &constant});
        return fmt::format("{}({})", cpp_type(type), operand(parts_.back()));
    }
    if (constant.is_optional()) {
        auto const& held = constant.as_optional().held;
        return fmt::format("{}({})", cpp_type(type), held ? expression_of(*held, type.inner()) : "");
    }
    std::vector<std::string> elements;
    for (runner::value const& each : constant.as_sequence())
        elements.push_back(expression_of(each, type.inner()));
    return fmt::format("{}{{{}}}", cpp_type(type), fmt::join(elements, ", "));
}

std::string emission::buffer_key(partial_type const& type) const
{
    if (auto const dims = static_shape(type); dims && type.element() != element_type::string)
        return cpp_type(type) + dims_of(*dims);
    return {};
}

std::string emission::own_memory(std::string_view name, partial_type const& type)
{
    std::string const own = unique(name);
    add_memory(fmt::format("{} {}{{}};", cpp_type(type), own));
    return own;
}

std::string emission::target(variable& value)
{
    if (!value.code.empty())
        return value.code;
    if (value.is_scalar()) {
        value.code = unique(value.onnx_name);
        line("{} {}{{}};", cpp_type(value.type), value.code);
        return value.code;
    }
    std::string const key = buffer_key(value.type);
    living_.back().push_back(&value);
    if (auto& unused = free_[key]; !key.empty() && !unused.empty()) {
        value.code = unique(value.onnx_name);
        line("auto& {} = {};", value.code, unused.back());
        buffers_[&value] = unused.back();
        unused.pop_back();
    } else {
        value.code = unique(value.onnx_name);
        add_memory(fmt::format("{} {}{{}};", cpp_type(value.type), value.code));
        buffers_[&value] = value.code;
    }
    return value.code;
}

bool emission::take_state(variable& value, variable const& state, std::vector<node*> const& makers)
{
    auto const& dims = value.type.shape();
    if (!value.code.empty() || !state.is_in_state || state.home != value.home || state.type != value.type ||
        (value.type.is_tensor() && std::any_of(dims.begin(), dims.end(),
                                       [](xloom::dim const& each) { return each.is_unknown(); })) ||
        is_viewed_in(makers, state))
        return false;
    value.code = state.code;
    value.is_in_state = true;
    return true;
}

void emission::define(variable& value, std::string const& expression)
{
    if (value.code.empty() && value.is_scalar()) {
        value.code = unique(value.onnx_name);
        line("{} const {} = {};", cpp_type(value.type), value.code, expression);
        return;
    }
    bool const is_tensor = value.type.is_tensor() && !value.is_scalar();
    std::string const to = target(value);
    line("{} = {};", is_tensor ? fmt::format("xt::noalias({})", to) : to, expression);
}

void emission::define_view(variable& value, variable* viewed, std::string const& expression)
{
    value.code = unique(value.onnx_name);
    line("auto const {} = {};", value.code, expression);
    value.is_view = true;
    value.viewed = viewed;
    for (variable* each = viewed; each != nullptr; each = each->viewed)
        each->uses += value.uses;
}

void emission::begin_block() { living_.emplace_back(); }

void emission::end_block()
{
    for (variable* const each : living_.back()) {
        if (std::string const key = buffer_key(each->type); !key.empty())
            free_[key].push_back(buffers_.at(each));
    }
    living_.pop_back();
}

void emission::use(variable& value)
{
    for (variable* each = &value; each != nullptr; each = each->viewed)
        --each->uses;
}

void emission::release_unused(std::vector<node*> const& readers)
{
    auto& all = living_.back();
    auto const is_unused = [&](variable* each) {
        if (each->uses != 0 || is_viewed_in(readers, *each))
            return false;
        if (std::string const key = buffer_key(each->type); !key.empty())
            free_[key].push_back(buffers_.at(each));
        return true;
    };
    all.erase(std::remove_if(all.begin(), all.end(), is_unused), all.end());
}

} // namespace compiler
