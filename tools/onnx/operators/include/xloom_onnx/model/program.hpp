#pragma once
// What the main() of a model needs: inputs from .npy files, outputs as lines and as .npy files.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/kernels.hpp>
#include <xloom_onnx/model/npy.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// The arguments of a program that runs a model: NAME=FILE.npy for each input, where the outputs go, and the
/// number of runs.
class program_files {
public:
    /// Errors    option_error: an argument is not NAME=VALUE, or a name is unknown, missing or given twice;
    ///           --runs is no positive number.
    program_files(std::vector<std::string> const& arguments, std::vector<std::string> const& inputs)
    {
        using xloom::kernels::fail;
        for (std::string const& each : arguments) {
            std::size_t const equals = each.rfind('=');
            std::string const name = each.substr(0, equals);
            bool const is_known = name == "--output" || name == "--runs" ||
                                  std::find(inputs.begin(), inputs.end(), name) != inputs.end();
            if (equals == std::string::npos || !is_known)
                fail<xloom::option_error>(
                    "an argument is INPUT=FILE.npy, --output=FOLDER or --runs=N, but here ", each);
            if (!files_.emplace(name, each.substr(equals + 1)).second)
                fail<xloom::option_error>(name, " is given twice");
        }
        for (std::string const& each : inputs)
            if (!files_.contains(each))
                fail<xloom::option_error>("the input ", each, " is missing: give ", each, "=FILE.npy");
        if (auto const given = files_.find("--runs"); given != files_.end()) {
            std::string const& text = given->second;
            char const* const text_end = text.data() + text.size();
            auto const [end, error] = std::from_chars(text.data(), text_end, runs_);
            if (error != std::errc() || end != text_end || runs_ < 1)
                fail<xloom::option_error>("--runs must be a positive number, but is ", text);
        }
    }

    std::string const& path(std::string const& name) const { return files_.at(name); }

    /// Reads an input of type X, a tensor or a number.
    ///
    /// Errors    shape_error: another rank. std::exception: the file cannot be read as items of X.
    template <class X>
    X input(std::string const& name) const
    {
        std::string const& path = files_.at(name);
        std::size_t const end = path.size() < 4 ? 0 : path.size() - 4;
        if (path.substr(end) != ".npy")
            xloom::kernels::fail<xloom::option_error>(
                "the input ", name, " must be a file .npy, but is ", path);
        try {
            return read_as<X>(name, path);
        } catch (xloom::error const&) {
            throw;
        } catch (std::exception const& error) {
            throw std::runtime_error(
                "the file " + path + " cannot be read as the input " + name + ": " + error.what());
        }
    }

    /// Runs a model on its inputs, once or --runs times, and prints the time of a run. Returns the outputs.
    template <class Model, class... X>
    typename Model::outputs run(Model& model, X const&... inputs) const
    {
        using clock = std::chrono::steady_clock;
        typename Model::outputs results;
        std::vector<double> milliseconds;
        for (int i = 0; i < runs_; ++i) {
            auto const start = clock::now();
            model.run_into(results, inputs...);
            milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
        }
        std::sort(milliseconds.begin(), milliseconds.end());
        std::printf("run: %.6f ms, the median of %d\n", milliseconds[milliseconds.size() / 2], runs_);
        return results;
    }

    /// Prints an output's shape and first items, and writes it to a file in the folder that is given.
    template <class Y>
    void output(std::string const& name, std::string const& file, Y const& y) const
    {
        constexpr std::size_t most = 8;
        const_view_of<Y> const view(y);
        std::cout << name << xloom::to_string(view.shape()) << ':';
        for (std::size_t i = 0; i < (std::min)(most, view.size()); ++i)
            std::cout << ' ' << shown(view[i]);
        std::cout << (view.size() > most ? " ...\n" : "\n");
        auto const folder = files_.find("--output");
        if (folder == files_.end())
            return;
        std::filesystem::create_directories(folder->second);
        auto const path = std::filesystem::path(folder->second) / file;
        std::size_t const item_bytes = npy_bytes_of(view.data(), view.size());
        std::ofstream stream(path, std::ios::binary);
        write_npy(stream, view.shape(), view.data(), item_bytes);
        if (!stream.flush())
            throw std::runtime_error("the file " + path.string() + " cannot be written");
    }

private:
    /// Returns what is printed of an item; of a string, without control characters.
    template <class T>
    static auto shown(T const& item)
    {
        if constexpr (std::is_same_v<T, std::string>) {
            std::string text = '"' + item + '"';
            std::replace_if(
                text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
            return text;
        } else {
            return +item;
        }
    }

    template <class X>
    static X read_as(std::string const& name, std::string const& path)
    {
        std::ifstream file(path, std::ios::binary);
        if (!file)
            throw std::runtime_error("it cannot be opened");
        npy_array const array = read_npy_header<item_t<X>>(file);
        xloom::shape const& dims = array.dims;
        if constexpr (detail::scalar<X>) {
            if (xloom::element_count(dims) != 1)
                xloom::kernels::fail<xloom::shape_error>(
                    "the input ", name, " must have one item, but has ", xloom::element_count(dims));
            X x{};
            read_npy_items(file, array, &x);
            return x;
        } else {
            constexpr std::size_t rank = xloom::enable_tensor<X>::rank;
            if (dims.size() != rank)
                xloom::kernels::fail<xloom::shape_error>(
                    "the input ", name, " must have the rank ", rank, ", but has ", dims.size());
            auto const order =
                array.is_column_major ? xt::layout_type::column_major : xt::layout_type::row_major;
            auto loaded = xt::xtensor<item_t<X>, rank, xt::layout_type::dynamic>();
            typename decltype(loaded)::shape_type extents{};
            std::copy(dims.begin(), dims.end(), extents.begin());
            loaded.resize(extents, order);
            read_npy_items(file, array, loaded.data());
            return X(loaded);
        }
    }

    std::map<std::string, std::string> files_{};
    int runs_ = 1;
};

/// Calls run(files) with the arguments of main(). Returns what main() returns: 0, or 1 after an exception,
/// whose text is printed.
template <class F>
int run_program(int argc, char const* const* argv, std::vector<std::string> const& inputs, F run)
try {
    run(program_files({argv + (argc > 0 ? 1 : 0), argv + argc}, inputs));
    return 0;
} catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "model", error.what());
    return 1;
}

} // namespace xloom_onnx
