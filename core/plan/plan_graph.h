#pragma once

#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::plan {

/// Position of a value in its PlanGraph.
using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = 0xFFFFFFFFU;

/// What a constant was decoded from before it was folded: for backends that multiply such codes.
struct DecodedFrom
{
    tensor::Tensor codes; ///< float8
    tensor::Tensor scale;
};

/// A tensor of a plan: fed, constant, or computed by one node.
struct PlanValue
{
    kernels::TensorDesc desc;
    std::optional<tensor::Tensor> constant;
    std::string name; ///< of the variable, or of the node that computed it in the source graph
    std::optional<DecodedFrom> decodedFrom{}; ///< of a constant
};

/// Something done to a node's result before it is written.
struct PostOp
{
    /// A function of one element, or Binary with `operand` as the other side; Requantize behind a sum of codes, whose
    /// results are then those of Requantize.
    ops::Operator op;
    ValueId operand = kNoValue;
};

/// An operator of a plan. Its first result passes through `post`, in order.
struct PlanNode
{
    ops::Operator op;
    std::string opName; ///< the framework's, of the member that computes most
    std::vector<std::string> members; ///< the source graph's nodes that this one stands for
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<PostOp> post;
    /// Nodes that compute the same one after the other, for backends that do not take this one whole: see unfold().
    std::vector<PlanNode> parts{};
    /// Makes the kernel of a node that runs bodies, which no backend computes; empty: of others.
    std::function<Result<std::unique_ptr<kernels::Kernel>>()> makeKernel{};
};

/// What a latency plan computes: a graph of typed operators in execution order, free to be rewritten, in which every
/// type and shape is known.
struct PlanGraph
{
    std::vector<PlanValue> values;
    std::vector<PlanNode> nodes;
    std::vector<ValueId> inputs; ///< fed on every run
    std::vector<ValueId> outputs; ///< one for each head
    std::vector<std::string> outputNames;

    ValueId addValue(kernels::TensorDesc desc, std::string name)
    {
        values.push_back({std::move(desc), std::nullopt, std::move(name)});
        return static_cast<ValueId>(values.size() - 1);
    }
    const kernels::TensorDesc &desc(ValueId id) const { return values[id].desc; }
    bool isConstant(ValueId id) const { return values[id].constant.has_value(); }
};

/// A kernel of `backend`, or the node's own, for one node without post-operations. fails: as Backend::prepare
Result<std::unique_ptr<kernels::Kernel>> prepareNode(const PlanGraph &graph, const PlanNode &node,
                                                     const kernels::Backend &backend);

/// A graph of one node, whose inputs are fed, or constant where the operation knows them, and whose outputs come out as
/// far as somebody reads them.
PlanGraph singleNode(const kernels::Operation &operation);

/// The plan graph of what the heads need. Variables that the parameters hold become constants.
/// bodies  makes the kernels of control flow; empty: nobody does
/// fails   Unsupported for an unknown operator or control flow, without `bodies`, that a head needs; BadInput for a type or shape that does
///         not follow from the inputs', and for a sparse parameter: where = node
Result<PlanGraph> buildPlanGraph(const infer::TypedModel &model, const kernels::BodyKernels &bodies = {});

} // namespace halftone::plan
