#pragma once

#include "core/backends/cuda/spatial_text.h"

#include <optional>
#include <string>

namespace halftone::backends::cuda {

/// What is made of the places under a window, channel by channel.
struct ChannelWindow
{
    /// Depthwise: p1 are the weights, whose channels run fastest, too: (kernel…, C).
    enum class Kind : std::uint8_t { Depthwise, Max, Average, Sum } kind = Kind::Depthwise;
    bool countsPadding = true; ///< Average
    double lowest = 0; ///< Max of nothing
    std::int64_t enoughThreads = 65536; ///< that keep a large chip busy: with fewer, results share nothing
};

/// A window of two axes over tensors of floats whose channels run fastest: a thread takes up to 16 bytes of neighbouring channels, for
/// up to four neighbouring results along the last axis, which share what they read.
/// returns  nothing for views that lie otherwise, and for windows that are too wide for that
/// Needs: one input channel for each result's
std::optional<KernelText> channelWindow(const SpatialText &op, const ChannelWindow &what,
                                        const Epilogue &epilogue, std::string label);

/// Channels that tensor cores take at once, in 16 bits.
inline constexpr std::int64_t kChannelsTogether = 8;
/// (N, C, H, W) in any order and type of float to (N, kChannelsTogether, H, W), dense with the channels fastest: zeros behind them.
KernelText padChannels(const View &from, const View &to);

} // namespace halftone::backends::cuda
