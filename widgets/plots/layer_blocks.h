#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::widgets {

/// Layers in a row that belong together: [first, end) of a plot's layers.
struct LayerBlock
{
    QString name;
    std::size_t first = 0;
    std::size_t end = 0;

    bool operator==(const LayerBlock &) const = default;
};

/// How many numbers into the names of a model's layers those lie that number its blocks: 0 for "layers.17/attn/MatMul", 1 for
/// "stage1_unit2_conv". Nothing where names do not tell blocks.
/// least  blocks there must be
std::optional<int> blockLevel(const QStringList &names, qsizetype least = 6);
/// What a name begins with up to the number at a level: "/model/layers.17" of "/model/layers.17/attn/MatMul". Empty: it has none.
QString blockNameOf(const QString &name, int level);

/// All layers cut into blocks: by their names, else into pieces of one length.
std::vector<LayerBlock> layerBlocks(const QStringList &names);

} // namespace halftone::widgets
