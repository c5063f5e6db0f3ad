#pragma once

#include "halftone/convert.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

struct TuneOptions
{
    Compute compute;
    bool int8 = false; ///< also consider int8
    std::string limit; ///< "sqnr=30" (dB) or "top1=-0.5" (percentage points); empty: none
    double seconds = 0; ///< start no new measurement after this time; 0: no limit
    std::size_t points = 8; ///< number of points to measure
    std::string state; ///< file of measurements, from which a stopped search resumes; empty: none
    bool onlyFastest = false; ///< with a limit: end when the fastest model within it is found
    std::size_t memoryLimit = std::size_t{1} << 30; ///< limit for intermediate tensors in bytes
};

/// One point of a front.
struct FrontPoint
{
    double milliseconds = 0; ///< median
    double ratio = 1; ///< of the time of float32
    double sqnrDb = 0; ///< at the worst output
    std::optional<double> top1; ///< if there are labels
    std::string policy; ///< as the text of a policy file
};

/// The result of a search. Immutable, cheap to copy.
class Front
{
public:
    const std::vector<FrontPoint> &points() const; ///< the offered ones, by error, the smallest first
    /// The fastest point within the limit (without one: of all). fails: BadInput if none meets it
    Result<std::size_t> fastest() const;
    /// The point at the strongest bend of the front.
    std::size_t knee() const;
    /// Converts the source to a point. Needs: point < points().size(). fails: as convert()
    Result<Conversion> conversion(std::size_t point, const Progress &progress = {}) const;
    /// As JSON: what `tune --json` prints. A point's `policy` is the policy itself, where the command gives the path of a file.
    std::string report() const;

private:
    friend struct Inside;
    struct Content;
    explicit Front(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Searches for the layers that must stay in float32, and measures the front of accuracy against latency. A stop during the search gives what was
/// found so far. Needs: examples; for a limit on top1 with labels.
/// fails: BadCall for an invalid limit, or if Policy decides nothing that can be searched; Unsupported if this machine emulates the target
///        type; Cancelled before the first measurement
Result<Front> tune(const Model &model, const Policy &policy, const Data &data,
                   const TuneOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
