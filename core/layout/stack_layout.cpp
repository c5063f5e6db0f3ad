#include "core/layout/stack_layout.h"

#include "core/layout/dot_layout.h"
#include "core/layout/layered_layout.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::layout {
namespace {

using LayoutPtr = std::shared_ptr<const PieceLayout>;

/// A part of a graph between two waists, both included.
struct Part
{
    std::uint32_t first = 0; ///< its nodes are those of the graph from here …
    std::uint32_t last = 0; ///< … to here
    std::vector<std::uint32_t> edges; ///< of the graph
    Piece piece;
    std::string key;
    LayoutPtr layout;
};

/// Two nodes and at most one edge: nothing to decide.
bool isPlain(const Part &part)
{
    return part.last - part.first <= 1;
}

PieceLayout plainPair(const Piece &piece, const Gaps &gaps)
{
    PieceLayout layout;
    double y = 0;
    for (std::size_t k = 0; k < piece.nodes.size(); ++k) {
        const Size &node = piece.nodes[k];
        const std::vector<double> &places = k == 0 ? piece.leave : piece.enter;
        layout.nodes.push_back({places.empty() ? -node.width / 2 : -places[k], y, node.width, node.height});
        y += node.height + gaps.row;
    }
    for (const Piece::Edge &edge : piece.edges)
        layout.edges.push_back({{0, layout.nodes[edge.from].bottom()}, {0, layout.nodes[edge.to].y}});
    tidy(piece, layout);
    return layout;
}

std::vector<Part> cutAtWaists(const Piece &graph)
{
    const auto count = static_cast<std::uint32_t>(graph.nodes.size());
    std::vector<std::uint32_t> reach(count, 0);
    for (const Piece::Edge &edge : graph.edges)
        reach[edge.from] = std::max(reach[edge.from], edge.to);
    std::vector<Part> parts;
    std::vector<std::uint32_t> partAt(count, 0); // the part that a node opens or lies within
    std::uint32_t farthest = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const bool isTop = k > 0 && k < graph.tops;
        const bool isBottom = k >= graph.tops && k + graph.bottoms > count && k + 1 < count;
        if (farthest <= k && !isTop && !isBottom) {
            if (!parts.empty())
                parts.back().last = k;
            if (k + 1 < count || count == 1)
                parts.push_back({k, k, {}, {}, {}, nullptr});
        }
        partAt[k] = static_cast<std::uint32_t>(parts.size() - 1);
        farthest = std::max(farthest, reach[k]);
    }
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e)
        parts[partAt[graph.edges[e].from]].edges.push_back(e);
    for (Part &part : parts) {
        part.piece.nodes.assign(graph.nodes.begin() + part.first, graph.nodes.begin() + part.last + 1);
        for (const std::uint32_t e : part.edges)
            part.piece.edges.push_back({graph.edges[e].from - part.first, graph.edges[e].to - part.first});
        if (!graph.enter.empty()) {
            part.piece.enter.assign(graph.enter.begin() + part.first, graph.enter.begin() + part.last + 1);
            part.piece.leave.assign(graph.leave.begin() + part.first, graph.leave.begin() + part.last + 1);
        }
        part.piece.tops = part.first == 0 ? graph.tops : 1;
        part.piece.bottoms = part.last + 1 == count ? graph.bottoms : 1;
    }
    return parts;
}

/// The parts below one another, so that the node that two of them share is in one place.
PieceLayout stacked(const Piece &graph, const std::vector<Part> &parts)
{
    PieceLayout whole;
    whole.nodes.resize(graph.nodes.size());
    whole.edges.resize(graph.edges.size());
    double dx = 0;
    double dy = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const Part &part = parts[p];
        const PieceLayout &layout = *part.layout;
        if (p > 0) {
            dx = whole.nodes[part.first].x - layout.nodes.front().x;
            dy = whole.nodes[part.first].y - layout.nodes.front().y;
        }
        for (std::size_t k = p > 0 ? 1 : 0; k < layout.nodes.size(); ++k) {
            Rect rect = layout.nodes[k];
            rect.x += dx;
            rect.y += dy;
            whole.nodes[part.first + k] = rect;
        }
        for (std::size_t k = 0; k < part.edges.size(); ++k) {
            Polyline line = layout.edges[k];
            for (Point &point : line)
                point = {point.x + dx, point.y + dy};
            whole.edges[part.edges[k]] = std::move(line);
        }
    }
    tidy(graph, whole);
    return whole;
}

const std::string kPlainKey = "plain "; ///< before the key of a layout without Graphviz

class Stacking
{
public:
    Stacking(std::span<const Piece> graphs, const LayoutOptions &options, PieceCache &cache,
             const Progress &progress)
        : m_graphs(graphs)
        , m_options(options)
        , m_cache(cache)
        , m_progress(progress)
    {
    }

    Result<StackOutcome> run()
    {
        for (const Piece &graph : m_graphs)
            m_parts.push_back(cutAtWaists(graph));
        collect();
        HALFTONE_CHECK(askGraphviz());
        for (const auto &[key, part] : m_open) {
            HALFTONE_CHECK(m_progress.checkStop());
            if (!m_found.contains(key))
                layOutPlainly(*part);
        }
        for (std::vector<Part> &parts : m_parts) {
            for (Part &part : parts) {
                if (part.layout != nullptr)
                    continue;
                part.layout = m_found.at(part.key);
                m_outcome.plainPieces += m_plain.contains(part.key) ? 1 : 0;
            }
        }
        for (std::size_t k = 0; k < m_graphs.size(); ++k)
            m_outcome.layouts.push_back(m_parts[k].empty() ? PieceLayout{}
                                                           : stacked(m_graphs[k], m_parts[k]));
        return std::move(m_outcome);
    }

private:
    void collect()
    {
        for (std::vector<Part> &parts : m_parts) {
            for (Part &part : parts) {
                if (isPlain(part)) {
                    part.layout = std::make_shared<const PieceLayout>(plainPair(part.piece, m_options.gaps));
                    continue;
                }
                ++m_outcome.pieces;
                part.key = dotText(part.piece, m_options.gaps);
                if (m_found.contains(part.key) || m_known.contains(part.key))
                    continue;
                if (LayoutPtr layout = m_cache.find(part.key)) {
                    m_found.emplace(part.key, std::move(layout));
                } else if (LayoutPtr plain
                           = isTooHeavy(part) ? m_cache.find(kPlainKey + part.key) : nullptr) {
                    m_found.emplace(part.key, std::move(plain));
                    notePlain(part);
                } else if (m_known.emplace(part.key, m_open.size()).second) {
                    m_open.emplace_back(part.key, &part);
                }
            }
        }
    }

    Result<void> askGraphviz()
    {
        std::vector<const Piece *> asked;
        std::vector<std::size_t> which;
        for (std::size_t k = 0; k < m_open.size(); ++k) {
            if (!isTooHeavy(*m_open[k].second)) {
                asked.push_back(&m_open[k].second->piece);
                which.push_back(k);
            }
        }
        if (asked.empty() || m_options.program.empty())
            return {};
        m_progress.tell(0.1, "laying out");
        auto outcome = dotLayout(m_options.program, asked, m_options.gaps, m_options.limits, m_progress.stop);
        if (!outcome.ok()) {
            if (outcome.error().code == Errc::Cancelled)
                return std::move(outcome).error();
            m_outcome.note = outcome.error().message();
            return {};
        }
        m_outcome.note = outcome.value().note;
        for (std::size_t k = 0; k < asked.size(); ++k) {
            if (outcome.value().pieces[k])
                keep(m_open[which[k]].first, std::move(*outcome.value().pieces[k]));
        }
        return {};
    }

    bool isTooHeavy(const Part &part) const { return part.piece.weight() > m_options.heaviest; }

    void notePlain(const Part &part)
    {
        m_plain.insert(part.key);
        if (m_outcome.note.empty() && !m_options.program.empty())
            m_outcome.note
                = "a part of " + std::to_string(part.piece.nodes.size()) + " nodes is too large for Graphviz";
    }

    /// What Graphviz has not finished is asked of it again the next time, what is too large for it is not.
    void layOutPlainly(const Part &part)
    {
        notePlain(part);
        auto layout
            = std::make_shared<const PieceLayout>(layeredLayout(part.piece, m_options.gaps, m_progress.stop));
        if (isTooHeavy(part))
            m_cache.insert(kPlainKey + part.key, layout);
        m_found.emplace(part.key, std::move(layout));
    }

    void keep(const std::string &key, PieceLayout layout)
    {
        auto shared = std::make_shared<const PieceLayout>(std::move(layout));
        m_found.emplace(key, shared);
        m_cache.insert(key, std::move(shared));
    }

    std::span<const Piece> m_graphs;
    const LayoutOptions &m_options;
    PieceCache &m_cache;
    const Progress &m_progress;
    std::vector<std::vector<Part>> m_parts; ///< by graph
    std::vector<std::pair<std::string, const Part *>> m_open; ///< to be laid out, each content once
    std::unordered_map<std::string, std::size_t> m_known;
    std::unordered_map<std::string, LayoutPtr> m_found;
    std::unordered_set<std::string> m_plain; ///< keys of those that Graphviz has not laid out
    StackOutcome m_outcome;
};

} // namespace

std::shared_ptr<const PieceLayout> PieceCache::find(const std::string &key) const
{
    const std::scoped_lock lock(m_mutex);
    const auto place = m_layouts.find(key);
    return place == m_layouts.end() ? nullptr : place->second;
}

void PieceCache::insert(const std::string &key, std::shared_ptr<const PieceLayout> layout)
{
    const std::scoped_lock lock(m_mutex);
    if (m_bytes + key.size() > kMostBytes) {
        m_layouts.clear();
        m_bytes = 0;
    }
    if (m_layouts.insert_or_assign(key, std::move(layout)).second)
        m_bytes += key.size();
}

std::size_t PieceCache::size() const
{
    const std::scoped_lock lock(m_mutex);
    return m_layouts.size();
}

Result<StackOutcome> stackLayouts(std::span<const Piece> graphs, const LayoutOptions &options,
                                  PieceCache &cache, const Progress &progress)
{
    return Stacking(graphs, options, cache, progress).run();
}

} // namespace halftone::layout
