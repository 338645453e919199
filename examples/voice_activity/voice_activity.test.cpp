// Runs the program of examples/voice_activity: compares its probabilities with ONNX Runtime's, and checks its
// errors for bad input.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>
#include <sndfile.hh>

#include "../program_under_test.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using strings = std::vector<std::string>;

std::string const model = VOICE_ACTIVITY_MODEL;
fs::path const recordings = VOICE_ACTIVITY_RECORDINGS;

program_under_test const& program()
{
    static program_under_test const program(VOICE_ACTIVITY_PROGRAM);
    return program;
}

/// Returns the arguments for the model and one recording, then `more`.
strings on(std::string const& recording, strings more = {})
{
    more.insert(more.begin(), {"--model", model, recording});
    return more;
}

std::string write_wav(std::string const& name, int rate, int channels, std::size_t samples)
{
    std::string const path = program() / name;
    SndfileHandle file(path, SFM_WRITE, SF_FORMAT_WAV | SF_FORMAT_PCM_16, channels, rate);
    std::vector<short> const silence(samples);
    file.write(silence.data(), static_cast<sf_count_t>(silence.size()));
    return path;
}

/// Writes a copy of the model in which `change` was made to one weight, or which lacks it.
std::string write_model(std::string const& weight, std::function<bool(onnx::TensorProto&)> const& change)
{
    onnx::ModelProto changed;
    changed.ParseFromString(read_file(model));
    auto& initializers = *changed.mutable_graph()->mutable_initializer();
    for (int i = 0; i < initializers.size(); ++i)
        if (initializers[i].name() == weight && !change(initializers[i])) {
            initializers.DeleteSubrange(i, 1);
            break;
        }
    return program().write("changed.onnx", changed.SerializeAsString());
}

strings all_recordings()
{
    strings found;
    for (char const* folder : {"librivox", "cards"})
        for (auto const& entry : fs::directory_iterator(recordings / folder))
            if (entry.path().extension() == ".wav")
                found.push_back(entry.path().string());
    for (char const* name : {"goforward.raw", "numbers.raw", "something.raw"})
        found.push_back((recordings / name).string());
    return found;
}

json probabilities_of(
    strings const& paths, std::string const& weights = "full", std::string const& density = "1")
{
    std::string const written = program() / "probabilities.json";
    strings arguments{"--model", model, "--json", written, "--weights", weights, "--density", density};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    outcome const done = program().run(arguments);
    REQUIRE_MESSAGE(done.succeeded, done.err);
    return json::parse(read_file(written));
}

/// Where `actual` is not `expected` to 1e-5.
strings differences(json const& actual, json const& expected)
{
    strings found;
    for (auto const& [name, row] : expected.items()) {
        if (!actual.contains(name) || actual[name].size() != row.size()) {
            found.push_back(name);
            continue;
        }
        for (std::size_t t = 0; t < row.size(); ++t)
            if (!(std::abs(actual[name][t].get<double>() - row[t].get<double>()) <= 1e-5))
                found.push_back(name + " chunk " + std::to_string(t));
    }
    for (auto const& [name, row] : actual.items())
        if (!expected.contains(name))
            found.push_back(name);
    return found;
}

} // namespace

TEST_CASE("every probability equals ONNX Runtime's to 1e-5")
{
    json const expected = json::parse(read_file(VOICE_ACTIVITY_EXPECTED));
    json const actual = probabilities_of(all_recordings());
    CHECK(expected.size() == 13);
    CHECK(differences(actual, expected) == strings{});

    double largest = 0;
    std::size_t chunks = 0;
    for (auto const& [name, row] : expected.items())
        for (std::size_t t = 0; t < row.size(); ++t, ++chunks)
            largest = std::max(largest, std::abs(actual[name][t].get<double>() - row[t].get<double>()));
    MESSAGE("largest difference over " << chunks << " chunks: " << largest);

    // Control: an expectation that is slightly off, too short, or of another recording, does not pass.
    json wrong = expected;
    wrong["numbers.raw"][7] = expected["numbers.raw"][7].get<double>() + 3e-5;
    CHECK(differences(actual, wrong) == strings{"numbers.raw chunk 7"});
    wrong = expected;
    wrong["001.wav"].erase(0);
    CHECK(differences(actual, wrong) == strings{"001.wav"});
    wrong = expected;
    wrong.erase("something.raw");
    CHECK(differences(actual, wrong) == strings{"something.raw"});
}

namespace {

/// How far probabilities are from ONNX Runtime's.
struct distance {
    double largest, mean;
    std::size_t other_side_of_half; ///< chunks
};

distance distance_of(std::string const& weights, std::string const& density = "1")
{
    json const expected = json::parse(read_file(VOICE_ACTIVITY_EXPECTED)),
               actual = probabilities_of(all_recordings(), weights, density);
    REQUIRE(actual.size() == expected.size());
    distance found{};
    std::size_t chunks = 0;
    for (auto const& [name, row] : expected.items())
        for (std::size_t t = 0; t < row.size(); ++t, ++chunks) {
            auto const p = actual[name].at(t).get<double>(), right = row[t].get<double>();
            found.largest = std::max(found.largest, std::abs(p - right));
            found.mean += std::abs(p - right);
            found.other_side_of_half += (p >= 0.5) != (right >= 0.5);
        }
    found.mean /= static_cast<double>(chunks);
    MESSAGE("with " << weights << " and density " << density << ": largest difference " << found.largest
                    << ", mean " << found.mean << ", " << found.other_side_of_half << " of " << chunks
                    << " chunks on the other side of 0.5");
    return found;
}

} // namespace

TEST_CASE("probabilities of narrow weights are near ONNX Runtime's: within 5e-4 to 5e-2")
{
    for (auto const& [type, bound] : {std::pair("float16", 5e-4), std::pair("bfloat16", 5e-3),
             std::pair("int8", 3e-2), std::pair("dynamic_int8", 5e-2), std::pair("dynamic_bfloat16", 1e-2),
             std::pair("block_sparse_int8", 3e-2)}) {
        double const largest = distance_of(type).largest;
        CHECK(largest < bound);
        CHECK(largest > 1e-5); // so that the option has an effect
    }
    CHECK(distance_of("block_sparse").largest < 1e-5);
}

TEST_CASE("probabilities with a share of the blocks of recurrent weights")
{
    distance const most = distance_of("block_sparse", "0.8"), half = distance_of("block_sparse", "0.5");
    CHECK(most.mean < half.mean);
    CHECK(half.mean < 0.1);
    CHECK(half.largest == distance_of("full", "0.5").largest);
}

TEST_CASE("a WAV file and a raw file of the same samples give the same probabilities")
{
    std::string const bytes = read_file((recordings / "goforward.raw").string());
    std::string const path = program() / "goforward.wav";
    {
        SndfileHandle file(path, SFM_WRITE, SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1, 16000);
        file.writeRaw(bytes.data(), static_cast<sf_count_t>(bytes.size()));
    }
    CHECK(probabilities_of({path})["goforward.wav"] ==
          probabilities_of({(recordings / "goforward.raw").string()})["goforward.raw"]);
}

TEST_CASE("segments are the runs of chunks at or above the threshold")
{
    std::string const numbers = (recordings / "numbers.raw").string();
    CHECK(program().run(on(numbers)).out.find("\n    speech: 0.51-3.36 s\n") != std::string::npos);
    CHECK(program().run(on(numbers, {"--threshold", "0"})).out.find("\n    speech: 0.00-4.00 s\n") !=
          std::string::npos);
    CHECK(
        program().run(on(numbers, {"--threshold", "1"})).out.find("\n    no speech\n") != std::string::npos);
}

TEST_CASE("the total says how many times as fast as real time it is")
{
    std::string const out = program().run(on((recordings / "numbers.raw").string())).out;
    std::string const total = out.substr(out.find("1 recordings: "));
    double microseconds = 0;
    double times = 0;
    CHECK(std::sscanf(total.c_str(),
              "1 recordings: 4.00 s, 125 chunks of 32 ms, %lf us a chunk: %lf times as fast as real time\n",
              &microseconds, &times) == 2);
    CHECK(times == doctest::Approx(32000 / microseconds).epsilon(0.01));
}

TEST_CASE("one chunk is enough, and a last part shorter than a chunk is omitted")
{
    for (std::size_t const samples : std::initializer_list<std::size_t>{512, 1023})
        CHECK(probabilities_of({write_wav("short.wav", 16000, 1, samples)})["short.wav"].size() == 1);
}

TEST_CASE("a recording that cannot be used")
{
    auto const says = [](std::string const& path) {
        std::string const said = program().complaint(on(path));
        REQUIRE(said.starts_with("the recording " + path + " "));
        return said.substr(path.size() + 15);
    };
    CHECK(says(program() / "nowhere.wav") == "is not there, or is no file");
    CHECK(says(recordings.string()) == "is not there, or is no file");
    CHECK(says(program().write("text.wav", "hello\n")).starts_with("cannot be read: "));
    CHECK(
        says(write_wav("telephone.wav", 8000, 1, 8000)) == "must have 16000 samples a second, but has 8000");
    CHECK(says(write_wav("stereo.wav", 16000, 2, 8000)) == "must have one channel, but has 2");
    CHECK(says(write_wav("empty.wav", 16000, 1, 0)) == "must have at least 512 samples (32 ms), but has 0");
    CHECK(
        says(write_wav("short.wav", 16000, 1, 511)) == "must have at least 512 samples (32 ms), but has 511");

    std::string const whole = read_file(write_wav("whole.wav", 16000, 1, 8000));
    std::string const truncated = "is truncated: it ends before the last sample that it should hold";
    CHECK(says(program().write("cut.wav", whole.substr(0, whole.size() / 2))) == truncated);
    CHECK(says(program().write("cut.wav", whole.substr(0, whole.size() - 1))) == truncated);
    CHECK(says(program().write("cut.wav", whole.substr(0, 44))) == truncated);
    CHECK(says(program().write("cut.wav", whole.substr(0, 20))).starts_with("cannot be read: "));
    CHECK(says(program().write("cut.raw", std::string(2047, '\0'))) == truncated);
    CHECK(says(program().write("empty.raw", "")) == "must have at least 512 samples (32 ms), but has 0");
}

TEST_CASE("a model that cannot be used")
{
    auto const says = [](std::string const& path) {
        std::string const said =
            program().complaint({"--model", path, (recordings / "goforward.raw").string()});
        REQUIRE(said.starts_with("the model " + path + " "));
        return said.substr(path.size() + 11);
    };
    CHECK(says(program() / "nowhere.onnx") == "cannot be opened");
    CHECK(says(program().write("text.onnx", "hello\n")) == "is no ONNX file, or a damaged one");
    CHECK(says(program().write("empty.onnx", "")) == "is no ONNX file, or a damaged one");
    CHECK(says(program().write("cut.onnx", read_file(model).substr(0, 1000000))) ==
          "is no ONNX file, or a damaged one");
    CHECK(says(recordings.string()) == "is no ONNX file, or a damaged one");

    std::string const weight = "model.encoder.2.reparam_conv.weight";
    CHECK(says(write_model(weight, [](auto&) { return false; })) == "has no float32 weight " + weight);
    CHECK(says(write_model(weight, [](auto& tensor) {
        tensor.set_data_type(onnx::TensorProto::INT32);
        return true;
    })) == "has no float32 weight " + weight);
    CHECK(says(write_model(weight, [](auto& tensor) {
        tensor.set_dims(0, 32);
        tensor.set_dims(1, 128);
        return true;
    })) == "must have the weight " + weight + " as [64, 64, 3], but has it as [32, 128, 3]");
    CHECK(says(write_model(weight, [](auto& tensor) {
        tensor.mutable_raw_data()->resize(40);
        return true;
    })) == "must have 12288 numbers in the weight " + weight + ", but has 10");
}

TEST_CASE("arguments that make no sense")
{
    std::string const numbers = (recordings / "numbers.raw").string();
    for (std::string const text : {"1.5", "-0.1", "nan", "loud", "0.5x", "0,5", ""})
        CHECK(program().complaint(on(numbers, {"--threshold=" + text})) ==
              "--threshold must be a number from 0 to 1, but is " + text);
    CHECK(program().complaint(on(numbers, {"--weights=int4"})) ==
          "--weights must be full, float16, bfloat16, int8, dynamic_int8, dynamic_bfloat16, block_sparse or "
          "block_sparse_int8, but is int4");
    CHECK(program().complaint({"--model", model}) == "no recording is given (see --help)");
    CHECK(program().complaint({numbers}) == "--model is missing (see --help)");
    CHECK(program().complaint(on(numbers, {"--louder"})).find("louder") != std::string::npos);
    CHECK(program().complaint(on(numbers, {numbers, "--json", program() / "twice.json"})) ==
          "two recordings are called numbers.raw, and the JSON file tells them by their names");
    CHECK(program().complaint(on(numbers, {"--json", program() / "nowhere/x.json"})) ==
          "the file " + (program() / "nowhere/x.json") + " cannot be written");
    CHECK(program().complaint(on(numbers, {"--plot", model})).find(model) != std::string::npos);
}
