#include "widgets/plots/block_grid.h"

#include "widgets/plots/layer_blocks.h"

#include <QHash>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr qsizetype kLeastRepeats = 3;
constexpr qsizetype kMostKinds = 48; ///< more columns than can be told apart

/// Of "/model/layers.3/attn/q_proj/MatMul" in "/model/layers.3": "attn/q_proj", since the last part is an operator; other names are a
/// layer's own.
QString kindIn(const QString &name, const QString &block)
{
    const QString rest = name.mid(block.size() + 1);
    if (!name.contains(u'/'))
        return rest;
    const qsizetype last = rest.lastIndexOf(u'/');
    return last < 0 ? QString() : rest.left(last);
}

/// In whole parts of a path.
qsizetype sharedBeginning(const QStringList &blocks)
{
    QString shared = blocks.front();
    for (const QString &block : blocks) {
        while (!block.startsWith(shared))
            shared.chop(1);
    }
    return shared.lastIndexOf(u'/') + 1;
}

} // namespace

BlockGrid blockGrid(const QStringList &names)
{
    const auto level = blockLevel(names, kLeastRepeats);
    if (!level)
        return {};
    BlockGrid grid;
    QHash<QString, qsizetype> rows, columns;
    QHash<QString, QStringList> blocksOf; // by kind
    for (const QString &name : names) {
        const QString block = blockNameOf(name, *level);
        if (block.isEmpty())
            continue;
        if (!rows.contains(block)) {
            rows.insert(block, grid.blocks.size());
            grid.blocks << block;
        }
        const QString kind = kindIn(name, block);
        QStringList &blocks = blocksOf[kind];
        if (blocks.size() < 2 && !blocks.contains(block))
            blocks << block;
        if (blocks.size() == 2 && !columns.contains(kind) && columns.size() < kMostKinds)
            columns.insert(kind, 0);
    }
    for (const QString &name : names) { // in the order of the layers
        const QString block = blockNameOf(name, *level);
        const QString kind = block.isEmpty() ? QString() : kindIn(name, block);
        if (!block.isEmpty() && columns.contains(kind) && !grid.kinds.contains(kind)) {
            columns[kind] = grid.kinds.size();
            grid.kinds << kind;
        }
    }
    if (grid.kinds.isEmpty())
        return {};
    grid.cells.resize(static_cast<std::size_t>(grid.blocks.size() * grid.kinds.size()));
    for (qsizetype layer = 0; layer < names.size(); ++layer) {
        const QString block = blockNameOf(names[layer], *level);
        const auto column = block.isEmpty() ? columns.cend() : columns.constFind(kindIn(names[layer], block));
        if (column != columns.cend())
            grid.cells[static_cast<std::size_t>(rows[block] * grid.kinds.size() + *column)].push_back(
                static_cast<std::size_t>(layer));
    }
    const qsizetype shared = sharedBeginning(grid.blocks);
    for (QString &block : grid.blocks)
        block.remove(0, shared);
    return grid;
}

} // namespace halftone::widgets
