#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/child_process.h"
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
    std::string program = "dot"; ///< Graphviz's; "" for the plain fall-back alone
    /// For Graphviz, in one call of stackLayouts(). A loaded machine, which makes it wait, is no reason to do without it.
    ChildLimits limits{std::chrono::milliseconds(1200), std::chrono::seconds(10), std::size_t{256} << 20};
    std::size_t heaviest = 3000; ///< Piece::weight() above which Graphviz is not asked
};

/// Layouts of pieces by their content, for any thread. Drops all when it grows beyond its bound.
class PieceCache
{
public:
    std::shared_ptr<const PieceLayout> find(const std::string &key) const;
    void insert(const std::string &key, std::shared_ptr<const PieceLayout> layout);
    std::size_t size() const;

private:
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20; ///< of keys; layouts are about as large

    mutable std::mutex m_mutex;
    std::unordered_map<std::string, std::shared_ptr<const PieceLayout>> m_layouts;
    std::size_t m_bytes = 0;
};

struct StackOutcome
{
    std::vector<PieceLayout> layouts; ///< as asked
    std::size_t pieces = 0; ///< with branches, cached or not
    std::size_t plainPieces = 0; ///< of those, laid out without Graphviz
    std::string note; ///< why; empty when none
};

/// Lays out graphs, each cut at its waists (nodes that nothing goes past): the parts between them are laid out by Graphviz
/// in one child process for all, found in `cache`, or laid out plainly, and put below one another.
/// fails: Cancelled
Result<StackOutcome> stackLayouts(std::span<const Piece> graphs, const LayoutOptions &options,
                                  PieceCache &cache, const Progress &progress = {});

} // namespace halftone::layout
