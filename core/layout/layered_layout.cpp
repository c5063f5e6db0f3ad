#include "core/layout/layered_layout.h"

#include <algorithm>
#include <span>

namespace halftone::layout {
namespace {

constexpr std::size_t kMostBends = 100'000; ///< of all edges together; longer edges are drawn straight
constexpr int kSweeps = 6;

/// A node of the piece, or the place where an edge crosses a row.
struct Vertex
{
    double width = 0;
    std::uint32_t row = 0;
    double x = 0; ///< of the centre
    double key = 0; ///< that the order of its row is made by
    std::vector<std::uint32_t> above;
    std::vector<std::uint32_t> below;
};

class Layering
{
public:
    Layering(const Piece &piece, const Gaps &gaps)
        : m_piece(piece)
        , m_gaps(gaps)
        , m_vertices(piece.nodes.size())
    {
        assignRows();
        splitEdges();
        m_rows.resize(m_rowCount);
        for (std::uint32_t v = 0; v < m_vertices.size(); ++v)
            m_rows[m_vertices[v].row].push_back(v);
    }

    PieceLayout layout(const std::stop_token &stop)
    {
        for (int sweep = 0; sweep < kSweeps && !stop.stop_requested(); ++sweep)
            order(sweep % 2 == 0);
        for (auto &row : m_rows)
            placeRow(row, false, false);
        for (int sweep = 0; sweep < kSweeps && !stop.stop_requested(); ++sweep)
            place(sweep % 2 == 0);
        return result();
    }

private:
    void assignRows()
    {
        const auto count = static_cast<std::uint32_t>(m_piece.nodes.size());
        std::vector<std::vector<std::uint32_t>> readers(count);
        for (const Piece::Edge &edge : m_piece.edges)
            readers[edge.from].push_back(edge.to);
        const std::uint32_t tops = std::min(m_piece.tops, count);
        for (std::uint32_t v = 0; v < count; ++v) {
            m_vertices[v].width = m_piece.nodes[v].width;
            if (v >= tops)
                m_vertices[v].row = std::max(m_vertices[v].row, 1U);
            for (const std::uint32_t reader : readers[v])
                m_vertices[reader].row = std::max(m_vertices[reader].row, m_vertices[v].row + 1);
            m_rowCount = std::max(m_rowCount, m_vertices[v].row + 1);
        }
        // The bottom row is that of the last nodes alone.
        const std::uint32_t bottoms = count > tops ? std::min(m_piece.bottoms, count - tops) : 0;
        std::uint32_t lowest = 0;
        for (std::uint32_t v = 0; v < count - bottoms; ++v)
            lowest = std::max(lowest, m_vertices[v].row);
        for (std::uint32_t v = count - bottoms; v < count; ++v)
            m_vertices[v].row = lowest + 1;
        if (bottoms > 0)
            m_rowCount = lowest + 2;
    }

    void splitEdges()
    {
        std::size_t bends = 0;
        m_bends.resize(m_piece.edges.size());
        for (std::size_t k = 0; k < m_piece.edges.size(); ++k) {
            const auto [from, to] = m_piece.edges[k];
            std::uint32_t last = from;
            const std::size_t span = m_vertices[to].row - m_vertices[from].row;
            if (bends + span <= kMostBends) {
                for (std::uint32_t row = m_vertices[from].row + 1; row < m_vertices[to].row; ++row) {
                    const auto bend = static_cast<std::uint32_t>(m_vertices.size());
                    Vertex vertex;
                    vertex.row = row;
                    m_vertices.push_back(std::move(vertex));
                    connect(last, bend);
                    m_bends[k].push_back(bend);
                    last = bend;
                }
                bends += span;
            }
            connect(last, to);
        }
    }

    void connect(std::uint32_t from, std::uint32_t to)
    {
        m_vertices[from].below.push_back(to);
        m_vertices[to].above.push_back(from);
    }

    void order(bool downward)
    {
        for (std::size_t step = 0; step < m_rows.size(); ++step) {
            auto &row = m_rows[downward ? step : m_rows.size() - 1 - step];
            for (std::size_t k = 0; k < row.size(); ++k)
                m_vertices[row[k]].x = static_cast<double>(k); // where it stays without neighbours
            for (const std::uint32_t v : row) {
                const auto &neighbours = downward ? m_vertices[v].above : m_vertices[v].below;
                double sum = 0;
                for (const std::uint32_t other : neighbours)
                    sum += m_vertices[other].x;
                m_vertices[v].key
                    = neighbours.empty() ? m_vertices[v].x : sum / static_cast<double>(neighbours.size());
            }
            std::ranges::stable_sort(row, {}, [this](std::uint32_t v) { return m_vertices[v].key; });
            for (std::size_t k = 0; k < row.size(); ++k)
                m_vertices[row[k]].x = static_cast<double>(k);
        }
    }

    void place(bool downward)
    {
        for (std::size_t step = 0; step < m_rows.size(); ++step)
            placeRow(m_rows[downward ? step : m_rows.size() - 1 - step], true, downward);
    }

    /// Each vertex as near to the middle of its neighbours as the order and the gaps allow: least squares by pooling
    /// adjacent violators (Ayer et al., 1955) of the places less the room that those before them take.
    void placeRow(std::span<const std::uint32_t> row, bool byNeighbours, bool downward)
    {
        struct Pool
        {
            double sum = 0;
            std::size_t count = 0;
            double mean() const { return sum / static_cast<double>(count); }
        };
        std::vector<Pool> pools;
        std::vector<double> offsets;
        double offset = 0;
        for (const std::uint32_t v : row) {
            Vertex &vertex = m_vertices[v];
            offset += vertex.width / 2;
            offsets.push_back(offset);
            double wanted = byNeighbours ? vertex.x : 0;
            const auto &neighbours = downward ? vertex.above : vertex.below;
            if (byNeighbours && !neighbours.empty()) {
                wanted = 0;
                for (const std::uint32_t other : neighbours)
                    wanted += m_vertices[other].x;
                wanted /= static_cast<double>(neighbours.size());
            }
            pools.push_back({byNeighbours ? wanted - offset : 0, 1});
            while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
                const Pool last = pools.back();
                pools.pop_back();
                pools.back().sum += last.sum;
                pools.back().count += last.count;
            }
            offset += vertex.width / 2 + m_gaps.node;
        }
        std::size_t k = 0;
        for (const Pool &pool : pools)
            for (std::size_t n = 0; n < pool.count; ++n, ++k)
                m_vertices[row[k]].x = pool.mean() + offsets[k];
    }

    PieceLayout result() const
    {
        std::vector<double> heights(m_rowCount, 0);
        for (std::uint32_t v = 0; v < m_piece.nodes.size(); ++v)
            heights[m_vertices[v].row] = std::max(heights[m_vertices[v].row], m_piece.nodes[v].height);
        std::vector<double> middles(m_rowCount, 0);
        double y = 0;
        for (std::uint32_t row = 0; row < m_rowCount; ++row) {
            middles[row] = y + heights[row] / 2;
            y += heights[row] + m_gaps.row;
        }
        PieceLayout layout;
        for (std::uint32_t v = 0; v < m_piece.nodes.size(); ++v) {
            const auto [width, height] = m_piece.nodes[v];
            layout.nodes.push_back(
                {m_vertices[v].x - width / 2, middles[m_vertices[v].row] - height / 2, width, height});
        }
        for (std::size_t k = 0; k < m_piece.edges.size(); ++k) {
            const Rect &from = layout.nodes[m_piece.edges[k].from];
            const Rect &to = layout.nodes[m_piece.edges[k].to];
            Polyline line{{from.centreX(), from.bottom()}};
            for (const std::uint32_t bend : m_bends[k]) { // straight through the row, past tall neighbours
                const std::uint32_t row = m_vertices[bend].row;
                line.push_back({m_vertices[bend].x, middles[row] - heights[row] / 2});
                if (heights[row] > 0)
                    line.push_back({m_vertices[bend].x, middles[row] + heights[row] / 2});
            }
            line.push_back({to.centreX(), to.y});
            layout.edges.push_back(std::move(line));
        }
        tidy(m_piece, layout);
        return layout;
    }

    const Piece &m_piece;
    const Gaps &m_gaps;
    std::vector<Vertex> m_vertices; ///< the piece's nodes, then bends
    std::vector<std::vector<std::uint32_t>> m_bends; ///< by edge
    std::uint32_t m_rowCount = 0;
    std::vector<std::vector<std::uint32_t>> m_rows;
};

} // namespace

PieceLayout layeredLayout(const Piece &piece, const Gaps &gaps, const std::stop_token &stop)
{
    return Layering(piece, gaps).layout(stop);
}

} // namespace halftone::layout
