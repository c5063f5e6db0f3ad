#include "core/quantize/pair_operators.h"

#include "core/dialect/dialect.h"
#include "core/quantize/pair_plan.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::quantize {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;
using rewrite::kNoNode;

class OperatorMaker
{
public:
    OperatorMaker(QuantizedModel &quantized, const dialect::CodedPairs &forms)
        : m_quantized(quantized)
        , m_graph(quantized.model.graph)
        , m_forms(forms)
        , m_constants(constantsOf(quantized.model))
        , m_readers(m_graph.nodeCount())
        , m_made(m_graph.nodeCount())
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (const Entry &entry : m_graph.inputs(id))
                m_readers[entry.node].push_back(id);
        for (const Entry &head : m_graph.heads())
            m_readers[head.node].push_back(kNoNode);
    }

    void run()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (!m_graph.isVariable(id) && m_forms.productOf(m_graph.node(id)))
                takeProduct(id);
        write();
    }

private:
    /// What stands for a node that makes codes of a product's result.
    struct Made
    {
        graph::NodeDefPtr def;
        std::vector<Entry> inputs;
        std::vector<NodeId> of; ///< the product and what cuts its range
    };

    bool isDecode(const Entry &entry) const
    {
        return !m_graph.isVariable(entry.node) && m_forms.isDecode(m_graph.node(entry.node));
    }

    bool isCode(NodeId id) const
    {
        return m_forms.isPairNode(m_graph.node(id)) && !m_forms.isDecode(m_graph.node(id))
            && m_graph.inputs(id).size() == 3;
    }

    /// Does no code of the result lie beyond what the node lets through?
    bool cutsNothing(NodeId id, NodeId code) const
    {
        std::vector<tensor::Tensor> inputs;
        for (const Entry &entry : m_graph.inputs(id)) {
            const auto held = m_constants.find(entry.node);
            inputs.push_back(held == m_constants.end() ? tensor::Tensor() : held->second);
        }
        const auto cut = m_forms.cutOf(m_graph.node(id), inputs);
        const auto of = m_graph.inputs(code);
        if (!cut || !m_constants.contains(of[1].node) || !m_constants.contains(of[2].node))
            return false;
        const float scale = m_constants.at(of[1].node).values<float>()[0];
        const tensor::Tensor &zero = m_constants.at(of[2].node);
        const bool isSigned = zero.dtype() == tensor::DType::I8;
        const int at = isSigned ? zero.values<std::int8_t>()[0] : zero.values<std::uint8_t>()[0];
        const float low = static_cast<float>((isSigned ? -128 : 0) - at) * scale;
        const float high = static_cast<float>((isSigned ? 127 : 255) - at) * scale;
        return low >= cut->first - scale / 2 && high <= cut->second + scale / 2;
    }

    /// Unknown where it is not held.
    tensor::DType typeOf(const Entry &zeroPoint) const
    {
        const auto held = m_constants.find(zeroPoint.node);
        return held == m_constants.end() ? tensor::DType::Unknown : held->second.dtype();
    }

    /// ONNX Runtime's CPU has kernels for data and results of one type, and weights of that or int8.
    bool haveOneType(const std::vector<Entry> &inputs) const
    {
        constexpr std::size_t kData = 2; // zero points, as CodedPairs::makeOperator() has them
        constexpr std::size_t kWeight = 5;
        constexpr std::size_t kResult = 7;
        const tensor::DType data = typeOf(inputs[kData]);
        const tensor::DType weight = typeOf(inputs[kWeight]);
        return data == typeOf(inputs[kResult]) && (weight == data || weight == tensor::DType::I8);
    }

    void takeProduct(NodeId id)
    {
        const auto inputs = m_graph.inputs(id);
        const bool hasBias = inputs.size() > 2;
        if (!std::ranges::all_of(inputs, [this](const Entry &entry) { return isDecode(entry); }))
            return;
        std::vector<NodeId> of{id};
        while (m_readers[of.back()].size() == 1 && m_readers[of.back()].front() != kNoNode
               && m_forms.isFused(m_graph.node(m_readers[of.back()].front())))
            of.push_back(m_readers[of.back()].front());
        if (m_readers[of.back()].size() != 1 || m_readers[of.back()].front() == kNoNode)
            return;
        const NodeId code = m_readers[of.back()].front();
        const bool mayBe = isCode(code) && std::ranges::all_of(std::span(of).subspan(1), [&](NodeId within) {
                               return cutsNothing(within, code);
                           });
        Made made;
        made.def = mayBe ? m_forms.makeOperator(
                       m_graph.node(id), dialect::of(m_graph).entryName(m_graph, {code, 0, 0}), hasBias)
                         : nullptr;
        if (!made.def)
            return;
        for (const Entry &factor : inputs.first(2)) {
            const auto decoded = m_graph.inputs(factor.node);
            if (decoded.size() != 3)
                return;
            made.inputs.insert(made.inputs.end(), decoded.begin(), decoded.end());
        }
        made.inputs.push_back(m_graph.inputs(code)[1]);
        made.inputs.push_back(m_graph.inputs(code)[2]);
        if (!haveOneType(made.inputs))
            return;
        if (hasBias)
            made.inputs.push_back(m_graph.inputs(inputs[2].node)[0]);
        made.of = std::move(of);
        m_made[code] = std::move(made);
    }

    std::span<const Entry> inputsOf(NodeId id) const
    {
        return m_made[id].def ? std::span<const Entry>(m_made[id].inputs) : m_graph.inputs(id);
    }

    /// What is read, and what was not read before: inputs that nobody uses stay.
    std::vector<bool> kept() const
    {
        std::vector<bool> isKept(m_graph.nodeCount());
        for (NodeId id = static_cast<NodeId>(m_graph.nodeCount()); id-- > 0;) {
            isKept[id] = isKept[id] || m_readers[id].empty()
                || std::ranges::find(m_readers[id], kNoNode) != m_readers[id].end();
            if (isKept[id])
                for (const Entry &entry : inputsOf(id))
                    isKept[entry.node] = true;
        }
        return isKept;
    }

    void write()
    {
        const std::vector<bool> isKept = kept();
        Graph graph = Graph::like(m_graph);
        std::vector<NodeId> copies(m_graph.nodeCount(), kNoNode);
        std::vector<QuantizedOrigin> origins;
        std::unordered_set<std::string_view> variables;
        const auto copyOf = [&copies](Entry entry) { return Entry{copies[entry.node], entry.output, 0}; };
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (!isKept[id])
                continue;
            std::vector<Entry> inputs;
            for (const Entry &entry : inputsOf(id))
                inputs.push_back(copyOf(entry));
            const Made &made = m_made[id];
            copies[id] = graph.add(made.def ? made.def : m_graph.sharedNode(id), inputs);
            origins.push_back(m_quantized.origins[made.def ? made.of.front() : id]);
            if (m_graph.isVariable(id))
                variables.insert(m_graph.node(id).name);
        }
        std::vector<Entry> heads;
        for (const Entry &head : m_graph.heads())
            heads.push_back(copyOf(head));
        graph.setHeads(std::move(heads));
        std::erase_if(m_quantized.model.parameters, [&](const tensor::Array &array) {
            return !variables.contains(dialect::variableOf(m_graph, array.name));
        });
        m_quantized.origins = std::move(origins);
        m_quantized.model.graph = std::move(graph);
    }

    QuantizedModel &m_quantized;
    const Graph m_graph; ///< as it was
    const dialect::CodedPairs &m_forms;
    const Constants m_constants;
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId; kNoNode: a head
    std::vector<Made> m_made; ///< likewise, for nodes that make codes
};

} // namespace

void toOperators(QuantizedModel &quantized, const dialect::CodedPairs &forms)
{
    OperatorMaker(quantized, forms).run();
}

} // namespace halftone::quantize
