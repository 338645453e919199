#pragma once
// Hand-built models for tests of errors.

#include <cstdint>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <doctest/doctest.h>

#include "model.hpp"

namespace runner {

/// The maximum processor time in seconds until an error: one, and more without optimisation or with
/// sanitizers. System time is excluded because it depends on the machine; the budget bounds how much memory
/// is mapped.
#ifdef NDEBUG
inline constexpr double patience = 1;
#else
inline constexpr double patience = 10;
#endif

inline double own_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

/// Calls f(), which must fail within that time, and returns its error.
template <class F>
std::string complaint(F f)
{
    double const start = own_seconds();
    std::string text = "none";
    try {
        f();
    } catch (runner_error const& error) {
        text = error.what();
    } catch (xloom::error const& error) {
        text = error.what();
    }
    CHECK(own_seconds() - start < patience);
    return text;
}

/// A model builder. Values are named by letters, "" is an omitted input.
class hostile_model {
public:
    explicit hostile_model(std::int64_t opset = 17)
    {
        proto_.set_ir_version(8);
        proto_.add_opset_import()->set_version(opset);
        auto& contrib = *proto_.add_opset_import();
        contrib.set_domain("com.microsoft");
        contrib.set_version(1);
    }

    void set_opset(std::int64_t opset) { proto_.mutable_opset_import(0)->set_version(opset); }
    onnx::GraphProto& graph() { return *proto_.mutable_graph(); }
    onnx::ModelProto const& proto() const { return proto_; }

    onnx::NodeProto& node(std::string const& type, std::string const& inputs, std::string const& outputs)
    {
        return add_node(graph(), type, inputs, outputs);
    }
    static onnx::NodeProto& add_node(
        onnx::GraphProto& to, std::string const& type, std::string const& inputs, std::string const& outputs)
    {
        auto& added = *to.add_node();
        added.set_op_type(type);
        for (char const each : inputs)
            added.add_input(each == ' ' ? "" : std::string(1, each));
        for (char const each : outputs)
            added.add_output(std::string(1, each));
        return added;
    }

    hostile_model& integers(char const* name, std::vector<std::int64_t> const& items)
    {
        auto& added = initializer(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(items.size())});
        for (std::int64_t const item : items)
            added.add_int64_data(item);
        return *this;
    }
    hostile_model& number(char const* name, float item)
    {
        initializer(name, onnx::TensorProto::FLOAT, {1}).add_float_data(item);
        return *this;
    }
    hostile_model& text(char const* name, std::string const& item)
    {
        initializer(name, onnx::TensorProto::STRING, {1}).add_string_data(item);
        return *this;
    }
    onnx::TensorProto& initializer(
        char const* name, onnx::TensorProto::DataType type, std::vector<std::int64_t> const& dims)
    {
        auto& added = *graph().add_initializer();
        added.set_name(name);
        added.set_data_type(type);
        for (std::int64_t const dim : dims)
            added.add_dims(dim);
        return added;
    }
    hostile_model& output(char const* name)
    {
        graph().add_output()->set_name(name);
        return *this;
    }

    std::string run() const
    {
        return complaint([&] { model(proto_).run({}); });
    }

private:
    onnx::ModelProto proto_{};
};

inline onnx::AttributeProto& attribute(
    onnx::NodeProto& node, char const* name, onnx::AttributeProto::AttributeType type)
{
    auto& added = *node.add_attribute();
    added.set_name(name);
    added.set_type(type);
    return added;
}

} // namespace runner
