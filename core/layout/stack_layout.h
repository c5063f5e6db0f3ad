#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/graphviz_program.h"
#include "core/layout/limited_child.h"
#include "core/layout/piece.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::layout {

struct LayoutOptions
{
    Gaps gaps;
    std::string program = graphvizProgram(); ///< "" for the plain layout only
    /// CPU time limit of Graphviz for one call of stackLayouts(), so that a loaded machine does not disable it.
    ChildLimits limits{std::chrono::milliseconds(1200), std::chrono::seconds(10), std::size_t{256} << 20};
    std::size_t heaviest = 3000; ///< Piece::weight() above which Graphviz is not used
};

/// Cache of layouts by content of the piece. Safe from any thread; cleared when it exceeds its limit.
class PieceCache
{
public:
    std::shared_ptr<const PieceLayout> find(const std::string &key) const;
    void insert(const std::string &key, std::shared_ptr<const PieceLayout> layout);
    std::size_t size() const;

private:
    static constexpr std::size_t kMostBytes = std::size_t{64}
        << 20; ///< size of keys; layouts are about as large

    mutable std::mutex m_mutex;
    std::unordered_map<std::string, std::shared_ptr<const PieceLayout>> m_layouts;
    std::size_t m_bytes = 0;
};

struct StackOutcome
{
    std::vector<PieceLayout> layouts; ///< in the requested order
    std::size_t pieces = 0; ///< including branches, cached or not
    std::size_t plainPieces = 0; ///< of these, laid out without Graphviz
    std::string note; ///< the reason for plain pieces; empty if none
};

/// Lays out graphs. Each is cut at its waists (nodes that no edge bypasses); the parts are laid out by Graphviz in one child process,
/// taken from `cache`, or laid out plainly, and stacked vertically.
/// fails: Cancelled
Result<StackOutcome> stackLayouts(std::span<const Piece> graphs, const LayoutOptions &options,
                                  PieceCache &cache, const Progress &progress = {});

} // namespace halftone::layout
