#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/results/layout_json.h"

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
        table.add({indent + printable(results::nameOf(graph, tree, placed.item)), std::to_string(operators),
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
        printJson(results::layoutJson(model.graph, view, took.count()));
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
