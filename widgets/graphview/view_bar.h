#pragma once

#include "widgets/graphview/looks.h"

#include <QWidget>

class QButtonGroup;
class QComboBox;
class QLabel;
class QToolButton;

namespace halftone::widgets {

/// The line above the graph: what colours mean, which side is shown, zoom.
class ViewBar : public QWidget
{
    Q_OBJECT

public:
    explicit ViewBar(QWidget *parent = nullptr);

    void show(ColourBy colourBy, Sides sides);
    void showScale(double scale);

Q_SIGNALS:
    void colourByChosen(halftone::widgets::ColourBy colourBy);
    void sidesChosen(halftone::widgets::Sides sides);
    void fitWanted();
    void zoomInWanted();
    void zoomOutWanted();
    void zoomToFullWanted();
    void foldWanted();
    void unfoldWanted();
    void findWanted();

private:
    QToolButton *button(const QString &text, const QString &tip, void (ViewBar::*signal)());

    QComboBox *m_colourBy;
    QButtonGroup *m_sides;
    QToolButton *m_scale = nullptr;
};

} // namespace halftone::widgets
