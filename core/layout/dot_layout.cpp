#include "core/layout/dot_layout.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace halftone::layout {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kFlat = 0.4; ///< a bend that is nearer to the straight line is left out

std::string inches(double points)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), points / kPointsPerInch,
                                   std::chars_format::fixed, 4);
    return std::string(text.data(), end.ptr);
}

/// The words of a text, line by line.
class Words
{
public:
    explicit Words(std::string_view text)
        : m_text(text)
    {
    }

    bool nextLine()
    {
        if (m_next >= m_text.size())
            return false;
        const std::size_t end = std::min(m_text.find('\n', m_next), m_text.size());
        m_line = m_text.substr(m_next, end - m_next);
        m_next = end + 1;
        return true;
    }
    std::string_view word()
    {
        m_line.remove_prefix(std::min(m_line.find_first_not_of(' '), m_line.size()));
        const std::string_view word = m_line.substr(0, m_line.find(' '));
        m_line.remove_prefix(word.size());
        return word;
    }
    std::optional<double> number() { return parseReal(word()); }
    std::optional<std::size_t> index(std::size_t limit)
    {
        const auto value = parseInteger(word());
        if (!value || *value < 0 || static_cast<std::uint64_t>(*value) >= limit)
            return std::nullopt;
        return static_cast<std::size_t>(*value);
    }

private:
    std::string_view m_text;
    std::string_view m_line;
    std::size_t m_next = 0;
};

double distanceToLine(const Point &p, const Point &a, const Point &b)
{
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double length = std::hypot(dx, dy);
    if (length == 0)
        return std::hypot(p.x - a.x, p.y - a.y);
    return std::abs((p.x - a.x) * dy - (p.y - a.y) * dx) / length;
}

/// A cubic Bézier curve as points, four a stretch, and only those that bend it.
Polyline flattened(const std::vector<Point> &control)
{
    Polyline line{control.front()};
    for (std::size_t k = 0; k + 3 < control.size(); k += 3) {
        const Point &a = control[k], &b = control[k + 1], &c = control[k + 2], &d = control[k + 3];
        const bool isFlat = distanceToLine(b, a, d) < kFlat && distanceToLine(c, a, d) < kFlat;
        constexpr int kSteps = 8;
        for (int step = isFlat ? kSteps : 1; step <= kSteps; ++step) {
            const double t = static_cast<double>(step) / kSteps;
            const double u = 1 - t;
            const double wa = u * u * u, wb = 3 * u * u * t, wc = 3 * u * t * t, wd = t * t * t;
            line.push_back(
                {wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y});
        }
    }
    Polyline thin{line.front()};
    for (std::size_t k = 1; k + 1 < line.size(); ++k) {
        if (distanceToLine(line[k], thin.back(), line[k + 1]) >= kFlat)
            thin.push_back(line[k]);
    }
    thin.push_back(line.back());
    return thin;
}

/// Reads "x1 y1 … xn yn" and turns y downward.
std::optional<std::vector<Point>> readPoints(Words &words)
{
    const auto count = words.index(1'000'000);
    if (!count || *count < 4)
        return std::nullopt;
    std::vector<Point> points;
    for (std::size_t k = 0; k < *count; ++k) {
        const auto x = words.number();
        const auto y = words.number();
        if (!x || !y)
            return std::nullopt;
        points.push_back({*x * kPointsPerInch, -*y * kPointsPerInch});
    }
    return points;
}

/// One graph of the answer, up to its "stop".
std::optional<PieceLayout> readPiece(Words &words, const Piece &piece)
{
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> edgeAt;
    for (std::size_t k = 0; k < piece.edges.size(); ++k)
        edgeAt.emplace(std::pair(piece.edges[k].from, piece.edges[k].to), k);
    PieceLayout layout;
    layout.nodes.resize(piece.nodes.size());
    layout.edges.resize(piece.edges.size());
    std::size_t nodes = 0;
    std::size_t edges = 0;
    bool isGood = true;
    for (;;) {
        if (!words.nextLine())
            return std::nullopt;
        const std::string_view kind = words.word();
        if (kind == "stop")
            break;
        if (kind == "node") {
            const auto id = words.index(piece.nodes.size());
            const auto x = words.number();
            const auto y = words.number();
            if (!id || !x || !y) {
                isGood = false;
                continue;
            }
            const auto [width, height] = piece.nodes[*id];
            layout.nodes[*id]
                = {*x * kPointsPerInch - width / 2, -*y * kPointsPerInch - height / 2, width, height};
            ++nodes;
        } else if (kind == "edge") {
            const auto from = words.index(piece.nodes.size());
            const auto to = words.index(piece.nodes.size());
            const auto points = readPoints(words);
            const auto place = from && to ? edgeAt.find({*from, *to}) : edgeAt.end();
            if (!points || place == edgeAt.end()) {
                isGood = false;
                continue;
            }
            layout.edges[place->second] = flattened(*points);
            ++edges;
        }
    }
    if (!isGood || nodes != piece.nodes.size() || edges != piece.edges.size())
        return std::nullopt;
    tidy(piece, layout);
    return layout;
}

} // namespace

std::string dotText(const Piece &piece, const Gaps &gaps)
{
    std::string text = "digraph{graph[nodesep=" + inches(gaps.node) + " ranksep=" + inches(gaps.row)
        + "];node[shape=box fixedsize=true label=\"\"];edge[arrowhead=none];\n";
    for (std::size_t k = 0; k < piece.nodes.size(); ++k)
        text += std::to_string(k) + "[width=" + inches(piece.nodes[k].width)
            + " height=" + inches(piece.nodes[k].height) + "];\n";
    for (const Piece::Edge &edge : piece.edges)
        text += std::to_string(edge.from) + "->" + std::to_string(edge.to) + ";\n";
    const auto row = [&](const char *rank, std::size_t first, std::size_t last) {
        text += std::string("{rank=") + rank;
        for (std::size_t k = first; k < last; ++k)
            text += ';' + std::to_string(k);
        text += "}\n";
    };
    const std::size_t tops = std::min<std::size_t>(piece.tops, piece.nodes.size());
    row("source", 0, tops);
    if (piece.nodes.size() > tops)
        row("sink",
            std::max(tops, piece.nodes.size() - std::min<std::size_t>(piece.bottoms, piece.nodes.size())),
            piece.nodes.size());
    return text + "}\n";
}

std::vector<std::optional<PieceLayout>> readPlain(std::string_view plain,
                                                  std::span<const Piece *const> pieces)
{
    std::vector<std::optional<PieceLayout>> layouts(pieces.size());
    Words words(plain);
    for (std::size_t k = 0; k < pieces.size(); ++k)
        layouts[k] = readPiece(words, *pieces[k]);
    return layouts;
}

Result<DotOutcome> dotLayout(const std::string &program, std::span<const Piece *const> pieces,
                             const Gaps &gaps, const ChildLimits &limits, const std::stop_token &stop)
{
    std::string input;
    for (const Piece *piece : pieces)
        input += dotText(*piece, gaps);
    HALFTONE_TRY(const ChildOutcome child, runChild({program, "-Tplain"}, input, limits, stop));
    DotOutcome outcome;
    outcome.pieces = readPlain(child.output, pieces);
    if (std::ranges::any_of(outcome.pieces, [](const auto &piece) { return !piece.has_value(); }))
        outcome.note = child.exceeded.empty()
            ? program + " failed with exit code " + std::to_string(child.exitCode)
            : program + " needed more than " + child.exceeded;
    return outcome;
}

} // namespace halftone::layout
