#pragma once

#include "core/graph/graph.h"
#include "core/infer/variables.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Whole numbers and times that a model carries in floats: what 16 bit would make of the angles, comparisons and indices that
/// are computed from them is wrong, not less exact (core/mixed/RULES.md, M-position).
namespace halftone::mixed {

/// The operators of one graph that must not round positions.
struct PositionPaths
{
    /// An operator that turns a rounded position into a wrong result.
    struct End
    {
        std::string name;
        std::string op; ///< as its format calls it
    };
    /// An operator on the way to an end, or the end itself.
    struct Held
    {
        graph::NodeId node = 0;
        std::uint32_t end = 0; ///< in `ends`: the first that was found
    };

    std::vector<End> ends;
    std::vector<Held> held; ///< by node, ascending
    std::vector<Held>
        beside; ///< likewise: operators that move what an end needs, and hand it on to where it may be rounded
};

/// By graph: that one, and the bodies in it; those without positions are missing.
using PositionMap = std::unordered_map<const graph::Graph *, PositionPaths>;

/// variables  by NodeId
/// target     bfloat16 or int8: also what their sines and cosines turn, a rotary embedding
/// Empty too for a graph whose types contradict each other: whoever converts it says so.
PositionMap findPositions(const graph::Graph &graph, std::span<const infer::Variable> variables,
                          tensor::DType target);

/// Operators on the way to Resize's computed scales and regions, which are factors of sizes: 16 bit makes other sizes of them.
PositionMap findComputedScales(const graph::Graph &graph, std::span<const infer::Variable> variables);

} // namespace halftone::mixed
