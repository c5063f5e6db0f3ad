#pragma once

#include <QProxyStyle>

namespace halftone::app {

/// Fusion, legible on dark ground: its outlines are the window's colour made darker, which is nearly nothing there, and its icons for closing and
/// floating are black. Boxes and fields get a lighter outline on dark ground, and the icons the colour of text as it is when they are painted.
/// Hints of a desktop's palette, whose text lets half of the ground through, get a colour that is read on every ground.
class WindowStyle : public QProxyStyle
{
    Q_OBJECT

public:
    WindowStyle();

    using QProxyStyle::polish;
    void polish(QPalette &palette) override; ///< the desktop's, also when it changes
    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                       const QWidget *widget) const override;
    QIcon standardIcon(StandardPixmap which, const QStyleOption *option,
                       const QWidget *widget) const override;
};

} // namespace halftone::app
