// Compares attn_lstm_cell, which processes a sequence step by step as it arrives, with attn_lstm_into and
// ONNX Runtime, which require all of it. The keys of the memory, which a stream computes once, are computed
// in every call of every series.

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "attn_lstm_operands.hpp"

namespace {

using namespace bench;

struct stream_operands : attn_lstm_operands<xloom::serial_policy> {
    xloom::attn_lstm_cell<float> cell{packed, M};
    matrix attention = matrix::from_shape({size.N, size.C()});

    explicit stream_operands(attn_lstm_sizes const& s) : attn_lstm_operands(s, xloom::serial) {}

    void start()
    {
        cell.set_memory(M);
        attention.fill(0.0f);
        y.Y_h.fill(0.0f);
        y.Y_c.fill(0.0f);
    }

    benchmark::UserCounters counters() const
    {
        auto all = recurrent_operands::counters();
        all["iteration"] = seconds_each(static_cast<double>(size.T));
        return all;
    }
};

void xloom_cell(stream_operands& o)
{
    o.start();
    std::size_t const x_size = o.size.N * o.size.I, h_size = o.size.N * o.size.H;
    for (std::size_t t = 0; t < o.size.T; ++t)
        o.cell(o.y.Y_h, o.y.Y_c, o.attention, std::span(&o.X(t, 0, 0), x_size),
            std::span(&o.y.Y(t, 0, 0, 0), h_size));
}

void xloom_scan(stream_operands& o)
{
    o.start();
    xloom::scan_into(o.cell, std::tie(o.y.Y_h, o.y.Y_c, o.attention), o.X, o.y.Y);
}

void xloom_whole(stream_operands& o) { xloom_attn_lstm(o); }

onnx_graph model(stream_operands& o) { return attn_lstm_model(o); }

} // namespace

int main(int argc, char** argv)
{
    for (attn_lstm_sizes const& s : {attn_lstm_sizes{10, 1, 64, 64, 20, 64, 64, 64},
             {50, 1, 256, 256, 50, 256, 256, 256}, {10, 16, 256, 256, 50, 256, 256, 256}})
        add_case("attn_lstm_cell" + text_of(s), [=] { return stream_operands(s); },
            {{"xloom_whole", xloom_whole}, {"xloom", xloom_cell}, {"xloom_scan", xloom_scan},
                {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
