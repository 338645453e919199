#pragma once
// oneDNN as a peer of the backward passes, where its header is installed (libdnnl-dev) and OMP_NUM_THREADS is
// 1: it would use all cores otherwise.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#ifdef XLOOM_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace bench {

inline bool has_onednn()
{
#ifdef XLOOM_HAS_ONEDNN
    char const* const threads = std::getenv("OMP_NUM_THREADS");
    if (threads != nullptr && std::string_view(threads) == "1")
        return true;
    std::cerr << "Without oneDNN: OMP_NUM_THREADS is not 1.\n";
#else
    std::cerr << "Without oneDNN: its header was not found.\n";
#endif
    return false;
}

#ifdef XLOOM_HAS_ONEDNN

/// Returns memory of a layout, zeros.
inline dnnl::memory onednn_memory(dnnl::memory::desc const& layout, dnnl::engine const& engine)
{
    dnnl::memory memory(layout, engine);
    auto* const items = static_cast<float*>(memory.get_data_handle());
    std::fill_n(items, layout.get_size() / sizeof(float), 0.0f);
    return memory;
}

/// Copies items to memory of a layout, from `source`'s.
inline void onednn_copy(
    float const* items, dnnl::memory::desc const& source, dnnl::memory const& to, dnnl::stream& stream)
{
    dnnl::memory from(source, to.get_engine(), const_cast<float*>(items));
    dnnl::reorder(from, to).execute(stream, from, const_cast<dnnl::memory&>(to));
    stream.wait();
}

/// Returns the items of memory in another layout.
inline std::vector<float> onednn_items(
    dnnl::memory const& from, dnnl::memory::desc const& layout, dnnl::stream& stream)
{
    std::vector<float> items(layout.get_size() / sizeof(float));
    dnnl::memory to(layout, from.get_engine(), items.data());
    dnnl::reorder(from, to).execute(stream, const_cast<dnnl::memory&>(from), to);
    stream.wait();
    return items;
}

#endif

} // namespace bench
