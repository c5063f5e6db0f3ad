#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/infer/shown_outputs.h"
#include "core/layout/shown_graph.h"
#include "core/mixed/node_arithmetic.h"
#include "core/rewrite/nested_conversions.h"
#include "widgets/common/formatters.h"
#include "widgets/inspector/detail_parts.h"
#include "widgets/models/asked_types.h"

#include <QStringList>

#include <algorithm>
#include <map>

namespace halftone::widgets {
namespace {

using policy::Rule;

QString typeName(tensor::DType type)
{
    return type == tensor::DType::Unknown ? QStringLiteral("unknown")
                                          : plain(std::string(tensor::nameOf(type)));
}

/// Collects what is to be told of one node.
class NodeDetails
{
public:
    NodeDetails(const session::Snapshot &snapshot, const session::Figures &figures, graph::NodeId node)
        : m_snapshot(snapshot)
        , m_figures(figures)
        , m_sourceTypes(*snapshot.sourceTypes)
        , m_graph(snapshot.graph())
        , m_node(node)
        , m_def(m_graph.node(node))
        , m_info(m_def.isVariable() ? nullptr : dialect::of(m_graph).findOp(m_def.op))
    {
    }

    Details make();

private:
    QString bodiesText() const;
    const rewrite::Conversion *conversion() const
    {
        return m_snapshot.converted ? &m_snapshot.converted->conversion : nullptr;
    }
    QString subtitle() const;
    DetailSection precision() const;
    void addReason(DetailSection &section, tensor::DType now) const;
    void addArithmetic(DetailSection &section) const;
    DetailSection inputs() const;
    void addInput(std::size_t input, DetailSection &section) const;
    void addParameter(graph::NodeId variable, DetailSection &section) const;
    void addCast(std::size_t input, DetailSection &section) const;
    DetailSection outputs() const;
    DetailSection readers() const;
    DetailSection attributes() const;
    DetailSection range() const;
    DetailSection notes() const;
    QString inputName(std::size_t input) const;
    tensor::DType convertedInputType(std::size_t input) const;
    const tensor::Shape &shapeOf(const graph::Entry &entry) const;
    void add(Details &details, DetailSection section) const
    {
        if (!section.rows.empty())
            details.sections.push_back(std::move(section));
    }

    const session::Snapshot &m_snapshot;
    const session::Figures &m_figures;
    const infer::TypeMap &m_sourceTypes;
    const graph::Graph &m_graph;
    graph::NodeId m_node;
    const graph::NodeDef &m_def;
    const dialect::OpInfo *m_info;
};

const tensor::Shape &NodeDetails::shapeOf(const graph::Entry &entry) const
{
    static const tensor::Shape kUnknown;
    if (!m_snapshot.shapes || entry.node >= m_snapshot.shapes->byNode.size()
        || entry.output >= m_snapshot.shapes->byNode[entry.node].size())
        return kUnknown;
    return m_snapshot.shapes->of(entry);
}

QString NodeDetails::inputName(std::size_t input) const
{
    if (!m_info)
        return QStringLiteral("input %1").arg(input);
    return plain(m_info->inputName(m_def.attributes, input));
}

tensor::DType NodeDetails::convertedInputType(std::size_t input) const
{
    if (!conversion() || conversion()->fromSource[m_node] == rewrite::kNoNode)
        return tensor::DType::Unknown;
    const auto entries = conversion()->graph.inputs(conversion()->fromSource[m_node]);
    return input < entries.size() ? m_snapshot.asAsked(conversion()->types.of(entries[input]))
                                  : tensor::DType::Unknown;
}

/// "Convolution 3×3, 16→32", "FullyConnected 64→10", else the operator's name.
QString NodeDetails::subtitle() const
{
    if (m_def.isVariable())
        return QStringLiteral("variable");
    QString text = plain(m_def.op);
    const auto entries = m_graph.inputs(m_node);
    const auto op = dialect::of(m_graph).read(m_def);
    const bool isLayer = op.ok() && (op.value().is<ops::Conv>() || op.value().is<ops::FullyConnected>());
    if (!isLayer || entries.size() < 2)
        return text;
    const tensor::Shape &weight = shapeOf(entries[1]);
    if (!weight.isComplete() || weight.rank() < 2)
        return text;
    QStringList kernel;
    for (std::size_t k = 2; k < weight.rank(); ++k)
        kernel << QString::number(weight[k]);
    if (!kernel.isEmpty())
        text += QLatin1Char(' ') + kernel.join(QChar(0xd7));
    return text + QStringLiteral(", %1 \u2192 %2").arg(weight[1]).arg(weight[0]);
}

DetailSection NodeDetails::precision() const
{
    DetailSection section;
    const tensor::DType now = m_snapshot.precisionOf(m_node);
    section.rows.push_back({QStringLiteral("computes in"), typeName(now), {}, false, false, now});
    if (!m_snapshot.converted)
        return section;
    const policy::Assignment &assignment = m_snapshot.converted->assignment;
    const Rule rule = assignment.rule(m_node);
    const bool isInt8 = conversion()->isInt8(m_node);
    // What follows an int8 operator goes with it whatever its own list says.
    const bool follows = isInt8 && policy::requestOf(rule) != policy::Request::Int8;
    section.rows.push_back(
        {QStringLiteral("because"),
         follows ? QStringLiteral("it follows the int8 operators next to it") : reasonText(rule),
         {},
         false,
         false,
         {}});
    if (isInt8 && conversion()->int8Group[m_node] != m_node)
        section.rows.push_back({QStringLiteral("fused into"),
                                plain(m_graph.node(conversion()->int8Group[m_node]).name),
                                {},
                                false,
                                false,
                                {}});
    if (!assignment.entry(m_node).empty())
        section.rows.push_back(
            {QStringLiteral("entry"), plain(assignment.entry(m_node)), {}, false, false, {}});
    addReason(section, now);
    const AskedAndGot types = askedAndGot(m_snapshot, m_node);
    QString text = requestText(rule, m_snapshot.target());
    if (types.differ())
        text += QStringLiteral(", but got %1").arg(typeName(types.got));
    section.rows.push_back({QStringLiteral("requested"), text, {}, types.differ(), false, {}});
    if (types.differ())
        section.rows.push_back({QStringLiteral("why not"),
                                whyDifferent(m_snapshot, m_sourceTypes, m_node),
                                {},
                                true,
                                false,
                                {}});
    addArithmetic(section);
    return section;
}

/// What a search said of the type that the node has; edits since then may have given it another one.
void NodeDetails::addReason(DetailSection &section, tensor::DType now) const
{
    const auto &reasons = m_snapshot.policy->reasons;
    const auto found = reasons.find(m_def.name);
    if (found != reasons.end() && found->second.starts_with(std::string(tensor::nameOf(now)) + ':'))
        section.rows.push_back({QStringLiteral("Tune found"), plain(found->second), {}, false, false, {}});
}

/// What sums are kept in, and what readers get, where that is not what the node computes in.
void NodeDetails::addArithmetic(DetailSection &section) const
{
    const mixed::NodeArithmetic how = mixed::arithmeticOf(m_graph, *m_snapshot.converted, m_node);
    if (how.unit && how.accumulate != tensor::DType::Unknown)
        section.rows.push_back(
            {QStringLiteral("accumulates in"), typeName(how.accumulate), {}, false, false, {}});
    if (how.output != tensor::DType::Unknown)
        section.rows.push_back(
            {QStringLiteral("gives"), typeName(m_snapshot.asAsked(how.output)), {}, false, false, {}});
}

void NodeDetails::addParameter(graph::NodeId variable, DetailSection &section) const
{
    const std::string &name = m_graph.node(variable).name;
    for (const tensor::Array &array : m_snapshot.source->model.parameters) {
        if (dialect::variableOf(m_graph, array.name) != name)
            continue;
        const tensor::DType from = array.values.dtype();
        tensor::DType to = from;
        if (conversion()) {
            for (const rewrite::StoredParameter &stored : conversion()->parameters)
                to = stored.variable == variable ? m_snapshot.asAsked(stored.to) : to;
        }
        const auto bytesOf = [&](tensor::DType type) {
            return bytesText(array.values.elementCount() * tensor::sizeOf(type));
        };
        QString text = QStringLiteral("stored as %1, %2").arg(typeName(from), bytesOf(from));
        if (to != from)
            text += QStringLiteral(" \u2192 %1, %2").arg(typeName(to), bytesOf(to));
        section.rows.push_back({QString(), text, {}, false, false, {}});
        return;
    }
}

void NodeDetails::addCast(std::size_t input, DetailSection &section) const
{
    for (const rewrite::InsertedCast &cast : conversion()->casts) {
        const rewrite::Reader self{m_node, static_cast<std::uint32_t>(input)};
        if (std::ranges::find(cast.readers, self) == cast.readers.end())
            continue;
        QString text = cast.type == tensor::DType::Unknown
            ? QStringLiteral("cast to the widest type of its inputs")
            : QStringLiteral("cast to %1").arg(typeName(m_snapshot.asAsked(cast.type)));
        QStringList others;
        for (const rewrite::Reader &reader : cast.readers) {
            if (reader.node == m_node)
                continue;
            const QString who = reader.node == rewrite::kNoNode
                ? QStringLiteral("output %1").arg(reader.input)
                : plain(m_graph.node(reader.node).name);
            if (!others.contains(who))
                others << who;
        }
        if (others.size() > 4)
            text += QStringLiteral(", shared with %1 others").arg(others.size());
        else if (!others.isEmpty())
            text += QStringLiteral(", shared with %1").arg(others.join(QStringLiteral(", ")));
        section.rows.push_back({QString(), QStringLiteral("\u25c7 ") + text, {}, false, false, {}});
    }
}

void NodeDetails::addInput(std::size_t input, DetailSection &section) const
{
    const graph::Entry entry = m_graph.inputs(m_node)[input];
    const tensor::DType now = convertedInputType(input);
    QString text = shortType(now == tensor::DType::Unknown ? m_sourceTypes.of(entry) : now) + QLatin1Char(' ')
        + shapeText(shapeOf(entry));
    section.rows.push_back({inputName(input), text, {}, false, false, {}});
    section.rows.push_back({QString(), plain(m_graph.node(entry.node).name), entry.node, false, false, {}});
    if (const std::string held = layout::heldText(m_snapshot.source->model, entry.node); !held.empty())
        section.rows.push_back({QString(), QStringLiteral("= ") + plain(held), {}, false, false, {}});
    if (m_graph.isVariable(entry.node))
        addParameter(entry.node, section);
    if (conversion())
        addCast(input, section);
}

DetailSection NodeDetails::inputs() const
{
    DetailSection section{QStringLiteral("Inputs"), {}};
    const std::size_t count = m_graph.inputs(m_node).size();
    constexpr std::size_t kMostShown = 24;
    for (std::size_t input = 0; input < std::min(count, kMostShown); ++input)
        addInput(input, section);
    if (count > kMostShown)
        section.rows.push_back(
            {QString(), QStringLiteral("and %1 more").arg(count - kMostShown), {}, false, false, {}});
    return section;
}

DetailSection NodeDetails::outputs() const
{
    DetailSection section{QStringLiteral("Outputs"), {}};
    const std::size_t count = m_info ? m_info->visibleOutputCount(m_def.attributes) : std::size_t{1};
    for (std::size_t k = 0; k < std::min<std::size_t>(count, 16); ++k) {
        const graph::Entry entry{m_node, static_cast<std::uint32_t>(k), 0};
        tensor::DType type = m_sourceTypes.of(entry);
        if (conversion() && conversion()->fromSource[m_node] != rewrite::kNoNode)
            type = m_snapshot.asAsked(conversion()->types.at(conversion()->fromSource[m_node], entry.output));
        const QString name
            = m_info ? plain(m_info->outputName(m_def.attributes, k)) : QStringLiteral("output");
        section.rows.push_back(
            {name, shortType(type) + QLatin1Char(' ') + shapeText(shapeOf(entry)), {}, false, false, {}});
    }
    return section;
}

/// Who reads a variable.
DetailSection NodeDetails::readers() const
{
    DetailSection section{QStringLiteral("Read by"), {}};
    for (graph::NodeId id = 0; id < m_graph.nodeCount() && section.rows.size() < 16; ++id) {
        const auto reads = [this](const graph::Entry &entry) { return entry.node == m_node; };
        if (std::ranges::any_of(m_graph.inputs(id), reads))
            section.rows.push_back({QString(), plain(m_graph.node(id).name), id, false, false, {}});
    }
    return section;
}

DetailSection NodeDetails::attributes() const
{
    DetailSection section{QStringLiteral("Attributes"), {}};
    for (const auto &[key, value] : m_def.attributes)
        section.rows.push_back({plain(key), plain(value), {}, false, false, {}});
    return section;
}

DetailSection NodeDetails::range() const
{
    DetailSection section{QStringLiteral("Values"), {}};
    if (!m_figures.calibration)
        return section;
    for (const calibration::CalibratedTensor &one : m_figures.calibration->tensors) {
        if (one.node != m_def.name)
            continue;
        const calibration::TensorStatistics &values = one.statistics;
        section.rows.push_back(
            {QStringLiteral("range"),
             QStringLiteral("%1 \u2026 %2").arg(significant(values.min), significant(values.max)),
             {},
             false,
             false,
             {}});
        section.rows.push_back(
            {QStringLiteral("mean"),
             QStringLiteral("%1 \u00b1 %2").arg(significant(values.mean), significant(values.deviation)),
             {},
             false,
             false,
             {}});
        const tensor::DType target = m_snapshot.target();
        if (tensor::isForAnalysis(target))
            return section; // what is lost in it has not been counted
        const calibration::FormatLoss &loss = values.loss(target);
        const auto counted = [](std::uint64_t count) { return plain(grouped(count)); };
        section.rows.push_back(
            {QStringLiteral("in ") + typeName(target),
             QStringLiteral("%1 of %2 overflow, %3 become zero")
                 .arg(counted(loss.overflow), counted(values.count), counted(loss.underflow)),
             {},
             loss.overflow > 0,
             false,
             {}});
        return section;
    }
    return section;
}

DetailSection NodeDetails::notes() const
{
    DetailSection section{QStringLiteral("Notes"), {}};
    if (!conversion())
        return section;
    const auto note = [&](QString text, bool isWarning) {
        section.rows.push_back({QString(), std::move(text), {}, isWarning, false, {}});
    };
    for (const rewrite::NodeNote &one : conversion()->notes) {
        if (one.node == m_node)
            note(plain(one.text), true);
    }
    for (const rewrite::MergedNode &one : conversion()->merged) {
        if (one.node == m_node)
            note(QStringLiteral("merged into %1, which computes the same value")
                     .arg(plain(m_graph.node(one.into).name)),
                 false);
    }
    for (const rewrite::MovedCasts &one : conversion()->moved) {
        if (one.past == m_node)
            note(QStringLiteral("computes in %1 to reduce the bytes that are cast")
                     .arg(typeName(m_snapshot.asAsked(one.type))),
                 false);
    }
    for (const rewrite::TypeChoice &one : conversion()->choices) {
        if (one.node == m_node)
            note(otherChoiceText(one), false);
    }
    if (std::ranges::find(conversion()->foldedCasts, m_node) != conversion()->foldedCasts.end())
        note(QStringLiteral("existing cast, no longer needed"), false);
    if (!m_def.subgraphs.empty())
        note(QStringLiteral("holds %1 %2")
                     .arg(m_def.subgraphs.size())
                     .arg(QLatin1String(m_def.subgraphs.size() == 1 ? "body" : "bodies"))
                 + bodiesText(),
             false);
    return section;
}

/// What the operators of the node's bodies compute in, and the casts there; nothing where no body was converted.
QString NodeDetails::bodiesText() const
{
    std::map<tensor::DType, std::size_t> counts;
    std::size_t casts = 0;
    for (const rewrite::ConvertedBody &body : conversion()->bodies) {
        if (body.node != m_node)
            continue;
        casts += rewrite::castTotals(body.conversion).all();
        for (const auto &[type, operators] :
             rewrite::operatorsByPrecision(*m_def.subgraphs[body.body], body.conversion))
            for (const auto &[op, count] : operators)
                counts[m_snapshot.asAsked(type)] += count;
    }
    QStringList parts;
    for (const auto &[type, count] : counts)
        parts << QStringLiteral("%1 in %2")
                     .arg(counted(count, "operator", "operators"),
                          type == tensor::DType::Unknown ? QStringLiteral("unknown type") : typeName(type));
    if (parts.isEmpty())
        return {};
    return QStringLiteral(": ") + parts.join(QStringLiteral(", ")) + QStringLiteral("; ")
        + counted(casts, "cast", "casts");
}

Details NodeDetails::make()
{
    Details details{plain(m_def.name), subtitle(), {}};
    if (m_def.isVariable()) {
        DetailSection stored{QString(), {}};
        const graph::Entry entry{m_node, 0, 0};
        stored.rows.push_back(
            {QStringLiteral("type"),
             shortType(m_sourceTypes.of(entry)) + QLatin1Char(' ') + shapeText(shapeOf(entry)),
             {},
             false,
             false,
             {}});
        addParameter(m_node, stored);
        add(details, std::move(stored));
        add(details, readers());
    } else {
        add(details, precision());
        add(details, errorSection(m_snapshot, m_figures, m_node));
        add(details, timeSection(m_snapshot, m_figures, m_node));
    }
    add(details, range());
    add(details, notes());
    if (!m_def.isVariable()) {
        add(details, inputs());
        add(details, outputs());
    }
    add(details, attributes());
    return details;
}

} // namespace

Details describeNode(const session::Snapshot &snapshot, const session::Figures &figures, graph::NodeId node)
{
    return NodeDetails(snapshot, figures, node).make();
}

} // namespace halftone::widgets
