#pragma once

#include "core/session/snapshot.h"

#include <QString>

namespace halftone::widgets {

/// One measurement as the window tells it everywhere: the medians and their quotient are of the same pairs of runs.
struct LatencyWords
{
    QString fp32; ///< "0.604 ms"
    QString mixed; ///< "0.459 ms"
    QString ratio; ///< "×0.76 ±0.04", "×1.42 ±0.04, slower"
    bool isSlower = false; ///< beyond what the measurement can tell apart
    bool isDisturbed = false; ///< something else ran on this machine: not to be trusted
    QString notTimed; ///< "bfloat16 is emulated on this machine, not timed"; else empty

    bool warns() const { return isSlower || isDisturbed; }
    /// "0.604 ms → 0.459 ms (×0.76 ±0.04)", and what it warns of.
    QString sentence() const;
};

/// target  that the converted network was asked to compute in
LatencyWords latencyWords(const session::LatencyFigures &latency, tensor::DType target);

} // namespace halftone::widgets
