#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/layout/first_view.h"

#include <chrono>
#include <cmath>
#include <memory>

namespace halftone::cli {
namespace {

struct LayoutOptions
{
    ModelOptions model;
    std::string fold = "auto";
    bool allNodes = false;
    bool json = false;
};

std::string nameOf(const graph::Graph &graph, const layout::BlockTree &tree, const layout::ItemRef &item)
{
    return item.isBlock ? tree.blocks[item.id].name : graph.node(item.id).name;
}

Json rectJson(const layout::Rect &rect)
{
    return {{"x", rect.x}, {"y", rect.y}, {"w", rect.width}, {"h", rect.height}};
}

Json pictureJson(const graph::Graph &graph, const layout::BlockTree &tree, const layout::Picture &picture,
                 double seconds)
{
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

void printPicture(const graph::Graph &graph, const layout::BlockTree &tree, const layout::Picture &picture,
                  double seconds)
{
    const auto whole = [](double value) { return std::to_string(std::llround(value)); };
    Table table({"name", "operators", "x", "y", "width", "height"});
    for (const layout::PlacedItem &placed : picture.items) {
        const std::string indent(2 * static_cast<std::size_t>(placed.depth), ' ');
        const std::size_t operators = placed.item.isBlock ? tree.blocks[placed.item.id].operators
            : graph.isVariable(placed.item.id)            ? 0
                                                          : 1;
        table.add({indent + printable(nameOf(graph, tree, placed.item)), std::to_string(operators),
                   whole(placed.rect.x), whole(placed.rect.y), whole(placed.rect.width),
                   whole(placed.rect.height)});
    }
    print(table.toString());
    Table foot;
    foot.add({"size", whole(picture.size.width) + " x " + whole(picture.size.height)});
    foot.add({"time", whole(seconds * 1000) + " ms"});
    if (!picture.note.empty())
        foot.add({"note", printable(picture.note)});
    print('\n' + foot.toString());
}

Result<void> layOut(const LayoutOptions &options, const std::stop_token &stop)
{
    HALFTONE_TRY(const session::Session session, options.model.open(stop));
    const graph::Model &model = session.source().model;
    const auto begin = std::chrono::steady_clock::now();
    const bool isFolded = options.fold == "auto";
    const auto detail = isFolded && !options.allNodes ? layout::Detail::Computed : layout::Detail::Everything;
    HALFTONE_TRY(const layout::FirstView view, layout::firstView(model, isFolded, detail, progress(stop)));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (options.json)
        printJson(pictureJson(model.graph, view.tree, view.picture, took.count()));
    else
        printPicture(model.graph, view.tree, view.picture, took.count());
    return {};
}

} // namespace

void addLayout(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<LayoutOptions>();
    Command command = app.command("layout", "Print the positions at which the window draws the nodes");
    options->model.addTo(command);
    command
        .option("--fold", &options->fold,
                "auto: fold blocks as in the window's first picture; none: show every node (default: auto)")
        .oneOf({"auto", "none"})
        .type("WHICH");
    command.flag("--all-nodes", options->allNodes,
                 "Show constants and quantize-dequantize pairs as nodes instead of marks on an edge "
                 "(implied by --fold none)");
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return layOut(*options, stop); };
    });
}

} // namespace halftone::cli
