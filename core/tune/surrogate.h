#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace halftone::tune {

/// What the nodes of a group compute in.
enum class Label : std::uint8_t
{
    Float32,
    Target, ///< the 16-bit type that the policy lowers to
    Int8
};
inline constexpr std::size_t kLabelCount = 3;
inline constexpr std::array<Label, kLabelCount> kLabels{Label::Float32, Label::Target, Label::Int8};

std::string_view nameOf(Label label); ///< "float32", "target", "int8"

/// By group.
using Labels = std::vector<Label>;

/// What one group takes and loses, by label.
struct GroupCosts
{
    std::array<double, kLabelCount> microseconds{}; ///< inside a whole network
    std::array<double, kLabelCount>
        error{}; ///< Σd² / Σr² at the network's outputs when this group alone has the label
    std::array<bool, kLabelCount> isAllowed{true, false, false};
    bool follows = false; ///< no policy says its label: a conversion does, by its neighbours

    bool allows(Label label) const { return isAllowed[static_cast<std::size_t>(label)]; }
    bool isFixed() const { return isAllowed[0] + isAllowed[1] + isAllowed[2] < 2; }
    /// The one that a fixed group has; of others the widest.
    Label widest() const;
};

/// What converting one value takes, by direction.
struct ConversionPrices
{
    double castMicroseconds = 0; ///< from float32 to the 16-bit type
    double widenMicroseconds = 0; ///< from the 16-bit type to float32
    double codesMicroseconds = 0; ///< beyond castMicroseconds, from or to int8
};

/// A value that goes from one group to others: where labels differ, somebody has to convert it.
struct Link
{
    std::size_t producer = 0;
    std::vector<std::size_t> readers; ///< each once
    ConversionPrices prices{};
    double elements = 0; ///< of the value; 0 where its shape is not known

    double microseconds(Label from, Label to) const; ///< of one conversion; 0 where both are the same
    double microseconds(const Labels &labels) const; ///< of all that some reader needs
};

/// An additive picture of a network, cheap enough to be solved exactly: what a network takes is the sum over its groups and the
/// conversions between them, and what it loses the sum of what its groups lose alone (core/tune/RULES.md, T-sum).
struct Surrogate
{
    std::vector<GroupCosts> groups;
    std::vector<Link> links;

    double microseconds(const Labels &labels) const;
    double error(const Labels &labels) const;

    /// Labels with the least microseconds + lambda · error. Where no group has more than two labels to choose from it is a minimum
    /// cut (mixed::TypeCut), and exact where it is the same two for all; with three, moves of many groups at once to one label, each
    /// exact, until none helps (Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts", PAMI 2001, α-expansion).
    Labels cheapest(double lambda) const;

    /// No labels have less microseconds + lambda · error than this: the best that multipliers find of what each label costs by itself
    /// (Lagrangian decomposition over labels, each part a minimum cut; Komodakis, Paragios and Tziritas, "MRF energy minimization and beyond via
    /// dual decomposition", PAMI 2011). reached: of some labels, above which nothing need be sought.
    double lowerBound(double lambda, double reached) const;

    /// All that cheapest() can give, from the widest labels to the fastest: the lower convex hull of what a network loses and
    /// takes. Each loses more and takes less than the one before.
    std::vector<Labels> hull() const { return hullWithGap().corners; }
    struct Hull
    {
        std::vector<Labels> corners;
        /// By how much of itself, at most, a corner's sum is above what any labels could have where that corner is the best one; 0 with two
        /// labels, which are solved exactly.
        double gap = 0;
    };
    Hull hullWithGap() const;
    double objective(const Labels &labels, double lambda) const; ///< microseconds + lambda · error

    Labels widest() const; ///< every group as wide as it may be
    /// What follows as wide as it may be: labellings of which this is the same are one policy, and one network.
    Labels said(Labels labels) const;
    /// What follows with the labels that take least time beside the others'.
    Labels completed(const Labels &labels) const;
};

} // namespace halftone::tune
