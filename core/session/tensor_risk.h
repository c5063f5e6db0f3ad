#pragma once

#include "core/calibration/chosen_thresholds.h"
#include "core/policy/edits.h"
#include "core/session/snapshot.h"

#include <string>
#include <vector>

/// What the statistics of a tensor warn of (core/quantize/RULES.md, Q-warnings).
namespace halftone::session {

/// Share of values that may round to zero in 16 bit, the largest |x| that leaves two bits of head room in float16, and the
/// share of the spread that float16's spacing may take, before it is worth a warning.
inline constexpr double kMostUnderflow = 0.01;
inline constexpr double kHeadRoomMax = 16384;
inline constexpr double kMostSpacing = 0.1;

/// How much a tensor is at risk in the target type or in int8.
struct TensorRisk
{
    /// Orders tensors (core/quantize/RULES.md, Q-risk): 2 and more for values that cannot be held, 1 to 2 for a warning of the target
    /// type, below that what another int8 threshold would gain (0: nothing).
    double severity = 0;
    std::string
        words; ///< "450 of 28,800 values overflow float16", "21.3 dB below the best threshold"; empty: nothing to say

    bool isHard() const { return severity >= 2; }
    bool isWarning() const { return severity >= 1; }
};

/// Where a tensor is used: elsewhere its values put nothing at risk.
struct TensorUse
{
    bool isHeld = true; ///< some node has it in the target type
    bool isCoded = true; ///< some int8 operator reads or gives its codes, or there is no int8 operator at all

    bool operator==(const TensorUse &) const = default;
};

/// chosen  its threshold for int8 codes
/// target  float16 or bfloat16, whose rules are asked
TensorRisk riskOf(const calibration::CalibratedTensor &tensor, const calibration::ChosenThreshold &chosen,
                  tensor::DType target, TensorUse use = {});

/// Of every tensor, in the present conversion. Before there is one no tensor is held in the target type.
std::vector<TensorUse> usesOf(const Snapshot &snapshot, const walks::CalibrateOutcome &calibration);

/// Something that a tensor's statistics say should be mended in the lists, and the edit that does it.
struct TensorAdvice
{
    std::size_t tensor = 0; ///< index into CalibrateOutcome::tensors
    bool isHard = false; ///< the values cannot be held; otherwise a warning
    std::vector<graph::NodeId> nodes; ///< that compute in the type and have the tensor in it; never empty
    std::string text; ///< "energy_output: 450 of 450 values overflow float16 (largest magnitude 1.2e+06)"
    std::string action; ///< "Keep energy in fp32"
    policy::Edit edit;
};

/// For every tensor that a node of a 16-bit type reads or writes in that type, and whose values break a rule there; hard ones
/// first, each in the network's order.
std::vector<TensorAdvice> adviceFor(const Snapshot &snapshot, const walks::CalibrateOutcome &calibration);

} // namespace halftone::session
