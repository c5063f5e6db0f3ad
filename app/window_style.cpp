#include "app/window_style.h"

#include "app/icons.h"
#include "widgets/common/precision_palette.h"
#include "widgets/graphview/tones.h"

#include <QPainter>
#include <QStyleOption>

namespace halftone::app {
namespace {

constexpr double kRadius = 2;

/// The text's colour, as faint as it may be.
QColor hintColour(const QPalette &palette, QPalette::ColorGroup group)
{
    const QColor text = palette.color(group, QPalette::Text);
    const QColor base = palette.color(group, QPalette::Base);
    for (int twentieths = 8; twentieths > 0; --twentieths) {
        const QColor hint = widgets::blended(text, base, twentieths / 20.0);
        const auto isRead = [&](QPalette::ColorRole ground) {
            return widgets::contrastRatio(hint, palette.color(group, ground)) >= widgets::kLeastContrast;
        };
        if (isRead(QPalette::Window) && isRead(QPalette::Base) && isRead(QPalette::AlternateBase)
            && isRead(QPalette::Button)
            && widgets::contrastRatio(hint, widgets::hoverColour(palette)) >= widgets::kLeastContrast)
            return hint;
    }
    return text;
}

} // namespace

WindowStyle::WindowStyle()
    : QProxyStyle(QStringLiteral("fusion"))
{
}

void WindowStyle::polish(QPalette &palette)
{
    QProxyStyle::polish(palette);
    for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive})
        palette.setColor(group, QPalette::PlaceholderText, hintColour(palette, group));
}

void WindowStyle::drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                                const QWidget *widget) const
{
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool isBox = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
    const bool isOutlined = isBox || element == PE_IndicatorRadioButton || element == PE_FrameLineEdit;
    // What has the focus is outlined in the accent colour already.
    if (!isOutlined || !widgets::isDark(option->palette) || (!isBox && (option->state & State_HasFocus) != 0))
        return;
    const bool isEnabled = (option->state & State_Enabled) != 0;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(
        QPen(option->palette.color(isEnabled ? QPalette::Active : QPalette::Disabled,
                                   isBox || element == PE_IndicatorRadioButton ? QPalette::PlaceholderText
                                                                               : QPalette::Mid),
             1));
    const QRectF outline = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    if (element == PE_IndicatorRadioButton)
        painter->drawEllipse(outline);
    else
        painter->drawRoundedRect(outline, kRadius, kRadius);
    painter->restore();
}

QIcon WindowStyle::standardIcon(StandardPixmap which, const QStyleOption *option, const QWidget *widget) const
{
    if (which == SP_TitleBarCloseButton || which == SP_DockWidgetCloseButton)
        return lineIcon(Glyph::Close);
    if (which == SP_TitleBarNormalButton)
        return lineIcon(Glyph::Float);
    return QProxyStyle::standardIcon(which, option, widget);
}

} // namespace halftone::app
