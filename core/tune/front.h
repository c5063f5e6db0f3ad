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

/// A node that a list lowers and that the measuring runtime refuses in the target type: it stays in float32.
struct RefusedNode
{
    std::string name;
    std::string why;

    bool operator==(const RefusedNode &) const = default;
};

/// Nodes that share one label: a fusion group of the backend, or a recognised unit of several groups.
struct Group
{
    std::string name; ///< name of the node that does most of the work
    std::vector<graph::NodeId> nodes; ///< of the source graph, ascending
    std::vector<graph::NodeId>
        decided; ///< the nodes that a list lowers; a policy sets the label of the group by their names
    /// The nodes that follow their inputs and also read another group, such as a residual sum. If groups differ in type, their side is also
    /// set by name; otherwise a conversion would place the sum where it saves a cast and round values that were not counted.
    std::vector<graph::NodeId> joining;
    std::vector<RefusedNode> refused; ///< in float32 whatever the label
    /// Decided by the search; otherwise float32 for the reason below, or following its neighbours without loss.
    bool isTunable = false;
    std::string whyFixed; ///< displayed reason: "list", "overflow", …; empty if tunable
    GroupCosts costs;
    bool isErrorKnown = false; ///< its errors have been measured
};

/// Measured figures of a model with given labels.
struct Measurement
{
    double sqnrDb = 0; ///< at the worst output against float32; infinite if nothing differs
    std::optional<double> top1; ///< top-1 accuracy, if there are labels
    std::optional<double> top1Reference; ///< the same for float32
    std::optional<double> top1Agreement; ///< agreement with float32, for outputs that are class scores
    bool isClean = true; ///< false: NaN or infinities that float32 does not have, or refused
    std::string refusal{}; ///< the words of the runtime that refuses the model, which then has no times
    double milliseconds = 0; ///< median, scaled to the median of float32
    std::array<double, 2> ci95{1, 1}; ///< 95 % interval of the median, in milliseconds
    double ratio = 1; ///< time relative to float32, from alternating runs
    bool byDevice = false; ///< by the clock of the device, without copies
    std::vector<double>
        planRatios{}; ///< ratios of further plans, made once the point is offered; `ratio` is their mean
    bool isDisturbed = false; ///< unreliable: other programs were running, also in repeated measurements
};

/// Does the interval of its time tell anything? false: it reaches down to zero, or farther than 30 % from the time.
bool isTimeKnown(const Measurement &measured);

struct Prediction
{
    double milliseconds = 0;
    double sqnrDb = 0;
};

/// The origin of a point.
enum class Origin : std::uint8_t
{
    Float32, ///< nothing is lowered
    Lowest, ///< everything that may be lowered is lowered
    Hull, ///< on the convex hull: optimal for some weighting of error and time
    Repair, ///< found between these by steps from a measured point
    Hand ///< edits of the user
};
std::string_view nameOf(Origin origin);

struct Point
{
    Labels labels; ///< by group
    Origin origin = Origin::Hull;
    Prediction predicted;
    std::optional<Measurement> measured;
    double foundSeconds = 0; ///< time of its measurement since the start of the search
};

enum class StoppedBy : std::uint8_t
{
    Nothing, ///< the search is running
    Done,
    Time,
    Cancelled
};
std::string_view nameOf(StoppedBy reason); ///< "done", "time", "cancelled"; "" while running

/// The state of a search.
struct Front
{
    std::vector<Group> groups;
    std::vector<Link> links;
    std::vector<Point> points; ///< in order of discovery; each policy once
    double kappa = 1; ///< ratio of measured errors to the sum of isolated errors
    std::size_t evaluations = 0; ///< number of measured models, including earlier runs
    std::size_t passes = 0; ///< passes of all examples through a model or a part of it, likewise
    double seconds = 0;
    double errorsSeconds = 0; ///< of these, for isolated errors
    double lowerBoundGap
        = 0; ///< Surrogate::Hull::gap; 0: points of the hull are optimal for the additive model
    StoppedBy stoppedBy = StoppedBy::Nothing;
    bool areLayersDisturbed
        = false; ///< other programs were running while layers were timed, also when repeated

    /// Why nodes stay in float32 and why measured points are not offered, in a runtime's words: "7 nodes in float32: …". Each reason once.
    std::vector<std::string> refusals() const;
    /// Was a layer time, or the time of an offered point, disturbed?
    bool isDisturbed() const;
    Surrogate surrogate() const;
    Prediction predict(const Labels &labels) const;
    const Point *find(const Labels &labels) const; ///< the point with these labels; null: none

    /// Indices of the offered points: measured, clean, not slower than float32, and not beaten by another point in both error and time;
    /// always includes float32. Ordered by error.
    std::vector<std::size_t> best() const;
    /// The same among the points whose time is known, for a person to choose from.
    std::vector<std::size_t> bestOfKnown() const;
    /// Is a layer time or the time of a measured point disturbed or not known, so that measuring again may help?
    bool isUnreliable() const;

private:
    std::vector<std::size_t> bestOf(bool onlyKnown) const;
};

/// Maps labels to merged groups; a merged group takes the label of its tunable member.
Labels relabelled(const Labels &labels, const std::vector<Group> &from, const std::vector<Group> &to);

/// The displayed reason for the label of a group: "float32: lowering it to float16 costs 4.1 dB for 0.020 ms", "float16: costs 0.3 dB,
/// saves 0.020 ms". The label comes first, up to the colon.
/// target  display name of the 16-bit type
std::string reasonOf(const Front &front, const Labels &labels, std::size_t group, std::string_view target);

/// Converts a noise-to-signal ratio to decibels and back.
double decibelsOf(double error);
double errorOf(double decibels);

} // namespace halftone::tune
