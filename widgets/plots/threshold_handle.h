#pragma once

#include <QAbstractSlider>

class QCPAxis;
class QCPAxisRect;
class QKeyEvent;

namespace halftone::widgets {

class ThresholdEditor;

/// A grip on the line that stands for the threshold in hand: a slider over a plot's axis, so that whoever reads the screen
/// aloud can set it too. Dragging moves the threshold, letting go settles it; Esc puts it back. For keys see handleKey().
class ThresholdHandle : public QAbstractSlider
{
    Q_OBJECT

public:
    /// side  1, or -1 for the line at the negative threshold
    ThresholdHandle(ThresholdEditor *editor, QCPAxisRect *rect, int side, QWidget *plot);

    /// Where the line is now; hidden where it is not in sight or `isWanted` is false.
    void place(bool isWanted);

    /// Left and Right move by a bin, with Shift by 10, Page Up and Down by 100, Home clips nothing, Return settles and Esc
    /// puts back what was. false: not one of these.
    static bool handleKey(ThresholdEditor &editor, const QKeyEvent &event);
    /// Would Esc put something back? Then it is no shortcut of the window's.
    static bool claims(const ThresholdEditor &editor, const QKeyEvent &event);

    QSize sizeHint() const override;

protected:
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void sliderChange(SliderChange change) override;

private:
    QCPAxis *axis() const;

    ThresholdEditor *m_editor;
    QCPAxisRect *m_rect;
    int m_side;
    bool m_isDragged = false;
    bool m_isPlacing = false;
    double m_grabbed = 0; ///< pixels from the line to where the grip was taken
};

} // namespace halftone::widgets
