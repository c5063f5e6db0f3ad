#include "widgets/tune/group_table.h"

#include "widgets/common/formatters.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr auto kWide = static_cast<std::size_t>(tune::Label::Float32);

/// The narrowest label that a group may have.
std::size_t narrowest(const tune::GroupCosts &costs)
{
    std::size_t label = kWide;
    for (std::size_t k = 0; k < tune::kLabelCount; ++k)
        label = costs.isAllowed[k] ? k : label;
    return label;
}

double castsAt(const tune::Front &front, const tune::Labels &labels, std::size_t group)
{
    double casts = 0;
    for (const tune::Link &link : front.links) {
        const bool touches
            = link.producer == group || std::ranges::find(link.readers, group) != link.readers.end();
        const auto differs = [&](std::size_t reader) { return labels[reader] != labels[link.producer]; };
        casts += touches && std::ranges::any_of(link.readers, differs) ? 1 : 0;
    }
    return casts;
}

} // namespace

GroupTable::GroupTable(TuneState *state, QObject *parent)
    : QAbstractTableModel(parent)
    , m_state(state)
{
    connect(state, &TuneState::changed, this, &GroupTable::refresh);
    connect(state, &TuneState::selectionChanged, this, &GroupTable::told);
    refresh();
}

/// Rows stay as long as groups do, so that a selection does.
void GroupTable::refresh()
{
    std::vector<std::size_t> groups;
    const tune::Front *const front = m_state->front();
    for (std::size_t k = 0; front && k < front->groups.size(); ++k) {
        if (front->groups[k].isTunable)
            groups.push_back(k);
    }
    if (groups == m_groups)
        return told();
    beginResetModel();
    m_groups = std::move(groups);
    endResetModel();
}

void GroupTable::told()
{
    if (!m_groups.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int GroupTable::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_groups.size());
}

int GroupTable::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(ColumnCount);
}

const tune::Labels *GroupTable::labelsOf(const std::optional<std::size_t> &place) const
{
    const auto &places = m_state->places();
    if (!place || *place >= places.size() || !places[*place].point)
        return nullptr;
    return &m_state->front()->points[*places[*place].point].labels;
}

bool GroupTable::differs(int row) const
{
    const tune::Labels *const here = labelsOf(m_state->selected());
    const tune::Labels *const other = labelsOf(m_state->other());
    return here && other && (*here)[groupAt(row)] != (*other)[groupAt(row)];
}

QString GroupTable::labelText(const tune::Labels *labels, std::size_t group) const
{
    if (!labels)
        return QStringLiteral("\u2013");
    const tune::Label label = (*labels)[group];
    const std::string_view name = label == tune::Label::Target && m_state->base()
        ? tensor::nameOf(m_state->base()->target)
        : tune::nameOf(label);
    return plain(std::string(name));
}

std::optional<double> GroupTable::figure(std::size_t group, int column) const
{
    const tune::Group &one = m_state->front()->groups[group];
    const std::size_t narrow = narrowest(one.costs);
    if (column == Gain)
        return (one.costs.microseconds[kWide] - one.costs.microseconds[narrow]) / 1e3;
    if (column == Loss && one.isErrorKnown)
        return tune::decibelsOf(one.costs.error[narrow]);
    const tune::Labels *const labels = labelsOf(m_state->selected());
    if (column == Casts && labels)
        return castsAt(*m_state->front(), *labels, group);
    return std::nullopt;
}

/// The name as it is, which a narrow column shortens, then why the group is as it is at the selected point.
QString GroupTable::toolTip(std::size_t group) const
{
    const tune::Front &front = *m_state->front();
    const QString name = plain(front.groups[group].name);
    const tune::Labels *const here = labelsOf(m_state->selected());
    return here ? name + QLatin1Char('\n')
            + plain(tune::reasonOf(front, *here, group, tensor::nameOf(m_state->base()->target)))
                : name;
}

QVariant GroupTable::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || !m_state->front())
        return {};
    const std::size_t group = groupAt(index.row());
    const tune::Labels *const here = labelsOf(m_state->selected());
    const int column = index.column();
    if (role == Qt::TextAlignmentRole)
        return QVariant((column >= Gain ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return toolTip(group);
    if (role != Qt::DisplayRole && role != kSortRole)
        return {};
    if (column == Name)
        return plain(m_state->front()->groups[group].name);
    if (column == Here)
        return labelText(here, group);
    if (column == Other)
        return labelText(labelsOf(m_state->other()), group);
    const std::optional<double> value = figure(group, column);
    if (role == kSortRole)
        return value ? QVariant(*value) : QVariant();
    if (!value)
        return QStringLiteral("\u2013");
    return column == Gain ? QString::number(*value, 'f', 3)
        : column == Loss  ? decibels(*value)
                          : QString::number(*value);
}

QVariant GroupTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section >= Gain ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const QString titles[]
        = {tr("Group"), tr("Selected"), tr("Compared"), tr("Saves (ms)"), tr("Isolated (dB)"), tr("Casts")};
    const QString tips[] = {tr("Nodes that are fused, named after the one that does most of the work"),
                            tr("Type at the selected point"),
                            tr("Type at the previously selected point"),
                            tr("Time saved by lowering this group, without conversions"),
                            tr("SQNR at the outputs when only this group is lowered"),
                            tr("Casts between this group and groups of another type")};
    if (role == Qt::DisplayRole)
        return titles[section];
    return role == Qt::ToolTipRole ? QVariant(tips[section]) : QVariant();
}

} // namespace halftone::widgets
