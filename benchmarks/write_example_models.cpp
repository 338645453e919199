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
    std::ofstream(folder + "/mamba_block.onnx", std::ios::binary) << bench::mamba_block();
    std::ofstream decoder(folder + "/attention_decoder.onnx", std::ios::binary);
    decoder << bench::attention_decoder();
    return decoder.flush() ? 0 : 1;
}
