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

/// The codes that a folded constant was decoded from, for backends that multiply codes.
struct DecodedFrom
{
    tensor::Tensor codes; ///< float8
    tensor::Tensor scale;
};

/// A tensor of a plan: an input, a constant, or the result of one node.
struct PlanValue
{
    kernels::TensorDesc desc;
    std::optional<tensor::Tensor> constant;
    std::string name; ///< name of the variable, or of the node that computed it in the source graph
    std::optional<DecodedFrom> decodedFrom{}; ///< for constants
};

/// An operation applied to the result of a node before it is written.
struct PostOp
{
    /// An element-wise function, or Binary with `operand` as the other side; or Requantize after an integer sum, which then has the
    /// results of Requantize.
    ops::Operator op;
    ValueId operand = kNoValue;
};

/// An operator of a plan. Its first result passes through `post`, in order.
struct PlanNode
{
    ops::Operator op;
    std::string opName; ///< name in its format of the member that computes most
    std::vector<std::string> members; ///< nodes of the source graph that this one replaces
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<PostOp> post;
    /// Nodes that compute the same one after another, for backends that do not support this one: see unfold().
    std::vector<PlanNode> parts{};
    /// Makes the kernel of a control flow node, which no backend computes; empty for other nodes.
    std::function<Result<std::unique_ptr<kernels::Kernel>>()> makeKernel{};
};

/// The graph of a latency plan: typed operators in execution order, with known types and shapes. May be rewritten.
struct PlanGraph
{
    std::vector<PlanValue> values;
    std::vector<PlanNode> nodes;
    std::vector<ValueId> inputs; ///< set before every run
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

/// A kernel of `backend` (or that of the node itself) for one node without post-operations. fails: as Backend::prepare
Result<std::unique_ptr<kernels::Kernel>> prepareNode(const PlanGraph &graph, const PlanNode &node,
                                                     const kernels::Backend &backend);

/// A graph of one node: its inputs are inputs of the graph, or constants if known; its used outputs are the outputs.
PlanGraph singleNode(const kernels::Operation &operation);

/// The plan graph for the outputs of a model. Parameters become constants.
/// bodies  makes the kernels of control flow; empty: not supported
/// fails   Unsupported for a needed operator that is unknown, or control flow without `bodies`; BadInput for a type or shape that
///         cannot be inferred from the inputs, and for a sparse parameter: where = node
Result<PlanGraph> buildPlanGraph(const infer::TypedModel &model, const kernels::BodyKernels &bodies = {});

} // namespace halftone::plan
