#include "widgets/tune/tune_panel.h"

#include "widgets/common/choice_box.h"
#include "widgets/common/number_field.h"
#include "widgets/tune/group_table.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace halftone::widgets {
namespace {

enum Metric
{
    None,
    Sqnr,
    Top1
};

} // namespace

TunePanel::TunePanel(DocumentController *controller, TuneState *state, QWidget *plot, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_state(state)
    , m_plot(plot)
{
    auto *const column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    column->setSpacing(4);
    column->addWidget(makeBar());
    auto *const splitter = new QSplitter(this);
    splitter->addWidget(m_plot);
    splitter->addWidget(makeGroups());
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setChildrenCollapsible(false);
    column->addWidget(splitter, 1);
    connect(state, &TuneState::changed, this, &TunePanel::refresh);
    connect(state, &TuneState::selectionChanged, this, &TunePanel::refresh);
    refresh();
}

QWidget *TunePanel::makeBar()
{
    auto *const bar = new QWidget(this);
    auto *const row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    m_run = new QPushButton(bar);
    m_run->setObjectName(QStringLiteral("tune"));
    connect(m_run, &QPushButton::clicked, this,
            [this] { m_state->isRunning() ? m_state->stopWanted() : m_state->startWanted(); });
    m_metric = new ChoiceBox(bar);
    m_metric->addItems({tr("no limit"), tr("SQNR at least (dB)"), tr("top-1 may fall by (points)")});
    m_metric->setAccessibleName(tr("Limit"));
    m_value = new NumberField(bar);
    m_value->setAccessibleName(tr("Value of the limit"));
    m_value->setValue(30);
    connect(m_metric, &QComboBox::activated, this, &TunePanel::takeLimit);
    connect(m_value, &QDoubleSpinBox::valueChanged, this, &TunePanel::takeLimit);
    m_int8 = new QCheckBox(tr("int8, too"), bar);
    m_int8->setToolTip(tr("Operators with an int8 form may become int8, calibrated on the attached data"));
    connect(m_int8, &QCheckBox::toggled, m_state, &TuneState::setUsesInt8);
    m_adopt = new QPushButton(tr("Adopt Fastest"), bar);
    m_adopt->setToolTip(tr("Takes the fastest measured point that meets the limit, as one edit"));
    connect(m_adopt, &QPushButton::clicked, this, [this] {
        if (const auto place = m_state->fastestWithin()) {
            m_state->select(place);
            m_state->adopt(*place);
        }
    });
    m_told = new QLabel(bar);
    m_told->setMinimumWidth(1);
    for (QWidget *const widget :
         {static_cast<QWidget *>(m_run), static_cast<QWidget *>(m_metric), static_cast<QWidget *>(m_value),
          static_cast<QWidget *>(m_int8), static_cast<QWidget *>(m_adopt)})
        row->addWidget(widget);
    row->addWidget(m_told, 1);
    return bar;
}

QWidget *TunePanel::makeGroups()
{
    auto *const side = new QWidget(this);
    auto *const column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    m_table = new GroupTable(m_controller, m_state, this);
    m_sorted = new QSortFilterProxyModel(this);
    m_sorted->setSourceModel(m_table);
    m_sorted->setSortRole(GroupTable::kSortRole);
    m_view = new QTableView(side);
    m_view->setModel(m_sorted);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(GroupTable::Gain, Qt::DescendingOrder);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    m_view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_view->horizontalHeader()->setSectionResizeMode(GroupTable::Name, QHeaderView::Stretch);
    m_view->setShowGrid(false);
    m_view->setAccessibleName(tr("Groups of layers"));
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &TunePanel::showGroup);
    m_pin = new QPushButton(tr("Keep in fp32"), side);
    m_pin->setToolTip(
        tr("Holds the selected group to fp32 by the names of its nodes; the next search leaves it so"));
    connect(m_pin, &QPushButton::clicked, this, &TunePanel::pinSelected);
    column->addWidget(m_view, 1);
    column->addWidget(m_pin, 0, Qt::AlignLeft);
    return side;
}

void TunePanel::takeLimit()
{
    using Kind = tune::Limit::Metric;
    const int metric = m_metric->currentIndex();
    if (metric == None)
        m_state->setLimit(std::nullopt);
    else
        m_state->setLimit(tune::Limit{metric == Sqnr ? Kind::Sqnr : Kind::Top1,
                                      metric == Sqnr ? m_value->value() : -m_value->value()});
}

void TunePanel::refresh()
{
    m_run->setText(m_state->isRunning() ? tr("Stop") : m_state->canContinue() ? tr("Continue") : tr("Tune"));
    m_run->setEnabled(m_state->isRunning() || m_state->whyNot().isEmpty());
    m_run->setToolTip(m_state->whyNot().isEmpty() ? tr("Measures which layers must stay wide")
                                                  : m_state->whyNot());
    m_value->setEnabled(m_metric->currentIndex() != None);
    m_int8->setEnabled(!m_state->isRunning());
    m_adopt->setEnabled(m_state->fastestWithin().has_value());
    m_pin->setEnabled(m_view->currentIndex().isValid());
    const QString compared = comparison();
    m_told->setText(compared.isEmpty() ? m_state->progress() : compared);
}

QString TunePanel::comparison() const
{
    const auto &places = m_state->places();
    const auto &here = m_state->selected();
    const auto &other = m_state->other();
    if (!here || !other || *here >= places.size() || *other >= places.size())
        return {};
    return tr("%1 against %2").arg(TuneState::nameOf(places[*here]), TuneState::nameOf(places[*other]));
}

void TunePanel::showGroup(const QModelIndex &index)
{
    refresh();
    const tune::Front *const front = m_state->front();
    if (!index.isValid() || !front)
        return;
    const std::size_t group = m_table->groupAt(m_sorted->mapToSource(index).row());
    if (!front->groups[group].decided.empty())
        m_controller->selection().set(front->groups[group].decided.front());
}

void TunePanel::pinSelected()
{
    const QModelIndex index = m_view->currentIndex();
    if (index.isValid())
        m_state->pin(m_table->groupAt(m_sorted->mapToSource(index).row()));
}

} // namespace halftone::widgets
