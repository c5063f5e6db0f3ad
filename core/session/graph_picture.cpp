#include "core/session/graph_picture.h"

#include "core/layout/first_view.h"
#include "core/layout/svg_writer.h"
#include "core/report/precision_colours.h"

#include <map>
#include <set>
#include <utility>

namespace halftone::session {
namespace {

using layout::SvgItem;

constexpr const char *kGrey = "#70747a";

struct Look
{
    std::string colour = kGrey;
    std::string tint = "#ffffff";
    std::string badge = "?";
    BandPattern pattern = BandPattern::None;
};

/// As in the window's light theme.
Look lookOf(tensor::DType type)
{
    const report::PrecisionColours *const colours = report::precisionColours(type);
    if (!colours)
        return {};
    return {colours->onLight, report::tintOnLight(colours->onLight), colours->badge, colours->pattern};
}

/// What a node computes in; where nothing was converted, the type that it gives.
tensor::DType shownType(const Snapshot &snapshot, graph::NodeId id)
{
    if (snapshot.converted || !snapshot.sourceTypes)
        return snapshot.precisionOf(id);
    const auto types = snapshot.sourceTypes->outputs(id);
    return types.empty() ? tensor::DType::Unknown : types[0];
}

SvgItem nodeItem(const Snapshot &snapshot, const layout::Asides &asides, graph::NodeId id,
                 const layout::Rect &rect)
{
    const graph::NodeDef &node = snapshot.graph().node(id);
    SvgItem item;
    item.kind = node.isVariable() ? SvgItem::Kind::Variable : SvgItem::Kind::Node;
    item.rect = rect;
    item.title = node.name;
    item.isFaint = asides.isFaintNode(id);
    item.detail = node.isVariable() ? "" : node.op;
    if (const auto inset = asides.insets.find(id); inset != asides.insets.end())
        item.detail += " · " + inset->second;
    const Look look = lookOf(node.isVariable() ? tensor::DType::Unknown : shownType(snapshot, id));
    item.badge = node.isVariable() ? "" : look.badge;
    item.band = look.colour;
    item.badgeText = "#ffffff";
    item.body = look.tint;
    item.border = look.colour;
    item.pattern = look.pattern;
    return item;
}

SvgItem blockItem(const Snapshot &snapshot, const layout::BlockTree &tree, const layout::PlacedItem &placed)
{
    const layout::Block &block = tree.blocks[placed.item.id];
    SvgItem item;
    item.kind = placed.isFrame ? SvgItem::Kind::Frame : SvgItem::Kind::Folded;
    item.rect = placed.rect;
    item.isFaint = layout::isShapeChain(block) && !placed.isFrame;
    item.title = item.isFaint ? std::string(patterns::titleOf(*block.unit)) : block.name;
    item.detail = std::to_string(block.operators) + (block.operators == 1 ? " operator" : " operators");
    item.band = item.border = kGrey;
    item.body = placed.isFrame ? "#f5f6f8" : "#ffffff";
    std::map<std::string, std::size_t> counts;
    for (const graph::NodeId id : layout::nodesIn(tree, placed.item.id))
        if (!snapshot.graph().isVariable(id))
            ++counts[lookOf(shownType(snapshot, id)).colour];
    for (const auto &[colour, count] : counts)
        if (block.operators > 0)
            item.mix.emplace_back(colour, static_cast<double>(count) / static_cast<double>(block.operators));
    return item;
}

layout::Point middleOf(const layout::Polyline &line)
{
    const layout::Point &a = line[(line.size() - 1) / 2];
    const layout::Point &b = line[line.size() / 2];
    return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}

/// Which reads of the source go through an inserted cast, and the type it gives.
std::map<std::pair<graph::NodeId, std::uint32_t>, const rewrite::InsertedCast *>
castReads(const Snapshot &snapshot)
{
    std::map<std::pair<graph::NodeId, std::uint32_t>, const rewrite::InsertedCast *> reads;
    if (!snapshot.converted)
        return reads;
    for (const rewrite::InsertedCast &cast : snapshot.converted->conversion.casts)
        for (const rewrite::Reader &reader : cast.readers)
            reads.emplace(std::pair(reader.node, reader.input), &cast);
    return reads;
}

/// By item, and whether it gives what these name or reads it: the names of ports.
std::map<std::pair<std::uint32_t, bool>, std::string> portNames(const layout::FirstView &view)
{
    std::map<std::pair<std::uint32_t, bool>, std::string> names;
    std::set<std::pair<std::uint32_t, graph::NodeId>> given;
    const auto add = [&names](std::uint32_t item, bool gives, const std::string &name) {
        std::string &all = names[{item, gives}];
        all += (all.empty() ? "" : ", ") + name;
    };
    for (const layout::PlacedPort &port : view.picture.ports) {
        const std::string &name = view.tree.asides.ports.at(port.source);
        add(port.to, false, name);
        if (given.emplace(port.from, port.source).second)
            add(port.from, true, name);
    }
    return names;
}

} // namespace

Result<std::string> graphPicture(const Snapshot &snapshot, const Progress &progress, bool isFolded,
                                 layout::Detail detail)
{
    HALFTONE_TRY(const layout::FirstView view,
                 layout::firstView(snapshot.source->model, isFolded, detail, progress));
    const layout::Picture &placed = view.picture;
    layout::SvgPicture picture;
    picture.size = placed.size;
    picture.title = "Graph coloured by precision";
    for (const layout::PlacedItem &item : placed.items)
        picture.items.push_back(item.item.isBlock
                                    ? blockItem(snapshot, view.tree, item)
                                    : nodeItem(snapshot, view.tree.asides, item.item.id, item.rect));
    for (const auto &[item, names] : portNames(view)) {
        const layout::Rect &rect = placed.items[item.first].rect;
        picture.labels.push_back(
            {{rect.x + 4, item.second ? rect.bottom() + 10 : rect.y - 8}, names + " ↓", {}});
    }
    const auto reads = castReads(snapshot);
    for (const layout::PlacedEdge &edge : placed.edges) {
        for (const layout::Wire &wire : edge.wires) {
            const auto read = reads.find({wire.reader, wire.input});
            if (read == reads.end() || edge.line.empty())
                continue;
            picture.casts.push_back(
                {middleOf(edge.line), lookOf(read->second->type).colour, read->second->readers.size() > 1});
            break; // one mark a line
        }
        if (edge.pair && !edge.line.empty())
            picture.labels.push_back({middleOf(edge.line), view.tree.asides.badges.at(*edge.pair),
                                      lookOf(tensor::DType::I8).colour});
        picture.edges.push_back(edge.line);
    }
    return layout::svgOf(picture);
}

} // namespace halftone::session
