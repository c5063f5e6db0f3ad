#include "widgets/graphview/scene_painter.h"

#include <QPainter>

#include <algorithm>

/// Items from afar: fields without text, of which thousands take a few milliseconds.
namespace halftone::widgets {

void ScenePainter::paintFarItem(QPainter &painter, const PaintInput &input, ItemIndex index)
{
    const SceneItem &item = input.scene->items()[index];
    const ItemLook &look = input.looks->items[index];
    QRectF rect = m_camera.toView(item.rect);
    if (item.isFrame)
        return;
    rect.setWidth(std::max(rect.width(), 2.0));
    rect.setHeight(std::max(rect.height(), 1.0));
    const bool isFaded = input.emphasis->isFaded(index);
    const Tone &tone = m_tones.of(look);
    QColor colour = input.colourBy != ColourBy::Precision || item.isVariable ? bodyOf(input, look, isFaded)
        : isFaded                                                            ? m_tones.faded(tone.band)
                                                                             : tone.band;
    if (item.ref.isBlock && input.colourBy == ColourBy::Precision) {
        paintMix(painter, rect, look, isFaded);
    } else {
        if (colour == m_tones.ground())
            colour = isFaded ? m_tones.faded(tone.border) : tone.border;
        painter.fillRect(rect, colour);
    }
    if (input.emphasis->isSelected(index) || input.emphasis->isFound(index))
        paintRings(painter, input, index, rect);
    if (look.warns)
        painter.fillRect(QRectF(rect.right(), rect.top(), 3, std::max(3.0, rect.height())), m_tones.amber());
}

/// What tells one item from another at a glance, in straight rectangles.
void ScenePainter::paintPlainItem(QPainter &painter, const PaintInput &input, ItemIndex index)
{
    const SceneItem &item = input.scene->items()[index];
    if (item.isFrame)
        return;
    const ItemLook &look = input.looks->items[index];
    const Tone &tone = m_tones.of(look);
    const bool isFaded = input.emphasis->isFaded(index);
    const auto shown = [&](const QColor &colour) { return isFaded ? m_tones.faded(colour) : colour; };
    const QRectF rect = m_camera.toView(item.rect).toAlignedRect();
    const bool isOperator = !item.ref.isBlock && !item.isVariable;
    const bool isByPrecision = input.colourBy == ColourBy::Precision;
    painter.fillRect(rect, shown(isOperator ? tone.border : m_tones.line()));
    painter.fillRect(rect.adjusted(1, 1, -1, -1),
                     isByPrecision && !isOperator ? m_tones.ground() : bodyOf(input, look, isFaded));
    if (item.ref.isBlock)
        paintMix(painter, QRectF(rect.left() + 1, rect.center().y(), rect.width() - 2, rect.height() / 2 - 1),
                 look, isFaded);
    else if (isOperator && !tone.isOutlined)
        painter.fillRect(
            QRectF(rect.left() + 1, rect.top() + 1, std::max(2.0, 8 * m_camera.scale), rect.height() - 2),
            shown(tone.band));
    if (look.warns)
        painter.fillRect(QRectF(rect.right() - 3, rect.top(), 4, 4), m_tones.amber());
    if (input.emphasis->isSelected(index) || input.emphasis->isFound(index))
        paintRings(painter, input, index, rect);
}

} // namespace halftone::widgets
