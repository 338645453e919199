#pragma once
// Threads that end before their owner, and the first exception of several of them.

#include <cstddef>
#include <exception>
#include <vector>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>

#ifdef XLOOM_HAS_STD_THREADS
#include <mutex>
#include <thread>

namespace xloom::inline XLOOM_ABI::detail {

/// The first exception of several threads.
class first_failure {
public:
    template <class F>
    void operator()(F const& f)
    {
#ifdef __cpp_exceptions
        try {
            f();
        } catch (...) {
            std::scoped_lock const lock(mutex_);
            if (!failure_)
                failure_ = std::current_exception();
        }
#else
        f();
#endif
    }

    void rethrow() const
    {
#ifdef __cpp_exceptions
        if (failure_)
            std::rethrow_exception(failure_);
#endif
    }

private:
    std::mutex mutex_{};
    std::exception_ptr failure_{};
};

/// Threads that are joined when the object ends; libc++ 16 to 19 lack std::jthread.
class joined_threads {
public:
    joined_threads() = default;
    ~joined_threads()
    {
        for (std::thread& each : threads_)
            each.join();
    }
    joined_threads(joined_threads const&) = delete;
    joined_threads& operator=(joined_threads const&) = delete;

    std::size_t size() const noexcept { return threads_.size(); }

    /// Starts f(arguments...).
    template <class F, class... Arguments>
    void start(F const& f, Arguments... arguments)
    {
        threads_.emplace_back(f, arguments...);
    }

private:
    std::vector<std::thread> threads_{};
};

} // namespace xloom::inline XLOOM_ABI::detail

#endif
