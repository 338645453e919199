// Writes the example models as ONNX files: write_example_models FOLDER

#include <cstdio>
#include <fstream>
#include <string>

#include "example_models.hpp"

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_example_models FOLDER\n");
        return 2;
    }
    std::string const folder = argv[1];
    auto const write = [&](std::string const& name, std::string const& model) {
        std::string const path = folder + "/" + name + ".onnx";
        std::ofstream file(path, std::ios::binary);
        file << model;
        bool const is_written = static_cast<bool>(file.flush());
        if (!is_written)
            std::fprintf(stderr, "write_example_models: %s cannot be written\n", path.c_str());
        return is_written;
    };
    bool const are_written = write("mamba_block", bench::mamba_block()) &&
                             write("attention_decoder", bench::attention_decoder()) &&
                             write("delta_rule", bench::delta_rule(false)) &&
                             write("gated_delta_rule", bench::delta_rule(true));
    return are_written ? 0 : 1;
}
