#include "widgets/tune/point_table.h"

#include "widgets/common/formatters.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

QString none()
{
    return QStringLiteral("\u2013");
}

QString milliseconds(double value)
{
    return QString::number(value, 'f', 3) + QObject::tr(" ms");
}

QString foundBy(const TuneState &state, const TunePlace &place)
{
    if (!place.point)
        return QObject::tr("own edits");
    const QString origin = plain(std::string(tune::nameOf(state.front()->points[*place.point].origin)));
    return place.isMeasured ? origin : QObject::tr("%1, predicted").arg(origin);
}

/// "3 of 26": groups that stay in float32.
QString wideGroups(const TuneState &state, const TunePlace &place)
{
    if (!place.point)
        return none();
    const tune::Labels &labels = state.front()->points[*place.point].labels;
    int wide = 0;
    int all = 0;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        all += state.front()->groups[k].isTunable ? 1 : 0;
        wide += state.front()->groups[k].isTunable && labels[k] == tune::Label::Float32 ? 1 : 0;
    }
    return QObject::tr("%1 of %2").arg(wide).arg(all);
}

} // namespace

PointTable::PointTable(const TuneState *state, QObject *parent)
    : QAbstractTableModel(parent)
    , m_state(state)
{
    const auto told = [this] { Q_EMIT dataChanged(index(0, 0), index(RowCount - 1, 1)); };
    connect(state, &TuneState::changed, this, told);
    connect(state, &TuneState::selectionChanged, this, told);
}

int PointTable::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(RowCount);
}

int PointTable::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : 2;
}

QVariant PointTable::data(const QModelIndex &index, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    const auto &place = index.column() == 0 ? m_state->selected() : m_state->other();
    return place && *place < m_state->places().size() ? textOf(*place, index.row()) : none();
}

QString PointTable::textOf(std::size_t place, int row) const
{
    const TunePlace &one = m_state->places()[place];
    const bool needsConversion = row == Estimate || row == Casts;
    const TuneEstimate *const estimate = needsConversion ? m_state->estimateOf(place) : nullptr;
    switch (row) {
    case Found:
        return foundBy(*m_state, one);
    case Time:
        return milliseconds(one.milliseconds)
            + (one.isDisturbed        ? tr("; machine was busy: unreliable")
                   : !one.isTimeKnown ? tr("; interval too wide: unreliable")
                                      : QString());
    case Interval:
        return one.isMeasured ? tr("%1 to %2").arg(milliseconds(one.ci95[0]), milliseconds(one.ci95[1]))
                              : none();
    case Ratio:
        return one.isMeasured ? QStringLiteral("\u00d7") + QString::number(one.ratio, 'f', 3) : none();
    case Estimate:
        return !estimate              ? none()
            : m_state->hasBandwidth() ? milliseconds(estimate->cost)
                                      : QStringLiteral("\u00d7") + QString::number(estimate->cost, 'f', 3);
    case Sqnr:
        return decibels(one.sqnrDb) + (std::isfinite(one.sqnrDb) ? tr(" dB") : QString());
    case Top1:
        return one.top1Change ? QString::asprintf("%+.2f", *one.top1Change) : none();
    case Wide:
        return wideGroups(*m_state, one);
    default:
        return estimate ? QString::number(estimate->casts) : none();
    }
}

QVariant PointTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Horizontal)
        return section == 0 ? tr("Selected") : tr("Compared");
    const QString rows[]
        = {tr("found by"), tr("median time"),   tr("95 % between"), tr("of float32's"), tr("estimated"),
           tr("SQNR"),     tr("top-1, points"), tr("fp32 groups"),  tr("casts")};
    return rows[section];
}

} // namespace halftone::widgets
