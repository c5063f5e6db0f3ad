#pragma once

#include "core/base/result.h"
#include "widgets/common/document_controller.h"

#include <QElapsedTimer>
#include <QPointF>
#include <QTimer>
#include <QWidget>

class QCPAxis;
class QCPAxisRect;
class QCustomPlot;
class QHBoxLayout;
class QLabel;
class QStackedLayout;
class QToolButton;

namespace halftone::widgets {

class ElidedLabel;
class WhileSeen;

/// What all plots share: the drawing in the palette's colours, zoom by wheel, pan by drag, a line of text for what is under
/// the cursor, export, and words in place of an empty drawing. Keys: + and - zoom, arrows pan, Home shows everything. Nothing is
/// drawn while nobody can see it, and new figures are drawn so seldom that drawing takes a fifth of the time at most.
class PlotPanel : public QWidget
{
    Q_OBJECT

public:
    PlotPanel(DocumentController *controller, const QString &name, QWidget *parent);

    QCustomPlot *plot() const { return m_plot; }
    QString emptyText() const; ///< why nothing is drawn; empty when something is
    QString readOut() const; ///< the line of text

    /// As .png, .pdf or .csv, by the name's ending. fails: another ending, and what the file system says.
    Result<void> exportTo(const QString &path);
    virtual QString csv() const = 0;

public Q_SLOTS:
    void fit();
    void exportAs(); ///< asks where to
    void refresh(); ///< now, or when the panel comes into sight
    void catchUp(); ///< draws now what was put off for its cost

protected:
    virtual void rebuild() = 0; ///< the drawing, or showEmpty(); axes keep their ranges unless fitted
    virtual void fitAxes() = 0;
    virtual QString summary() const { return {}; } ///< the line while the cursor is elsewhere
    virtual bool summaryWarns() const { return false; } ///< it is then in the colour of warnings
    /// `place` in the plot's pixels; "" for nothing there.
    virtual QString textAt(const QPointF &place) const = 0;
    virtual void pick(const QPointF &place) = 0; ///< a click
    virtual void markSelection() { refresh(); } ///< which has changed

    void showEmpty(const QString &why);
    void showPlot();
    void followFigures(); ///< fits the axes again, unless a person has moved them
    void showSummary(); ///< in the line of text
    void showText(const QString &text); ///< there too
    void replot();
    void styleAxisRect(QCPAxisRect *rect);
    void styleAxis(QCPAxis *axis);
    void addControl(QWidget *control); ///< before the buttons

    bool isSeen() const; ///< else refresh() is put off
    DocumentController *controller() const { return m_controller; }
    QColor sourceColour() const; ///< float32's
    QColor markColour() const; ///< of the chosen layer

    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void build(const QString &name);
    void takeFigures();
    void redraw();
    void stylePlot();
    void zoom(double factor);
    void pan(double x, double y);

    DocumentController *m_controller;
    QStackedLayout *m_stack = nullptr;
    QLabel *m_empty = nullptr;
    ElidedLabel *m_readOut = nullptr;
    QHBoxLayout *m_top = nullptr;
    QToolButton *m_fit = nullptr;
    QToolButton *m_export = nullptr;
    QCustomPlot *m_plot = nullptr;
    WhileSeen *m_seen;
    QTimer m_later; ///< until figures that were put off are drawn
    QElapsedTimer m_sinceDrawn;
    double m_rebuildMs = 0; ///< of this thread's time
    double m_paintMs = 0; ///< likewise, of the last time that all was painted
    QPoint m_pressed;
    bool m_isMoved = false; ///< the axes, by a person
    bool m_isFitted = false; ///< the axes have been set for what is drawn
};

} // namespace halftone::widgets
