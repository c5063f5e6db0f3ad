#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::infer {

/// Bodies nested deeper than this keep their shapes and types open: each level multiplies the work.
inline constexpr int kMaxBodyDepth = 4;

/// One body of a node, and what of the node its variables and heads stand for.
struct BoundBody
{
    enum class Role : std::uint8_t
    {
        Result, ///< its heads are the node's outputs
        LoopCondition, ///< asked before each step
        BranchCondition, ///< asked once; MXNet takes no other type than float32 for it
    };
    /// A variable of the body stands for an input of the node.
    struct Tie
    {
        graph::NodeId variable = 0;
        std::size_t input = 0;
        bool sliced = false; ///< the body sees one step
        std::int64_t axis = 0; ///< of the steps; from the end where negative
        bool isBackward = false; ///< begins with the last
    };
    /// A variable of the body that a loop itself sets.
    struct Given
    {
        graph::NodeId variable = 0;
        bool isStep = false; ///< the number of the step, int64; else the condition, bool
    };
    /// How what the steps give is put together.
    struct Stack
    {
        std::int64_t axis = 0; ///< of the steps in the result; from the end where negative
        bool isBackward = false;
    };

    const graph::Graph *graph = nullptr;
    Role role = Role::Result;
    std::vector<Tie> ties;
    std::vector<Given> given;
    std::size_t firstHead = 0; ///< of the heads that are outputs: before it stands a loop's condition
    std::size_t stacked = 0; ///< so many outputs are stacked over the steps
    bool stacksLast = false; ///< these are the last ones, else the first
    std::vector<Stack> stacks; ///< by stacked output; empty: along the first axis

    std::size_t outputCount() const;
    bool isStacked(std::size_t output) const;
    Stack stackOf(std::size_t output) const; ///< of one that is stacked
};

/// How the bodies of control flow and of fused operators hang in their node.
struct BodyBinding
{
    /// An input that a loop reads in its first step and an output that it hands on from step to step.
    struct Carried
    {
        std::size_t input = 0;
        std::size_t output = 0;
    };

    std::vector<BoundBody> bodies; ///< empty: the node's bodies say nothing of it
    /// Fused, on integers: the inputs behind those of the body and the outputs behind its heads are ends of ranges, and the
    /// types are those of the operator's own rule.
    bool isQuantized = false;
    bool hasFloatOutput = false; ///< fused, with a cast of its output to float32
    std::vector<Carried> carried;
    bool shapesMayChange = false; ///< of what is carried, from step to step
    /// The steps are the tensors of the lists that are sliced inputs, and outputs are lists of what each gives.
    bool isMapped = false;
    bool isBatched = false; ///< every input of its own is a batch of such, each walked through alone
    std::optional<std::size_t> tripCount; ///< inputs of a Loop
    std::optional<std::size_t> firstCondition;
    std::optional<std::size_t> lengths; ///< input of a batched one: steps, by example
    std::optional<std::size_t>
        choice; ///< the input that says which of two bodies runs: the first where it is true
    std::int64_t mostSteps = -1; ///< extent of stacked outputs, where no sliced input tells it; -1: open
};

/// Of the node `id` with that many outputs. Reads control flow's location lists; the inputs of a fused operator are its body's variables in the order in which
/// a walk from the heads meets them (graph::postOrder), behind which quantized ones have more. No bodies come back from an operator that has none, that is
/// unknown, or that is fused with another number of inputs or outputs than its body has.
///
/// fails  BadInput for a malformed attribute and for a location that points nowhere
Result<BodyBinding> bindBodies(const graph::Graph &graph, graph::NodeId id, std::size_t outputs);

/// By NodeId of the body: the types of its variables where the inputs of the node around it have those types; Unknown for all else.
std::vector<tensor::DType> handedTypes(const BoundBody &body, std::span<const tensor::DType> inputs);

} // namespace halftone::infer
