#include "core/quantize/correct_biases.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/traverse.h"
#include "core/quantize/pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace halftone::quantize {
namespace {

using dialect::Int8Kind;
using graph::Graph;
using graph::NodeId;
using tensor::Array;

Int8Kind formOf(const Graph &graph, NodeId id)
{
    const dialect::QuantizedForms *const forms = dialect::of(graph).quantizedForms();
    return forms == nullptr || graph.isVariable(id) ? Int8Kind::None : forms->kindOf(graph.node(id).op);
}

/// A weight in the numbers that its codes stand for (core/quantize/RULES.md, Q-weights, Q-parameter, Q-pair-weights).
std::vector<double> decoded(const std::vector<float> &weight, std::size_t outputs, bool perChannel,
                            bool inPairs)
{
    const std::size_t rows = perChannel ? outputs : 1;
    const std::size_t size = weight.size() / rows;
    const float levels = perChannel && !inPairs ? 127.5F : 127.0F;
    const float lowest = perChannel && !inPairs ? -128.0F : -127.0F;
    std::vector<double> values(weight.size());
    for (std::size_t row = 0; row < rows; ++row) {
        float largest = 0;
        for (std::size_t i = row * size; i < (row + 1) * size; ++i)
            largest = std::max(largest, std::abs(weight[i]));
        const float scale = largest > 0 ? levels / largest : 0;
        for (std::size_t i = row * size; i < (row + 1) * size && scale > 0; ++i)
            values[i] = double{std::clamp(std::nearbyint(weight[i] * scale), lowest, 127.0F)} / double{scale};
    }
    return values;
}

std::vector<float> transposed(const std::vector<float> &matrix, std::size_t rows, std::size_t columns)
{
    std::vector<float> turned(matrix.size());
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            turned[column * rows + row] = matrix[row * columns + column];
    return turned;
}

/// Those of a graph whose values go through pairs: with a factor that was stored as codes.
std::vector<Int8Product> productsInPairs(const Graph &source, const Graph &quantized)
{
    const dialect::CodedPairs &forms = *dialect::codedPairsOf(dialect::of(quantized));
    std::unordered_map<std::string_view, bool> perChannel; // by name in the source
    const auto isDecoded
        = [&](const graph::Entry &entry) { return forms.isPairNode(quantized.node(entry.node)); };
    for (NodeId id = 0; id < quantized.nodeCount(); ++id) {
        const auto inputs = quantized.inputs(id);
        if (forms.productOf(quantized.node(id)) && isDecoded(inputs[0]) && isDecoded(inputs[1]))
            perChannel[quantized.node(id).name]
                = quantized.node(inputs[1].node).attributes.find("axis") != nullptr;
    }
    std::vector<Int8Product> products;
    for (const NodeId id : graph::postOrder(source)) {
        const auto found = perChannel.find(source.node(id).name);
        if (found == perChannel.end() || !source.isVariable(source.inputs(id)[1].node))
            continue;
        const bool isMatrix = !forms.productOf(source.node(id))->takesBias;
        products.push_back({id, dialect::of(source).entryName(source, source.inputs(id)[0]), found->second,
                            isMatrix, isMatrix && forms.channelAxis(source.node(id), 1, 2) == 1});
    }
    return products;
}

class Correcting
{
public:
    explicit Correcting(const graph::Model &model)
        : m_graph(model.graph)
        , m_readers(model.graph.nodeCount())
    {
        m_result.model = model;
        for (Array &array : m_result.model.parameters)
            m_stored.insert_or_assign(dialect::variableOf(model.graph, array.name), &array);
        for (const NodeId id : graph::postOrder(m_graph)) {
            for (const graph::Entry &entry : m_graph.inputs(id))
                m_readers[entry.node].push_back(id);
        }
        for (const graph::Entry &head : m_graph.heads())
            m_readers[head.node].push_back(kHead);
    }

    Result<void> correct(const Int8Product &product, const FeatureMeans &means)
    {
        const auto inputs = m_graph.inputs(product.node);
        auto weight = inputs.size() > 1 ? floatsOf(inputs[1]) : std::nullopt;
        const Array *const array = weight ? m_stored.at(m_graph.node(inputs[1].node).name) : nullptr;
        if (!array || array->shape.rank() < 2 || array->shape[0] <= 0 || array->shape[1] <= 0)
            return {};
        const auto outputs = static_cast<std::size_t>(array->shape[product.isTransposed ? 1 : 0]);
        const auto perGroup = static_cast<std::size_t>(array->shape[product.isTransposed ? 0 : 1]);
        if (product.isTransposed)
            weight = transposed(*weight, perGroup, outputs);
        const std::array<tensor::Tensor, 2> known{tensor::Tensor(), array->values};
        HALFTONE_TRY(const ops::Operator op,
                     dialect::of(m_graph).readWith(m_graph.node(product.node), known));
        const auto *const conv = op.getIf<ops::Conv>();
        const auto groups = conv ? static_cast<std::size_t>(std::max<std::int64_t>(conv->groups, 1)) : 1;
        const bool fits = means.real.size() == groups * perGroup && means.coded.size() == means.real.size()
            && outputs % groups == 0 && weight->size() % (outputs * perGroup) == 0;
        if (!fits || (conv && conv->layout != ops::Layout::ChannelsFirst))
            return {};
        const std::vector<double> coded = decoded(*weight, outputs, product.perChannel, isInPairs(m_graph));
        const std::size_t places = weight->size() / (outputs * perGroup);
        std::vector<double> shifts(outputs);
        for (std::size_t c = 0; c < outputs; ++c) {
            const std::size_t first = c / (outputs / groups) * perGroup;
            for (std::size_t i = 0; i < perGroup; ++i) {
                double before = 0;
                double after = 0;
                for (std::size_t k = 0; k < places; ++k) {
                    const std::size_t at = (c * perGroup + i) * places + k;
                    before += double{(*weight)[at]};
                    after += coded[at];
                }
                shifts[c] += after * means.coded[first + i] - before * means.real[first + i];
            }
        }
        HALFTONE_TRY(const bool isDone, takeOut(product.node, std::move(shifts)));
        if (isDone)
            ++m_result.corrected;
        else
            m_result.notes.push_back(
                m_graph.node(product.node).name
                + ": has neither a bias nor a following BatchNorm, so its mean error cannot be corrected");
        return {};
    }

    CorrectedBiases take() { return std::move(m_result); }

private:
    static constexpr NodeId kHead = std::numeric_limits<NodeId>::max();

    std::optional<std::vector<float>> floatsOf(const graph::Entry &entry) const
    {
        const auto found = m_stored.find(m_graph.node(entry.node).name);
        if (!m_graph.isVariable(entry.node) || found == m_stored.end())
            return std::nullopt;
        const Array &array = *found->second;
        if (array.storage != tensor::Storage::Dense || array.values.dtype() != tensor::DType::F32)
            return std::nullopt;
        return array.values.values<float>();
    }

    bool isReadOnce(NodeId id) const { return m_readers[id].size() == 1; }

    /// Where nothing is known to take them out of: false.
    Result<bool> takeOut(NodeId id, std::vector<double> shifts)
    {
        const auto inputs = m_graph.inputs(id);
        if (inputs.size() > 2)
            return subtract(inputs[2], shifts);
        if (!isReadOnce(id) || m_readers[id][0] == kHead)
            return false;
        const NodeId next = m_readers[id][0];
        const auto of = m_graph.inputs(next);
        if (m_graph.isVariable(next) || of.size() != 5 || of[0].node != id)
            return false;
        HALFTONE_TRY(const ops::Operator op, dialect::of(m_graph).read(m_graph.node(next)));
        const auto *const norm = op.getIf<ops::BatchNormalization>();
        const auto gamma = norm ? floatsOf(of[1]) : std::nullopt;
        const auto variance = norm ? floatsOf(of[4]) : std::nullopt;
        if (!gamma || !variance || norm->axis != 1 || gamma->size() != shifts.size()
            || variance->size() != shifts.size())
            return false;
        for (std::size_t c = 0; c < shifts.size(); ++c)
            shifts[c] *= (norm->fixGamma ? 1 : double{(*gamma)[c]})
                / std::sqrt(double{(*variance)[c]} + norm->epsilon);
        return subtract(of[2], shifts);
    }

    Result<bool> subtract(const graph::Entry &entry, const std::vector<double> &shifts)
    {
        auto values = floatsOf(entry);
        if (!values || values->size() != shifts.size() || !isReadOnce(entry.node))
            return false;
        for (std::size_t c = 0; c < shifts.size(); ++c) {
            if (std::isfinite(shifts[c]))
                (*values)[c] = static_cast<float>(double{(*values)[c]} - shifts[c]);
        }
        std::vector<std::byte> bytes(values->size() * sizeof(float));
        std::memcpy(bytes.data(), values->data(), bytes.size());
        Array &array = *m_stored.at(m_graph.node(entry.node).name);
        array.values = tensor::Tensor::owning(tensor::DType::F32, array.shape, std::move(bytes));
        return true;
    }

    const Graph &m_graph;
    CorrectedBiases m_result;
    std::unordered_map<std::string_view, Array *> m_stored; ///< of m_result
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId
};

} // namespace

std::vector<Int8Product> int8Products(const Graph &source, const Graph &quantized)
{
    if (isInPairs(quantized))
        return productsInPairs(source, quantized);
    std::unordered_map<std::string_view, bool> perChannel; // by name in the source
    const dialect::Dialect &dialect = dialect::of(quantized);
    const dialect::QuantizedForms *const forms = dialect.quantizedForms();
    for (NodeId id = 0; forms != nullptr && id < quantized.nodeCount(); ++id) {
        const graph::NodeDef &node = quantized.node(id);
        const bool isFused = dialect::roleOf(quantized, id) == dialect::NodeRole::Fused;
        if (!forms->isInt8Product(node) || (isFused && !dialect.fusedFacts(node).isQuantized))
            continue;
        if (isFused && !node.subgraphs.empty()) {
            const Graph &body = *node.subgraphs[0];
            for (NodeId inner = 0; inner < body.nodeCount(); ++inner) {
                if (dialect::isWeighted(formOf(body, inner)))
                    perChannel[body.node(inner).name] = forms->isPerChannel(node);
            }
        } else if (const auto name = forms->sourceOf(node.name)) {
            perChannel[*name] = false;
        }
    }
    std::vector<Int8Product> products;
    for (const NodeId id : graph::postOrder(source)) {
        const Int8Kind kind = formOf(source, id);
        const auto found
            = dialect::isWeighted(kind) ? perChannel.find(source.node(id).name) : perChannel.end();
        if (found != perChannel.end() && !source.inputs(id).empty())
            products.push_back({id, dialect::of(source).entryName(source, source.inputs(id)[0]),
                                found->second, kind == Int8Kind::FullyConnected});
    }
    return products;
}

Result<CorrectedBiases> correctBiases(const graph::Model &model, const std::vector<Int8Product> &products,
                                      const std::unordered_map<std::string, FeatureMeans> &means)
{
    Correcting correcting(model);
    for (const Int8Product &product : products) {
        if (const auto found = means.find(product.data); found != means.end())
            HALFTONE_CHECK(correcting.correct(product, found->second));
    }
    return correcting.take();
}

} // namespace halftone::quantize
