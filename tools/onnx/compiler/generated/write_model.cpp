// Writes a model in ONNX's text form as an ONNX file: write_model MODEL.txt MODEL.onnx

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: write_model MODEL.txt MODEL.onnx\n");
        return 2;
    }
    std::ifstream text(argv[1]);
    onnx::ModelProto model;
    auto const status =
        onnx::OnnxParser::Parse(model, std::string(std::istreambuf_iterator<char>(text), {}).c_str());
    if (!status.IsOK()) {
        std::fprintf(stderr, "%s: %s\n", argv[1], status.ErrorMessage().c_str());
        return 1;
    }
    std::ofstream file(argv[2], std::ios::binary);
    model.SerializeToOstream(&file);
    return file.flush() ? 0 : 1;
}
