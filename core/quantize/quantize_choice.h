#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"
#include "core/quantize/deviations.h"
#include "core/quantize/quantize.h"
#include "core/quantize/quantize_fuse.h"

#include <string_view>

namespace halftone::quantize {

/// Which nodes get int8 forms.
struct QuantizedChoice
{
    std::vector<bool> isQuantized; ///< by NodeId of the fused graph
    std::vector<SkippedNode> skipped; ///< operators that stay as they are, in the graph's order
};

/// The canonical name of a node's operator, for a fused node that of its first member.
std::string_view mainOperator(const dialect::Dialect &dialect, const graph::NodeDef &node);

/// Are the excluded and the chosen names those of nodes of either graph, and of operators?
/// fails: BadCall naming the setting
Result<void> checkNames(const graph::Graph &fused, const graph::Graph &original,
                        const QuantizeOptions &options);

/// `original`: the given graph, whose names may be excluded too.
/// fails: as quantize()
Result<QuantizedChoice> chooseQuantized(const FusedGraph &fused, const graph::Graph &original,
                                        const QuantizeOptions &options, const Deviations &deviations = {});

} // namespace halftone::quantize
