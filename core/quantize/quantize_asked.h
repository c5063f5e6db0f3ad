#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/policy/assignment.h"
#include "core/quantize/quantize.h"
#include "core/rewrite/conversion.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The int8 part of a mixed-precision conversion: quantized first, then the rest is converted as if it were the source.
namespace halftone::quantize {

struct QuantizedPart
{
    graph::Model model;
    policy::Assignment
        assignment; ///< of `model`: int8 operators and what stands around them read reals as float32
    std::vector<QuantizedOrigin> origins; ///< by NodeId of `model`
    std::vector<rewrite::MergedNode> dropped;
    std::vector<std::string> notes;
};

struct AskedQuantization
{
    std::optional<QuantizedPart> part; ///< nothing when no node asked for can be quantized
    std::vector<rewrite::NodeNote> refused; ///< nodes asked for that stay as the other lists say, and why
};

/// How the nodes that are asked for would be quantized.
struct AskedPlan
{
    QuantizeOptions options; ///< with calibrated ranges
    std::vector<rewrite::NodeNote> refused; ///< nodes whose parameters are not there or not float32
    std::shared_ptr<const QuantizationPlan> plan; ///< once rangesToFind() has made it

    bool isEmpty() const; ///< no node is left that could be quantized, or is to be so no longer
};

/// Fused with the nodes that `assignment` asks int8 of is what follows as in MXNet's oneDNN form, but for nodes that are excluded or held
/// to another type by name. What only passes values on and lies between int8 operators on all sides follows them unless somebody chose
/// another precision for it. Weights have a scale a channel where ranges are calibrated.
AskedPlan planAsked(const graph::Model &source, const policy::Assignment &assignment);

/// The tensors whose ranges quantizeAsked() will ask for: in the order of the graph, parameters left out. fails: as quantize()
Result<std::vector<std::string>> rangesToFind(const graph::Model &source, AskedPlan &plan);

/// plan    of the same source and assignment
/// ranges  by ObservedTensor::source; a tensor without one is left to the run time, with a note; null: all
/// forms   codes that were made before; gets those that are made now
/// fails   as quantize(); Cancelled
Result<AskedQuantization> quantizeAsked(const graph::Model &source, const policy::Assignment &assignment,
                                        AskedPlan plan, const QuantizedRanges *ranges,
                                        tensor::FormCache &forms, const Progress &progress = {});

/// The shapes of the part's graph, as far as those of the source tell them.
infer::ShapeMap shapesOfPart(const QuantizedPart &part, const infer::ShapeMap &source);

/// Makes the log of a conversion of the part's graph one of the source's.
void translateLogToSource(const graph::Graph &source, const QuantizedPart &part,
                          rewrite::Conversion &conversion);

} // namespace halftone::quantize
