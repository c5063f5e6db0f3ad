#include "core/layout/shown_graph.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/layout/coded_products.h"
#include "core/layout/drawn_nodes.h"
#include "core/layout/far_reads.h"
#include "core/layout/name_parts.h"
#include "core/layout/shape_chains.h"
#include "core/tensor/convert.h"
#include "core/tensor/short_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

namespace halftone::layout {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

constexpr std::size_t kFewElements = 64; ///< a constant of more that several read has a box
constexpr std::size_t kToldElements = 6; ///< of a list of integers

/// Operators that give a constant another form.
constexpr std::array<std::string_view, 7> kForms{"Cast",    "Flatten",   "Identity", "Reshape",
                                                 "Squeeze", "Transpose", "Unsqueeze"};

std::string shortNumber(double value)
{
    std::array<char, 32> text{};
    const auto end
        = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
    return std::string(text.data(), end.ptr);
}

/// A number, or a few integers; empty for more.
std::string valueText(const Tensor &values)
{
    const std::size_t count = values.dtype() == tensor::DType::Unknown ? 0 : values.elementCount();
    if (count == 0 || count > kToldElements || (count > 1 && tensor::isFloat(values.dtype())))
        return {};
    const auto wide = tensor::castTo(values, tensor::DType::F64);
    if (!wide.ok())
        return {};
    std::string text;
    for (const double value : wide.value().values<double>()) {
        const bool isWhole = !tensor::isFloat(values.dtype()) && value > -1e15 && value < 1e15;
        text += (text.empty() ? "" : ", ")
            + (isWhole ? std::to_string(static_cast<std::int64_t>(value)) : shortNumber(value));
    }
    return values.shape().rank() > 0 && count > 1 ? '[' + text + ']' : text;
}

class Showing
{
public:
    explicit Showing(const graph::Model &model)
        : m_graph(model.graph)
        , m_pairs(m_graph.dialect() != nullptr ? dialect::codedPairsOf(*m_graph.dialect()) : nullptr)
        , m_drawn(drawnNodes(model))
        , m_isConstant(m_graph.nodeCount(), 0)
        , m_isHead(m_graph.nodeCount(), 0)
        , m_readers(m_graph.nodeCount(), 0)
    {
        m_stored = dialect::storedArrays(model);
        for (const Entry &head : m_graph.heads())
            m_isHead[head.node] = 1;
        std::vector<NodeId> last(m_graph.nodeCount(), 0);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (const Entry &input : m_graph.inputs(id)) {
                if (m_readers[input.node] == 0 || last[input.node] != id)
                    ++m_readers[input.node];
                last[input.node] = id;
            }
    }

    ShownGraph show()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            takeConstant(id);
        if (m_pairs != nullptr) {
            takePairs();
            takeCodersAtRunTime();
        }
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (m_drawn[id] != 0)
                tellConstants(id);
        return {std::move(m_drawn), std::move(m_asides)};
    }

private:
    /// What a node holds; nothing for one that computes.
    std::optional<Tensor> heldBy(NodeId id) const
    {
        const graph::NodeDef &node = m_graph.node(id);
        if (m_graph.isVariable(id)) {
            const auto stored = m_stored.find(node.name);
            return stored == m_stored.end() ? std::nullopt : std::optional(stored->second->values);
        }
        if (!m_graph.inputs(id).empty())
            return std::nullopt;
        auto held = dialect::of(m_graph).constantOf(node);
        return held.ok() ? std::move(held).value() : std::nullopt;
    }

    void takeConstant(NodeId id)
    {
        if (m_readers[id] == 0 || m_isHead[id] != 0)
            return;
        const auto inputs = m_graph.inputs(id);
        if (!inputs.empty()) {
            const graph::NodeDef &node = m_graph.node(id);
            const bool isForm = std::ranges::find(kForms, node.op) != kForms.end()
                || (m_pairs != nullptr && m_pairs->isLikePairNode(node));
            if (!isForm || m_readers[id] != 1 || !m_graph.controlDependencies(id).empty()
                || !std::ranges::all_of(inputs, [&](const Entry &input) { return isHidden(input.node); }))
                return;
        } else if (const auto held = heldBy(id);
                   !held || (m_readers[id] != 1 && held->elementCount() > kFewElements)) {
            return;
        }
        m_isConstant[id] = 1;
        m_drawn[id] = 0;
    }

    bool isHidden(NodeId id) const { return m_isConstant[id] != 0; }

    /// With constant scales and zero points.
    bool isFixedPairNode(NodeId id) const
    {
        const auto inputs = m_graph.inputs(id);
        return inputs.size() >= 2 && m_isHead[id] == 0 && m_isConstant[id] == 0 && m_readers[id] > 0
            && m_graph.controlDependencies(id).empty()
            && std::ranges::all_of(inputs.subspan(1),
                                   [&](const Entry &input) { return isHidden(input.node); });
    }

    void takePairs()
    {
        std::vector<std::vector<NodeId>> decodesOf(m_graph.nodeCount()); // of codes that nothing else reads
        std::vector<char> isRead(m_graph.nodeCount(), 0); // otherwise
        bool any = false;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const auto inputs = m_graph.inputs(id);
            const bool isDecode
                = !m_graph.isVariable(id) && m_pairs->isDecode(m_graph.node(id)) && isFixedPairNode(id);
            for (std::size_t k = 0; k < inputs.size(); ++k) {
                if (k == 0 && isDecode) {
                    decodesOf[inputs[k].node].push_back(id);
                    any = true;
                } else {
                    isRead[inputs[k].node] = 1;
                }
            }
        }
        if (!any)
            return;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (decodesOf[id].empty() || isRead[id] != 0 || m_graph.isVariable(id)
                || !m_pairs->isPairNode(m_graph.node(id)) || m_pairs->isDecode(m_graph.node(id))
                || !isFixedPairNode(id))
                continue;
            pass(id);
            for (const NodeId decode : decodesOf[id])
                pass(decode);
            m_asides.badges.emplace(id, badgeOf(id, m_graph.node(id)));
        }
    }

    /// Of what makes codes and their scale of one input (DynamicQuantizeLinear): it stands on the edges to what computes with them.
    void takeCodersAtRunTime()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (m_graph.isVariable(id) || m_graph.inputs(id).size() != 1 || m_isHead[id] != 0
                || m_readers[id] == 0 || !m_graph.controlDependencies(id).empty()
                || !m_pairs->isPairNode(m_graph.node(id)) || m_pairs->isDecode(m_graph.node(id)))
                continue;
            pass(id);
            m_asides.badges.emplace(id, "u8 · scale at run time");
        }
    }

    void pass(NodeId id)
    {
        if (m_asides.through.empty())
            for (NodeId other = 0; other < m_graph.nodeCount(); ++other)
                m_asides.through.push_back({other, 0, 0});
        m_asides.through[id] = m_graph.inputs(id)[0];
        m_drawn[id] = 0;
    }

    /// "u8 · scale 0.0235 · zero 128" of a node that makes codes or reals of these.
    std::string badgeOf(NodeId id, const graph::NodeDef &node) const
    {
        const auto inputs = m_graph.inputs(id);
        const std::optional<Tensor> scale = inputs.size() > 1 ? heldBy(inputs[1].node) : std::nullopt;
        const std::optional<Tensor> zero = inputs.size() > 2 ? heldBy(inputs[2].node) : std::nullopt;
        tensor::DType type
            = zero ? zero->dtype() : tensor::DType::U8; // ONNX, QuantizeLinear: without one, uint8
        if (m_pairs->isDecode(node))
            if (const std::optional<Tensor> codes = heldBy(inputs[0].node))
                type = codes->dtype();
        std::string text(tensor::shortNameOf(type));
        if (scale && scale->dtype() != tensor::DType::Unknown)
            text += scale->elementCount() == 1 ? " · scale " + valueText(*scale)
                                               : " · " + std::to_string(scale->elementCount()) + " scales";
        if (zero && zero->elementCount() == 1)
            text += " · zero " + valueText(*zero);
        return text;
    }

    /// "B = 0.125, axes = [0, 2]" of the constants that stand in a node's box.
    void tellConstants(NodeId id)
    {
        const auto inputs = m_graph.inputs(id);
        std::string told;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const NodeId from = inputs[k].node;
            if (!isHidden(from))
                continue;
            std::string value;
            if (m_pairs != nullptr && !m_graph.isVariable(from)
                && m_pairs->isLikePairNode(m_graph.node(from)))
                value = badgeOf(from, m_graph.node(from));
            else if (const auto held = heldBy(from))
                value = valueText(*held);
            if (value.empty())
                continue;
            told += (told.empty() ? "" : ", ") + nameOfInput(m_graph.node(id), k) + " = " + value;
        }
        if (!told.empty())
            m_asides.insets.emplace(id, std::move(told));
    }

    std::string nameOfInput(const graph::NodeDef &node, std::size_t input) const
    {
        const dialect::OpInfo *const info = dialect::of(m_graph).findOp(node.op);
        std::string name
            = info != nullptr ? info->inputName(node.attributes, node.slotOf(input)) : std::string("input");
        std::ranges::replace(name, '_', ' ');
        return name;
    }

    const graph::Graph &m_graph;
    const dialect::CodedPairs *m_pairs;
    std::vector<char> m_drawn;
    std::vector<char> m_isConstant; ///< and stands in its reader
    std::vector<char> m_isHead;
    std::vector<std::uint32_t> m_readers;
    dialect::StoredArrays m_stored; ///< by variable
    Asides m_asides;
};

/// Readers read what goes through a pair instead of its result.
graph::Graph withoutPairs(const graph::Graph &graph, const Asides &asides)
{
    graph::Graph rewired = graph::Graph::like(graph);
    std::vector<Entry> inputs;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        inputs.clear();
        for (const Entry &input : graph.inputs(id))
            inputs.push_back(asides.sourceOf(input));
        rewired.add(graph.sharedNode(id), inputs, graph.controlDependencies(id));
    }
    rewired.setHeads({graph.heads().begin(), graph.heads().end()});
    return rewired;
}

/// Is it the operator, as exporters number it: "Slice_1"?
bool isOperatorPart(std::string_view part, std::string_view op)
{
    if (!part.starts_with(op))
        return false;
    part.remove_prefix(op.size());
    return part.empty() || (part.front() == '_' && std::ranges::all_of(part.substr(1), isDigit));
}

/// The end of a node's name: its last part, and the one before where that is a number alone. Not the operator where that is a part of its
/// own ("mask" of "/model/mask/Slice_1"), since ports are to be told apart.
std::string portName(const graph::NodeDef &node, std::size_t commonPrefix)
{
    std::string_view name = node.name;
    if (name.size() > commonPrefix)
        name.remove_prefix(commonPrefix);
    const std::size_t slash = name.rfind('/');
    if (slash != std::string_view::npos && slash > 0 && isOperatorPart(name.substr(slash + 1), node.op))
        name = name.substr(0, slash);
    std::size_t last = 0;
    for (std::size_t end = endOfPart(name, 0); end != 0; end = endOfPart(name, end))
        if (!isDigit(name[end]) && name[end - 1] != '_')
            last = end;
    return std::string(name.substr(last));
}

} // namespace

std::string heldText(const graph::Model &model, NodeId id)
{
    const graph::Graph &graph = model.graph;
    if (graph.isVariable(id)) {
        const auto stored = std::ranges::find_if(model.parameters, [&](const tensor::Array &array) {
            return dialect::variableOf(graph, array.name) == graph.node(id).name;
        });
        return stored == model.parameters.end() ? std::string() : valueText(stored->values);
    }
    if (!graph.inputs(id).empty())
        return {};
    const auto held = dialect::of(graph).constantOf(graph.node(id));
    return held.ok() && held.value() ? valueText(*held.value()) : std::string();
}

ShownGraph shownGraph(const graph::Model &model, Detail detail)
{
    if (detail == Detail::Everything || model.graph.nodeCount() == 0)
        return {drawnNodes(model), {}};
    return Showing(model).show();
}

BlockTree shownTree(const graph::Model &model, Detail detail, bool isFolded)
{
    ShownGraph shown = shownGraph(model, detail);
    const bool hasPairs = !shown.asides.through.empty();
    const graph::Graph rewired = hasPairs ? withoutPairs(model.graph, shown.asides) : graph::Graph();
    const graph::Graph &graph = hasPairs ? rewired : model.graph;
    BlockTree tree;
    if (isFolded) {
        std::vector<patterns::Unit> units = patterns::findAllUnits(patterns::networkOf(model));
        if (detail == Detail::Computed) {
            ShapeArithmetic shapes = shapeArithmetic(graph, shown.drawn);
            std::ranges::move(shapes.chains, std::back_inserter(units));
            std::ranges::move(codedProducts(graph, shown.drawn), std::back_inserter(units));
            shown.asides.isFaint = std::move(shapes.nodes);
        }
        tree = foldGraph(graph, shown.drawn, units);
    } else {
        tree = flatTree(graph, shown.drawn);
    }
    if (detail == Detail::Computed)
        for (const NodeId id : farReads(graph, shown.drawn))
            shown.asides.ports.emplace(id, portName(model.graph.node(id), tree.commonPrefix));
    if (hasPairs)
        tree.boxOf = boxesOf(model.graph, shown.drawn);
    tree.asides = std::move(shown.asides);
    return tree;
}

} // namespace halftone::layout
