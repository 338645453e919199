// Reads lines of text from PNG images with Tesseract itself, and prints what text_reader prints:
//
//   tesseract_lines FOLDER LANGUAGE REPEAT PNG...
//
// The time is that of the recogniser alone: the image is set and its layout is found before.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <leptonica/allheaders.h>
#include <tesseract/baseapi.h>

#include "../peak_memory.hpp"

int main(int argc, char** argv)
{
    std::vector<std::string> const arguments(argv + 1, argv + argc);
    int const repeat = arguments.size() < 4 ? 0 : std::atoi(arguments[2].c_str());
    if (repeat < 1) {
        std::fprintf(stderr, "usage: tesseract_lines FOLDER LANGUAGE REPEAT PNG...\n");
        return 2;
    }
    tesseract::TessBaseAPI api;
    if (api.Init(arguments[0].c_str(), arguments[1].c_str(), tesseract::OEM_LSTM_ONLY) != 0)
        return 1;
    api.SetPageSegMode(tesseract::PSM_RAW_LINE);

    for (std::size_t i = 3; i < arguments.size(); ++i) {
        Pix* image = pixRead(arguments[i].c_str());
        std::vector<double> milliseconds;
        std::string text;
        for (int pass = 0; image && pass < repeat; ++pass) {
            api.SetImage(image);
            delete api.AnalyseLayout();
            auto const start = std::chrono::steady_clock::now();
            api.Recognize(nullptr);
            std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - start;
            milliseconds.push_back(taken.count());
            std::unique_ptr<char[]> const words(api.GetUTF8Text());
            text = words ? words.get() : "";
        }
        pixDestroy(&image);
        if (milliseconds.empty())
            return 1;
        std::sort(milliseconds.begin(), milliseconds.end());
        text.erase(text.find_last_not_of('\n') + 1);
        std::printf(
            "%s\t%.3f\t%s\n", arguments[i].c_str(), milliseconds[milliseconds.size() / 2], text.c_str());
    }
    std::fprintf(stderr, "peak memory: %.1f MB\n", peak_megabytes());
}
