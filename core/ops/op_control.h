#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <string>

namespace halftone::ops {

/// Control flow over subgraphs. The lists tie inputs of the node to variables of its bodies, by position; a
/// pass that walks the graph follows them, shape inference of the node alone gives nothing.
struct ControlFlow
{
    /// ForEach, WhileLoop and Cond are MXNet's; a Cond of two bodies, Loop, Scan and Call ONNX's. A Call runs its body once:
    /// it is a function of the model, or an operator that is said by others. A Map (SequenceMap) runs it for each tensor of a
    /// list, with those at the same place of other lists and with values that are the same each time; it gives lists.
    enum class Kind : std::uint8_t { ForEach, WhileLoop, Cond, Loop, Scan, Call, Map } kind = Kind::ForEach;
    /// Entries of a Loop's bodyLocations that are no input of the node.
    static constexpr std::int64_t kStepNumber = -1; ///< counts from 0
    static constexpr std::int64_t kGoesOn = -2; ///< the condition of the step

    std::int64_t inputs = 0;
    std::int64_t outputs = 0; ///< Call: 0 where what the body gives only stands for what the node gives
    /// ForEach, WhileLoop: the first outputs, stacked over the steps; the others are states. Loop, Scan: the last ones.
    std::int64_t dataOutputs = 0;
    std::int64_t maxIterations = 0; ///< WhileLoop
    Dims dataLocations{}; ///< ForEach: body variables that get a slice; Scan: inputs of the node
    /// ForEach: body variables that are states; WhileLoop: func_var_locs, of the loop variables; Loop, Scan: inputs of the
    /// node.
    Dims stateLocations{};
    /// WhileLoop, Cond: node inputs that the condition reads; Loop: those of the trip count and of the first condition;
    /// Scan: that of the sequences' lengths. -1: absent.
    Dims conditionLocations{};
    /// ForEach: the remaining body variables; WhileLoop: node inputs of the body; Cond: of the then branch; Loop, Scan,
    /// Call, Map: by variable of the body, in the order in which a walk from its heads meets them.
    Dims bodyLocations{};
    Dims elseLocations{}; ///< Cond: node inputs of the else branch
    /// Scan, by entry of dataLocations and by stacked output; empty: 0 everywhere. Axes count from the end where negative;
    /// direction 1: from the last step to the first.
    Dims sliceAxes{};
    Dims sliceDirections{};
    Dims stackAxes{};
    Dims stackDirections{};
    bool isBatched
        = false; ///< Scan as of opset 8: the first axis of every input of its own is a batch, the next the steps

    bool operator==(const ControlFlow &) const = default;
};

/// An operator that we know by name only: kept, shown and exported, never analysed.
struct Opaque
{
    std::string name{};
    bool waits = false; ///< it is known, but what it computes depends on values that are not there yet

    bool operator==(const Opaque &) const = default;
};

} // namespace halftone::ops
