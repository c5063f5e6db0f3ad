#pragma once

#include "core/graph/graph.h"
#include "core/tune/surrogate.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::tune {

/// Nodes that are computed as one and take a label together: a fusion group of the backend, or a recognised unit of several.
struct Group
{
    std::string name; ///< of the node that does most of the work
    std::vector<graph::NodeId> nodes; ///< of the source graph, ascending
    std::vector<graph::NodeId>
        decided; ///< of these, those that a list lowers: a policy says the group's label by their names
    /// Of these, what follows its inputs and also reads another group, such as a residual sum: which side it follows is said by name, too,
    /// where some groups are lowered and some are not. Else a conversion puts the sum where it saves a cast, and rounds what nobody has counted.
    std::vector<graph::NodeId> joining;
    /// The search decides for it; else it is float32 for the reason below, or follows its neighbours at no loss of its own.
    bool isTunable = false;
    std::string whyFixed; ///< "list", "overflow", …: for people; empty for a tunable one
    GroupCosts costs;
    bool isErrorKnown = false; ///< its errors are measured, not still to come
};

/// What a network of some labels was measured to be.
struct Measurement
{
    double sqnrDb = 0; ///< at the worst output, against float32; infinite where nothing differs
    std::optional<double> top1; ///< share of right first classes, where there are labels
    std::optional<double> top1Reference; ///< the same of float32
    std::optional<double> top1Agreement; ///< with float32, of outputs that are scores of classes
    bool isClean = true; ///< false: NaN or infinities where float32 has none
    double milliseconds = 0; ///< median, in the measure of the float32 network's median
    std::array<double, 2> ci95{1, 1}; ///< of the same, milliseconds
    double ratio = 1; ///< to float32, of runs in turns
    bool byDevice = false; ///< by the device's own clock, without copies to and from it
    std::vector<double> planRatios{}; ///< of plans made anew, once it is offered; `ratio` is their mean
    bool isDisturbed = false; ///< other work ran beside the runs, also when they were taken again: unreliable
};

struct Prediction
{
    double milliseconds = 0;
    double sqnrDb = 0;
};

/// Who came upon a point.
enum class Origin : std::uint8_t
{
    Float32, ///< nothing is lowered
    Lowest, ///< all is lowered that may be
    Hull, ///< the exact answer for some exchange of error against time
    Repair, ///< found between those by steps from a measured one
    Hand ///< somebody's own
};
std::string_view nameOf(Origin origin);

struct Point
{
    Labels labels; ///< by group
    Origin origin = Origin::Hull;
    Prediction predicted;
    std::optional<Measurement> measured;
    double foundSeconds = 0; ///< since the search began, when it was measured
};

enum class StoppedBy : std::uint8_t
{
    Nothing, ///< the search goes on
    Done,
    Time,
    Cancelled
};
std::string_view nameOf(StoppedBy reason); ///< "done", "time", "cancelled"; "" while it goes on

/// What a search knows, at any moment of it.
struct Front
{
    std::vector<Group> groups;
    std::vector<Link> links;
    std::vector<Point> points; ///< in the order in which they were found; each policy once
    double kappa = 1; ///< how many times the measured errors are larger than the sum of those of groups alone
    std::size_t evaluations = 0; ///< networks that were measured, also before it was taken up again
    std::size_t passes = 0; ///< times that all examples went through a network or a part, likewise
    double seconds = 0;
    double errorsSeconds = 0; ///< of them for errors of groups alone
    double lowerBoundGap
        = 0; ///< Surrogate::Hull::gap; 0: points of the hull are exact for the additive picture
    StoppedBy stoppedBy = StoppedBy::Nothing;
    bool areLayersDisturbed
        = false; ///< other work ran beside the timing of layers, also when it was repeated

    /// Was a time disturbed that the search went by or offers: of layers, or of a point that is offered?
    bool isDisturbed() const;
    Surrogate surrogate() const;
    Prediction predict(const Labels &labels) const;
    const Point *find(const Labels &labels) const; ///< the point of the same policy; null: not there

    /// Indices of the points that are offered: measured, clean, no slower than float32, and beaten by no other in both error and time;
    /// float32 is always among them. From the least error on.
    std::vector<std::size_t> best() const;
};

/// The labels of the same nodes where groups are joined: of several groups that are one now the label of one that a search decides about.
Labels relabelled(const Labels &labels, const std::vector<Group> &from, const std::vector<Group> &to);

/// Why a group has its label in a point, for people: "float32: lowering it to float16 costs 4.1 dB for 0.020 ms", "float16: costs 0.3 dB,
/// saves 0.020 ms". The label comes first, up to the colon.
/// target  as people call the 16-bit type
std::string reasonOf(const Front &front, const Labels &labels, std::size_t group, std::string_view target);

/// A ratio of noise to signal as decibels and back.
double decibelsOf(double error);
double errorOf(double decibels);

} // namespace halftone::tune
