#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/tune/front.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace halftone::tune {

/// The groups of a network with their times; errors come later.
struct Network
{
    std::vector<Group> groups;
    std::vector<Link> links;
    double wideMs = 0; ///< float32's median, the measure of all times
    bool isDisturbed = false; ///< other work ran beside the timing, also when it was repeated
};

/// Whoever knows what a labelling costs: a model that is run (ModelOracle), what was written down of one (RecordingOracle), or
/// a test's own. For one thread at a time.
class Oracle
{
public:
    virtual ~Oracle() = default;

    /// Groups without the label whose times take long to find, where there is one, and with rough times: with these the first points can be
    /// measured at once. Asked before profile(), whose groups are then these or several of these as one; nothing: there is nothing to save.
    /// fails: as profile()
    virtual Result<std::optional<Network>> sketch(const Progress &progress)
    {
        HALFTONE_CHECK(progress.checkStop());
        return std::optional<Network>();
    }
    /// Groups, which labels they may have, and how long they take with each; how long conversions take perhaps as a guess.
    /// fails: Cancelled; what running refuses
    virtual Result<Network> profile(const Progress &progress) = 0;
    /// What conversions between groups take, for the network's links in their order; nothing where profile() has told it. Asked once, after
    /// the first points, which need no sums. fails: as profile()
    virtual Result<std::optional<std::vector<Link>>> timeConversions(const Progress &progress)
    {
        HALFTONE_CHECK(progress.checkStop());
        return std::optional<std::vector<Link>>();
    }
    /// Goes on with what profile() gave before, perhaps to another process.
    virtual void resume(const Network &network) = 0;
    /// Σd² / Σr² at the outputs with `label` in this group alone; infinite where it overflows. fails: as profile()
    virtual Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) = 0;
    /// Can it estimate errors from a few examples, so that a search has early points to show?
    virtual bool canEstimate() const { return false; }
    /// Needs: canEstimate(); labels that the groups may have
    virtual Result<double> estimate(const Labels &labels, const Progress &progress)
    {
        static_cast<void>(labels);
        HALFTONE_CHECK(progress.checkStop());
        return std::numeric_limits<double>::quiet_NaN();
    }
    /// Needs: labels that the groups may have. fails: as profile()
    virtual Result<Measurement> measure(const Labels &labels, const Progress &progress) = 0;
    /// What measure() gave, with times that were taken longer and at another moment, perhaps of several plans (Measurement::planRatios): a network
    /// that is offered is timed once more.
    virtual Result<Measurement> confirm(const Labels &labels, const Measurement &measured,
                                        const Progress &progress)
    {
        static_cast<void>(labels);
        HALFTONE_CHECK(progress.checkStop());
        return measured;
    }
};

} // namespace halftone::tune
