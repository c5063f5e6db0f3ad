#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <string>

namespace halftone::ops {

/// Control flow over subgraphs. The lists tie inputs of the node to variables of its bodies, by position; a
/// pass that walks the graph follows them, shape inference of the node alone gives nothing.
struct ControlFlow
{
    enum class Kind : std::uint8_t { ForEach, WhileLoop, Cond } kind = Kind::ForEach;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t dataOutputs
        = 0; ///< ForEach, WhileLoop: the first outputs, stacked over the steps; the others are states
    std::int64_t maxIterations = 0; ///< WhileLoop
    Dims dataLocations{}; ///< ForEach: body variables that get a slice
    Dims stateLocations{}; ///< ForEach: body variables that are states; WhileLoop: func_var_locs, of the loop
        ///< variables
    Dims conditionLocations{}; ///< WhileLoop, Cond: node inputs that the condition reads
    /// ForEach: the remaining body variables; WhileLoop: node inputs of the body; Cond: of the then branch.
    Dims bodyLocations{};
    Dims elseLocations{}; ///< Cond: node inputs of the else branch

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
