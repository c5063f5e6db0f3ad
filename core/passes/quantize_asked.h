#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/passes/conversion.h"
#include "core/passes/infer_shapes.h"
#include "core/passes/quantize.h"
#include "core/policy/assignment.h"

#include <optional>
#include <string>
#include <vector>

/// The int8 part of a mixed-precision conversion: quantized first, then the rest is converted as if it were the source.
namespace halftone::passes {

struct QuantizedPart
{
    graph::Model model;
    policy::Assignment
        assignment; ///< of `model`: int8 operators and what stands around them read reals as float32
    std::vector<QuantizedOrigin> origins; ///< by NodeId of `model`
    std::vector<MergedNode> dropped;
    std::vector<std::string> notes;
};

struct AskedQuantization
{
    std::optional<QuantizedPart> part; ///< nothing when no node asked for can be quantized
    std::vector<NodeNote> refused; ///< nodes asked for that stay as the other lists say, and why
};

/// How the nodes that `assignment` asks int8 of would be quantized, for tensorsToObserve(). Fused with them is what follows
/// as in MXNet's oneDNN form, but for nodes that are excluded or held to another type by name. What only passes values on
/// and lies between int8 operators on all sides follows them unless somebody chose another precision for it. Weights have a scale a channel where
/// ranges are calibrated.
/// refused  gets nodes whose parameters are not there or not float32
QuantizeOptions optionsForAsked(const graph::Model &source, const policy::Assignment &assignment,
                                std::vector<NodeNote> &refused);

/// ranges  by ObservedTensor::source; a tensor without one is left to the run time, with a note; null: all
/// fails   as quantize()
Result<AskedQuantization> quantizeAsked(const graph::Model &source, const policy::Assignment &assignment,
                                        const QuantizedRanges *ranges);

/// The shapes of the part's graph, as far as those of the source tell them.
ShapeMap shapesOfPart(const QuantizedPart &part, const ShapeMap &source);

/// Makes the log of a conversion of the part's graph one of the source's.
void tellOfSource(const graph::Graph &source, const QuantizedPart &part, Conversion &conversion);

} // namespace halftone::passes
