#pragma once

#include "widgets/common/name_delegate.h"

#include <QPersistentModelIndex>

namespace halftone::widgets {

/// Dims stale figures, marks broken rules, and sets off what the policy says of a tensor itself.
class TensorDelegate : public NameDelegate
{
    Q_OBJECT

public:
    explicit TensorDelegate(QObject *parent);

    /// Of the row under the mouse, here or where the node is drawn; invalid: none.
    void setHovered(const QModelIndex &index) { m_hovered = index; }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    QPersistentModelIndex m_hovered;
};

} // namespace halftone::widgets
