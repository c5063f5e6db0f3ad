#pragma once

#include "core/compare/kept_outputs.h"
#include "core/session/snapshot.h"
#include "core/walks/compare.h"

#include <memory>

namespace halftone::session {

/// Compares one model over one set of data again after every edit. Values of both models are kept within the memory limit,
/// so that an edit computes only what lies behind the nodes that it changed, and an undone one next to nothing. Where the limit
/// holds the values of some examples only, all others are computed anew; where it does not hold those of one batch, every
/// comparison is a whole one. For one thread at a time.
class LiveComparison
{
public:
    LiveComparison();
    ~LiveComparison();
    LiveComparison(const LiveComparison &) = delete;
    LiveComparison &operator=(const LiveComparison &) = delete;

    /// Reads the examples, which the next comparison of this source with these options then has. fails: as compare()
    Result<void> prepare(const Snapshot &snapshot, const walks::CompareOptions &options,
                         const Progress &progress = {});

    /// The source against its conversion, with the figures of compareModels() bit for bit. Examples are read once, as long as
    /// source, options (but for `isolated`) and the files of the data are those of the last call. Needs: a conversion.
    /// interim  is given the figures over the first examples, then over more of them, then isolated effects layer by layer
    /// fails: as compareModels().
    Result<walks::CompareOutcome> compare(const Snapshot &snapshot, const walks::CompareOptions &options,
                                          const Progress &progress = {},
                                          const walks::InterimOutcome &interim = {});

    /// What outputs lose, over as many examples as `sample` wants (compare::KeptOutputs), or over all of them where not outputs alone
    /// are asked for. CompareOutcome::examples says over how many.
    /// fails: as compare()
    Result<walks::CompareOutcome> sample(const Snapshot &snapshot, const walks::CompareOptions &options,
                                         const compare::Sample &sample, const Progress &progress = {});

    /// Nodes that the last comparison computed; 0 for a whole one, which is not counted.
    std::size_t computedNodes() const;

private:
    Result<walks::CompareOutcome> compared(const Snapshot &snapshot, const walks::CompareOptions &options,
                                           const compare::Sample &sample, const Progress &progress,
                                           const walks::InterimOutcome &interim);

    struct Kept;
    std::unique_ptr<Kept> m_kept;
};

} // namespace halftone::session
