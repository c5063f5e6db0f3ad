#include "core/results/layout_json.h"

namespace halftone::results {

using Json = OrderedJson;

std::string nameOf(const graph::Graph &graph, const layout::BlockTree &tree, const layout::ItemRef &item)
{
    return item.isBlock ? tree.blocks[item.id].name : graph.node(item.id).name;
}

namespace {

Json rectJson(const layout::Rect &rect)
{
    return {{"x", rect.x}, {"y", rect.y}, {"w", rect.width}, {"h", rect.height}};
}

} // namespace

Json layoutJson(const graph::Graph &graph, const layout::FirstView &view, double seconds)
{
    const auto &[tree, picture] = view;
    Json groups = Json::array();
    Json nodes = Json::array();
    for (const layout::PlacedItem &placed : picture.items) {
        Json row{{"name", nameOf(graph, tree, placed.item)}};
        row.update(rectJson(placed.rect));
        if (placed.item.isBlock) {
            row["operators"] = tree.blocks[placed.item.id].operators;
            row["open"] = placed.isFrame;
            row["depth"] = placed.depth;
            const auto unit = tree.blocks[placed.item.id].unit;
            row["unit"] = unit ? Json(patterns::titleOf(*unit)) : Json(nullptr);
            groups.push_back(std::move(row));
        } else {
            const auto inset = tree.asides.insets.find(placed.item.id);
            row["inside"] = inset == tree.asides.insets.end() ? Json(nullptr) : Json(inset->second);
            nodes.push_back(std::move(row));
        }
    }
    Json pairs = Json::array();
    for (const layout::PlacedEdge &edge : picture.edges)
        if (edge.pair)
            pairs.push_back({{"from", nameOf(graph, tree, picture.items[edge.from].item)},
                             {"to", nameOf(graph, tree, picture.items[edge.to].item)},
                             {"text", tree.asides.badges.at(*edge.pair)}});
    Json ports = Json::array();
    for (const layout::PlacedPort &port : picture.ports)
        ports.push_back({{"from", nameOf(graph, tree, picture.items[port.from].item)},
                         {"to", nameOf(graph, tree, picture.items[port.to].item)},
                         {"name", tree.asides.ports.at(port.source)}});
    return {{"seconds", seconds},
            {"width", picture.size.width},
            {"height", picture.size.height},
            {"pieces", picture.pieces},
            {"plain_pieces", picture.plainPieces},
            {"note", picture.note.empty() ? Json(nullptr) : Json(picture.note)},
            {"groups", std::move(groups)},
            {"nodes", std::move(nodes)},
            {"pairs", std::move(pairs)},
            {"ports", std::move(ports)}};
}

} // namespace halftone::results
