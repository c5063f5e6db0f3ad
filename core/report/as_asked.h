#pragma once

#include "core/latency/latency.h"

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::report {

/// How much of a model ran in the types that it asks for. A plan of this program always does what a model asks for.
struct AsAsked
{
    std::size_t operators = 0; ///< that ran as asked
    std::size_t all = 0; ///< operators whose type is known, without casts
    double operatorsShare = 1; ///< of `all`; 1 where there are none
    double timeShare = 1; ///< of the time of all steps that compute operators
};

/// Did the step run in the type that its operator asks for? Codes are what an operator between quantizations asks for.
bool ranAsAsked(const kernels::PlanStep &step);

/// The type that the operator asks for; Unknown for a step of the runtime's own.
tensor::DType askedOf(const kernels::PlanStep &step);

AsAsked asAsked(const latency::Latency &latency);

/// "ONNX Runtime ran 0 of 65 float16 operators in float16", one for each type that was not always kept; else one that says that all was as
/// asked. Empty for plans of this program.
std::vector<std::string> asAskedTexts(const latency::Latency &latency);

/// The same and what was added, one line; empty for plans of this program.
std::string asAskedLine(const latency::Latency &latency);

/// "casts and reorders that ONNX Runtime added take 12.3 % of the time"; empty where there are none.
std::string addedText(const latency::Latency &latency);

} // namespace halftone::report
