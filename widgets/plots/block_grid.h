#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace halftone::widgets {

/// The layers of a model whose blocks repeat: a row a block, in the order of the layers, a column for what a block has in several
/// of them ("self_attn/q_proj").
struct BlockGrid
{
    QStringList blocks; ///< without what all begin with
    QStringList kinds; ///< empty for what lies in a block directly
    std::vector<std::vector<std::size_t>> cells; ///< layers, row by row

    bool isEmpty() const { return cells.empty(); }
    const std::vector<std::size_t> &at(std::size_t row, std::size_t column) const
    {
        return cells[row * static_cast<std::size_t>(kinds.size()) + column];
    }
};

/// By the names of the layers, which are paths as exporters write them. Empty where they do not tell blocks.
BlockGrid blockGrid(const QStringList &names);

} // namespace halftone::widgets
