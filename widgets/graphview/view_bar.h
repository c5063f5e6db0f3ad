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
    void showEverything(bool shows);
    QSize minimumSizeHint() const override;

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
    void everythingWanted(bool wants); ///< constants and pairs as nodes

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    QToolButton *button(const QString &text, const QString &tip, void (ViewBar::*signal)());
    QWidget *makeSides(); ///< which graph is shown
    int widthWithout(qsizetype gone) const; ///< the first ones of m_givingWay
    void showHidden(); ///< what has no room, as a menu

    QComboBox *m_colourBy;
    QButtonGroup *m_sides;
    QToolButton *m_scale = nullptr;
    QToolButton *m_everything = nullptr;
    QToolButton *m_more = nullptr; ///< there when anything gave way
    QList<QWidget *> m_givingWay; ///< where room is scarce, in this order
};

} // namespace halftone::widgets
