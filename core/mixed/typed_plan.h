#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/node_types.h"
#include "core/infer/variables.h"
#include "core/policy/assignment.h"
#include "core/rewrite/conversion.h"

#include <span>
#include <vector>

/// Mode typed, first half: what each operator reads, decided before anything is built.
namespace halftone::mixed {

/// The decisions for one graph. Tensors and inputs are numbered: output k of node n is firstOutput[n] + k, input i is
/// firstInput[n] + i.
///
/// A cast of the source is no tensor of its own: `value` gives the tensor that it casts, and each reader gets the casts
/// that it needs anew, so that converting a converted graph changes nothing. Nodes that are merged are treated likewise.
struct TypedPlan
{
    std::vector<graph::NodeId> order; ///< nodes that stay, each after what it needs
    std::vector<graph::NodeId> parts; ///< by NodeId: dialect::raisedParts()
    std::vector<std::uint32_t> firstOutput;
    std::vector<std::uint32_t> firstInput;
    std::vector<graph::Entry> value; ///< by output: what stands for it in the source graph
    std::vector<tensor::DType> original; ///< by output: the type in the source graph
    std::vector<tensor::DType> native; ///< by output: the type as it is computed now
    /// By input: the type in which the node reads it; equal to the native one where it reads it as it comes, Unknown where it does
    /// not look at values.
    std::vector<tensor::DType> reads;
    std::vector<tensor::DType> headReads; ///< by head, likewise; Unknown: as it comes
    std::vector<graph::NodeId> foldedCasts;
    std::vector<rewrite::MergedNode> merged;
    std::vector<rewrite::MovedCasts> moved;
    std::vector<rewrite::TypeChoice> choices;
    std::vector<rewrite::NodeNote> notes;

    std::uint32_t output(const graph::Entry &entry) const { return firstOutput[entry.node] + entry.output; }
    const graph::Entry &valueOf(const graph::Entry &entry) const { return value[output(entry)]; }
    tensor::DType nativeOf(const graph::Entry &entry) const { return native[output(valueOf(entry))]; }
};

/// Decides of control flow, whose bodies say what it computes in.
class FlowDecider
{
public:
    virtual ~FlowDecider() = default;
    /// Decides of the node, the nodes before it having been decided; false: it keeps the types of the source.
    virtual Result<bool> decide(graph::NodeId id) = 0;
};

struct PlanSettings
{
    tensor::DType target = tensor::DType::F16;
    policy::Mode mode = policy::Mode::Typed; ///< Typed, Tvm or All
    bool keepIoTypes = true; ///< heads have the types of the source's heads
    const std::vector<bool> *constants
        = nullptr; ///< by NodeId: holds reals, which are stored as a parameter's are; null: no node does
    const std::vector<bool> *kept
        = nullptr; ///< by NodeId: has the types of the source, whatever is asked; null: none
    FlowDecider *flows = nullptr; ///< called in the order of the plan; null: all control flow keeps its types
};

/// The plan's order, numbers, original types and what stands for what; nothing is decided yet.
/// share  merge nodes that compute the same and are asked for the same, but for those at heads
/// fails  BadInput for a graph that is ill-typed itself
Result<TypedPlan> preparePlan(const graph::Graph &source, const infer::NodeTypes &rules,
                              const policy::Assignment &assignment,
                              std::span<const infer::Variable> variables, bool share);

/// Decides in one sweep, each node by the types of the tensors that it really reads (core/mixed/RULES.md, section 3), those of variables being
/// `plan`'s; what was decided before is forgotten:
///
/// fp32     floats are read as float32
/// target   the type rule with the target type on the first output (else on the first float input) says which inputs are
///          read in it; refused: as fp32, with a note
/// widest   float32 when any float input has it, parameters and constants aside, which follow; an input that a target operator reads in
///          the target type anyway counts as having that
/// neutral  as the inputs come where the type rule accepts that, else as widest
///
/// In mode tvm neutral and widest operators follow TVM's rule instead (M-tvm-follow).
///
/// Float64 and integers are read as they come. fails: Cancelled, and what `settings.flows` refuses
Result<void> decideTypes(const graph::Graph &source, const infer::NodeTypes &rules,
                         const policy::Assignment &assignment, std::span<const infer::Variable> variables,
                         const PlanSettings &settings, const Progress &progress, TypedPlan &plan);

/// An operator that runs its bodies, unlike a fused one, which stands for its body.
bool isControlFlow(const graph::Graph &graph, graph::NodeId id);

/// The type of what the operator reads means nothing to it.
bool readsShapeAlone(const graph::Graph &graph, graph::NodeId id);

} // namespace halftone::mixed
