#pragma once

#include "core/infer/body_binding.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/node_types.h"
#include "core/infer/variables.h"
#include "core/mixed/typed_plan.h"
#include "core/mixed/typed_settings.h"
#include "core/policy/assignment.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

/// A graph and the bodies of its control flow, planned as one (core/mixed/RULES.md, M-typed-bodies).
namespace halftone::mixed {

struct TypedLevel;

/// Values at the edge of a node's bodies that have one type: an input of the node and the variables that stand for it; an output and the
/// heads that give it; of a loop's state both.
struct FlowPort
{
    tensor::DType original = tensor::DType::Unknown; ///< in the source
    tensor::DType type = tensor::DType::Unknown; ///< as it is handed in or given now
    bool isFree = false; ///< it need not have the type of the source
    bool isBoundHigh = false; ///< but only where it comes in the target type
    bool isRunningSum = false; ///< a state to which each step adds what does not depend on it
    bool mayChoose = false; ///< free, and a float that is known: the cut may give it either type
};

/// A node of control flow whose bodies are converted.
struct TypedFlow
{
    static constexpr std::uint32_t kNoPort = std::numeric_limits<std::uint32_t>::max();

    graph::NodeId node = 0;
    infer::BodyBinding binding;
    std::vector<infer::BodyBinding::Carried> carried; ///< those of MXNet's loops too
    std::vector<FlowPort> ports;
    std::vector<std::uint32_t> inputPort; ///< by input of the node
    std::vector<std::uint32_t> outputPort; ///< by output; kNoPort: no head gives it
    std::vector<TypedLevel> bodies; ///< by body of the binding

    /// By head of that body; kNoPort: a condition.
    std::uint32_t portOfHead(std::size_t body, std::size_t head) const;
};

/// One graph of the nest.
struct TypedLevel
{
    TypedLevel(const graph::Graph &of, int lyingIn)
        : graph(&of)
        , depth(lyingIn)
        , rules(of, lyingIn)
    {
    }

    const graph::Graph *graph;
    int depth; ///< how many bodies it lies in
    int loops = 0; ///< how many of these run more than once
    infer::NodeTypes rules;
    std::shared_ptr<const policy::Assignment> assignment;
    std::vector<infer::Variable> variables; ///< by NodeId; those of a body as they count for its operators
    std::vector<bool> constants; ///< by NodeId: holds reals
    std::vector<bool> kept; ///< by NodeId: has the types of the source; empty: none
    std::vector<bool> storable; ///< by NodeId: a variable or constant that may be stored in the target type
    const infer::ShapeMap *shapes = nullptr; ///< null: unknown, as those of bodies are
    TypedPlan plan;
    std::vector<rewrite::NodeNote> flowNotes; ///< of bodies that stay as they are
    std::vector<TypedFlow> flows; ///< in the order of the plan
};

/// The nest of a graph, nothing decided yet. `source`, `assignment` and what `settings` refers to must outlive it.
/// fails: as convertTyped()
Result<TypedLevel> makeLevels(const graph::Graph &source, const policy::Assignment &assignment,
                              std::span<const infer::Variable> variables, const TypedSettings &settings);

/// Decides all types of the nest by the rules alone, as one sweep from the inputs on would if bodies stood in the place of their nodes. What a loop carries has the type
/// that its body makes of it from the second step on: float32 where one step makes that.
Result<void> decideLevels(TypedLevel &level, const TypedSettings &settings, const Progress &progress);

/// Tells the node and its bodies the types of the ports.
void applyPorts(TypedLevel &level, TypedFlow &flow);

/// Calls visit(level) for the graph and all bodies, each after the graph that it lies in.
template <class Level, class Visit>
void forLevels(Level &level, const Visit &visit)
{
    visit(level);
    for (auto &flow : level.flows)
        for (auto &body : flow.bodies)
            forLevels(body, visit);
}

} // namespace halftone::mixed
