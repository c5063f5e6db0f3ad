#include "widgets/plots/threshold_handle.h"

#include "widgets/common/formatters.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/models/threshold_words.h"
#include "widgets/plots/custom_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScopedValueRollback>

#include <cmath>

namespace halftone::widgets {
namespace {

constexpr int kManyBins = 10;
constexpr int kPageBins = 100;

} // namespace

ThresholdHandle::ThresholdHandle(ThresholdEditor *editor, QCPAxisRect *rect, int side, QWidget *plot)
    : QAbstractSlider(plot)
    , m_editor(editor)
    , m_rect(rect)
    , m_side(side)
{
    setOrientation(Qt::Horizontal);
    setFocusPolicy(side > 0 ? Qt::StrongFocus : Qt::ClickFocus);
    setCursor(Qt::SplitHCursor);
    setAttribute(Qt::WA_Hover);
    setAccessibleName(tr("Threshold"));
    setToolTip(tr("Drag to set the int8 threshold. \u2190 \u2192 move it one bin, with Shift ten; Home clips "
                  "nothing; Esc restores it"));
    hide();
}

QCPAxis *ThresholdHandle::axis() const
{
    return m_rect->axis(QCPAxis::atBottom);
}

QSize ThresholdHandle::sizeHint() const
{
    const int line = fontMetrics().height();
    return {line * 3 / 4, line * 2};
}

void ThresholdHandle::place(bool isWanted)
{
    const double threshold = m_editor->value();
    const bool isShown = isWanted && m_editor->canMove() && axis()->range().contains(m_side * threshold);
    if (isShown) {
        const QScopedValueRollback<bool> guard(m_isPlacing, true);
        const QSize size = sizeHint();
        const auto x = static_cast<int>(std::lround(axis()->coordToPixel(m_side * threshold)));
        setGeometry(x - size.width() / 2, m_rect->center().y() - size.height() / 2, size.width(),
                    size.height());
        const double width = m_editor->study()->binWidth();
        setRange(1, static_cast<int>(std::lround(m_editor->tensor()->statistics.absMax / width)));
        setValue(static_cast<int>(std::lround(threshold / width)));
        const auto figures = m_editor->figures();
        setAccessibleDescription(tr("%1 of %2, %3")
                                     .arg(significant(threshold, 4), plain(m_editor->tensor()->name),
                                          figures ? figuresText(*figures) : QString()));
    }
    setVisible(isShown);
}

bool ThresholdHandle::handleKey(ThresholdEditor &editor, const QKeyEvent &event)
{
    const int bins = event.modifiers() & Qt::ShiftModifier ? kManyBins : 1;
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier) || !editor.canMove())
        return false;
    switch (event.key()) {
    case Qt::Key_Left:
        editor.nudge(-bins);
        return true;
    case Qt::Key_Right:
        editor.nudge(bins);
        return true;
    case Qt::Key_PageUp:
        editor.nudge(kPageBins);
        return true;
    case Qt::Key_PageDown:
        editor.nudge(-kPageBins);
        return true;
    case Qt::Key_Home:
        editor.nudgeToMinMax();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        editor.commit();
        return true;
    case Qt::Key_Escape:
        if (!editor.isMoving())
            return false;
        editor.revert();
        return true;
    default:
        return false;
    }
}

bool ThresholdHandle::claims(const ThresholdEditor &editor, const QKeyEvent &event)
{
    return event.key() == Qt::Key_Escape && editor.isMoving();
}

bool ThresholdHandle::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride && claims(*m_editor, *static_cast<QKeyEvent *>(event))) {
        event->accept();
        return true;
    }
    return QAbstractSlider::event(event);
}

void ThresholdHandle::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    m_isDragged = true;
    m_grabbed
        = mapToParent(event->position().toPoint()).x() - axis()->coordToPixel(m_side * m_editor->value());
    setFocus(Qt::MouseFocusReason);
    update();
}

void ThresholdHandle::mouseMoveEvent(QMouseEvent *event)
{
    if (m_isDragged)
        m_editor->move(m_side
                       * axis()->pixelToCoord(mapToParent(event->position().toPoint()).x() - m_grabbed));
}

void ThresholdHandle::mouseReleaseEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || !m_isDragged)
        return;
    m_isDragged = false;
    m_editor->commit();
    update();
}

void ThresholdHandle::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        m_isDragged = false;
    if (!handleKey(*m_editor, *event))
        event->ignore();
}

/// The plot under it zooms.
void ThresholdHandle::wheelEvent(QWheelEvent *event)
{
    event->ignore();
}

/// Set from outside, as by a screen reader.
void ThresholdHandle::sliderChange(SliderChange change)
{
    QAbstractSlider::sliderChange(change);
    if (change == SliderValueChange && !m_isPlacing && m_editor->canMove()) {
        m_editor->move(value() * m_editor->study()->binWidth());
        m_editor->nudge(0);
    }
}

void ThresholdHandle::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool isHot = m_isDragged || underMouse();
    const QColor accent = palette().color(QPalette::Highlight);
    const QRectF body = QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5);
    painter.setBrush(isHot ? accent : palette().color(QPalette::Base));
    painter.setPen(QPen(accent, hasFocus() ? 3 : 1.5));
    painter.drawRoundedRect(body, 3, 3);
    painter.setPen(QPen(isHot ? palette().color(QPalette::HighlightedText) : accent, 1));
    for (const double shift : {-2.0, 2.0}) {
        const double x = body.center().x() + shift;
        painter.drawLine(QPointF(x, body.top() + body.height() / 4),
                         QPointF(x, body.bottom() - body.height() / 4));
    }
}

} // namespace halftone::widgets
