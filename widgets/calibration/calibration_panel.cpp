#include "widgets/calibration/calibration_panel.h"

#include "core/session/tensor_risk.h"
#include "widgets/calibration/method_choices.h"
#include "widgets/calibration/tensor_delegate.h"
#include "widgets/calibration/tensor_proxy.h"
#include "widgets/calibration/tensor_table_model.h"
#include "widgets/calibration/threshold_bar.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/filter_field.h"
#include "widgets/common/formatters.h"
#include "widgets/common/sort_action.h"
#include "widgets/common/table_copy.h"
#include "widgets/common/table_rows.h"
#include "widgets/common/wrap_layout.h"
#include "widgets/models/table_csv.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/models/threshold_words.h"

#include <QComboBox>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::widgets {
namespace {

constexpr int kRiskWidth = 33; ///< characters, at most
constexpr int kTextMargin = 4; ///< characters' room beside a text in its column

} // namespace

CalibrationPanel::CalibrationPanel(DocumentController *controller, ThresholdEditor *editor, QWidget *plots,
                                   QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_editor(editor)
    , m_plots(plots)
    , m_bar(new ThresholdBar(controller, editor, this))
    , m_model(new TensorTableModel(this))
    , m_proxy(new TensorProxy(this))
{
    m_proxy->setSourceModel(m_model);
    m_empty = new QLabel(this);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_splitter = new QSplitter(Qt::Horizontal, this);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(buildTable());
    auto *const side = new QWidget(this);
    auto *const column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addWidget(m_plots, 1);
    m_splitter->addWidget(side);
    m_plots->installEventFilter(this);
    m_splitter->setSizes({5000, 5000}); // shares
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 1);
    m_stack = new QStackedLayout(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_splitter);
    setFocusProxy(m_view);
    connectAll();
    takeCalibration();
}

QWidget *CalibrationPanel::buildTable()
{
    auto *const side = new QWidget(this);
    m_filter = new QLineEdit(side);
    m_filter->setPlaceholderText(tr("Filter by name, risk or method"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter tensors"));
    m_count = new QLabel(side);
    m_count->setAccessibleName(tr("Number of tensors shown"));
    m_methodOfAll = new ChoiceBox(side);
    m_methodOfAll->setAccessibleName(tr("Method of all tensors"));
    m_methodOfAll->setToolTip(tr("Threshold method for tensors without a method of their own"));
    addMethods(*m_methodOfAll);
    auto *const methodName = new QLabel(tr("method for all"), side);
    methodName->setContentsMargins(8, 0, 0, 0);
    methodName->setBuddy(m_methodOfAll);
    auto *const save = new QToolButton(side);
    save->setText(tr("Export\u2026"));
    save->setAutoRaise(true);
    save->setToolTip(tr("Export the shown rows as CSV"));
    connect(save, &QToolButton::clicked, this, &CalibrationPanel::exportCsv);

    m_view = new QTableView(side);
    m_view->setModel(m_proxy);
    m_delegate = new TensorDelegate(this);
    new NameFollower(
        m_view, m_model, TensorTableModel::Name,
        [this](ShortNames names) {
            m_freeWidth->setLongest(names.longest());
            m_delegate->setNames(std::move(names));
        },
        [this](int row) { return !m_model->isParameter(row); });
    m_view->setItemDelegate(m_delegate);
    leadDownTo(m_filter, m_view);
    m_view->viewport()->installEventFilter(this);
    setUpRows(m_view, tr("Tensors"));
    m_view->sortByColumn(TensorTableModel::Risk, Qt::DescendingOrder);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->addActions({makeCopyAction(m_view), sortAction(m_view)});
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    const int unit = fontMetrics().averageCharWidth();
    const std::array<int, TensorTableModel::ColumnCount> widths{22, kRiskWidth, 11, 13, 10, 12, 11, 13};
    for (std::size_t column = 0; column < widths.size(); ++column)
        m_view->setColumnWidth(
            static_cast<int>(column),
            std::max(widths[column] * unit,
                     m_view->horizontalHeader()->sectionSizeHint(static_cast<int>(column))));
    m_freeWidth = new FreeWidth(m_view, TensorTableModel::Name, widths[TensorTableModel::Name] * unit);

    auto *const top = new WrapLayout;
    top->setSpacing(4);
    top->addWidget(m_filter);
    top->addWidget(m_count);
    top->addWidget(methodName);
    top->addWidget(m_methodOfAll);
    top->addWidget(save);
    auto *const layout = new QVBoxLayout(side);
    layout->setContentsMargins(4, 4, 0, 4);
    layout->setSpacing(4);
    layout->addLayout(top);
    layout->addWidget(m_view, 1);
    setTabOrder(save, m_view);
    return side;
}

void CalibrationPanel::connectAll()
{
    connect(m_editor, &ThresholdEditor::calibrationChanged, this, &CalibrationPanel::takeCalibration);
    connect(m_editor, &ThresholdEditor::chosenChanged, this, &CalibrationPanel::takeChosen);
    connect(m_editor, &ThresholdEditor::tensorChanged, this, &CalibrationPanel::showRow);
    connect(m_controller, &DocumentController::documentChanged, this, &CalibrationPanel::takeCalibration);
    connect(m_controller, &DocumentController::snapshotChanged, this, &CalibrationPanel::showEmptyText);
    connect(m_controller, &DocumentController::snapshotChanged, this, &CalibrationPanel::takeChosen);
    connect(m_filter, &QLineEdit::textChanged, this, &CalibrationPanel::setFilterText);
    connect(m_methodOfAll, &QComboBox::activated, this, [this](int index) {
        m_editor->setMethodOfAll(kThresholdMethods[static_cast<std::size_t>(index)]);
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &CalibrationPanel::chooseRow);
    connect(m_view, &QTableView::entered, this, [this](const QModelIndex &index) {
        const auto row = static_cast<std::size_t>(m_proxy->mapToSource(index).row());
        hoverTensor(&m_editor->calibration()->tensors[row]);
    });
    connect(&m_controller->selection(), &Selection::hoveredChanged, this, &CalibrationPanel::showHovered);
    connect(m_view, &QTableView::doubleClicked, this, [this] {
        const auto *const tensor = m_editor->tensor();
        if (const auto node = tensor ? m_editor->nodeOf(*tensor) : std::nullopt)
            Q_EMIT m_controller->selection().shownRequested(*node);
    });
}

QString CalibrationPanel::emptyText() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->text() : QString();
}

void CalibrationPanel::setDataAttached(bool attached)
{
    m_hasData = attached;
    showEmptyText();
}

void CalibrationPanel::showEmptyText()
{
    if (!m_controller->isOpen()) {
        m_empty->setText(tr("Open a model to calibrate it."));
        return;
    }
    if (m_editor->calibration()) {
        m_empty->clear();
        return;
    }
    const QString why = m_hasData
        ? tr("The ranges of the attached data are being collected in the "
             "background. If this was stopped, Run \u203a Compute Again (Shift+F5) resumes it.")
        : tr("Attach data (Ctrl+D) to collect ranges and list every tensor with its "
             "threshold.");
    const QString chosen = chosenText();
    m_empty->setText(chosen.isEmpty() ? why : why + QStringLiteral("\n\n") + chosen);
}

/// What the policy holds already, which counts also before there are statistics to show it on.
QString CalibrationPanel::chosenText() const
{
    constexpr int kMostLines = 8;
    QStringList lines;
    const auto &thresholds = m_controller->document()->policy().thresholds;
    for (const auto &[tensor, choice] : thresholds) {
        if (lines.size() == kMostLines)
            break;
        lines << tr("%1: %2").arg(plain(tensor),
                                  choice.value ? QString::number(*choice.value) : methodText(choice.method));
    }
    if (lines.isEmpty())
        return {};
    const auto more = static_cast<qsizetype>(thresholds.size()) - lines.size();
    if (more > 0)
        lines << tr("and %1 more").arg(more);
    return tr("Thresholds set by the policy:") + QLatin1Char('\n') + lines.join(QLatin1Char('\n'));
}

void CalibrationPanel::takeCalibration()
{
    {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        m_model->setCalibration(m_editor->calibration());
    }
    const bool isThere = m_editor->calibration() != nullptr;
    showEmptyText();
    m_stack->setCurrentWidget(isThere ? static_cast<QWidget *>(m_splitter) : m_empty);
    takeChosen();
}

void CalibrationPanel::takeChosen()
{
    if (const policy::Policy *const policy = m_editor->policy()) {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        const auto &calibration = m_editor->calibration();
        m_model->setChosen(m_editor->chosen(), *policy,
                           calibration ? session::usesOf(*m_controller->snapshot(), *calibration)
                                       : std::vector<session::TensorUse>(),
                           m_editor->isChoosing());
        const auto method = std::ranges::find(
            kThresholdMethods, policy->thresholdMethod.value_or(policy::kDefaultThresholdMethod));
        m_methodOfAll->setCurrentIndex(static_cast<int>(method - kThresholdMethods.begin()));
    }
    fitRisks();
    showCount();
    showRow();
}

/// Where nothing is at risk the names get the room. A width that a person gave stays as long as the risks do.
void CalibrationPanel::fitRisks()
{
    int widest = m_view->horizontalHeader()->sectionSizeHint(TensorTableModel::Risk);
    const int sides = kTextMargin * fontMetrics().averageCharWidth();
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QString risk = m_model->index(row, TensorTableModel::Risk).data().toString();
        widest = std::max(widest, fontMetrics().horizontalAdvance(risk) + sides);
    }
    widest = std::min(widest, kRiskWidth * fontMetrics().averageCharWidth());
    if (std::exchange(m_riskWidth, widest) == widest)
        return;
    m_view->setColumnWidth(TensorTableModel::Risk, widest);
    m_freeWidth->give();
}

void CalibrationPanel::setFilterText(const QString &text)
{
    m_filter->setText(text);
    {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        m_proxy->setFilterFixedString(text);
    }
    showCount();
    showRow();
}

void CalibrationPanel::showCount()
{
    const int all = m_model->rowCount();
    const int shown = m_proxy->rowCount();
    QString text = shown == all ? tr("%1 tensors").arg(all) : tr("%1 of %2 tensors").arg(shown).arg(all);
    if (m_editor->isChoosing())
        text = tr("choosing thresholds\u2026");
    m_count->setText(text);
}

void CalibrationPanel::chooseRow(const QModelIndex &index)
{
    if (m_isSyncing || !index.isValid())
        return;
    const QScopedValueRollback<bool> guard(m_isSyncing, true);
    m_editor->choose(static_cast<std::size_t>(m_proxy->mapToSource(index).row()));
}

void CalibrationPanel::hoverTensor(const calibration::CalibratedTensor *tensor)
{
    m_controller->selection().hover(tensor ? m_editor->nodeOf(*tensor) : std::nullopt);
}

void CalibrationPanel::resizeEvent(QResizeEvent *event)
{
    constexpr int kLow = 20; // lines of text: below, the drawings get what they can
    m_bar->setLow(height() < kLow * fontMetrics().lineSpacing());
    QWidget::resizeEvent(event);
}

/// Over the drawings it is the tensor drawn.
bool CalibrationPanel::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Leave && (watched == m_plots || watched == m_view->viewport()))
        hoverTensor(nullptr);
    else if (event->type() == QEvent::Enter && watched == m_plots)
        hoverTensor(m_editor->tensor());
    return QWidget::eventFilter(watched, event);
}

/// Of a node's tensors the first one is marked: its output, as they stand in the network's order.
void CalibrationPanel::showHovered()
{
    const auto node = m_controller->selection().hovered();
    const auto &calibration = m_editor->calibration();
    QModelIndex row;
    for (std::size_t k = 0; node && calibration && k < calibration->tensors.size() && !row.isValid(); ++k) {
        const calibration::CalibratedTensor &tensor = calibration->tensors[k];
        if (m_editor->nodeOf(tensor) == node)
            row = m_proxy->mapFromSource(m_model->index(static_cast<int>(k), 0));
    }
    m_delegate->setHovered(row);
    m_view->viewport()->update();
}

/// The table follows the tensor that is shown.
void CalibrationPanel::showRow()
{
    if (m_isSyncing)
        return;
    const QScopedValueRollback<bool> guard(m_isSyncing, true);
    const auto index = m_editor->index();
    const QModelIndex row
        = index ? m_proxy->mapFromSource(m_model->index(static_cast<int>(*index), 0)) : QModelIndex();
    if (!row.isValid()) {
        m_view->selectionModel()->clear(); // and no current row, which could not be chosen by a click
        return;
    }
    m_view->selectionModel()->setCurrentIndex(
        row, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    m_view->scrollTo(row);
}

QString CalibrationPanel::csv() const
{
    return tableCsv(*m_proxy,
                    {TensorTableModel::ColumnCount, TensorTableModel::SortRole, &TensorTableModel::isNumber});
}

void CalibrationPanel::exportCsv()
{
    widgets::exportCsv(this, tr("Export Tensors"), QStringLiteral("tensors.csv"), [this] { return csv(); });
}

} // namespace halftone::widgets
