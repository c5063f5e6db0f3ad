#include "widgets/plots/calibration_plot.h"

#include "core/base/text.h"
#include "core/policy/policy_options.h"
#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/models/threshold_words.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/histogram_bins.h"
#include "widgets/plots/threshold_handle.h"

#include <QKeyEvent>
#include <QScopedValueRollback>

namespace halftone::widgets {
namespace {

using calibration::ExponentCounts;

/// Width against height above which the three drawings stand in a row.
constexpr double kWide = 2.2;
constexpr int kLow
    = 12; ///< lines of text: where a drawing is lower, its axis takes no line for what it shows
constexpr int kTickWidth = 8; ///< characters that a number below an axis takes with its gap
constexpr int kBesideAxes = 14; ///< characters on both sides of a drawing
constexpr int kBelowAxis = 2; ///< lines of text that numbers below an axis take with what is around them

void setLogarithmic(QCPAxis *axis)
{
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    axis->setNumberFormat(QStringLiteral("gb"));
    axis->setNumberPrecision(4);
}

QString number(double value)
{
    return QString::number(value, 'g', 9);
}

} // namespace

CalibrationPlot::CalibrationPlot(DocumentController *controller, ThresholdEditor *editor, QWidget *parent)
    : PlotPanel(controller, tr("Values of the selected tensor and its threshold"), parent)
    , m_editor(editor)
    , m_valueRect(plot()->axisRect())
    , m_exponentRect(addRect())
    , m_curveRect(addRect())
    , m_values(m_valueRect)
    , m_exponents(m_exponentRect)
    , m_curves(m_curveRect)
{
    for (QCPAxisRect *rect : {m_valueRect, m_exponentRect, m_curveRect}) {
        setLogarithmic(rect->axis(QCPAxis::atLeft));
        rect->setRangeZoom(Qt::Horizontal);
        rect->setRangeDrag(Qt::Horizontal);
    }
    m_valueRect->axis(QCPAxis::atLeft)->setLabel(tr("count"));
    m_curveRect->axis(QCPAxis::atBottom)->setNumberPrecision(3);
    m_valueRect->axis(QCPAxis::atBottom)->setNumberPrecision(4);
    arrange();
    m_handles = {new ThresholdHandle(editor, m_valueRect, 1, plot()),
                 new ThresholdHandle(editor, m_valueRect, -1, plot()),
                 new ThresholdHandle(editor, m_curveRect, 1, plot())};

    connect(plot(), &QCustomPlot::afterLayout, this, &CalibrationPlot::placeAll);
    connect(plot(), &QCustomPlot::afterReplot, this, &CalibrationPlot::placeHandles);
    // Zooming in shows the finer bins.
    connect(plot()->xAxis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), this, [this] {
        if (m_tensor && !m_isFilling)
            m_values.fillBars();
    });
    connect(editor, &ThresholdEditor::tensorChanged, this, &CalibrationPlot::refresh);
    connect(editor, &ThresholdEditor::moved, this, &CalibrationPlot::followThreshold);
}

QCPAxisRect *CalibrationPlot::addRect()
{
    auto *const rect = new QCPAxisRect(plot());
    plot()->plotLayout()->addElement(0, plot()->plotLayout()->columnCount(), rect);
    for (QCPAxis *axis : rect->axes()) {
        axis->setLayer(QStringLiteral("axes"));
        axis->grid()->setLayer(QStringLiteral("grid"));
    }
    if (plot()->axisRectCount() == 3)
        rect->axis(QCPAxis::atRight)->setVisible(true);
    return rect;
}

/// What is written below the axes, as there is room for it: no numbers over each other, and a low drawing has them alone.
void CalibrationPlot::fitTexts()
{
    const bool isWide = plot()->width() > kWide * plot()->height();
    const int lines = plot()->height() / std::max(1, fontMetrics().lineSpacing());
    const bool isLow = (isWide ? lines : lines / 2) < kLow;
    const int characters = plot()->width() / std::max(1, fontMetrics().averageCharWidth());
    const int ticks = std::clamp((characters / (isWide ? 3 : 2) - kBesideAxes) / kTickWidth, 2, 5);
    const std::pair<QCPAxisRect *, QString> axes[] = {{m_valueRect, tr("value")},
                                                      {m_exponentRect, tr("power of two of |value|")},
                                                      {m_curveRect, tr("threshold")}};
    for (const auto &[rect, label] : axes)
        rect->axis(QCPAxis::atBottom)->setLabel(isLow ? QString() : label);
    m_curveRect->axis(QCPAxis::atLeft)->setLabel(isLow ? tr("KL") : tr("divergence (KL)"));
    m_curveRect->axis(QCPAxis::atRight)->setLabel(isLow ? tr("dB") : tr("int8 SQNR in dB"));
    // The values see to theirs; the curves have an axis on both sides.
    m_exponentRect->axis(QCPAxis::atBottom)->ticker()->setTickCount(ticks);
    m_curveRect->axis(QCPAxis::atBottom)->ticker()->setTickCount(std::max(1, ticks - 1));
    // Numbers with a power are higher than a line, and one more than asked for may come.
    const int upright = std::clamp((isWide ? lines : lines / 2) - kBelowAxis - 1, 2, 10) / 2;
    for (QCPAxisRect *rect : {m_valueRect, m_exponentRect, m_curveRect})
        for (QCPAxis *axis : rect->axes(QCPAxis::atLeft | QCPAxis::atRight))
            axis->ticker()->setTickCount(upright);
}

/// In a row where that leaves each one room, else the values above the others.
void CalibrationPlot::arrange()
{
    fitTexts();
    const bool isWide = plot()->width() > kWide * plot()->height();
    if (m_upper && isWide == m_isWide)
        return;
    m_isWide = isWide;
    for (QCPAxisRect *rect : {m_valueRect, m_exponentRect, m_curveRect})
        rect->layout()->take(rect);
    plot()->plotLayout()->clear();
    plot()->plotLayout()->simplify();
    // Into the plot first of all: what a grid takes in is told of the plot.
    m_upper = new QCPLayoutGrid;
    plot()->plotLayout()->addElement(0, 0, m_upper);
    m_upper->addElement(0, 0, m_valueRect);
    QCPLayoutGrid *rest = m_upper;
    if (isWide) {
        m_upper->setColumnStretchFactor(0, 1.3);
    } else {
        rest = new QCPLayoutGrid;
        plot()->plotLayout()->addElement(1, 0, rest);
    }
    const int column = isWide ? 1 : 0;
    rest->addElement(0, column, m_exponentRect);
    rest->addElement(0, column + 1, m_curveRect);
}

ChartLook CalibrationPlot::look() const
{
    ChartLook look;
    look.isDark = isDark(palette());
    look.ground = palette().color(QPalette::Base);
    look.text = palette().color(QPalette::Text);
    look.bars = sourceColour();
    look.second = precisionLook(tensor::DType::I8, look.isDark).colour;
    look.warning = look.isDark ? QColor(0xff, 0xd1, 0x66) : QColor(0xd6, 0x8a, 0x00);
    look.accent = palette().color(QPalette::Highlight);
    look.font = font();
    if (const policy::Policy *const policy = m_editor->policy())
        look.target = policy::askedTarget(*policy);
    return look;
}

tensor::DType CalibrationPlot::assignedType() const
{
    const auto node = m_editor->nodeOf(*m_tensor);
    return node ? controller()->snapshot()->precisionOf(*node) : tensor::DType::Unknown;
}

QString CalibrationPlot::whyEmpty() const
{
    const auto &snapshot = controller()->snapshot();
    const auto current = controller()->selection().current();
    if (!snapshot)
        return tr("Open a model to see the values of its tensors.");
    if (!m_kept)
        return tr(
            "Attach data (Ctrl+D). Once its ranges are collected, the values of the selected tensor are "
            "drawn here.");
    if (!current)
        return tr("Select a tensor in the list, or a layer in the graph, to see its values.");
    const QString name = plain(snapshot->graph().node(*current).name);
    if (!m_tensor)
        return tr("%1 has no statistics: its values are not floating-point numbers, or it was not "
                  "calibrated.")
            .arg(name);
    if (m_tensor->statistics.histogram.bins() == 0)
        return tr("Every value of %1 is zero.").arg(name);
    return {};
}

void CalibrationPlot::rebuild()
{
    const std::string before = m_tensor ? m_tensor->name : std::string();
    m_kept = m_editor->calibration();
    m_tensor = m_editor->tensor();
    if (const QString why = whyEmpty(); !why.isEmpty()) {
        m_tensor = nullptr;
        m_values.clear();
        m_exponents.clear();
        m_curves.show(nullptr, look());
        showEmpty(why);
        placeHandles();
        return;
    }
    const ChartLook drawn = look();
    m_values.show(*m_tensor, m_editor->study().get(), drawn);
    m_exponents.show(*m_tensor, assignedType(), drawn);
    m_curves.show(m_editor->study().get(), drawn);
    if (m_tensor->name != before)
        fitAxes();
    showPlot();
    m_values.fillBars();
    m_curves.fit();
    replot();
    m_curves.colourAxes(drawn);
    m_placed = {};
    followThreshold();
}

void CalibrationPlot::followThreshold()
{
    if (!m_tensor || m_tensor != m_editor->tensor() || !isSeen()) {
        refresh();
        return;
    }
    const auto figures = m_editor->figures();
    const double threshold = m_editor->value();
    m_values.setThreshold(threshold, figures ? figures->clipped : 0);
    m_exponents.setThreshold(threshold);
    m_curves.setFigures(figures);
    showSummary();
    placeHandles();
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

/// What depends on the drawings' sizes, which only a layout tells.
void CalibrationPlot::placeAll()
{
    if (!m_tensor)
        return;
    const std::array<QRect, 3> now{m_valueRect->rect(), m_exponentRect->rect(), m_curveRect->rect()};
    if (now == m_placed)
        return;
    m_placed = now;
    m_values.fillBars();
    m_exponents.placeBands();
    m_curves.placeMarks();
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void CalibrationPlot::placeHandles()
{
    for (std::size_t k = 0; k < m_handles.size(); ++k) {
        const bool isWanted
            = m_tensor && m_tensor == m_editor->tensor() && (k == 2 || m_values.hasSide(k == 0 ? 1 : -1));
        m_handles[k]->place(isWanted);
    }
}

void CalibrationPlot::fitAxes()
{
    if (!m_tensor)
        return;
    {
        const QScopedValueRollback<bool> guard(m_isFilling, true);
        m_values.fit();
        m_exponents.fit();
        m_curves.fit();
    }
    m_values.fillBars();
}

bool CalibrationPlot::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride
        && ThresholdHandle::claims(*m_editor, *static_cast<QKeyEvent *>(event))) {
        event->accept();
        return true;
    }
    return PlotPanel::event(event);
}

bool CalibrationPlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == plot() && event->type() == QEvent::Resize)
        arrange();
    return PlotPanel::eventFilter(watched, event);
}

void CalibrationPlot::keyPressEvent(QKeyEvent *event)
{
    if (!ThresholdHandle::handleKey(*m_editor, *event))
        PlotPanel::keyPressEvent(event);
}

QString CalibrationPlot::summary() const
{
    if (!m_tensor)
        return {};
    const calibration::TensorStatistics &values = m_tensor->statistics;
    QString text;
    if (const auto figures = m_editor->figures())
        text = figuresText(*figures, m_tensor->threshold.sqnrDbMinMax);
    else
        text = m_editor->isStudying() ? tr("evaluating thresholds\u2026") : plain(m_tensor->name);
    text += tr(" \u00b7 %1 values, %2 \u2026 %3")
                .arg(plain(grouped(values.count)), significant(values.min), significant(values.max));
    const policy::Policy *const policy = m_editor->policy();
    const tensor::DType target = policy ? policy::askedTarget(*policy) : tensor::DType::F16;
    if (tensor::isForAnalysis(target))
        return text; // what is lost in it has not been counted
    const calibration::FormatLoss &loss = values.loss(target);
    const QString type = plain(std::string(tensor::nameOf(target)));
    if (loss.overflow > 0)
        text += tr(" \u00b7 \u26a0 %1 of them overflow in %2").arg(plain(grouped(loss.overflow)), type);
    if (loss.underflow > 0)
        text += tr(" \u00b7 %1 become zero in %2").arg(plain(grouped(loss.underflow)), type);
    return text;
}

QString CalibrationPlot::textAt(const QPointF &place) const
{
    if (!m_tensor)
        return {};
    const auto at = [&](QCPAxisRect *rect) { return rect->axis(QCPAxis::atBottom)->pixelToCoord(place.x()); };
    if (m_exponentRect->rect().contains(place.toPoint()))
        return m_exponents.textAt(at(m_exponentRect));
    if (m_curveRect->rect().contains(place.toPoint()))
        return m_curves.textAt(at(m_curveRect));
    if (m_valueRect->rect().contains(place.toPoint()))
        return m_values.textAt(at(m_valueRect));
    return {};
}

QString CalibrationPlot::csv() const
{
    QString text = QStringLiteral("tensor,kind,at,width,figure\r\n");
    if (!m_tensor)
        return text;
    const QString name = csvField(exact(m_tensor->name));
    const auto add = [&](const QString &kind, double at, double width, double figure) {
        text += QStringLiteral("%1,%2,%3,%4,%5\r\n")
                    .arg(name, kind, number(at), width > 0 ? number(width) : QString(),
                         QString::number(figure, 'g', 17));
    };
    const calibration::Histogram &histogram = m_tensor->statistics.histogram;
    for (const DrawnBin &bin : drawnBins(histogram, -histogram.limit(), histogram.limit(), histogram.bins()))
        add(QStringLiteral("value"), bin.centre, bin.width, bin.count);
    for (int e = ExponentCounts::kLowest; e <= ExponentCounts::kHighest; ++e) {
        if (const std::uint64_t count = m_tensor->statistics.exponents.at(e); count > 0)
            add(QStringLiteral("exponent"), e, 1, static_cast<double>(count));
    }
    const auto &study = m_editor->study();
    if (!study)
        return text;
    for (const calibration::ThresholdMark &mark : study->marks()) {
        if (mark.threshold.sqnrDb)
            add(QStringLiteral("SQNR of ") + markText(mark), mark.threshold.value, 0, *mark.threshold.sqnrDb);
        add(QStringLiteral("clipped by ") + markText(mark), mark.threshold.value, 0, mark.clipped);
    }
    for (const calibration::CurvePoint &point : study->divergence())
        add(QStringLiteral("divergence"), point.threshold, 0, point.value);
    for (const calibration::CurvePoint &point : study->searched())
        add(QStringLiteral("divergence in the entropy search"), point.threshold, 0, point.value);
    for (const calibration::CurvePoint &point : study->sqnr())
        add(QStringLiteral("SQNR"), point.threshold, 0, point.value);
    return text;
}

} // namespace halftone::widgets
