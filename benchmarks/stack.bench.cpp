// Compares lstm_stack_into on one and two threads with one call after the other, and with ONNX Runtime.

#include <xloom/recurrent/stack.hpp>

#include "recurrent_operands.hpp"
#include "two_threads.hpp"

namespace {

using namespace bench;

/// The sizes of a case: L layers, the first of which has as many inputs as the others.
struct stack_sizes {
    std::size_t L, T, N, H;
};

/// The operands of a stack; what is between two layers is Y [T, 1, N, H] of one, and X [T, N, H] of the next.
struct stack_operands : recurrent_operands {
    stack_sizes size;
    cube X, Y_h, Y_c;
    std::vector<cube> W{}, R{};
    std::vector<matrix> B{};
    std::vector<xloom::lstm_weights<float>> layers{};
    xt::xtensor<std::int64_t, 1> axis = {1}; ///< of the directions, for the peer
    xloom::stack_workspace<float> workspace{};
    xloom::recurrent_workspace<float> layer_workspace{};
    cube between[2] = {X, X};

    auto const& results() const { return y.Y; }
    bool is_close_to(xt::xtensor<float, 4> const& expected) const { return is_close(y.Y, expected); }

    stack_operands(stack_sizes const& s, std::size_t threads)
        : recurrent_operands{recurrent_results(s.T, s.N, s.H),
              work_of({s.L * s.T, s.N, s.H, s.H}, 4, threads), s.N == 1},
          size(s),
          X(uniform<cube>({s.T, s.N, s.H}, 1, 1.0)),
          Y_h(cube::from_shape({s.L, s.N, s.H})),
          Y_c(Y_h)
    {
        for (unsigned l = 0; l < s.L; ++l) {
            W.push_back(uniform<cube>({1, 4 * s.H, s.H}, 3 * l + 2, weight_limit(s.H)));
            R.push_back(uniform<cube>({1, 4 * s.H, s.H}, 3 * l + 3, weight_limit(s.H)));
            B.push_back(uniform<matrix>({1, 8 * s.H}, 3 * l + 4, weight_limit(s.H)));
            layers.push_back(xloom::lstm_constants<float>{.W = W[l], .R = R[l], .B = B[l]});
        }
    }
};

template <class Policy>
void run_stack(stack_operands& o, Policy const& policy)
{
    xloom::lstm_stack_into(o.X, o.layers, {}, {o.y.Y, o.Y_h, o.Y_c}, o.workspace, policy);
}
void xloom_serial(stack_operands& o) { run_stack(o, xloom::serial); }
void xloom_two(stack_operands& o) { run_stack(o, two_threads()); }

/// One call after the other, each on two threads.
void calls(stack_operands& o)
{
    cube const* X = &o.X;
    for (std::size_t l = 0; l < o.size.L; ++l) {
        cube& Y = o.between[l % 2];
        bool const is_last = l + 1 == o.size.L;
        xloom::tensor_ref<float> const to(
            is_last ? o.y.Y.data() : Y.data(), {o.size.T, 1, o.size.N, o.size.H});
        xloom::lstm_into(
            *X, o.layers[l], {}, {.Y = to, .Y_h = o.y.Y_h, .Y_c = o.y.Y_c}, o.layer_workspace, two_threads());
        X = &Y;
    }
}

onnx_graph model(stack_operands& o)
{
    onnx_graph graph{{bound("X", o.X), weight("axis", o.axis)}, {bound("Y", o.y.Y)}, {}};
    std::string X = "X";
    for (std::size_t l = 0; l < o.size.L; ++l) {
        auto const named = [number = std::to_string(l)](std::string const& name) { return name + number; };
        graph.inputs.push_back(weight(named("W"), o.W[l]));
        graph.inputs.push_back(weight(named("R"), o.R[l]));
        graph.inputs.push_back(weight(named("B"), o.B[l]));
        bool const is_last = l + 1 == o.size.L;
        std::string const Y = is_last ? "Y" : named("Y");
        graph.nodes.push_back({"LSTM", {X, named("W"), named("R"), named("B")}, {Y},
            {{"hidden_size", static_cast<std::int64_t>(o.size.H)}}});
        if (!is_last)
            graph.nodes.push_back({"Squeeze", {Y, "axis"}, {named("X")}});
        X = named("X");
    }
    return graph;
}

void add_stack(stack_sizes const& s)
{
    std::string const work = "lstm_stack" + text_of({{"L", s.L}, {"T", s.T}, {"N", s.N}, {"H", s.H}});
    auto const make = [=](std::size_t threads) { return [=] { return stack_operands(s, threads); }; };
    using all = std::vector<series<stack_operands>>;
    add_case(work, make(1), all{{"xloom", xloom_serial}, {.impl = "onnxruntime", .model = model}});
    add_case(work, make(2),
        all{{"xloom_serial", xloom_serial}, {"xloom", xloom_two}, {"calls", calls},
            {.impl = "onnxruntime", .model = model}},
        2);
}

} // namespace

int main(int argc, char** argv)
{
    for (stack_sizes const& s : {stack_sizes{2, 20, 1, 64}, {2, 100, 1, 64}, {2, 10, 1, 256},
             {2, 100, 1, 256}, {3, 100, 1, 256}, {2, 50, 16, 256}})
        add_stack(s);
    return run_cases(argc, argv);
}
