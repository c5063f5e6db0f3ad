#include "core/rewrite/fold_constants.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/lists.h"
#include "core/ops/infer_shape.h"
#include "core/rewrite/hold_values.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

/// What is larger than this is stored only where it is no larger than what it is made of, and that goes.
constexpr std::size_t kLarge = std::size_t{1} << 20;

using Parameters = std::unordered_map<std::string_view, const Tensor *>; ///< by variable

class ConstantFolding
{
public:
    ConstantFolding(const Graph &source, const Parameters &parameters, bool isBody,
                    const RewriteRequest &request)
        : m_source(source)
        , m_dialect(dialect::of(source))
        , m_parameters(parameters)
        , m_request(request)
        , m_pairs(dialect::codedPairsOf(m_dialect))
        , m_isBody(isBody)
        , m_outputs(graph::referencedOutputs(source))
        , m_known(source.nodeCount())
        , m_readers(source.nodeCount())
        , m_values(source)
    {
        for (NodeId id = 0; id < source.nodeCount(); ++id)
            for (const Entry &input : source.inputs(id))
                ++m_readers[input.node];
        for (const Entry &head : source.heads())
            ++m_readers[head.node];
    }

    Result<HeldValues> run()
    {
        const std::vector<NodeId> order = graph::postOrder(m_source);
        for (std::size_t k = 0; k < order.size(); ++k) {
            HALFTONE_CHECK(m_request.progress.checkStop());
            if (!m_isBody)
                m_request.progress.tell(static_cast<double>(k) / static_cast<double>(order.size()),
                                        "folding constants");
            HALFTONE_CHECK(visit(order[k]));
        }
        return std::move(m_values);
    }

private:
    Result<void> visit(NodeId id)
    {
        const graph::NodeDef &node = m_source.node(id);
        if (node.isVariable()) {
            const auto found = m_parameters.find(node.name);
            if (found != m_parameters.end())
                m_known[id] = {*found->second};
            return {};
        }
        if (!node.subgraphs.empty())
            return visitBodies(id);
        if (const auto constant = m_dialect.constantOf(node); constant.ok() && constant.value()) {
            if (constant.value()->dtype() != DType::Unknown)
                m_known[id] = {*constant.value()};
            return {};
        }
        return mayFold(id) ? fold(id) : Result<void>();
    }

    /// Of control flow: what a call runs is written elsewhere, for all calls.
    Result<void> visitBodies(NodeId id)
    {
        const auto op = m_dialect.read(m_source.node(id));
        const auto *const flow = op.ok() ? op.value().getIf<ops::ControlFlow>() : nullptr;
        if (flow == nullptr || flow->kind == ops::ControlFlow::Kind::Call
            || m_dialect.makeConstant({}, {}) == nullptr)
            return {};
        auto def = std::make_shared<graph::NodeDef>(m_source.node(id));
        bool isOther = false;
        for (auto &body : def->subgraphs) {
            HALFTONE_TRY(const HeldValues values, ConstantFolding(*body, {}, true, m_request).run());
            if (values.isEmpty())
                continue;
            body = std::make_shared<const Graph>(values.buildBody());
            isOther = true;
        }
        if (isOther)
            m_values.redefine(id, std::move(def));
        return {};
    }

    bool mayFold(NodeId id) const
    {
        const graph::NodeDef &node = m_source.node(id);
        const dialect::OpInfo *const info = m_dialect.findOp(node.op);
        const auto inputs = m_source.inputs(id);
        return info != nullptr && !infer::isNoTensor(m_source, Entry{id, 0, 0}) && info->mayMerge()
            && !info->hasMutableInputs() && !inputs.empty() && m_source.controlDependencies(id).empty()
            && !dialect::changesCodes(m_dialect.role(node))
            && (m_pairs == nullptr || !m_pairs->isPairNode(node))
            && std::ranges::all_of(inputs, [this](const Entry &entry) {
                   return entry.version == 0 && entry.output < m_known[entry.node].size();
               });
    }

    Result<void> fold(NodeId id)
    {
        std::vector<Tensor> inputs;
        for (const Entry &entry : m_source.inputs(id))
            inputs.push_back(m_known[entry.node][entry.output]);
        if (isTooLarge(id, expectedBytes(id, inputs)))
            return {};
        auto computed = m_request.compute(alone(id, inputs));
        if (!computed.ok()) // who runs the model will be told
            return computed.error().code == Errc::Cancelled ? Result<void>(std::move(computed).error())
                                                            : Result<void>();
        std::vector<Tensor> outputs = std::move(computed).value();
        std::size_t bytes = 0;
        for (const Tensor &output : outputs) {
            if (output.dtype() == DType::Unknown)
                return {};
            bytes += output.byteCount();
        }
        if (isTooLarge(id, bytes))
            return {};
        for (std::uint32_t k = 0; k < outputs.size(); ++k)
            m_values.hold({id, k, 0}, outputs[k]);
        m_known[id] = std::move(outputs);
        return {};
    }

    /// Of what does not depend on values; 0 where it does.
    std::size_t expectedBytes(NodeId id, const std::vector<Tensor> &inputs) const
    {
        const auto op = m_dialect.readWith(m_source.node(id), inputs);
        if (!op.ok())
            return 0;
        std::vector<tensor::Shape> read;
        read.reserve(inputs.size());
        for (const Tensor &input : inputs)
            read.push_back(input.shape());
        std::vector<tensor::Shape> written(m_outputs[id]);
        const auto outcome = ops::inferShapes(op.value(), read, written);
        std::size_t elements = 0;
        for (const tensor::Shape &shape : written)
            elements += outcome.ok() ? static_cast<std::size_t>(shape.elementCount().value_or(0)) : 0;
        return elements; // of a byte at least
    }

    bool isTooLarge(NodeId id, std::size_t bytes) const
    {
        if (bytes <= kLarge)
            return false;
        std::size_t given = 0;
        bool areShared = false;
        for (const Entry &entry : m_source.inputs(id)) {
            given += m_known[entry.node][entry.output].byteCount();
            areShared = areShared || m_readers[entry.node] > 1;
        }
        return bytes > given || areShared;
    }

    /// The node as a model without inputs.
    graph::Model alone(NodeId id, const std::vector<Tensor> &inputs) const
    {
        graph::Model model{Graph::like(m_source), {}, true};
        std::vector<Entry> entries;
        for (const Tensor &input : inputs) {
            std::string name = "input" + std::to_string(entries.size());
            tensor::Array array;
            array.name = m_dialect.arrayName(name, false);
            array.shape = input.shape();
            array.values = input;
            model.parameters.push_back(std::move(array));
            const graph::NodeId variable = model.graph.add(
                m_dialect.withDeclaredType(m_dialect.makeVariable(std::move(name)), input.dtype()), {});
            entries.push_back({variable, 0, 0});
        }
        const NodeId node = model.graph.add(m_source.sharedNode(id), entries);
        std::vector<Entry> heads;
        for (std::uint32_t k = 0; k < m_outputs[id]; ++k)
            heads.push_back({node, k, 0});
        model.graph.setHeads(std::move(heads));
        return model;
    }

    const Graph &m_source;
    const dialect::Dialect &m_dialect;
    const Parameters &m_parameters;
    const RewriteRequest &m_request;
    const dialect::CodedPairs *m_pairs; ///< null: the format has none
    bool m_isBody;
    std::vector<std::uint32_t> m_outputs;
    std::vector<std::vector<Tensor>> m_known; ///< by NodeId and output; empty: depends on what is fed
    std::vector<std::uint32_t> m_readers; ///< by NodeId
    HeldValues m_values;
};

} // namespace

Result<Rewritten> foldConstants(const graph::Model &model, const RewriteRequest &request)
{
    if (!request.compute)
        return Rewritten{model, 0, {}};
    Parameters parameters;
    for (const tensor::Array &array : model.parameters) {
        const std::string_view variable = dialect::variableOf(model.graph, array.name);
        if (array.storage == tensor::Storage::Dense && array.values.dtype() != DType::Unknown
            && !request.replaceable.contains(variable))
            parameters.emplace(variable, &array.values);
    }
    HALFTONE_TRY(const HeldValues values, ConstantFolding(model.graph, parameters, false, request).run());
    return values.build(model);
}

} // namespace halftone::rewrite
