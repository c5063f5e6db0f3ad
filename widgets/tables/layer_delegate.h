#pragma once

#include "widgets/common/name_delegate.h"

#include <QPersistentModelIndex>

namespace halftone::widgets {

/// Dims stale figures, marks overflows, and puts a swatch before precisions.
class LayerDelegate : public NameDelegate
{
    Q_OBJECT

public:
    explicit LayerDelegate(QObject *parent);

    /// Any cell of the row that is under the mouse, here or in another panel.
    void setHovered(const QModelIndex &index) { m_hovered = index; }

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    QPersistentModelIndex m_hovered;
};

} // namespace halftone::widgets
