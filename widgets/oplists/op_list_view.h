#pragma once

#include "widgets/models/op_list_model.h"

#include <QTreeView>

#include <optional>

namespace halftone::widgets {

/// The tree of lists. While something is dragged over it, lists that can take it are lit, and targetHovered() tells which
/// one is under the cursor.
class OpListView : public QTreeView
{
    Q_OBJECT

public:
    explicit OpListView(OpListModel *model, QWidget *parent = nullptr);

    QModelIndexList selectedEntries() const; ///< first column, lists' own rows left out
    bool isOfOpenGroup(const QModelIndex &entry) const; ///< of nodes that would share a row
    void openGroup(); ///< gives the nodes of the current row a row each
    void closeGroup(); ///< puts the nodes of the current row's kind into one row again

Q_SIGNALS:
    void targetHovered(const halftone::widgets::ListPayload &payload, halftone::widgets::ListId list);
    void dragEnded(); ///< dropped or left

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void startDrag(Qt::DropActions actions) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragMoveEvent(QDragMoveEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void drawBranches(QPainter *painter, const QRect &rect, const QModelIndex &index) const override;
    void drawRow(QPainter *painter, const QStyleOptionViewItem &options,
                 const QModelIndex &index) const override;

private:
    void endDrag();
    void setGroupOpen(bool isOpen);

    OpListModel *m_model;
    std::optional<ListId> m_hovered;
    std::array<bool, kAllLists.size()> m_takes{};
};

} // namespace halftone::widgets
