#pragma once
// How far a program is, on a terminal.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include <unistd.h>

/// A line on stderr that is written again and again, ten times a second at most; nothing if that is no
/// terminal. Lines of their own are written in any case.
class progress_bar {
public:
    /// Shows the part that is done, from 0 to 1, before a text.
    void show(double done, std::string const& text)
    {
        auto const now = std::chrono::steady_clock::now();
        if (!is_terminal_ || now < next_)
            return;
        next_ = now + std::chrono::milliseconds(100);
        auto const filled = static_cast<std::size_t>(done * width);
        std::string const bar = std::string(filled, '#') + std::string(width - filled, '.');
        std::fprintf(stderr, "\r[%s] %s\33[K", bar.c_str(), text.c_str());
    }
    /// Writes a line in place of the bar.
    void write_line(std::string const& text) const
    {
        std::fprintf(stderr, "%s%s\n", is_terminal_ ? "\r\33[K" : "", text.c_str());
    }

private:
    static constexpr std::size_t width = 30;

    bool is_terminal_ = isatty(STDERR_FILENO) != 0;
    std::chrono::steady_clock::time_point next_{};
};
