#include "widgets/plots/plot_panel.h"

#include "widgets/common/elided_label.h"
#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/common/while_seen.h"
#include "widgets/models/write_file.h"
#include "widgets/plots/custom_plot.h"

#include <QBuffer>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QStackedLayout>
#include <QTemporaryDir>
#include <QToolButton>
#include <QVBoxLayout>

#include <ctime>
#include <memory>

namespace halftone::widgets {
namespace {

constexpr double kQuickMs = 8; ///< half a frame: a drawing that takes no longer disturbs nobody
constexpr double kRest = 4; ///< times the cost of a drawing until new figures are drawn

/// Milliseconds that this thread has computed: neighbours on a busy machine make no drawing costly.
double computedMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

QColor blended(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](int x, int y) { return static_cast<int>(x + (y - x) * share); };
    return QColor(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

} // namespace

PlotPanel::PlotPanel(DocumentController *controller, const QString &name, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_seen(new WhileSeen(this, [this] { refresh(); }))
{
    build(name);
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, &PlotPanel::refresh);
    connect(controller, &DocumentController::documentChanged, this, [this] {
        m_isFitted = m_isMoved = false;
        refresh();
    });
    connect(controller, &DocumentController::snapshotChanged, this, &PlotPanel::refresh);
    connect(controller, &DocumentController::figuresChanged, this, &PlotPanel::takeFigures);
    connect(&controller->selection(), &Selection::changed, this, [this] { markSelection(); });
    refresh();
}

void PlotPanel::build(const QString &name)
{
    m_plot = new QCustomPlot(this);
    m_plot->setAccessibleName(name);
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setSelectionTolerance(6);
    m_plot->setMinimumSize(QSize(20, 8) * fontMetrics().averageCharWidth());
    m_plot->setMouseTracking(true);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->installEventFilter(this);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(name);

    m_empty = new QLabel(this);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_readOut = new ElidedLabel(this);
    m_readOut->setAccessibleName(tr("Under the cursor"));
    m_fit = new QToolButton(this);
    m_fit->setText(tr("Show All"));
    m_fit->setAutoRaise(true);
    m_fit->setToolTip(tr("Show everything (Home or double click)"));
    m_export = new QToolButton(this);
    m_export->setText(tr("Export\u2026"));
    m_export->setAutoRaise(true);
    m_export->setToolTip(tr("Export the plot as PNG or PDF, or its data as CSV"));

    m_top = new QHBoxLayout;
    m_top->setSpacing(4);
    m_top->addWidget(m_readOut, 1);
    m_top->addWidget(m_fit);
    m_top->addWidget(m_export);
    auto *const whole = new QWidget(this);
    auto *const column = new QVBoxLayout(whole);
    column->setContentsMargins(4, 4, 4, 4);
    column->setSpacing(4);
    column->addLayout(m_top);
    column->addWidget(m_plot, 1);
    m_stack = new QStackedLayout(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(whole);

    connect(m_fit, &QToolButton::clicked, this, &PlotPanel::fit);
    connect(m_export, &QToolButton::clicked, this, &PlotPanel::exportAs);
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent *event) { showText(textAt(event->position())); });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &PlotPanel::fit);
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent *event) {
        setFocus(Qt::MouseFocusReason);
        m_pressed = event->position().toPoint();
    });
    connect(m_plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent *event) {
        // A drag pans; only what stayed in place is a click.
        if ((event->position().toPoint() - m_pressed).manhattanLength() < 4)
            pick(event->position());
        else
            m_isMoved = true;
    });
    connect(m_plot, &QCustomPlot::mouseWheel, this, [this] { m_isMoved = true; });
    const auto begun = std::make_shared<double>(0);
    connect(m_plot, &QCustomPlot::beforeReplot, this, [begun] { *begun = computedMs(); });
    connect(m_plot, &QCustomPlot::afterReplot, this, [this, begun] { m_paintMs = computedMs() - *begun; });
    showEmpty({});
}

QString PlotPanel::emptyText() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->text() : QString();
}

QString PlotPanel::readOut() const
{
    return m_readOut->text();
}

void PlotPanel::showEmpty(const QString &why)
{
    m_empty->setText(why);
    m_stack->setCurrentIndex(0);
    m_isFitted = false;
}

void PlotPanel::showPlot()
{
    m_stack->setCurrentIndex(1);
    showSummary();
    if (!m_isFitted) {
        fitAxes();
        m_isFitted = true;
    }
}

void PlotPanel::followFigures()
{
    if (!m_isMoved)
        fitAxes();
}

void PlotPanel::showSummary()
{
    m_readOut->setText(summary());
    m_readOut->setWarnsFrom(summaryWarns() ? 0 : ElidedLabel::kNowhere);
}

void PlotPanel::showText(const QString &text)
{
    if (text.isEmpty()) {
        showSummary();
        return;
    }
    m_readOut->setText(text);
    m_readOut->setWarnsFrom(ElidedLabel::kNowhere);
}

void PlotPanel::replot()
{
    stylePlot();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

bool PlotPanel::isSeen() const
{
    return isVisible() && isInSight(this);
}

void PlotPanel::refresh()
{
    m_later.stop();
    if (isSeen())
        redraw();
    else
        m_seen->defer();
}

void PlotPanel::redraw()
{
    const double before = computedMs();
    rebuild();
    m_rebuildMs = computedMs() - before;
    m_sinceDrawn.start();
}

/// They come many times a second while a comparison runs.
void PlotPanel::takeFigures()
{
    const double cost = m_rebuildMs + m_paintMs;
    const double left
        = kRest * cost - (m_sinceDrawn.isValid() ? static_cast<double>(m_sinceDrawn.elapsed()) : 0);
    if (cost <= kQuickMs || !m_sinceDrawn.isValid() || left <= 0 || !isSeen())
        refresh();
    else if (!m_later.isActive())
        m_later.start(static_cast<int>(left) + 1);
}

void PlotPanel::catchUp()
{
    if (m_later.isActive())
        refresh();
}

void PlotPanel::fit()
{
    if (!emptyText().isEmpty())
        return;
    m_isMoved = false;
    fitAxes();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QColor PlotPanel::sourceColour() const
{
    return precisionLook(tensor::DType::F32, isDark(palette())).colour;
}

QColor PlotPanel::markColour() const
{
    return palette().color(QPalette::Highlight);
}

void PlotPanel::addControl(QWidget *control)
{
    m_top->insertWidget(1, control);
}

void PlotPanel::styleAxis(QCPAxis *axis)
{
    const QColor text = palette().color(QPalette::Text);
    const QColor ground = palette().color(QPalette::Base);
    axis->setBasePen(QPen(blended(ground, text, 0.5)));
    axis->setTickPen(QPen(blended(ground, text, 0.5)));
    axis->setSubTickPen(QPen(blended(ground, text, 0.3)));
    axis->setTickLabelColor(text);
    axis->setLabelColor(blended(ground, text, 0.75));
    axis->setTickLabelFont(font());
    axis->setLabelFont(font());
    axis->grid()->setPen(QPen(blended(ground, text, 0.12)));
    axis->grid()->setSubGridPen(QPen(blended(ground, text, 0.06)));
    axis->grid()->setZeroLinePen(Qt::NoPen);
}

void PlotPanel::styleAxisRect(QCPAxisRect *rect)
{
    for (QCPAxis *axis : rect->axes())
        styleAxis(axis);
}

void PlotPanel::stylePlot()
{
    m_plot->setBackground(QBrush(palette().color(QPalette::Base)));
    for (QCPAxisRect *rect : m_plot->axisRects())
        styleAxisRect(rect);
    if (m_plot->legend) {
        QColor ground = palette().color(QPalette::Base);
        ground.setAlpha(220);
        m_plot->legend->setBrush(ground);
        m_plot->legend->setBorderPen(Qt::NoPen);
        m_plot->legend->setTextColor(palette().color(QPalette::Text));
        m_plot->legend->setFont(font());
        m_plot->legend->setIconSize(fontMetrics().height() * 3 / 2, fontMetrics().height());
    }
}

void PlotPanel::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (m_plot && (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange))
        refresh();
}

bool PlotPanel::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_plot && event->type() == QEvent::Leave)
        showSummary();
    return QWidget::eventFilter(watched, event);
}

void PlotPanel::zoom(double factor)
{
    m_isMoved = true;
    for (QCPAxis *axis : m_plot->axisRect()->axes(QCPAxis::atBottom))
        axis->scaleRange(factor);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotPanel::pan(double x, double y)
{
    m_isMoved = true;
    for (QCPAxis *axis : m_plot->axisRect()->axes(QCPAxis::atBottom))
        axis->moveRange(x * axis->range().size());
    for (QCPAxis *axis : m_plot->axisRect()->axes(QCPAxis::atLeft)) {
        if (axis->scaleType() == QCPAxis::stLinear)
            axis->moveRange(y * axis->range().size());
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotPanel::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Plus:
        return zoom(0.8);
    case Qt::Key_Minus:
        return zoom(1.25);
    case Qt::Key_Left:
        return pan(-0.1, 0);
    case Qt::Key_Right:
        return pan(0.1, 0);
    case Qt::Key_Up:
        return pan(0, 0.1);
    case Qt::Key_Down:
        return pan(0, -0.1);
    case Qt::Key_Home:
        return fit();
    default:
        QWidget::keyPressEvent(event);
    }
}

Result<void> PlotPanel::exportTo(const QString &path)
{
    const QString ending = path.section(QLatin1Char('.'), -1).toLower();
    QByteArray bytes;
    if (ending == QLatin1String("csv")) {
        bytes = csv().toUtf8();
    } else if (ending == QLatin1String("png")) {
        QBuffer buffer(&bytes);
        buffer.open(QIODevice::WriteOnly);
        m_plot->toPixmap(m_plot->width(), m_plot->height(), 2).save(&buffer, "PNG");
    } else if (ending == QLatin1String("pdf")) {
        // QCustomPlot writes PDF into files only, and says no more than that it failed.
        const QTemporaryDir folder;
        const QString temporary = folder.filePath(QStringLiteral("plot.pdf"));
        QFile file(temporary);
        if (!m_plot->savePdf(temporary, m_plot->width(), m_plot->height(), QCP::epAllowCosmetic,
                             QStringLiteral("Halftone"), windowTitle())
            || !file.open(QIODevice::ReadOnly))
            return inFile(badInput({}, "the PDF could not be created"), path.toStdString());
        bytes = file.readAll();
    } else {
        return inFile(badCall({}, "ending \"" + ending.toStdString() + '"', "png, pdf or csv"),
                      path.toStdString());
    }
    return writeFile(path, bytes);
}

void PlotPanel::exportAs()
{
    auto *const dialog = new QFileDialog(this, tr("Export Plot"), {},
                                         tr("Picture (*.png);;Document (*.pdf);;Figures (*.csv)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), 1).chopped(1));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        if (const Result<void> written = exportTo(path); !written.ok())
            QMessageBox::warning(this, tr("Export Plot"), plain(written.error().message()));
    });
    dialog->open();
}

} // namespace halftone::widgets
