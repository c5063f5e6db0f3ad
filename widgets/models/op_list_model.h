#pragma once

#include "core/session/snapshot.h"
#include "widgets/models/list_entries.h"
#include "widgets/models/list_moves.h"

#include <QAbstractItemModel>

#include <array>
#include <memory>
#include <optional>

namespace halftone::widgets {

/// The operator lists as a tree: a row a list, below it its entries. Shows a snapshot and changes nothing itself: a drop
/// is told by dropped(). A new snapshot of the same model inserts, removes and changes single rows, so that selection
/// and scroll position stay.
class OpListModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        Origin, ///< "own" or "built-in"
        Nodes, ///< how many the entry decides for
        ColumnCount
    };
    enum Role
    {
        ListRole = Qt::UserRole, ///< ListId as int, also of entries
        PrecisionRole, ///< tensor::DType as int, of the lists that stand for one
        IdleRole, ///< bool: the entry does nothing in this model
        TakesDropRole ///< bool, of lists, while something is dragged (markTargets())
    };

    using QAbstractItemModel::QAbstractItemModel;

    void setSnapshot(std::shared_ptr<const session::Snapshot> snapshot); ///< null: empty lists
    void setFilter(const ListFilter &filter);
    const ListFilter &filter() const { return m_filter; }
    /// Whether each node of an operator has a row of its own in a list, however many there are; else they share one.
    bool isOpened(ListId list, const std::string &op) const;
    void setOpened(ListId list, const std::string &op, bool isOpened);

    /// The lists that can take what is being dragged; nothing when the drag is over.
    void markTargets(std::optional<std::array<bool, kAllLists.size()>> targets);

    QModelIndex listIndex(ListId list) const;
    std::optional<ListId> listAt(const QModelIndex &index) const; ///< of an entry: the list it stands in
    const ListEntry *entryAt(const QModelIndex &index) const; ///< null for lists; valid until the next change
    QModelIndex indexOf(ListId list,
                        const std::string &name) const; ///< of the first entry of that name, or that holds it
    ListPayload payloadAt(const QModelIndexList &indexes) const; ///< what dragging these moves

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

    QStringList mimeTypes() const override;
    QMimeData *mimeData(const QModelIndexList &indexes) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction | Qt::CopyAction; }
    bool canDropMimeData(const QMimeData *data, Qt::DropAction action, int row, int column,
                         const QModelIndex &parent) const override;
    /// Emits dropped(). False: whoever listens makes the edit, and no rows are to be removed here.
    bool dropMimeData(const QMimeData *data, Qt::DropAction action, int row, int column,
                      const QModelIndex &parent) override;

Q_SIGNALS:
    void dropped(const halftone::widgets::ListPayload &payload, halftone::widgets::ListId to);

private:
    void refresh();
    void merge(ListId list, std::vector<ListEntry> wanted);
    QVariant listData(ListId list, int column, int role) const;
    QVariant entryData(ListId list, const ListEntry &entry, int column, int role) const;
    QString listToolTip(ListId list) const;
    std::size_t nodesOf(ListId list) const; ///< that its entries decide for
    std::vector<ListEntry> &entries(ListId list) { return m_entries[static_cast<std::size_t>(list)]; }
    const std::vector<ListEntry> &entries(ListId list) const
    {
        return m_entries[static_cast<std::size_t>(list)];
    }

    std::shared_ptr<const session::Snapshot> m_snapshot;
    ListFilter m_filter;
    ListEntries m_entries;
    std::optional<std::array<bool, kAllLists.size()>> m_targets;
};

} // namespace halftone::widgets
