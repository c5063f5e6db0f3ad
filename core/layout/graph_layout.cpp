#include "core/layout/graph_layout.h"

#include <algorithm>
#include <map>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr Size kPort{1, 1}; ///< where an edge comes into a frame or leaves it

/// A line within one level.
struct Segment
{
    BlockId level = 0;
    std::uint32_t from = 0; ///< see Level
    std::uint32_t to = 0;
};

/// The inside of an open block. Its nodes are called by numbers that first count children, then ports as they are met.
struct Level
{
    std::vector<ItemRef> children;
    std::map<std::uint32_t, std::uint32_t> topPorts; ///< by the visible item that the edge comes from
    std::map<std::uint32_t, std::uint32_t> bottomPorts;
    std::uint32_t count = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> edges; ///< to the index in the piece
    std::vector<std::uint32_t> placeOf; ///< by number: index in the piece
    PieceLayout layout;
    Point origin; ///< of the layout in the picture
};

class Drawing
{
public:
    Drawing(const graph::Graph &graph, const BlockTree &tree, const std::vector<char> &open,
            const ItemSizes &sizes, const Gaps &gaps)
        : m_graph(graph)
        , m_tree(tree)
        , m_sizes(sizes)
        , m_gaps(gaps)
        , m_items(visibleItems(tree, open))
        , m_levels(tree.blocks.size())
        , m_isSeen(tree.blocks.size(), 0)
        , m_numberOf(tree.blocks.size(), 0)
        , m_nodeNumber(graph.nodeCount(), 0)
    {
        m_isSeen[kRoot] = 1;
        for (BlockId block = 0; block < tree.blocks.size(); ++block) {
            if (block != kRoot)
                m_isSeen[block] = m_isSeen[tree.blocks[block].parent] != 0 && open[block] != 0 ? 1 : 0;
            if (m_isSeen[block] == 0)
                continue;
            m_depth = std::max(m_depth, tree.blocks[block].depth);
            Level &level = m_levels[block];
            level.children = tree.blocks[block].children;
            for (const ItemRef &child : level.children)
                (child.isBlock ? m_numberOf : m_nodeNumber)[child.id] = level.count++;
        }
        connect(standIns(tree, open));
    }

    Result<void> layOut(const LayoutOptions &options, PieceCache &cache, const Progress &progress)
    {
        for (std::uint32_t depth = m_depth + 1; depth-- > 0;) {
            std::vector<BlockId> blocks;
            std::vector<Piece> pieces;
            for (BlockId block = 0; block < m_tree.blocks.size(); ++block) {
                if (m_isSeen[block] != 0 && m_tree.blocks[block].depth == depth) {
                    blocks.push_back(block);
                    pieces.push_back(pieceOf(m_levels[block]));
                }
            }
            HALFTONE_TRY(StackOutcome outcome, stackLayouts(pieces, options, cache, progress));
            for (std::size_t k = 0; k < blocks.size(); ++k)
                m_levels[blocks[k]].layout = std::move(outcome.layouts[k]);
            m_picture.pieces += outcome.pieces;
            m_picture.plainPieces += outcome.plainPieces;
            if (m_picture.note.empty())
                m_picture.note = std::move(outcome.note);
        }
        return {};
    }

    Picture picture()
    {
        m_picture.size = m_levels[kRoot].layout.size;
        std::vector<std::uint32_t> indexOfVisible(m_items.size(), 0);
        std::vector<std::pair<BlockId, std::uint32_t>> stack{{kRoot, 0}};
        std::size_t visible = 0;
        while (!stack.empty()) {
            auto &[block, next] = stack.back();
            const Level &level = m_levels[block];
            if (next == level.children.size()) {
                stack.pop_back();
                continue;
            }
            const ItemRef child = level.children[next];
            Rect rect = level.layout.nodes[level.placeOf[next]];
            rect.x += level.origin.x;
            rect.y += level.origin.y;
            ++next;
            const auto depth = static_cast<std::uint32_t>(stack.size() - 1);
            const bool isFrame = child.isBlock && m_isSeen[child.id] != 0;
            m_picture.items.push_back({child, rect, isFrame, depth});
            if (isFrame) {
                m_levels[child.id].origin
                    = {rect.x + m_sizes.framePadding, rect.y + headerOf(m_levels[child.id])};
                stack.emplace_back(child.id, 0);
            } else {
                indexOfVisible[visible++] = static_cast<std::uint32_t>(m_picture.items.size() - 1);
            }
        }
        for (PlacedPort &port : m_picture.ports)
            port = {indexOfVisible[port.from], indexOfVisible[port.to], port.source};
        std::ranges::sort(m_picture.ports);
        m_picture.ports.erase(std::unique(m_picture.ports.begin(), m_picture.ports.end()),
                              m_picture.ports.end());
        for (Connection &connection : m_connections) {
            const auto pair = m_tree.asides.pairOn(connection.wires.front().from);
            m_picture.edges.push_back({indexOfVisible[connection.from], indexOfVisible[connection.to],
                                       lineOf(connection), std::move(connection.wires), pair});
        }
        return std::move(m_picture);
    }

private:
    struct Connection
    {
        std::uint32_t from = 0; ///< indices into m_items
        std::uint32_t to = 0;
        std::vector<Wire> wires;
        std::vector<Segment> segments;
    };

    BlockId levelOf(const ItemRef &item) const
    {
        return item.isBlock ? m_tree.blocks[item.id].parent : m_tree.blockOf[item.id];
    }
    std::uint32_t numberOf(const ItemRef &item) const
    {
        return item.isBlock ? m_numberOf[item.id] : m_nodeNumber[item.id];
    }

    void connect(const std::vector<ItemRef> &standIn)
    {
        std::map<ItemRef, std::uint32_t> indexOf;
        for (std::uint32_t k = 0; k < m_items.size(); ++k)
            indexOf.emplace(m_items[k], k);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (m_tree.boxOf[id] != id)
                continue;
            const auto inputs = m_graph.inputs(id);
            for (std::uint32_t k = 0; k < inputs.size(); ++k) {
                const NodeId source = m_tree.asides.sourceOf(inputs[k]).node;
                if (m_tree.boxOf[source] != source)
                    continue; // told in the reader's box
                const auto from = indexOf.find(standIn[source]);
                const auto to = indexOf.find(standIn[id]);
                if (from == indexOf.end() || to == indexOf.end() || from == to)
                    continue;
                if (!m_tree.asides.ports.empty() && m_tree.asides.ports.contains(source)) {
                    m_picture.ports.push_back({from->second, to->second, source});
                    continue;
                }
                const auto [place, isNew]
                    = known.emplace(std::pair(from->second, to->second), m_connections.size());
                if (isNew) {
                    m_connections.push_back({from->second, to->second, {}, {}});
                    route(m_connections.back());
                }
                m_connections[place->second].wires.push_back({inputs[k], id, k});
            }
        }
    }

    std::uint32_t port(std::map<std::uint32_t, std::uint32_t> &ports, Level &level, std::uint32_t source)
    {
        const auto [place, isNew] = ports.emplace(source, level.count);
        level.count += isNew ? 1 : 0;
        return place->second;
    }

    /// Up from the one item to the level that both are in, and down to the other.
    void route(Connection &connection)
    {
        const std::uint32_t source = connection.from;
        BlockId up = levelOf(m_items[connection.from]);
        BlockId down = levelOf(m_items[connection.to]);
        std::uint32_t from = numberOf(m_items[connection.from]);
        std::uint32_t to = numberOf(m_items[connection.to]);
        std::vector<Segment> downward;
        while (up != down) {
            if (m_tree.blocks[up].depth >= m_tree.blocks[down].depth) {
                addSegment(connection.segments, up, from,
                           port(m_levels[up].bottomPorts, m_levels[up], source));
                from = m_numberOf[up];
                up = m_tree.blocks[up].parent;
            } else {
                addSegment(downward, down, port(m_levels[down].topPorts, m_levels[down], source), to);
                to = m_numberOf[down];
                down = m_tree.blocks[down].parent;
            }
        }
        addSegment(connection.segments, up, from, to);
        connection.segments.insert(connection.segments.end(), downward.rbegin(), downward.rend());
    }

    void addSegment(std::vector<Segment> &segments, BlockId block, std::uint32_t from, std::uint32_t to)
    {
        Level &level = m_levels[block];
        level.edges.emplace(std::pair(from, to), 0);
        segments.push_back({block, from, to});
    }

    Size sizeOf(const ItemRef &item) const
    {
        if (!item.isBlock)
            return m_sizes.nodes[item.id];
        if (m_isSeen[item.id] == 0)
            return m_sizes.foldedBlocks[item.id];
        const Size inner = m_levels[item.id].layout.size;
        const Size folded = m_sizes.foldedBlocks[item.id]; // the frame's title needs as much room
        return {std::max(folded.width, inner.width + 2 * m_sizes.framePadding),
                inner.height + headerOf(m_levels[item.id]) + footOf(m_levels[item.id])};
    }

    /// A row of ports keeps a gap to what is inside, which is room for the title too.
    double headerOf(const Level &level) const
    {
        return level.topPorts.empty() ? m_sizes.frameHeader : std::max(0.0, m_sizes.frameHeader - m_gaps.row);
    }
    double footOf(const Level &level) const
    {
        return level.bottomPorts.empty() ? m_sizes.framePadding
                                         : std::max(0.0, m_sizes.framePadding - m_gaps.row);
    }

    /// Where the only edge into or out of a frame is; in the middle of everything else.
    double portOf(const ItemRef &item, bool isTop) const
    {
        const double middle = sizeOf(item).width / 2;
        if (!item.isBlock || m_isSeen[item.id] == 0)
            return middle;
        const Level &level = m_levels[item.id];
        const auto &ports = isTop ? level.topPorts : level.bottomPorts;
        if (ports.size() != 1)
            return middle;
        return m_sizes.framePadding + level.layout.nodes[level.placeOf[ports.begin()->second]].centreX();
    }

    /// Top ports, children, bottom ports.
    Piece pieceOf(Level &level) const
    {
        Piece piece;
        level.placeOf.resize(level.count);
        for (const auto &[source, number] : level.topPorts) {
            level.placeOf[number] = static_cast<std::uint32_t>(piece.nodes.size());
            piece.nodes.push_back(kPort);
        }
        for (std::uint32_t k = 0; k < level.children.size(); ++k) {
            level.placeOf[k] = static_cast<std::uint32_t>(piece.nodes.size());
            piece.nodes.push_back(sizeOf(level.children[k]));
        }
        for (const auto &[source, number] : level.bottomPorts) {
            level.placeOf[number] = static_cast<std::uint32_t>(piece.nodes.size());
            piece.nodes.push_back(kPort);
        }
        for (const Size &node : piece.nodes)
            piece.enter.push_back(node.width / 2);
        piece.leave = piece.enter;
        for (std::uint32_t k = 0; k < level.children.size(); ++k) {
            piece.enter[level.placeOf[k]] = portOf(level.children[k], true);
            piece.leave[level.placeOf[k]] = portOf(level.children[k], false);
        }
        piece.tops = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(level.topPorts.size()));
        piece.bottoms = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(level.bottomPorts.size()));
        for (auto &[ends, index] : level.edges) {
            index = static_cast<std::uint32_t>(piece.edges.size());
            piece.edges.push_back({level.placeOf[ends.first], level.placeOf[ends.second]});
        }
        return piece;
    }

    Polyline lineOf(const Connection &connection) const
    {
        Polyline line;
        std::uint32_t depth = 0; // of the segment before
        for (const Segment &segment : connection.segments) {
            const Level &level = m_levels[segment.level];
            Polyline part = level.layout.edges[level.edges.at({segment.from, segment.to})];
            for (Point &point : part)
                point = {point.x + level.origin.x, point.y + level.origin.y};
            const bool isInto = m_tree.blocks[segment.level].depth > depth;
            if (!line.empty() && !part.empty()) // straight through the frame's header or foot
                (isInto ? line.back().x : part.front().x) = (isInto ? part.front().x : line.back().x);
            line.insert(line.end(), part.begin(), part.end());
            depth = m_tree.blocks[segment.level].depth;
        }
        return line;
    }

    const graph::Graph &m_graph;
    const BlockTree &m_tree;
    const ItemSizes &m_sizes;
    const Gaps &m_gaps;
    std::vector<ItemRef> m_items; ///< to be seen
    std::vector<Level> m_levels; ///< by BlockId
    std::vector<char> m_isSeen; ///< by BlockId: open, and all around it
    std::vector<std::uint32_t> m_numberOf; ///< by BlockId: in its parent's level
    std::vector<std::uint32_t> m_nodeNumber; ///< by NodeId
    std::uint32_t m_depth = 0;
    std::vector<Connection> m_connections;
    Picture m_picture;
};

} // namespace

Result<Picture> layoutGraph(const graph::Graph &graph, const BlockTree &tree, const std::vector<char> &open,
                            const ItemSizes &sizes, const LayoutOptions &options, PieceCache &cache,
                            const Progress &progress)
{
    Drawing drawing(graph, tree, open, sizes, options.gaps);
    HALFTONE_CHECK(drawing.layOut(options, cache, progress));
    return drawing.picture();
}

} // namespace halftone::layout
