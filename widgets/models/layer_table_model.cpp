#include "widgets/models/layer_table_model.h"

#include "core/session/node_query.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"

#include <array>
#include <cmath>

namespace halftone::widgets {
namespace {

using tensor::ErrorFigures;

struct ColumnText
{
    const char16_t *header;
    const char16_t *title;
    const char16_t *meaning;
};

constexpr std::array<ColumnText, LayerTableModel::ColumnCount> kColumns{{
    {u"name", u"Name", u"Name of the node"},
    {u"operator", u"Operator", u"Operator of the node"},
    {u"precision", u"Precision", u"Type it computes in: in the source and after conversion"},
    {u"ran in", u"Ran in", u"Type in which the runtime ran it when times were measured"},
    {u"SQNR dB", u"SQNR",
     u"SQNR in dB at its output, with all preceding layers converted too; higher is better"},
    {u"isolated dB", u"SQNR, isolated", u"SQNR in dB with only this layer converted; higher is better"},
    {u"rel. L2", u"Relative error",
     u"|difference| / |reference| in the Euclidean norm, with all preceding layers converted too"},
    {u"isolated L2", u"Relative error, isolated",
     u"|difference| / |reference| with only this layer converted"},
    {u"max abs", u"Largest difference",
     u"Largest absolute difference, with all preceding layers converted too"},
    {u"isolated max", u"Largest difference, isolated",
     u"Largest absolute difference with only this layer converted"},
    {u"overflow", u"Overflows", u"Values that became infinite"},
    {u"NaN", u"NaN", u"Values that became NaN"},
    {u"\u00b5s fp32", u"Time in fp32", u"Median time in the source model, in microseconds"},
    {u"\u00b5s mixed", u"Time, mixed", u"Median time in the converted model, in microseconds"},
    {u"casts", u"Casts", u"Inserted casts among its inputs"},
    {u"A precision", u"Baseline: precision", u"Type it computed in when the baseline was pinned"},
    {u"A SQNR dB", u"Baseline: SQNR", u"SQNR in the baseline"},
    {u"\u0394 SQNR dB", u"Change of SQNR", u"Current minus baseline; above zero is better"},
    {u"A \u00b5s", u"Baseline: time", u"Median time in the baseline, in microseconds"},
    {u"\u0394 \u00b5s", u"Change of time", u"Current minus baseline; below zero is faster"},
    {u"\u0394 casts", u"Change of casts", u"Current minus baseline"},
    {u"backend dB", u"SQNR between backends",
     u"SQNR in dB of the second backend against the first, with the unconverted model; higher is "
     u"better"},
    {u"backend L2", u"Relative error between backends",
     u"|difference| / |reference| between two backends, with the unconverted model"},
    {u"backend max", u"Largest difference between backends",
     u"Largest absolute difference between two backends, with the unconverted model"},
}};

QString fromUtf16(const char16_t *text)
{
    return QString::fromUtf16(text);
}

bool isLatency(int column)
{
    using Model = LayerTableModel;
    return column == Model::Fp32Us || column == Model::MixedUs || column == Model::UsChange
        || column == Model::RanIn;
}

bool isIsolated(int column)
{
    using Model = LayerTableModel;
    return column == Model::IsolatedSqnr || column == Model::IsolatedRelativeL2
        || column == Model::IsolatedMaxAbs;
}

bool isError(int column)
{
    using Model = LayerTableModel;
    return (column >= Model::Sqnr && column <= Model::Nan) || column == Model::SqnrChange;
}

QVariant sqnr(const std::optional<ErrorFigures> &figures)
{
    return figures ? QVariant(figures->sqnrDb) : QVariant();
}

QVariant relative(const std::optional<ErrorFigures> &figures)
{
    return figures && figures->relativeL2 ? QVariant(*figures->relativeL2) : QVariant();
}

QVariant maxAbs(const std::optional<ErrorFigures> &figures)
{
    return figures ? QVariant(figures->maxAbs) : QVariant();
}

QVariant time(const std::optional<session::NodeLatency> &latency)
{
    return latency ? QVariant(latency->microseconds) : QVariant();
}

/// "+1.3", "−0.2": a difference always has its sign.
QString signedText(double value, const QString &size)
{
    if (value == 0 || std::isnan(value))
        return size;
    return (value > 0 ? QLatin1Char('+') : QChar(0x2212)) + size;
}

} // namespace

QString LayerTableModel::columnTitle(int column)
{
    return fromUtf16(kColumns[static_cast<std::size_t>(column)].title);
}

bool LayerTableModel::isNumber(int column)
{
    return column > RanIn && column != BaselinePrecision;
}

void LayerTableModel::setSnapshot(std::shared_ptr<const session::Snapshot> snapshot)
{
    ++m_version;
    if (snapshot && m_snapshot && snapshot->source == m_snapshot->source) {
        m_snapshot = std::move(snapshot);
        m_casts = session::castsByReader(*m_snapshot);
        changed(Precision, ColumnCount - 1);
        return;
    }
    beginResetModel();
    m_snapshot = std::move(snapshot);
    m_figures = {};
    m_baseline.reset();
    m_nodes.clear();
    m_rows.clear();
    m_isConstant.clear();
    m_constants = 0;
    m_casts.clear();
    if (m_snapshot) {
        const graph::Graph &graph = m_snapshot->graph();
        m_rows.assign(graph.nodeCount(), -1);
        m_isConstant.assign(graph.nodeCount(), 0);
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.isVariable(id))
                continue;
            m_rows[id] = static_cast<int>(m_nodes.size());
            m_nodes.push_back(id);
            m_isConstant[id] = isConstantNode(graph, id) ? 1 : 0;
            m_constants += m_isConstant[id];
        }
        m_casts = session::castsByReader(*m_snapshot);
    }
    endResetModel();
}

void LayerTableModel::setFigures(const session::Figures &figures)
{
    const bool isOtherPair = m_figures.backends != figures.backends;
    m_figures = figures;
    ++m_version;
    changed(RanIn, ColumnCount - 1);
    if (isOtherPair)
        Q_EMIT headerDataChanged(Qt::Horizontal, BackendSqnr, BackendMaxAbs);
}

void LayerTableModel::pinBaseline()
{
    if (!m_snapshot)
        return;
    m_baseline = Baseline{m_snapshot, m_figures.nodes, m_casts};
    changed(BaselinePrecision, ColumnCount - 1);
}

void LayerTableModel::clearBaseline()
{
    m_baseline.reset();
    changed(BaselinePrecision, ColumnCount - 1);
}

void LayerTableModel::changed(int first, int last)
{
    if (!m_nodes.empty())
        Q_EMIT dataChanged(index(0, first), index(rowCount() - 1, last));
}

int LayerTableModel::rowOf(graph::NodeId node) const
{
    return node < m_rows.size() ? m_rows[node] : -1;
}

int LayerTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_nodes.size());
}

int LayerTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

LayerTableModel::State LayerTableModel::now(graph::NodeId node) const
{
    return {m_snapshot->precisionOf(node), node < m_figures.nodes.size() ? &m_figures.nodes[node] : nullptr,
            m_casts[node]};
}

LayerTableModel::State LayerTableModel::then(graph::NodeId node) const
{
    return {m_baseline->snapshot->precisionOf(node),
            node < m_baseline->figures.size() ? &m_baseline->figures[node] : nullptr,
            m_baseline->casts[node]};
}

QVariant LayerTableModel::number(graph::NodeId node, int column) const
{
    const State state = now(node);
    static const session::NodeFigures kNone;
    const session::NodeFigures &figures = state.figures ? *state.figures : kNone;
    const auto &cumulative = figures.cumulative;
    switch (column) {
    case Sqnr:
        return sqnr(cumulative);
    case IsolatedSqnr:
        return sqnr(figures.isolated);
    case RelativeL2:
        return relative(cumulative);
    case IsolatedRelativeL2:
        return relative(figures.isolated);
    case MaxAbs:
        return maxAbs(cumulative);
    case IsolatedMaxAbs:
        return maxAbs(figures.isolated);
    case Overflow:
        return cumulative ? QVariant(static_cast<double>(cumulative->overflow)) : QVariant();
    case Nan:
        return cumulative ? QVariant(static_cast<double>(cumulative->nan)) : QVariant();
    case Fp32Us:
        return time(figures.fp32);
    case MixedUs:
        return time(figures.mixed);
    case Casts:
        return m_snapshot->converted ? QVariant(static_cast<double>(state.casts)) : QVariant();
    case BackendSqnr:
        return sqnr(figures.betweenBackends);
    case BackendRelativeL2:
        return relative(figures.betweenBackends);
    case BackendMaxAbs:
        return maxAbs(figures.betweenBackends);
    default:
        break;
    }
    if (!m_baseline)
        return {};
    const State before = then(node);
    const session::NodeFigures &old = before.figures ? *before.figures : kNone;
    const auto difference = [](const QVariant &a, const QVariant &b) {
        // Both without error: no change, though their difference has no value.
        if (a.isValid() && b.isValid() && a.toDouble() == b.toDouble())
            return QVariant(0.0);
        return a.isValid() && b.isValid() ? QVariant(a.toDouble() - b.toDouble()) : QVariant();
    };
    switch (column) {
    case BaselineSqnr:
        return sqnr(old.cumulative);
    case SqnrChange:
        return difference(sqnr(cumulative), sqnr(old.cumulative));
    case BaselineUs:
        return time(old.mixed);
    case UsChange:
        return difference(time(figures.mixed), time(old.mixed));
    case CastsChange:
        return static_cast<double>(state.casts) - static_cast<double>(before.casts);
    default:
        return {};
    }
}

QString LayerTableModel::ranIn(graph::NodeId node) const
{
    const session::NodeFigures *const figures = now(node).figures;
    const auto *const time = figures == nullptr ? nullptr
        : figures->mixed                        ? &*figures->mixed
        : figures->fp32                         ? &*figures->fp32
                                                : nullptr;
    if (time == nullptr || time->ranIn == tensor::DType::Unknown)
        return {};
    const QString type = shortType(time->ranIn);
    return time->asked == tensor::DType::Unknown ? type : shortType(time->asked) + QChar(0x2192) + type;
}

QString LayerTableModel::text(graph::NodeId node, int column) const
{
    const graph::NodeDef &def = m_snapshot->graph().node(node);
    switch (column) {
    case Name:
        return plain(def.name);
    case Operator:
        return plain(def.op);
    case Precision: {
        QString from = shortType(m_snapshot->sourceTypes->at(node, 0));
        if (!m_snapshot->converted)
            return from;
        const QString to = shortType(m_snapshot->precisionOf(node));
        return from == to ? to : from + QStringLiteral(" \u2192 ") + to;
    }
    case RanIn:
        return ranIn(node);
    case BaselinePrecision:
        return m_baseline ? shortType(m_baseline->snapshot->precisionOf(node)) : QString();
    default:
        break;
    }
    const QVariant value = number(node, column);
    if (!value.isValid())
        return {};
    const double size = value.toDouble();
    switch (column) {
    case Sqnr:
    case IsolatedSqnr:
    case BaselineSqnr:
    case BackendSqnr:
        return decibels(size);
    case SqnrChange:
        return signedText(size, decibels(std::abs(size)));
    case Fp32Us:
    case MixedUs:
    case BaselineUs:
        return microseconds(size);
    case UsChange:
        return signedText(size, microseconds(std::abs(size)));
    case Overflow:
    case Nan:
    case Casts:
        return QString::number(size, 'f', 0);
    case CastsChange:
        return signedText(size, QString::number(std::abs(size), 'f', 0));
    default:
        return significant(size);
    }
}

bool LayerTableModel::isStale(int column) const
{
    if (isIsolated(column))
        return m_figures.isolatedRevision != m_snapshot->revision;
    if (isError(column))
        return m_figures.comparisonRevision != m_snapshot->revision;
    return isLatency(column) && m_figures.latencyRevision != m_snapshot->revision;
}

bool LayerTableModel::isWarning(graph::NodeId node, int column) const
{
    if (column != Overflow && column != Nan)
        return false;
    return number(node, column).toDouble() > 0;
}

/// Of two backends with their names.
QString LayerTableModel::meaningOf(int column) const
{
    QString meaning = fromUtf16(kColumns[static_cast<std::size_t>(column)].meaning);
    if (isBackendColumn(column) && hasBackends())
        meaning += tr(": %1 against %2")
                       .arg(plain(m_figures.backends->backend), plain(m_figures.backends->other));
    return meaning;
}

QString LayerTableModel::toolTip(graph::NodeId node, int column) const
{
    const QString meaning = meaningOf(column);
    if (column <= Operator)
        return text(node, column);
    const session::NodeFigures *const figures = now(node).figures;
    const auto &latency = column == Fp32Us ? (figures ? figures->fp32 : std::nullopt)
                                           : (figures ? figures->mixed : std::nullopt);
    QString tip = meaning;
    if (isLatency(column) && latency && latency->fusedWith > 0)
        tip += QStringLiteral("\nFused: the time covers %1 nodes").arg(latency->fusedWith + 1);
    if (isStale(column) && number(node, column).isValid())
        tip += QStringLiteral("\nFrom before the last edit");
    return tip;
}

QVariant LayerTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_snapshot)
        return {};
    const graph::NodeId node = nodeAt(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(node, column);
    case Qt::ToolTipRole:
        return toolTip(node, column);
    case Qt::TextAlignmentRole:
        return QVariant((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return isNumber(column) ? number(node, column) : QVariant(text(node, column));
    case NodeRole:
        return node;
    case PrecisionRole:
        if (column == Precision)
            return static_cast<int>(m_snapshot->precisionOf(node));
        if (column == BaselinePrecision && m_baseline)
            return static_cast<int>(m_baseline->snapshot->precisionOf(node));
        return {};
    case StaleRole:
        return isStale(column);
    case WarningRole:
        return isWarning(node, column);
    default:
        return {};
    }
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText &column = kColumns[static_cast<std::size_t>(section)];
    switch (role) {
    case Qt::DisplayRole: {
        QString header = fromUtf16(column.header);
        if (isBackendColumn(section) && hasBackends())
            header.replace(QStringLiteral("backend"), plain(m_figures.backends->other));
        return header;
    }
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole:
        return meaningOf(section);
    case Qt::TextAlignmentRole:
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default:
        return {};
    }
}

} // namespace halftone::widgets
