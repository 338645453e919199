#pragma once
// How far the training is, on a terminal.

#include <cstdio>
#include <string>

#include <unistd.h>

#include "training.hpp"

namespace g2p {

/// A line on stderr that is written again and again; if that is no terminal, a line after each epoch.
class progress_bar {
public:
    explicit progress_bar(std::size_t epochs) : epochs_(epochs) {}

    void after_batch(progress const& now)
    {
        auto const filled = static_cast<std::size_t>(now.done * width);
        if (!is_terminal_ || now.seconds < next_)
            return;
        next_ = now.seconds + 0.1;
        std::string const bar = std::string(filled, '#') + std::string(width - filled, '.');
        std::fprintf(stderr, "\r[%s] epoch %zu of %zu, loss %.3f, %s%.0f s  ", bar.c_str(), now.epoch,
            epochs_, now.loss, now.epoch > 1 ? error(now).c_str() : "", now.seconds);
    }
    void after_epoch(progress const& now) const
    {
        std::fprintf(stderr, "%sepoch %zu of %zu, loss %.3f, %s%.0f s\n", is_terminal_ ? "\r\33[K" : "",
            now.epoch, epochs_, now.loss, error(now).c_str(), now.seconds);
    }

private:
    static constexpr std::size_t width = 30;

    static std::string error(progress const& now)
    {
        char text[64];
        std::snprintf(text, sizeof(text), "phoneme error %.1f %%, ", now.phoneme_error);
        return text;
    }

    std::size_t epochs_;
    bool is_terminal_ = isatty(STDERR_FILENO) != 0;
    double next_ = 0; ///< the seconds when it is written again
};

} // namespace g2p
