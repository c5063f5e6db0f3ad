#include "core/mixed/hold/keep_normalization.h"

#include "core/dialect/dialect.h"
#include "core/infer/node_types.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

bool isStatistic(dialect::SlotRole role)
{
    return role == dialect::SlotRole::Mean || role == dialect::SlotRole::Variance;
}

bool goesBeyond(const Tensor &values, double largest)
{
    if (!tensor::isFloat(values.dtype()))
        return false;
    std::vector<double> numbers(values.elementCount());
    tensor::widen(values.dtype(), values.bytes().data(), numbers.size(), numbers.data());
    return std::ranges::any_of(
        numbers, [largest](double value) { return std::isfinite(value) && std::abs(value) > largest; });
}

class Holder
{
public:
    Holder(const graph::Graph &graph, std::span<const tensor::Array> parameters, DType target,
           policy::Assignment &assignment)
        : m_graph(graph)
        , m_parameters(parameters)
        , m_target(target)
        , m_assignment(assignment)
    {
        m_ops.resize(graph.operatorNames().size());
    }

    void look(NodeId id)
    {
        policy::Decision &decision = m_assignment.inFloat(id);
        if (policy::isChosen(decision) || policy::requestOf(decision.rule) == policy::Request::Fp32)
            return;
        const std::optional<std::size_t> input = inputBeyond(id);
        if (!input)
            return;
        const NodeId held = m_graph.inputs(id)[*input].node;
        decision = {policy::Rule::StatisticsBeyond, static_cast<std::uint32_t>(m_assignment.entries.size())};
        m_assignment.entries.push_back("statistics: " + m_graph.node(held).name + " goes beyond "
                                       + std::string(tensor::nameOf(m_target)));
    }

private:
    /// The inputs of the node's operator that are statistics and read in the target type; asked once an operator, whose slots are the
    /// same in all nodes, so that no values are looked at where statistics stay float32 anyway.
    const std::vector<std::size_t> &statisticsOf(NodeId id)
    {
        std::optional<std::vector<std::size_t>> &known = m_ops[m_graph.opOf(id)];
        if (known)
            return *known;
        known.emplace();
        const graph::NodeDef &node = m_graph.node(id);
        if (const dialect::OpInfo *const op = dialect::of(m_graph).findOp(node.op)) {
            for (std::size_t i = 1; i < m_graph.inputs(id).size(); ++i) {
                if (isStatistic(op->slotRole(node.attributes, node.slotOf(i))) && readsInTarget(id, i))
                    known->push_back(i);
            }
        }
        return *known;
    }

    /// The first input of the node that holds a statistic beyond the range.
    std::optional<std::size_t> inputBeyond(NodeId id)
    {
        const auto inputs = m_graph.inputs(id);
        for (const std::size_t input : statisticsOf(id)) {
            if (input < inputs.size() && isBeyond(inputs[input].node))
                return input;
        }
        return std::nullopt;
    }

    bool isBeyond(NodeId held)
    {
        const double largest = tensor::rangeOf(m_target).largest;
        if (m_graph.isVariable(held)) {
            const Tensor *const values = parameter(m_graph.node(held).name);
            return values != nullptr && goesBeyond(*values, largest);
        }
        if (!m_graph.inputs(held).empty())
            return false;
        const auto constant = dialect::of(m_graph).constantOf(m_graph.node(held));
        return constant.ok() && constant.value() && goesBeyond(*constant.value(), largest);
    }

    const Tensor *parameter(std::string_view name)
    {
        if (m_byName.empty()) {
            for (const tensor::Array &array : m_parameters)
                m_byName.emplace(dialect::variableOf(m_graph, array.name), &array.values);
        }
        const auto at = m_byName.find(name);
        return at == m_byName.end() ? nullptr : at->second;
    }

    /// Does the type rule refuse the statistic in float32 beside everything else in the target type?
    bool readsInTarget(NodeId id, std::size_t input)
    {
        if (!m_rules)
            m_rules.emplace(m_graph);
        std::vector<DType> reads(m_graph.inputs(id).size(), DType::Unknown);
        reads[0] = m_target;
        reads[input] = DType::F32;
        std::vector<DType> gives(m_rules->outputCount(id), DType::Unknown);
        return m_rules->apply(id, reads, gives) == ops::TypeOutcome::Refused;
    }

    const graph::Graph &m_graph;
    std::span<const tensor::Array> m_parameters;
    DType m_target;
    policy::Assignment &m_assignment;
    std::vector<std::optional<std::vector<std::size_t>>> m_ops; ///< by OpIndex: see statisticsOf()
    std::unordered_map<std::string_view, const Tensor *> m_byName; ///< filled when first asked
    std::optional<infer::NodeTypes> m_rules; ///< likewise
};

} // namespace

void keepNormalizationInFloat32(const graph::Graph &graph, std::span<const tensor::Array> parameters,
                                DType target, policy::Assignment &assignment)
{
    Holder holder(graph, parameters, target, assignment);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) && assignment.rule(id) != policy::Rule::Coded)
            holder.look(id);
    }
}

} // namespace halftone::mixed
