#include "widgets/plots/layer_blocks.h"

#include "core/layout/shown_graph.h"
#include "widgets/common/formatters.h"

#include <algorithm>
#include <map>

namespace halftone::widgets {
namespace {

constexpr std::size_t kLayersInEach = 8; ///< on average, or more
constexpr std::size_t kFewest = 16;
constexpr std::size_t kMost = 128; ///< more are no wider than a few pixels

} // namespace

LayerBlocks layerBlocks(const graph::Model &model, std::size_t layers)
{
    const layout::BlockTree tree = layout::shownTree(model, layout::Detail::Computed);
    const std::size_t most = std::clamp(layers / kLayersInEach, kFewest, kMost);
    const std::vector<layout::ItemRef> items = layout::standIns(tree, layout::openWithin(tree, most));
    LayerBlocks blocks;
    std::map<layout::ItemRef, std::size_t> places;
    for (const layout::ItemRef &item : items) {
        const auto [place, isNew] = places.try_emplace(item, places.size());
        if (isNew)
            blocks.names << (item.isBlock ? plain(tree.blocks[item.id].name) : QString());
        blocks.partOf.push_back(place->second);
    }
    return blocks;
}

bool givesReals(const session::Snapshot &snapshot, graph::NodeId node)
{
    const tensor::DType type
        = snapshot.sourceTypes ? snapshot.sourceTypes->at(node, 0) : tensor::DType::Unknown;
    return type == tensor::DType::Unknown || tensor::isFloat(type);
}

} // namespace halftone::widgets
