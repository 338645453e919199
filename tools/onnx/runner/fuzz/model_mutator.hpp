#pragma once
// Small changes to a model that leave it one: bytes that change at random are hardly ever a model any more.

#include <random>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace runner {

class model_mutator {
public:
    explicit model_mutator(unsigned seed) : random_(seed) {}

    /// One field, somewhere: another number, another name of the model's, an element removed or doubled.
    void change(onnx::ModelProto& model);
    /// One message, somewhere, becomes a copy of one of another model's: a node, an attribute, a tensor, ...
    void graft(onnx::ModelProto& model, onnx::ModelProto& other);
    /// One text, wherever it stands in the model, becomes another.
    void rename(onnx::ModelProto& model, std::vector<std::string> const& names);

private:
    using message = google::protobuf::Message;
    using field_descriptor = google::protobuf::FieldDescriptor;

    /// A field that is set; of a list, an element of it.
    struct place {
        message* owner;
        field_descriptor const* field;
        int index; ///< -1: no list
    };

    static void collect(message& from, std::vector<place>& to);
    static message& message_at(place const& at);
    static std::string text_at(place const& at);
    static void set_text(place const& at, std::string const& text);
    static std::vector<place> texts_of(std::vector<place> const& all);

    std::size_t below(std::size_t count)
    {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
    }
    template <class T>
    T const& any_of(std::vector<T> const& list)
    {
        return list[below(list.size())];
    }
    std::int64_t number(std::int64_t old);
    void change_length(place const& at);
    void change_item(place const& at, std::vector<place> const& all);

    std::mt19937 random_;
};

} // namespace runner
