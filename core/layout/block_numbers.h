#pragma once

#include "core/layout/block_tree.h"

#include <cstddef>
#include <vector>

namespace halftone::layout {

/// What a block is of a part that comes over and over and has no name of its own.
struct RepeatedPart
{
    std::size_t kind = 0; ///< a number for each part that is repeated, from 1 on; 0: the block is none
    std::size_t place = 0; ///< from 1 on
    std::size_t count = 0;
};

/// The tree with parents before their children, and with the numbers of repeated parts in their names.
///
/// made           its blocks in any order, the root first
/// repeatedParts  by id of a block in `made`, as far as there are any
BlockTree numberedTree(const BlockTree &made, const std::vector<RepeatedPart> &repeatedParts);

} // namespace halftone::layout
