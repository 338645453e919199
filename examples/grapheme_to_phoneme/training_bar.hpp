#pragma once
// How far the training is.

#include <cstddef>
#include <cstdio>
#include <string>

#include "../progress_bar.hpp"
#include "training.hpp"

namespace g2p {

/// The bar while an epoch runs, and a line after each epoch.
class training_bar {
public:
    explicit training_bar(std::size_t epochs) : epochs_(epochs) {}

    void after_batch(progress const& now) { bar_.show(now.done, text_of(now, now.epoch > 1)); }
    void after_epoch(progress const& now) const { bar_.write_line(text_of(now, true)); }

private:
    std::string text_of(progress const& now, bool is_tested) const
    {
        char error[64] = "", text[192];
        if (is_tested)
            std::snprintf(error, sizeof(error), "phoneme error %.1f %%, ", now.phoneme_error);
        std::snprintf(text, sizeof(text), "epoch %zu of %zu, loss %.3f, %s%.0f s", now.epoch, epochs_,
            now.loss, error, now.seconds);
        return text;
    }

    std::size_t epochs_;
    progress_bar bar_;
};

} // namespace g2p
