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

    QString sentence() const; ///< "0.604 ms → 0.459 ms (×0.76 ±0.04)"
};

LatencyWords latencyWords(const session::LatencyFigures &latency);

} // namespace halftone::widgets
