#include "network_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reader {

namespace {

// Limits of what a file may want; those of Tesseract's own networks are 36 rows, 512 channels and 10 layers.
constexpr std::size_t most_rows = 256, most_channels = 16384, most_half_window = 3, most_layers = 64,
                      deepest_nesting = 8;

/// The flag of a network whose layers have learning rates of their own.
constexpr std::int32_t rates_flag = 64;

/// The flags of the training.
constexpr std::int32_t integer_flag = 1, recoding_flag = 64;

/// The fields that each layer begins with.
struct layer_header {
    std::string type, name;
    std::int32_t flags;
    std::size_t inputs, outputs;
};

/// Reads the layers of a network in their order, and keeps the dimensions of the current image.
class network_reader {
public:
    explicit network_reader(byte_reader& from) : from_(from) {}

    network_file read()
    {
        read_layer(0);
        if (channels_ == 0 || rows_ != 1 || !is_distribution_)
            from_.fail(
                join("the network must end with one row of distributions, but ends with ", rows_, " rows of ",
                    channels_, " channels, which are ", is_distribution_ ? "" : "not ", "normalized"));
        from_.read_text("the description");
        auto const flags = from_.read<std::int32_t>("the flags of the training");
        if ((flags & recoding_flag) == 0)
            from_.fail("the flags of the training must say that characters are recoded, but do not");
        from_.read<std::int32_t>("the number of training steps");
        auto const samples = from_.read<std::int32_t>("the number of training samples");
        network_.blank = from_.read_in<std::int32_t>("the blank", 0, channels_ - 1);
        for (char const* const field : {"the decay of Adam", "the learning rate", "the momentum"})
            from_.read<float>(field);
        from_.end();
        network_.height = height_;
        network_.is_integer = (flags & integer_flag) != 0;
        network_.code_count = channels_;
        network_.noise_seed = static_cast<std::uint64_t>(std::int64_t{samples} * 0x10000001);
        return std::move(network_);
    }

private:
    layer_header read_header()
    {
        layer_header header;
        if (from_.read<std::int8_t>("the number of a layer's type") != 0)
            from_.fail("a layer's type must be given by its name, but is given by a number");
        header.type = from_.read_text("the type of a layer");
        if (from_.read<std::int8_t>("the training of a layer") == 1)
            from_.fail("the network must be ready to run, but is a checkpoint of a training");
        from_.read<std::int8_t>("the backpropagation of a layer");
        header.flags = from_.read<std::int32_t>("the flags of a layer");
        header.inputs = from_.read_in<std::int32_t>("the inputs of a layer", 0, most_channels);
        header.outputs = from_.read_in<std::int32_t>("the outputs of a layer", 0, most_channels);
        from_.read<std::int32_t>("the number of weights of a layer");
        header.name = from_.read_text("the name of a layer");
        return header;
    }

    void read_layer(std::size_t depth)
    {
        if (depth > deepest_nesting || ++layer_count_ > most_layers)
            from_.fail(join("the network must have at most ", most_layers, " layers, ", deepest_nesting,
                " deep, but has more"));
        layer_header const header = read_header();
        if (header.type == "Series")
            return read_series(header, depth);
        if (header.type == "Input")
            return read_input();
        if (channels_ == 0)
            from_.fail(join("the first layer must be Input, but is ", header.type));
        if (is_distribution_)
            from_.fail(join("Softmax must be the last layer, but ", header.type, " follows"));
        if (header.type == "RTLReversed")
            return read_wrapped(header, "LSTM", xloom::direction::reverse, false);
        if (header.type == "XYTranspose")
            return read_wrapped(header, "SummLSTM", xloom::direction::forward, true);
        check_inputs(header);
        if (header.type == "Convolve")
            return read_window();
        if (header.type == "Maxpool")
            return read_max_pool();
        if (header.type == "LSTM")
            return read_lstm(header, xloom::direction::forward, false);
        read_dense(header);
    }

    void check_inputs(layer_header const& header) const
    {
        if (header.inputs != channels_)
            from_.fail(join("the inputs of ", header.type, " ", header.name,
                " must be the outputs of the layer before, ", channels_, ", but are ", header.inputs));
    }

    void read_series(layer_header const& header, std::size_t depth)
    {
        std::size_t const count = from_.read_in<std::uint32_t>("the number of layers", 1, most_layers);
        for (std::size_t i = 0; i < count; ++i)
            read_layer(depth + 1);
        if ((header.flags & rates_flag) != 0) {
            std::size_t const rates = from_.read<std::uint32_t>("the number of learning rates");
            from_.take("the learning rates", rates * sizeof(float));
        }
    }

    /// A layer that changes the order of another layer's steps.
    void read_wrapped(
        layer_header const& outer, std::string_view type, xloom::direction direction, bool summarises)
    {
        from_.read_in<std::uint32_t>(join("the number of layers in ", outer.type), 1, 1);
        layer_header const inner = read_header();
        if (inner.type != type)
            from_.fail(join("the layer in ", outer.type, " must be ", type, ", but is ", inner.type));
        check_inputs(inner);
        read_lstm(inner, direction, summarises);
        if ((outer.flags & rates_flag) != 0)
            from_.take("the learning rates",
                from_.read<std::uint32_t>("the number of learning rates") * sizeof(float));
    }

    void read_input()
    {
        if (channels_ != 0)
            from_.fail("Input must be the first layer only, but there is another one");
        from_.read<std::int32_t>("the batch of the input");
        height_ = rows_ = from_.read_in<std::int32_t>("the height of the input", 2, most_rows);
        from_.read_in<std::int32_t>("the width of the input, which varies,", 0, 0);
        channels_ = from_.read_in<std::int32_t>("the channels of the input", 1, 1);
        from_.read<std::int32_t>("the loss of the input");
    }

    void read_window()
    {
        window_layer window{};
        window.half_x = from_.read_in<std::int32_t>("half the width of a window", 0, most_half_window);
        window.half_y = from_.read_in<std::int32_t>("half the height of a window", 0, most_half_window);
        channels_ *= (2 * window.half_x + 1) * (2 * window.half_y + 1);
        if (channels_ > most_channels)
            from_.fail(join("a window must have at most ", most_channels, " inputs, but has ", channels_));
        network_.layers.emplace_back(window);
    }

    void read_max_pool()
    {
        max_pool_layer pool{};
        pool.width = from_.read_in<std::int32_t>("the width of a maximum", 1, most_rows);
        pool.height = from_.read_in<std::int32_t>("the height of a maximum", 1, rows_);
        rows_ /= pool.height;
        network_.layers.emplace_back(pool);
    }

    void read_dense(layer_header const& header)
    {
        using enum dense_layer::kind;
        static constexpr std::pair<std::string_view, dense_layer::kind> kinds[] = {
            {"Linear", linear}, {"Tanh", tanh}, {"Relu", relu}, {"Logistic", sigmoid}, {"Softmax", softmax}};
        auto const* const kind =
            std::ranges::find(kinds, header.type, &std::pair<std::string_view, dense_layer::kind>::first);
        if (kind == std::end(kinds))
            from_.fail(
                join("a layer must be Series, Input, Convolve, Maxpool, RTLReversed with LSTM, XYTranspose "
                     "with SummLSTM, LSTM, Linear, Tanh, Relu, Logistic or Softmax, but is ",
                    header.type));
        network_.layers.emplace_back(
            dense_layer{kind->second, read_matrix(header, header.outputs, header.inputs + 1)});
        channels_ = header.outputs;
        is_distribution_ = kind->second == softmax;
    }

    void read_lstm(layer_header const& header, xloom::direction direction, bool summarises)
    {
        std::size_t const all = header.inputs + header.outputs;
        from_.read_in<std::int32_t>(
            join("the inputs and states of ", header.type, " ", header.name), all, all);
        lstm_layer lstm{direction, summarises, header.inputs, {}};
        for (auto& gate : lstm.gates)
            gate = read_matrix(header, header.outputs, all + 1);
        network_.layers.emplace_back(std::move(lstm));
        channels_ = header.outputs;
        if (summarises)
            rows_ = 1;
    }

    xt::xtensor<float, 2> read_matrix(layer_header const& header, std::size_t rows, std::size_t columns)
    {
        constexpr std::uint8_t int8_flag = 1, double_flag = 128;
        std::string const of = join(" of ", header.type, " ", header.name);
        auto const mode = from_.read<std::uint8_t>("the mode of the weights" + of);
        if ((mode & double_flag) == 0)
            from_.fail("the weights" + of + " must be in the format of Tesseract 4.0 or newer, but are not");
        from_.read_in<std::int32_t>("the rows of the weights" + of, rows, rows);
        from_.read_in<std::int32_t>("the columns of the weights" + of, columns, columns);
        if (rows == 0)
            from_.fail("the weights" + of + " must not be empty");
        auto const is_int8 = (mode & int8_flag) != 0;
        from_.take("the default of the weights" + of, is_int8 ? sizeof(std::int8_t) : sizeof(double));
        std::string const field = "the weights" + of;
        auto const bytes =
            from_.take(field, rows * columns * (is_int8 ? sizeof(std::int8_t) : sizeof(double)));
        auto weights = xt::xtensor<float, 2>::from_shape({rows, columns});
        if (is_int8) {
            // Files that were written after a run have scales of 0 after those of the rows.
            std::size_t const count =
                from_.read_in<std::uint32_t>("the number of scales" + of, rows, rows + 63);
            for (std::size_t row = 0; row < rows; ++row) {
                auto const scale = read_finite<double>("a scale" + of);
                for (std::size_t column = 0; column < columns; ++column)
                    weights(row, column) =
                        static_cast<float>(scale * static_cast<signed char>(bytes[row * columns + column]));
            }
            from_.take("the scales" + of, (count - rows) * sizeof(double));
        } else {
            byte_reader numbers(field, bytes);
            for (float& weight : weights)
                weight = static_cast<float>(numbers.read<double>("a weight"));
        }
        for (float const weight : weights)
            if (!std::isfinite(weight))
                from_.fail(field + " must be finite floats, but are not");
        return weights;
    }

    template <class Number>
    Number read_finite(std::string const& field)
    {
        auto const number = from_.read<Number>(field);
        if (!std::isfinite(number))
            from_.fail(join(field, " must be finite, but is ", number));
        return number;
    }

    byte_reader& from_;
    network_file network_{};
    std::size_t height_ = 0, rows_ = 0, channels_ = 0;
    std::size_t layer_count_ = 0;
    bool is_distribution_ = false;
};

} // namespace

network_file read_network(traineddata const& file)
{
    byte_reader from = file.open(component::lstm);
    return network_reader(from).read();
}

} // namespace reader
