#include "widgets/models/op_list_model.h"

#include "widgets/common/formatters.h"

#include <QFont>
#include <QMimeData>

#include <algorithm>
#include <unordered_set>

namespace halftone::widgets {
namespace {

/// Internal id of a list's own row; an entry's is its list's number.
constexpr quintptr kListRow = ~quintptr{0};

QString meaning(ListId list, tensor::DType target)
{
    switch (list) {
    case ListId::Target:
        return QStringLiteral("These operators compute in %1.").arg(titleOf(list, target));
    case ListId::Int8:
        return QStringLiteral("These operators compute in int8 where they can be quantized; elsewhere "
                              "their other list applies.");
    case ListId::Fp32:
        return QStringLiteral("These operators compute in float32.");
    case ListId::Widest:
        return QStringLiteral("These operators compute in the widest type among their inputs.");
    case ListId::Conditional:
        return QStringLiteral(
            "These operators compute in float32 if an attribute has one of the listed values.");
    case ListId::Excluded:
        return QStringLiteral("These nodes stay in float32, regardless of the list of their operator.");
    case ListId::Neutral:
        break;
    }
    return QStringLiteral("These operators compute in the type of their inputs.");
}

/// The first names of a row of many nodes, a line each.
QString namesIn(const ListEntry &entry)
{
    constexpr std::size_t kMostNames = 6;
    QString lines;
    for (std::size_t k = 0; k < std::min(entry.members.size(), kMostNames); ++k)
        lines += plain(entry.members[k]) + QLatin1Char('\n');
    if (entry.members.size() > kMostNames)
        lines += QStringLiteral("and %1 more\n").arg(entry.members.size() - kMostNames);
    return lines;
}

} // namespace

void OpListModel::setSnapshot(std::shared_ptr<const session::Snapshot> snapshot)
{
    const bool isOther = !snapshot || !m_snapshot || snapshot->source != m_snapshot->source;
    if (!isOther) {
        m_snapshot = std::move(snapshot);
        refresh();
        return;
    }
    beginResetModel();
    m_snapshot = std::move(snapshot);
    m_filter.opened.clear();
    m_entries = m_snapshot ? listEntries(*m_snapshot, m_filter) : ListEntries();
    endResetModel();
}

void OpListModel::setFilter(const ListFilter &filter)
{
    m_filter = filter;
    refresh();
}

bool OpListModel::isOpened(ListId list, const std::string &op) const
{
    return m_filter.opened.contains({list, op});
}

void OpListModel::setOpened(ListId list, const std::string &op, bool isOpened)
{
    if (isOpened)
        m_filter.opened.insert({list, op});
    else
        m_filter.opened.erase({list, op});
    refresh();
}

void OpListModel::refresh()
{
    ListEntries wanted = m_snapshot ? listEntries(*m_snapshot, m_filter) : ListEntries();
    for (const ListId list : kAllLists)
        merge(list, std::move(wanted[static_cast<std::size_t>(list)]));
    Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(kAllLists.size()) - 1, ColumnCount - 1));
}

/// Both are sorted in the same order, so that one walk finds what is gone, new and changed.
void OpListModel::merge(ListId list, std::vector<ListEntry> wanted)
{
    std::vector<ListEntry> &now = entries(list);
    const QModelIndex parent = listIndex(list);
    std::size_t at = 0;
    std::size_t next = 0;
    while (at < now.size() || next < wanted.size()) {
        std::size_t gone = at;
        while (gone < now.size() && (next == wanted.size() || isBefore(now[gone], wanted[next])))
            ++gone;
        if (gone > at) {
            beginRemoveRows(parent, static_cast<int>(at), static_cast<int>(gone) - 1);
            now.erase(now.begin() + static_cast<std::ptrdiff_t>(at),
                      now.begin() + static_cast<std::ptrdiff_t>(gone));
            endRemoveRows();
            continue;
        }
        std::size_t fresh = next;
        while (fresh < wanted.size() && (at == now.size() || isBefore(wanted[fresh], now[at])))
            ++fresh;
        if (fresh > next) {
            const std::size_t count = fresh - next;
            beginInsertRows(parent, static_cast<int>(at), static_cast<int>(at + count) - 1);
            now.insert(now.begin() + static_cast<std::ptrdiff_t>(at),
                       wanted.begin() + static_cast<std::ptrdiff_t>(next),
                       wanted.begin() + static_cast<std::ptrdiff_t>(fresh));
            endInsertRows();
            at += count;
            next = fresh;
            continue;
        }
        if (now[at] != wanted[next]) {
            now[at] = std::move(wanted[next]);
            const int row = static_cast<int>(at);
            Q_EMIT dataChanged(index(row, 0, parent), index(row, ColumnCount - 1, parent));
        }
        ++at;
        ++next;
    }
}

void OpListModel::markTargets(std::optional<std::array<bool, kAllLists.size()>> targets)
{
    m_targets = targets;
    Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(kAllLists.size()) - 1, ColumnCount - 1),
                       {TakesDropRole});
}

QModelIndex OpListModel::listIndex(ListId list) const
{
    return createIndex(static_cast<int>(list), 0, kListRow);
}

std::optional<ListId> OpListModel::listAt(const QModelIndex &index) const
{
    if (!index.isValid())
        return std::nullopt;
    return index.internalId() == kListRow ? kAllLists[static_cast<std::size_t>(index.row())]
                                          : kAllLists[index.internalId()];
}

const ListEntry *OpListModel::entryAt(const QModelIndex &index) const
{
    if (!index.isValid() || index.internalId() == kListRow)
        return nullptr;
    return &m_entries[index.internalId()][static_cast<std::size_t>(index.row())];
}

QModelIndex OpListModel::indexOf(ListId list, const std::string &name) const
{
    const std::vector<ListEntry> &all = entries(list);
    const auto at = std::ranges::find_if(all, [&name](const ListEntry &entry) {
        return entry.kind == ListEntry::Kind::Nodes ? std::ranges::binary_search(entry.members, name)
                                                    : entry.name == name;
    });
    return at == all.end() ? QModelIndex()
                           : createIndex(static_cast<int>(at - all.begin()), 0, static_cast<quintptr>(list));
}

ListPayload OpListModel::payloadAt(const QModelIndexList &indexes) const
{
    ListPayload payload;
    std::unordered_set<std::string> nodes;
    std::unordered_set<std::string> ops;
    const auto add = [](std::unordered_set<std::string> &known, std::vector<std::string> &names,
                        const std::string &name) {
        if (known.insert(name).second)
            names.push_back(name);
    };
    for (const QModelIndex &index : indexes) {
        const ListEntry *const entry = entryAt(index);
        if (!entry || entry->kind == ListEntry::Kind::Pattern)
            continue;
        if (entry->kind == ListEntry::Kind::Nodes)
            for (const std::string &name : entry->members)
                add(nodes, payload.nodes, name);
        else if (entry->kind == ListEntry::Kind::Node)
            add(nodes, payload.nodes, entry->name);
        else
            add(ops, payload.ops, entry->name);
    }
    return payload;
}

QModelIndex OpListModel::index(int row, int column, const QModelIndex &parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : kListRow);
}

QModelIndex OpListModel::parent(const QModelIndex &child) const
{
    if (!child.isValid() || child.internalId() == kListRow)
        return {};
    return createIndex(static_cast<int>(child.internalId()), 0, kListRow);
}

int OpListModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return static_cast<int>(kAllLists.size());
    if (parent.internalId() != kListRow || parent.column() != 0)
        return 0;
    return static_cast<int>(m_entries[static_cast<std::size_t>(parent.row())].size());
}

int OpListModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

std::size_t OpListModel::nodesOf(ListId list) const
{
    std::size_t nodes = 0;
    for (const ListEntry &entry : entries(list))
        nodes += entry.nodes;
    return nodes;
}

QString OpListModel::listToolTip(ListId list) const
{
    if (!m_snapshot)
        return {};
    return meaning(list, m_snapshot->target())
        + QStringLiteral("\n%1 entries, governing %2 nodes").arg(entries(list).size()).arg(nodesOf(list));
}

QVariant OpListModel::listData(ListId list, int column, int role) const
{
    const tensor::DType target = m_snapshot ? m_snapshot->target() : tensor::DType::F16;
    switch (role) {
    case Qt::DisplayRole:
        if (column == Name)
            return titleOf(list, target);
        return column == Nodes ? QVariant(static_cast<qulonglong>(nodesOf(list))) : QVariant();
    case Qt::ToolTipRole:
        return listToolTip(list);
    case Qt::AccessibleTextRole:
        return column == Name
            ? QStringLiteral("List %1, %2 entries").arg(titleOf(list, target)).arg(entries(list).size())
            : listData(list, column, Qt::DisplayRole).toString();
    case Qt::FontRole: {
        QFont font;
        font.setBold(true);
        return font;
    }
    case PrecisionRole:
        if (list == ListId::Target)
            return static_cast<int>(target);
        if (list == ListId::Int8)
            return static_cast<int>(tensor::DType::I8);
        return list == ListId::Fp32 || list == ListId::Excluded
            ? QVariant(static_cast<int>(tensor::DType::F32))
            : QVariant();
    case TakesDropRole:
        return m_targets ? QVariant((*m_targets)[static_cast<std::size_t>(list)]) : QVariant();
    default:
        return {};
    }
}

QVariant OpListModel::entryData(ListId list, const ListEntry &entry, int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
        if (column == Name)
            return entry.kind == ListEntry::Kind::Node ? entry.text() + QStringLiteral(" (node)")
                                                       : entry.text();
        if (column == Origin)
            return entry.isOwn ? QStringLiteral("own") : QStringLiteral("built-in");
        return entry.nodes > 0 ? QVariant(static_cast<qulonglong>(entry.nodes)) : QVariant();
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole:
        return entry.text() + QStringLiteral("\n") + namesIn(entry) + entry.origin
            + (entry.idle.isEmpty() ? QStringLiteral("\n%1 %2")
                                          .arg(entry.nodes)
                                          .arg(QLatin1String(entry.nodes == 1 ? "node" : "nodes"))
                                    : QStringLiteral("\nNo effect here: ") + entry.idle);
    case IdleRole:
        return !entry.idle.isEmpty();
    case TakesDropRole:
        return m_targets ? QVariant((*m_targets)[static_cast<std::size_t>(list)]) : QVariant();
    default:
        return {};
    }
}

QVariant OpListModel::data(const QModelIndex &index, int role) const
{
    const std::optional<ListId> list = listAt(index);
    if (!list)
        return {};
    if (role == ListRole)
        return static_cast<int>(*list);
    if (role == Qt::TextAlignmentRole)
        return QVariant((index.column() == Nodes ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const ListEntry *const entry = entryAt(index);
    return entry ? entryData(*list, *entry, index.column(), role) : listData(*list, index.column(), role);
}

QVariant OpListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section == Nodes ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return QStringLiteral("Operator");
    case Origin:
        return QStringLiteral("From");
    default:
        return QStringLiteral("Nodes");
    }
}

Qt::ItemFlags OpListModel::flags(const QModelIndex &index) const
{
    if (!index.isValid())
        return Qt::NoItemFlags;
    const ListEntry *const entry = entryAt(index);
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDropEnabled;
    if (entry && entry->kind != ListEntry::Kind::Pattern)
        flags |= Qt::ItemIsDragEnabled;
    if (entry)
        flags |= Qt::ItemNeverHasChildren;
    return flags;
}

QStringList OpListModel::mimeTypes() const
{
    return {QLatin1String(kOpsMime), QLatin1String(kNodesMime)};
}

QMimeData *OpListModel::mimeData(const QModelIndexList &indexes) const
{
    const ListPayload payload = payloadAt(indexes);
    if (payload.isEmpty())
        return nullptr;
    auto *const data = new QMimeData;
    writePayload(payload, *data);
    return data;
}

bool OpListModel::canDropMimeData(const QMimeData *data, Qt::DropAction, int, int,
                                  const QModelIndex &parent) const
{
    const std::optional<ListId> list = listAt(parent);
    return data && m_snapshot && list && moveTo(*m_snapshot, payloadOf(*data), *list).isPossible();
}

bool OpListModel::dropMimeData(const QMimeData *data, Qt::DropAction action, int row, int column,
                               const QModelIndex &parent)
{
    if (canDropMimeData(data, action, row, column, parent))
        Q_EMIT dropped(payloadOf(*data), *listAt(parent));
    return false;
}

} // namespace halftone::widgets
