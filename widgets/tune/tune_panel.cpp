#include "widgets/tune/tune_panel.h"

#include "widgets/common/choice_box.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/name_delegate.h"
#include "widgets/common/number_field.h"
#include "widgets/common/table_copy.h"
#include "widgets/common/wrap_layout.h"
#include "widgets/tune/differing_groups.h"
#include "widgets/tune/group_table.h"
#include "widgets/tune/point_table.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

enum Metric
{
    None,
    Sqnr,
    Top1
};

constexpr int kSliderSteps = 200;

struct SliderScale
{
    double step; ///< of the limit's value
    double first; ///< before a person chooses
};

/// 0 to 100 dB, 0 to 5 points.
SliderScale sliderOf(int metric)
{
    return metric == Top1 ? SliderScale{0.025, 0.5} : SliderScale{0.5, 30};
}

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
    auto *const row = new WrapLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    m_run = new QPushButton(bar);
    m_run->setObjectName(QStringLiteral("tune"));
    connect(m_run, &QPushButton::clicked, this,
            [this] { m_state->isRunning() ? m_state->stopWanted() : m_state->startWanted(); });
    m_again = new QPushButton(tr("Measure Again"), bar);
    m_again->setObjectName(QStringLiteral("measureAgain"));
    m_again->setToolTip(
        tr("Measure unreliable times once more, with the machine as idle as possible; what is "
           "known of errors is kept where it can be"));
    connect(m_again, &QPushButton::clicked, m_state, &TuneState::repeatWanted);
    m_metric = new ChoiceBox(bar);
    m_metric->addItems({tr("no limit"), tr("SQNR at least (dB)"), tr("top-1 may drop by (points)")});
    m_metric->setAccessibleName(tr("Limit"));
    QWidget *const limit = makeLimit(bar);
    m_int8 = new QCheckBox(tr("allow int8"), bar);
    m_int8->setToolTip(tr("Operators with an int8 form may become int8, calibrated on the attached data"));
    connect(m_int8, &QCheckBox::toggled, m_state, &TuneState::setUsesInt8);
    m_adopt = new QPushButton(tr("Adopt Fastest"), bar);
    m_adopt->setToolTip(tr("Apply the fastest measured point that meets the limit, as one edit"));
    connect(m_adopt, &QPushButton::clicked, this, [this] {
        if (const auto place = m_state->fastestWithin()) {
            m_state->select(place);
            m_state->adopt(*place);
        }
    });
    QWidget *const axes = makeAxes(bar);
    m_told = new QLabel(bar);
    m_told->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_told->setMinimumWidth(24 * fontMetrics().averageCharWidth());
    for (QWidget *const widget : {static_cast<QWidget *>(m_run), static_cast<QWidget *>(m_again),
                                  static_cast<QWidget *>(m_metric), limit, static_cast<QWidget *>(m_int8),
                                  static_cast<QWidget *>(m_adopt), axes, static_cast<QWidget *>(m_told)})
        row->addWidget(widget);
    return bar;
}

/// The limit's value as a number and as a slider over the values that people ask for; beyond those there is the number.
QWidget *TunePanel::makeLimit(QWidget *bar)
{
    auto *const limit = new QWidget(bar);
    auto *const row = new QHBoxLayout(limit);
    row->setContentsMargins(0, 0, 0, 0);
    m_value = new NumberField(limit);
    m_value->setAccessibleName(tr("Value of the limit"));
    m_slider = new QSlider(Qt::Horizontal, limit);
    m_slider->setRange(0, kSliderSteps);
    m_slider->setMinimumWidth(16 * fontMetrics().averageCharWidth());
    m_slider->setAccessibleName(tr("Limit slider"));
    m_slider->setToolTip(tr("Move the limit; Adopt Fastest applies the fastest point that meets it"));
    row->addWidget(m_value);
    row->addWidget(m_slider);
    connect(m_metric, &QComboBox::activated, this, &TunePanel::changeMetric);
    connect(m_value, &QDoubleSpinBox::valueChanged, this, &TunePanel::takeLimit);
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int step) { m_value->setValue(step * sliderOf(m_metric->currentIndex()).step); });
    changeMetric();
    return limit;
}

/// What the plane is of.
QWidget *TunePanel::makeAxes(QWidget *bar)
{
    auto *const axes = new QWidget(bar);
    auto *const row = new QHBoxLayout(axes);
    row->setContentsMargins(0, 0, 0, 0);
    m_time = new ChoiceBox(axes);
    m_time->setAccessibleName(tr("Time"));
    m_time->addItem(tr("measured time"));
    m_time->addItem(QString());
    connect(m_time, &QComboBox::activated, this,
            [this](int chosen) { m_state->setTime(chosen == 0 ? TuneTime::Measured : TuneTime::Estimated); });
    m_loss = new ChoiceBox(axes);
    m_loss->setAccessibleName(tr("Error"));
    m_loss->addItems({tr("SQNR"), tr("top-1")});
    m_loss->setToolTip(tr("Error in dB, or change in top-1 (without labels: top-1 agreement)"));
    connect(m_loss, &QComboBox::activated, this,
            [this](int chosen) { m_state->setLoss(chosen == 0 ? TuneLoss::Sqnr : TuneLoss::Top1); });
    row->addWidget(m_time);
    row->addWidget(m_loss);
    return axes;
}

/// Both choices say why they cannot be made.
void TunePanel::refreshAxes()
{
    const QString chip = m_state->chip();
    m_time->setItemText(1, chip.isEmpty() ? tr("estimated (no chip)") : tr("estimated for %1").arg(chip));
    m_time->setToolTip(chip.isEmpty() ? tr(
                           "No chip description matches this machine. Select a chip next to the target type.")
                                      : tr("Median on this machine, or estimate for the selected chip"));
    m_time->setCurrentIndex(m_state->time() == TuneTime::Measured ? 0 : 1);
    m_time->setEnabled(!chip.isEmpty() || m_state->time() == TuneTime::Estimated);
    m_loss->setCurrentIndex(m_state->loss() == TuneLoss::Sqnr ? 0 : 1);
    m_loss->setEnabled(m_state->hasTop1() || m_state->loss() == TuneLoss::Top1);
}

QTableView *TunePanel::makeComparison()
{
    auto *const view = new QTableView(this);
    view->setModel(new PointTable(m_state, view));
    view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    view->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    view->setSelectionMode(QAbstractItemView::NoSelection);
    view->setShowGrid(false);
    view->setAccessibleName(tr("The two selected points"));
    view->setFixedHeight((fontMetrics().height() + 4) * (view->model()->rowCount() + 2));
    return view;
}

QWidget *TunePanel::makeGroups()
{
    auto *const side = new QWidget(this);
    auto *const column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    m_table = new GroupTable(m_state, this);
    m_sorted = new DifferingGroups(m_table, this);
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
    m_view->setTextElideMode(Qt::ElideMiddle);
    auto *const delegate = new NameDelegate(GroupTable::Name, m_view);
    m_view->setItemDelegate(delegate);
    new NameFollower(m_view, m_table, GroupTable::Name,
                     [delegate](ShortNames names) { delegate->setNames(std::move(names)); });
    m_view->addAction(makeCopyAction(m_view));
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_view->setAccessibleName(tr("Groups of layers"));
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &TunePanel::showGroup);
    m_pin = new QPushButton(tr("Keep in fp32"), side);
    m_pin->setToolTip(tr("Pin the selected group to fp32; later searches do not change it"));
    connect(m_pin, &QPushButton::clicked, this, &TunePanel::pinSelected);
    m_compared = makeComparison();
    m_differing = new QCheckBox(tr("only differences"), side);
    m_differing->setToolTip(tr("Show only groups whose type differs between the two selected points"));
    connect(m_differing, &QCheckBox::toggled, m_sorted, &DifferingGroups::setOnlyDiffering);
    column->addWidget(m_compared);
    column->addWidget(m_view, 1);
    auto *const row = new QHBoxLayout;
    row->addWidget(m_pin);
    row->addWidget(m_differing);
    m_sums = new ElidedLabel(side);
    m_sums->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_sums, 1);
    column->addLayout(row);
    return side;
}

/// Each metric has a scale of its own, on which the other's value says nothing.
void TunePanel::changeMetric()
{
    const QSignalBlocker quiet(m_value);
    m_value->setSingleStep(sliderOf(m_metric->currentIndex()).step);
    m_value->setValue(sliderOf(m_metric->currentIndex()).first);
    takeLimit();
}

void TunePanel::takeLimit()
{
    {
        const QSignalBlocker quiet(m_slider); // the number is the limit: a step of the slider may be coarser
        const double steps = m_value->value() / sliderOf(m_metric->currentIndex()).step;
        m_slider->setValue(static_cast<int>(std::lround(std::min(steps, 1.0 * kSliderSteps))));
    }
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
    m_run->setText(m_state->isRunning() ? tr("Stop") : m_state->canContinue() ? tr("Resume") : tr("Tune"));
    m_run->setEnabled(m_state->isRunning() || m_state->whyNot().isEmpty());
    m_run->setToolTip(m_state->whyNot().isEmpty() ? tr("Measure which layers must stay in float32")
                                                  : m_state->whyNot());
    m_again->setVisible(m_state->canMeasureAgain());
    m_value->setEnabled(m_metric->currentIndex() != None);
    m_slider->setEnabled(m_metric->currentIndex() != None);
    m_int8->setEnabled(!m_state->isRunning());
    m_adopt->setEnabled(m_state->fastestWithin().has_value());
    m_pin->setEnabled(m_view->currentIndex().isValid());
    refreshSummary();
    const bool areTwo = m_state->selected() && m_state->other();
    m_compared->setVisible(areTwo);
    m_differing->setVisible(areTwo);
    if (!areTwo)
        m_differing->setChecked(false);
    refreshAxes();
    refreshSums();
}

/// How far the search has come, and whether its times are to be trusted.
void TunePanel::refreshSummary()
{
    const tune::Front *const front = m_state->front();
    const bool isDisturbed = front != nullptr && front->isDisturbed();
    const bool isVague = !isDisturbed && !m_state->isRunning() && front != nullptr && front->isUnreliable();
    m_told->setText(
        isDisturbed   ? tr("%1 \u00b7 \u26a0 machine was busy: times are unreliable").arg(m_state->progress())
            : isVague ? tr("%1 \u00b7 \u26a0 some times are unreliable").arg(m_state->progress())
                      : m_state->progress());
    m_told->setToolTip(
        isVague
            ? tr("The intervals of some times reach down to zero or farther than 30 % from the time. These "
                 "points are not offered.")
            : !isDisturbed ? QString()
            : front->areLayersDisturbed
            ? tr("Other programs were running while the layers were timed, also "
                 "when the timing was repeated. The search may have chosen wrongly. "
                 "Search again when the machine is idle.")
            : tr(
                "Other programs were running while points were timed, also when the timing was repeated. The "
                "table marks these points."));
}

/// How far the sums, which the search goes by, are to be trusted.
void TunePanel::refreshSums()
{
    const tune::Front *const front = m_state->front();
    const bool areTold = front != nullptr && !m_state->isRunning() && !front->groups.empty()
        && std::ranges::all_of(front->groups, [](const tune::Group &group) {
                             return group.isErrorKnown || !group.isTunable;
                         });
    if (!areTold) {
        m_sums->clear();
        m_sums->setToolTip({});
        return;
    }
    const bool isFar = front->kappa < 0.5 || front->kappa > 2;
    m_sums->setText(
        tr("correction \u00d7%1, within %2 % of the bound")
            .arg(QString::number(front->kappa, 'f', 2), QString::number(100 * front->lowerBoundGap, 'f', 1)));
    m_sums->setToolTip(
        tr("Measured errors are %1 \u00d7 the sum of the groups' isolated errors; the best combination found "
           "is "
           "at most %2 % above the lower bound.")
            .arg(QString::number(front->kappa, 'g', 3), QString::number(100 * front->lowerBoundGap, 'g', 2))
        + (isFar ? tr(" The groups' errors do not add up here; attach more examples.") : QString()));
}

void TunePanel::showGroup(const QModelIndex &index)
{
    m_pin->setEnabled(index.isValid());
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
