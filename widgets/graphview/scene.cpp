#include "widgets/graphview/scene.h"

#include "widgets/common/formatters.h"
#include "widgets/common/short_names.h"

#include <QRegularExpression>

#include <algorithm>

namespace halftone::widgets {
namespace {

using graph::NodeId;

constexpr double kBand = 256; ///< height of a band of the index
constexpr std::size_t kMostBands = 1 << 16;
constexpr qsizetype kLongName = 18; ///< characters; more may not fit a box

std::uint64_t keyOf(const layout::ItemRef &ref)
{
    return (std::uint64_t{ref.isBlock} << 32) | ref.id;
}

std::uint64_t keyOf(NodeId reader, std::uint32_t input)
{
    return (std::uint64_t{reader} << 32) | input;
}

constexpr double kPortHeight = 20; ///< of names of ports above a box, with the line into it

const QString kBetween = QStringLiteral(" \u2026 "); ///< the names of a block's first and last operator
const QString kNumbered = QStringLiteral("block "); ///< begins the name of a repeated block
const QString kBeforeKind = QStringLiteral(" \u00b7 "); ///< "layers.17 · Attention"
const QString kBehindNumber = QStringLiteral(": "); ///< ends its number
const QString kEllipsis = QStringLiteral("\u2026");

/// Where the names begin in "block 2 of 12: a … b".
qsizetype namesBegin(const QString &name)
{
    const qsizetype number = name.startsWith(kNumbered) ? name.indexOf(kBehindNumber) : -1;
    return number < 0 ? 0 : number + kBehindNumber.size();
}

/// The names of operators that the name of a node or block is made of.
QStringList endsOf(const QString &name)
{
    return name.mid(namesBegin(name)).split(kBetween);
}

QString shortened(const QString &name, const ShortNames &shared)
{
    QStringList ends = endsOf(name);
    for (QString &end : ends)
        end = shared.shortened(end);
    return name.left(namesBegin(name)) + ends.join(kBetween);
}

/// "Residual block 3 of 10" without its first words, as there is room: the number tells one from the other.
QString numberWithin(const QString &name, double room, const QFontMetricsF &metrics)
{
    static const QRegularExpression kNumber(QStringLiteral("[0-9]+ of [0-9]+$"));
    const qsizetype number = name.indexOf(kNumber);
    for (qsizetype from = 0; from <= number; from = name.indexOf(QLatin1Char(' '), from) + 1)
        if (metrics.horizontalAdvance(name.mid(from)) <= room)
            return name.mid(from);
    return cutInMiddle(name, room, metrics);
}

QRectF toQt(const layout::Rect &rect)
{
    return {rect.x, rect.y, rect.width, rect.height};
}

} // namespace

QString titleWithin(const QString &name, double room, const QFontMetricsF &metrics)
{
    if (const qsizetype kind = name.indexOf(kBeforeKind); kind > 0 && metrics.horizontalAdvance(name) > room)
        return metrics.horizontalAdvance(name.left(kind) + kEllipsis) <= room
            ? metrics.elidedText(name, Qt::ElideRight, room)
            : cutInMiddle(name.left(kind), room, metrics);
    const qsizetype names = namesBegin(name);
    const bool isWhole = names == 0 || metrics.horizontalAdvance(name) <= room;
    return numberWithin(isWhole ? name : name.left(names - kBehindNumber.size()), room, metrics);
}

layout::ItemSizes itemSizes(const graph::Graph &graph, const layout::BlockTree &tree, double lineHeight)
{
    layout::ItemSizes sizes;
    const double line = std::max(8.0, lineHeight);
    sizes.nodes.assign(graph.nodeCount(), {12.5 * line, 2.5 * line});
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            sizes.nodes[id] = {8.5 * line, 1.7 * line};
    }
    sizes.foldedBlocks.assign(tree.blocks.size(), {14 * line, 3.6 * line});
    for (layout::BlockId id = 0; id < tree.blocks.size(); ++id)
        if (layout::isShapeChain(tree.blocks[id]))
            sizes.foldedBlocks[id] = {10.5 * line, 1.7 * line}; // "Shape arithmetic" fits
    sizes.frameHeader = 2.4 * line;
    sizes.framePadding = line;
    return sizes;
}

Scene::Scene(std::shared_ptr<const io::LoadedModel> source, std::shared_ptr<const layout::BlockTree> tree,
             std::vector<char> open, layout::Picture picture)
    : m_source(std::move(source))
    , m_tree(std::move(tree))
    , m_open(std::move(open))
    , m_size(picture.size.width, picture.size.height)
    , m_note(plain(picture.note))
    , m_itemOfNode(m_source->model.graph.nodeCount(), kNoItem)
{
    m_bandCount
        = std::clamp(static_cast<std::size_t>(m_size.height() / kBand) + 1, std::size_t{1}, kMostBands);
    addItems(picture);
    addEdges(picture);
    addPorts(picture);
    m_itemBands = banded(m_items.size(), [this](std::size_t k) { return m_items[k].rect; });
    m_edgeBands = banded(m_edges.size(), [this](std::size_t k) { return m_edges[k].bounds; });
}

const graph::Graph &Scene::graph() const
{
    return m_source->model.graph;
}

void Scene::addItems(const layout::Picture &picture)
{
    std::vector<char> isHead(graph().nodeCount(), 0);
    for (const graph::Entry &head : graph().heads())
        isHead[head.node] = 1;
    for (const layout::PlacedItem &placed : picture.items) {
        const auto index = static_cast<ItemIndex>(m_items.size());
        SceneItem item;
        item.ref = placed.item;
        item.rect = toQt(placed.rect);
        item.isFrame = placed.isFrame;
        item.depth = placed.depth;
        item.firstNode = static_cast<std::uint32_t>(m_nodes.size());
        if (placed.item.isBlock) {
            const layout::Block &block = m_tree->blocks[placed.item.id];
            item.name = plain(block.name);
            item.detail = QStringLiteral("%1 operators").arg(block.operators);
            item.isFaint = layout::isShapeChain(block);
            const std::vector<NodeId> nodes = layout::nodesIn(*m_tree, placed.item.id);
            m_nodes.insert(m_nodes.end(), nodes.begin(), nodes.end());
        } else {
            const graph::NodeDef &node = graph().node(placed.item.id);
            item.name = plain(node.name);
            item.isVariable = node.isVariable();
            item.isFaint = m_tree->asides.isFaintNode(placed.item.id);
            item.detail = item.isVariable ? QStringLiteral("input") : plain(node.op);
            if (const auto inset = m_tree->asides.insets.find(placed.item.id);
                inset != m_tree->asides.insets.end())
                item.detail += QStringLiteral(" \u00b7 ") + plain(inset->second);
            m_nodes.push_back(placed.item.id);
        }
        item.label = item.name;
        item.nodeCount = static_cast<std::uint32_t>(m_nodes.size()) - item.firstNode;
        for (std::uint32_t k = item.firstNode; k < m_nodes.size(); ++k) {
            item.isHead = item.isHead || (!item.isFrame && isHead[m_nodes[k]] != 0);
            if (!item.isFrame)
                m_itemOfNode[m_nodes[k]] = index;
        }
        m_itemOfRef.emplace(keyOf(item.ref), index);
        m_items.push_back(std::move(item));
    }
    shortenLabels();
    for (NodeId id = 0; id < m_itemOfNode.size(); ++id) {
        if (m_itemOfNode[id] == kNoItem)
            m_itemOfNode[id] = m_itemOfNode[m_tree->boxOf[id]];
    }
}

layout::BlockId Scene::blockAround(const layout::ItemRef &ref) const
{
    return ref.isBlock ? m_tree->blocks[ref.id].parent : m_tree->blockOf[ref.id];
}

/// What all in one block share is told by its title, or by none of them. Where all names of a block fit, they stay whole.
void Scene::shortenLabels()
{
    const auto common = static_cast<qsizetype>(m_tree->commonPrefix); // names of blocks are without it
    std::unordered_map<layout::BlockId, std::vector<ItemIndex>> inBlock;
    for (ItemIndex k = 0; k < m_items.size(); ++k)
        if (!m_items[k].isVariable)
            inBlock[blockAround(m_items[k].ref)].push_back(k);
    for (const auto &[block, inside] : inBlock) {
        QStringList names;
        bool isLong = false;
        for (const ItemIndex k : inside) {
            isLong = isLong || m_items[k].name.size() > kLongName;
            m_items[k].label = m_items[k].name.mid(m_items[k].ref.isBlock ? 0 : common);
            if (!m_items[k].ref.isBlock || m_items[k].label.contains(kBetween)) // else it is a beginning
                names += endsOf(m_items[k].label);
        }
        const ShortNames shared(names);
        for (const ItemIndex k : inside)
            m_items[k].label = isLong ? shortened(m_items[k].label, shared) : m_items[k].name;
        for (const ItemIndex k : inside) // small, and all of one kind: the tip tells which
            if (m_items[k].isFaint && m_items[k].ref.isBlock && !m_items[k].isFrame)
                m_items[k].label = plain(std::string(patterns::titleOf(patterns::UnitKind::ShapeArithmetic)));
    }
}

void Scene::addEdges(layout::Picture &picture)
{
    std::vector<std::vector<std::uint32_t>> into(m_items.size());
    std::vector<std::vector<std::uint32_t>> outOf(m_items.size());
    for (layout::PlacedEdge &placed : picture.edges) {
        const auto index = static_cast<std::uint32_t>(m_edges.size());
        SceneEdge edge;
        edge.from = placed.from;
        edge.to = placed.to;
        for (const layout::Point &point : placed.line)
            edge.line << QPointF(point.x, point.y);
        edge.bounds = edge.line.boundingRect().adjusted(-1, -1, 1, 1);
        edge.wires = std::move(placed.wires);
        if (placed.pair)
            edge.badge = plain(m_tree->asides.badges.at(*placed.pair));
        for (const layout::Wire &wire : edge.wires) {
            m_edgeOfWire.emplace(keyOf(wire.reader, wire.input), index);
            for (NodeId on = wire.from.node; m_tree->asides.isOnEdge(on);
                 on = m_tree->asides.through[on].node)
                m_edgeOfWire.emplace(keyOf(on, 0), index);
        }
        into[edge.to].push_back(index);
        outOf[edge.from].push_back(index);
        m_edges.push_back(std::move(edge));
    }
    m_into = Lists::of(into);
    m_outOf = Lists::of(outOf);
}

void Scene::addPorts(const layout::Picture &picture)
{
    std::vector<std::vector<ItemIndex>> into(m_items.size());
    std::vector<std::vector<ItemIndex>> outOf(m_items.size());
    std::vector<std::vector<NodeId>> sources(m_items.size());
    const auto add = [](QString &names, const QString &name) {
        if (!names.split(QStringLiteral(", ")).contains(name))
            names += (names.isEmpty() ? QString() : QStringLiteral(", ")) + name;
    };
    for (const layout::PlacedPort &port : picture.ports) {
        const QString name = plain(m_tree->asides.ports.at(port.source));
        add(m_items[port.to].reads, name);
        add(m_items[port.from].gives, name);
        into[port.to].push_back(port.from);
        outOf[port.from].push_back(port.to);
        if (std::ranges::find(sources[port.to], port.source) == sources[port.to].end())
            sources[port.to].push_back(port.source);
    }
    m_portsInto = Lists::of(into);
    m_portsOutOf = Lists::of(outOf);
    m_portSources = Lists::of(sources);
}

ItemIndex Scene::portsAt(const QPointF &place) const
{
    std::vector<ItemIndex> near;
    itemsIn({place - QPointF(1, 1), place + QPointF(1, kPortHeight)}, near);
    for (const ItemIndex index : near) {
        const SceneItem &item = m_items[index];
        const QRectF names(item.rect.left(), item.rect.top() - kPortHeight, item.rect.width() / 2,
                           kPortHeight);
        if (!item.isFrame && !item.reads.isEmpty() && names.contains(place))
            return index;
    }
    return kNoItem;
}

Scene::Lists Scene::Lists::of(const std::vector<std::vector<std::uint32_t>> &lists)
{
    Lists result;
    for (const auto &list : lists) {
        result.first.push_back(static_cast<std::uint32_t>(result.values.size()));
        result.values.insert(result.values.end(), list.begin(), list.end());
    }
    result.first.push_back(static_cast<std::uint32_t>(result.values.size()));
    return result;
}

std::pair<std::size_t, std::size_t> Scene::bandsOf(const QRectF &area) const
{
    const double height = std::max(1.0, m_size.height()) / static_cast<double>(m_bandCount);
    const auto band = [&](double y) {
        return static_cast<std::size_t>(std::clamp(y / height, 0.0, static_cast<double>(m_bandCount - 1)));
    };
    return {band(area.top()), band(area.bottom())};
}

Scene::Lists Scene::banded(std::size_t count, const std::function<QRectF(std::size_t)> &bounds) const
{
    std::vector<std::vector<std::uint32_t>> bands(m_bandCount);
    for (std::size_t k = 0; k < count; ++k) {
        const auto [first, last] = bandsOf(bounds(k));
        for (std::size_t band = first; band <= last; ++band)
            bands[band].push_back(static_cast<std::uint32_t>(k));
    }
    return Lists::of(bands);
}

std::span<const NodeId> Scene::nodesOf(ItemIndex item) const
{
    return std::span(m_nodes).subspan(m_items[item].firstNode, m_items[item].nodeCount);
}

ItemIndex Scene::itemOf(const layout::ItemRef &ref) const
{
    const auto place = m_itemOfRef.find(keyOf(ref));
    return place == m_itemOfRef.end() ? kNoItem : place->second;
}

QString Scene::pathOf(ItemIndex item) const
{
    QStringList names;
    for (layout::BlockId block = blockAround(m_items[item].ref);
         block != layout::kRoot && block != layout::kNoBlock; block = m_tree->blocks[block].parent)
        names.prepend(plain(m_tree->blocks[block].name));
    return names.join(QStringLiteral(" \u203a "));
}

std::uint32_t Scene::edgeOf(NodeId reader, std::uint32_t input) const
{
    const auto place = m_edgeOfWire.find(keyOf(reader, input));
    return place == m_edgeOfWire.end() ? kNoItem : place->second;
}

std::span<const std::uint32_t> Scene::edgesInto(ItemIndex item) const
{
    return m_into.at(item);
}

std::span<const std::uint32_t> Scene::edgesOutOf(ItemIndex item) const
{
    return m_outOf.at(item);
}

void Scene::itemsIn(const QRectF &area, std::vector<ItemIndex> &found) const
{
    found.clear();
    const auto [first, last] = bandsOf(area);
    for (std::size_t band = first; band <= last; ++band)
        for (const std::uint32_t k : m_itemBands.at(band))
            if (m_items[k].rect.intersects(area))
                found.push_back(k);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
}

void Scene::edgesIn(const QRectF &area, std::vector<std::uint32_t> &found) const
{
    found.clear();
    const auto [first, last] = bandsOf(area);
    for (std::size_t band = first; band <= last; ++band)
        for (const std::uint32_t k : m_edgeBands.at(band))
            if (m_edges[k].bounds.intersects(area))
                found.push_back(k);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
}

std::vector<layout::Span> Scene::linesThrough(const QRectF &row) const
{
    std::vector<std::uint32_t> near;
    edgesIn(row, near);
    std::vector<layout::Span> spans;
    for (const std::uint32_t edge : near) {
        const QPolygonF &line = m_edges[edge].line;
        layout::addCrossings(
            {row.x(), row.y(), row.width(), row.height()}, static_cast<std::size_t>(line.size()),
            [&line](std::size_t k) {
                const QPointF &point = line[static_cast<qsizetype>(k)];
                return layout::Point{point.x(), point.y()};
            },
            spans);
    }
    return spans;
}

ItemIndex Scene::itemAt(const QPointF &place) const
{
    ItemIndex best = kNoItem;
    const auto [first, last] = bandsOf(QRectF(place, QSizeF(0, 0)));
    for (std::size_t band = first; band <= last; ++band) {
        for (const std::uint32_t k : m_itemBands.at(band)) {
            if (m_items[k].rect.contains(place)
                && (best == kNoItem || m_items[k].depth >= m_items[best].depth))
                best = k;
        }
    }
    return best;
}

} // namespace halftone::widgets
