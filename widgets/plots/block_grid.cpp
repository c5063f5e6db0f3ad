#include "widgets/plots/block_grid.h"

#include <QHash>
#include <QSet>

#include <algorithm>
#include <optional>

namespace halftone::widgets {
namespace {

constexpr qsizetype kLeastRepeats = 3;
constexpr int kMostLevels = 4;
constexpr qsizetype kLeastLayers = 3; ///< of a block, on average
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

bool isNameSeparator(QChar sign)
{
    return QStringLiteral("/_.:-").contains(sign);
}

/// What a name begins with up to the number at a level: "/model/layers.17" of "/model/layers.17/attn/MatMul". Empty: it has none.
QString blockNameOf(const QString &name, int level)
{
    int found = 0;
    for (qsizetype k = 0; k < name.size(); ++k) {
        if (!name[k].isDigit() || (k > 0 && name[k - 1].isDigit()))
            continue;
        qsizetype end = k;
        while (end < name.size() && name[end].isDigit())
            ++end;
        // A number at the end of the name is the layer's own.
        if (end + 1 < name.size() && isNameSeparator(name[end]) && found++ == level)
            return name.left(end);
    }
    return {};
}

/// How many numbers into the names those lie that number the blocks: 0 for "layers.17/attn/MatMul", 1 for "stage1_unit2_conv".
/// Nothing where names do not tell blocks.
std::optional<int> blockLevel(const QStringList &names)
{
    for (int level = 0; level < kMostLevels; ++level) {
        QSet<QString> different;
        qsizetype named = 0;
        qsizetype runs = 0;
        QString last;
        for (qsizetype k = 0; k < names.size(); ++k) {
            const QString block = blockNameOf(names[k], level);
            runs += k == 0 || block != last ? 1 : 0;
            last = block;
            if (block.isEmpty())
                continue;
            different.insert(block);
            ++named;
        }
        if (different.size() >= kLeastRepeats && 2 * named >= names.size()
            && kLeastLayers * runs <= names.size())
            return level;
    }
    return std::nullopt;
}

/// Of what all begin with the whole parts, without a word before the number: the graph calls a block "layers.17" too.
qsizetype sharedBeginning(const QStringList &blocks)
{
    QStringView shared = blocks.front();
    for (const QString &block : blocks)
        while (!block.startsWith(shared))
            shared.chop(1);
    while (!shared.isEmpty() && shared.back().isDigit())
        shared.chop(1);
    const bool isBeforeNumbers = std::ranges::all_of(
        blocks, [&shared](const QString &block) { return block[shared.size()].isDigit(); });
    while (isBeforeNumbers && !shared.isEmpty() && isNameSeparator(shared.back()))
        shared.chop(1);
    while (!shared.isEmpty() && !isNameSeparator(shared.back()))
        shared.chop(1);
    return shared.size();
}

} // namespace

BlockGrid blockGrid(const QStringList &names)
{
    const auto level = blockLevel(names);
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
