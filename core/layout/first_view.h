#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/layout/graph_layout.h"
#include "core/layout/shown_graph.h"

namespace halftone::layout {

/// So many boxes are shown before anything is folded.
inline constexpr std::size_t kFirstView = 64;

/// A model as it is shown where no person has opened or closed anything, in boxes of a size for reports.
struct FirstView
{
    BlockTree tree;
    Picture picture;
};

/// isFolded  false: no blocks
/// fails: Cancelled
Result<FirstView> firstView(const graph::Model &model, bool isFolded, Detail detail,
                            const Progress &progress = {});

} // namespace halftone::layout
