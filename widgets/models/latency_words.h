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
    /// What a device of its own says, of float32 and of the mixed network: empty where there is none, or it does not say.
    QString onDevice; ///< "0.036 ms → 0.018 ms": without copies to and from it
    QString kernels; ///< "53 → 48 planned, 55 → 50 launched"
    QString limit; ///< "0.015 ms → 0.008 ms": the least time that its memory and units allow
    QString types; ///< "ONNX Runtime ran 0 of 65 float16 operators in float16"; empty: no runtime ran it
    QString notTimed; ///< "bfloat16 is emulated on this machine, not timed"; else empty

    bool warns() const { return isSlower || isDisturbed; }
    /// "0.604 ms → 0.459 ms (×0.76 ±0.04)", and what it warns of.
    QString sentence() const;
    /// "GPU time 0.036 ms → 0.018 ms · kernels … · limit …"; empty where there is none.
    QString ofDevice() const;
};

/// target  that the converted network was asked to compute in
LatencyWords latencyWords(const session::LatencyFigures &latency, tensor::DType target);

} // namespace halftone::widgets
