#include "widgets/plots/layer_blocks.h"

#include <QSet>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kMostLevels = 4;
constexpr std::size_t kLeastLayers = 3; ///< of a block, on average
constexpr std::size_t kPieces = 40; ///< where names tell no blocks

bool isNameSeparator(QChar sign)
{
    return QStringLiteral("/_.:-").contains(sign);
}

/// By name: layers in a row whose names have the same block.
std::vector<LayerBlock> blocksAt(const QStringList &names, int level)
{
    std::vector<LayerBlock> blocks;
    for (qsizetype k = 0; k < names.size(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        QString block = blockNameOf(names[k], level);
        if (blocks.empty() || blocks.back().name != block)
            blocks.push_back({std::move(block), at, at});
        blocks.back().end = at + 1;
    }
    return blocks;
}

} // namespace

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

std::optional<int> blockLevel(const QStringList &names, qsizetype least)
{
    const auto all = static_cast<std::size_t>(names.size());
    for (int level = 0; level < kMostLevels; ++level) {
        QSet<QString> different;
        std::size_t named = 0;
        std::size_t runs = 0;
        for (const LayerBlock &block : blocksAt(names, level)) {
            ++runs;
            if (block.name.isEmpty())
                continue;
            different.insert(block.name);
            named += block.end - block.first;
        }
        if (different.size() >= least && 2 * named >= all && kLeastLayers * runs <= all)
            return level;
    }
    return std::nullopt;
}

std::vector<LayerBlock> layerBlocks(const QStringList &names)
{
    if (const auto level = blockLevel(names))
        return blocksAt(names, *level);
    std::vector<LayerBlock> pieces;
    const auto all = static_cast<std::size_t>(names.size());
    const std::size_t length = std::max<std::size_t>(1, (all + kPieces - 1) / kPieces);
    for (std::size_t first = 0; first < all; first += length)
        pieces.push_back({{}, first, std::min(all, first + length)});
    return pieces;
}

} // namespace halftone::widgets
