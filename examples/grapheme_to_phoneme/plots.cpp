#include "plots.hpp"

#include <fstream>
#include <stdexcept>

namespace g2p {

namespace {

/// A file of a folder, which throws if it could not be written.
class plot_file {
public:
    plot_file(std::string const& folder, std::string const& name)
        : folder_(folder), file_(folder + "/" + name)
    {}
    template <class T>
    plot_file& operator<<(T const& value)
    {
        file_ << value;
        return *this;
    }
    void close()
    {
        file_.close();
        if (!file_)
            throw std::runtime_error("the files of " + folder_ + " cannot be written");
    }

private:
    std::string const& folder_;
    std::ofstream file_;
};

} // namespace

void write_alignments(std::string const& folder, std::string const& word, transcription const& said)
{
    plot_file alignments(folder, "alignments.dat"), letters_file(folder, "letters.dat"),
        phonemes_file(folder, "phonemes.dat");
    for (std::size_t s = 0; s < word.size(); ++s) {
        for (std::size_t t = 0; t < said.sounds.size(); ++t)
            alignments << (t == 0 ? "" : " ") << said.alignments(t, s);
        alignments << '\n';
        letters_file << '"' << word[s] << "\"\n";
    }
    for (std::uint8_t const sound : said.sounds)
        phonemes_file << phonemes[sound] << '\n';
    alignments.close();
    letters_file.close();
    phonemes_file.close();
}

void write_learning_curve(std::string const& folder, std::vector<progress> const& curve)
{
    plot_file file(folder, "learning_curve.dat");
    for (progress const& epoch : curve)
        file << epoch.epoch << ' ' << epoch.loss << ' ' << epoch.phoneme_error << ' ' << epoch.word_error
             << '\n';
    file.close();
}

} // namespace g2p
