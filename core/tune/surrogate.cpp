#include "core/tune/surrogate.h"

#include "core/mixed/type_cut.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace halftone::tune {
namespace {

using mixed::TypeCut;
using Term = TypeCut::Term;

std::size_t indexOf(Label label)
{
    return static_cast<std::size_t>(label);
}

double costOf(const GroupCosts &group, Label label, double lambda)
{
    const double error = group.error[indexOf(label)];
    return group.microseconds[indexOf(label)] + (error > 0 ? lambda * error : 0);
}

/// Costs as whole numbers, so that a cut is exact: parts of 2^-40 of all of them together.
class Scale
{
public:
    Scale(const Surrogate &surrogate, double lambda)
    {
        double sum = 0;
        for (const GroupCosts &group : surrogate.groups)
            for (const Label label : kLabels)
                if (group.allows(label))
                    sum += costOf(group, label, lambda);
        for (const Link &link : surrogate.links)
            sum += (link.prices.castMicroseconds + link.prices.widenMicroseconds
                    + link.prices.codesMicroseconds)
                * static_cast<double>(1 + link.readers.size());
        m_factor = sum > 0 ? 0x1p40 / sum : 0;
    }

    std::int64_t of(double cost) const { return std::llround(cost * m_factor); }

private:
    double m_factor = 0;
};

/// The best labels of which each is one of two: exact. `half` is what the cut calls 16 bit.
/// wide, half  by group; equal where the group is fixed
Labels cutBetween(const Surrogate &surrogate, const Labels &wide, const Labels &half, double lambda)
{
    const Scale scale(surrogate, lambda);
    TypeCut cut;
    std::vector<Term> terms;
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < wide.size(); ++k) {
        if (wide[k] == half[k]) {
            terms.push_back(wide[k] == Label::Float32 ? TypeCut::kFloat32 : TypeCut::kHalf);
            continue;
        }
        terms.push_back(cut.addNode(false));
        free.push_back(k);
        cut.addCosts(terms[k], scale.of(costOf(surrogate.groups[k], half[k], lambda)),
                     scale.of(costOf(surrogate.groups[k], wide[k], lambda)));
    }
    for (const Link &link : surrogate.links) {
        std::vector<Term> readers;
        bool hasCodes = half[link.producer] == Label::Int8;
        for (const std::size_t reader : link.readers) {
            readers.push_back(terms[reader]);
            hasCodes = hasCodes || half[reader] == Label::Int8;
        }
        const Label narrow = hasCodes ? Label::Int8 : Label::Target;
        cut.addTensor(terms[link.producer], readers, scale.of(link.microseconds(narrow, Label::Float32)),
                      scale.of(link.microseconds(Label::Float32, narrow)));
    }
    const std::vector<bool> isHalf = cut.solve();
    Labels labels = wide;
    for (std::size_t k = 0; k < free.size(); ++k)
        if (isHalf[k])
            labels[free[k]] = half[free[k]];
    return labels;
}

/// The best labels of which each is what it is now or `label`, conversions counted reader by reader.
Labels expanded(const Surrogate &surrogate, const Labels &now, Label label, double lambda)
{
    const Scale scale(surrogate, lambda);
    TypeCut cut;
    std::vector<std::optional<Term>> terms;
    std::vector<std::size_t> free;
    std::vector<double> toLabel; // what the change costs beyond staying
    for (std::size_t k = 0; k < now.size(); ++k) {
        const GroupCosts &group = surrogate.groups[k];
        const bool mayChange = now[k] != label && group.allows(label);
        terms.push_back(mayChange ? std::optional(cut.addNode(false)) : std::nullopt);
        if (mayChange)
            free.push_back(k);
        toLabel.push_back(mayChange ? costOf(group, label, lambda) - costOf(group, now[k], lambda) : 0);
    }
    for (const Link &link : surrogate.links) {
        const std::size_t p = link.producer;
        for (const std::size_t r : link.readers) {
            const double stay = link.microseconds(now[p], now[r]);
            const double readerChanges = link.microseconds(now[p], label);
            const double producerChanges = link.microseconds(label, now[r]);
            if (terms[p] && terms[r]) {
                toLabel[p] += producerChanges - stay;
                toLabel[r] -= producerChanges;
                cut.addCostBetween(*terms[r], *terms[p], scale.of(readerChanges + producerChanges - stay));
            } else if (terms[p]) {
                toLabel[p] += producerChanges - stay;
            } else if (terms[r]) {
                toLabel[r] += readerChanges - stay;
            }
        }
    }
    for (const std::size_t k : free)
        cut.addCosts(*terms[k], scale.of(std::max(toLabel[k], 0.0)), scale.of(std::max(-toLabel[k], 0.0)));
    const std::vector<bool> changes = cut.solve();
    Labels labels = now;
    for (std::size_t k = 0; k < free.size(); ++k)
        if (changes[k])
            labels[free[k]] = label;
    return labels;
}

/// What a conversion of the link costs at least, that to a label and what is left of one from it: with whatever label at the other end, both
/// together are no more than its price.
struct LeastPrice
{
    LeastPrice(const Link &link, Label label)
    {
        into = intoOf(link, label);
        from = std::numeric_limits<double>::infinity();
        for (const Label other : kLabels)
            if (other != label)
                from = std::min(from, link.microseconds(label, other) - intoOf(link, other));
    }

    double into = 0;
    double from = 0;

private:
    static double intoOf(const Link &link, Label label)
    {
        double least = std::numeric_limits<double>::infinity();
        for (const Label other : kLabels)
            if (other != label)
                least = std::min(least, link.microseconds(other, label));
        return least;
    }
};

/// Of one label: the groups that have it where each pays `price` for that (below 0: is paid), and conversions to it and from it cost their
/// LeastPrice. Gives the least sum of both.
double cheapestPart(const Surrogate &surrogate, const Scale &scale, Label label,
                    const std::vector<double> &price, std::vector<bool> &has)
{
    TypeCut cut;
    std::vector<Term> terms;
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < price.size(); ++k) {
        const GroupCosts &group = surrogate.groups[k];
        if (!group.allows(label) || group.isFixed()) {
            terms.push_back(group.allows(label) ? TypeCut::kHalf : TypeCut::kFloat32);
            continue;
        }
        terms.push_back(cut.addNode(false));
        free.push_back(k);
        cut.addCosts(terms[k], scale.of(std::max(price[k], 0.0)), scale.of(std::max(-price[k], 0.0)));
    }
    for (const Link &link : surrogate.links) {
        std::vector<Term> readers;
        for (const std::size_t reader : link.readers)
            readers.push_back(terms[reader]);
        const LeastPrice least(link, label);
        cut.addTensor(terms[link.producer], readers, scale.of(least.from), scale.of(least.into));
    }
    const std::vector<bool> halves = cut.solve();
    has.clear();
    for (const Term term : terms)
        has.push_back(term == TypeCut::kHalf);
    std::size_t place = 0;
    for (const std::size_t k : free)
        has[k] = halves[place++];
    double sum = 0;
    for (std::size_t k = 0; k < price.size(); ++k)
        sum += has[k] ? price[k] : 0;
    for (const Link &link : surrogate.links) {
        const auto hasIt = [&](std::size_t reader) { return has[reader]; };
        const LeastPrice least(link, label);
        if (has[link.producer])
            sum += std::ranges::all_of(link.readers, hasIt) ? 0 : least.from;
        else
            sum += std::ranges::any_of(link.readers, hasIt) ? least.into : 0;
    }
    return sum;
}

/// Each group narrowed to `label` where it may be, else as wide as it must.
Labels narrowed(const Surrogate &surrogate, Label label)
{
    Labels labels = surrogate.widest();
    for (std::size_t k = 0; k < labels.size(); ++k)
        if (surrogate.groups[k].allows(label))
            labels[k] = label;
    return labels;
}

} // namespace

std::string_view nameOf(Label label)
{
    constexpr std::array<std::string_view, kLabelCount> kNames{"float32", "target", "int8"};
    return kNames[indexOf(label)];
}

double Link::microseconds(Label from, Label to) const
{
    if (from == to)
        return 0;
    if (from == Label::Int8 || to == Label::Int8)
        return prices.castMicroseconds + prices.codesMicroseconds;
    return to == Label::Float32 ? prices.widenMicroseconds : prices.castMicroseconds;
}

double Link::microseconds(const Labels &labels) const
{
    std::bitset<kLabelCount> wanted;
    for (const std::size_t reader : readers)
        wanted.set(indexOf(labels[reader]));
    double sum = 0;
    for (const Label label : kLabels)
        sum += wanted.test(indexOf(label)) ? microseconds(labels[producer], label) : 0;
    return sum;
}

Label GroupCosts::widest() const
{
    const auto found = std::ranges::find_if(kLabels, [this](Label label) { return allows(label); });
    return found == kLabels.end() ? Label::Float32 : *found;
}

double Surrogate::microseconds(const Labels &labels) const
{
    double sum = 0;
    for (std::size_t k = 0; k < labels.size(); ++k)
        sum += groups[k].microseconds[indexOf(labels[k])];
    for (const Link &link : links)
        sum += link.microseconds(labels);
    return sum;
}

double Surrogate::error(const Labels &labels) const
{
    double sum = 0;
    for (std::size_t k = 0; k < labels.size(); ++k)
        sum += groups[k].error[indexOf(labels[k])];
    return sum;
}

Labels Surrogate::widest() const
{
    Labels labels;
    for (const GroupCosts &group : groups)
        labels.push_back(group.widest());
    return labels;
}

Labels Surrogate::said(Labels labels) const
{
    for (std::size_t k = 0; k < labels.size(); ++k)
        if (groups[k].follows)
            labels[k] = groups[k].widest();
    return labels;
}

Labels Surrogate::completed(const Labels &labels) const
{
    if (std::ranges::none_of(groups, &GroupCosts::follows))
        return labels;
    Surrogate fixed = *this;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        if (groups[k].follows)
            continue;
        fixed.groups[k].isAllowed = {};
        fixed.groups[k].isAllowed[indexOf(labels[k])] = true;
    }
    return fixed.cheapest(0);
}

Labels Surrogate::cheapest(double lambda) const
{
    const Labels wide = widest();
    const bool hasInt8
        = std::ranges::any_of(groups, [](const GroupCosts &g) { return g.allows(Label::Int8); });
    Labels best = cutBetween(*this, wide, narrowed(*this, Label::Target), lambda);
    if (!hasInt8)
        return best;
    double least = objective(best, lambda);
    const auto take = [&](Labels labels) {
        const double cost = objective(labels, lambda);
        const bool isBetter = cost < least - 1e-12 * std::abs(least);
        if (isBetter) {
            least = cost;
            best = std::move(labels);
        }
        return isBetter;
    };
    take(cutBetween(*this, wide, narrowed(*this, Label::Int8), lambda));
    for (bool helps = true; helps;) {
        helps = false;
        for (const Label label : {Label::Int8, Label::Target, Label::Float32})
            helps = take(expanded(*this, best, label, lambda)) || helps;
    }
    return best;
}

double Surrogate::objective(const Labels &labels, double lambda) const
{
    double sum = microseconds(labels);
    for (std::size_t k = 0; k < labels.size(); ++k)
        sum += costOf(groups[k], labels[k], lambda) - groups[k].microseconds[indexOf(labels[k])];
    return sum;
}

double Surrogate::lowerBound(double lambda, double reached) const
{
    constexpr int kSteps = 60;
    constexpr double kEnough = 1e-4; // of the sum
    const Scale scale(*this, lambda);
    std::vector<double> given(groups.size(), 0); // by group: what each of its labels is paid
    double best = -std::numeric_limits<double>::infinity();
    double reach = 1; // of a step, in parts of what Polyak's would be
    for (int step = 0; step < kSteps && reached - best > kEnough * std::abs(reached); ++step) {
        double bound = std::accumulate(given.begin(), given.end(), 0.0);
        std::vector<int> times(groups.size(), 0); // labels that take the group
        for (const Label label : kLabels) {
            std::vector<double> price(groups.size(), 0);
            for (std::size_t k = 0; k < groups.size(); ++k)
                price[k] = costOf(groups[k], label, lambda) - given[k];
            std::vector<bool> has;
            bound += cheapestPart(*this, scale, label, price, has);
            for (std::size_t k = 0; k < groups.size(); ++k)
                times[k] += has[k] ? 1 : 0;
        }
        reach *= bound > best ? 1 : 0.7;
        best = std::max(best, bound);
        double norm = 0;
        for (const int count : times)
            norm += (1.0 - count) * (1.0 - count);
        if (norm == 0)
            break; // one label each: no labels are cheaper than these
        for (std::size_t k = 0; k < groups.size(); ++k)
            given[k] += reach * (reached - bound) / norm * (1.0 - times[k]);
    }
    return best;
}

Surrogate::Hull Surrogate::hullWithGap() const
{
    const auto hasAny = [this](Label label) {
        return std::ranges::any_of(groups, [label](const GroupCosts &g) { return g.allows(label); });
    };
    const bool isExact = !(hasAny(Label::Int8) && hasAny(Label::Target));
    double gap = 0;
    struct Corner
    {
        Labels labels;
        double microseconds;
        double error;
    };
    const auto cornerOf = [this](Labels labels) {
        const double time = microseconds(labels);
        const double loss = error(labels);
        return Corner{std::move(labels), time, loss};
    };
    std::vector<Corner> corners{cornerOf(widest())};
    double most = 0; // no group loses more than this
    for (const GroupCosts &group : groups)
        most += *std::ranges::max_element(group.error);
    // Nothing is gained by losing less, but among equally fast ones the one that loses least is wanted.
    Corner fastest = cornerOf(cheapest(most > 0 ? 1e-9 * corners[0].microseconds / most : 0));
    if (fastest.microseconds >= corners[0].microseconds)
        return {{corners[0].labels}, 0};
    std::vector<std::pair<Corner, Corner>> open{{corners[0], fastest}};
    while (!open.empty()) {
        const auto [slow, fast] = std::move(open.back());
        open.pop_back();
        const double gained = slow.microseconds - fast.microseconds;
        const double lost = fast.error - slow.error;
        if (lost <= 0 || gained <= 0)
            continue;
        const double lambda = gained / lost;
        Corner between = cornerOf(cheapest(lambda));
        const double line = slow.microseconds + lambda * slow.error;
        const double reached = std::min(between.microseconds + lambda * between.error, line);
        if (!isExact)
            gap = std::max(gap, (reached - lowerBound(lambda, reached)) / std::max(reached, 1e-12));
        if (reached >= line * (1 - 1e-9))
            continue;
        open.emplace_back(slow, between);
        open.emplace_back(between, fast);
        corners.push_back(std::move(between));
    }
    corners.push_back(std::move(fastest));
    std::ranges::sort(corners, {}, &Corner::error);
    std::vector<Labels> labels;
    double least = std::numeric_limits<double>::infinity();
    for (Corner &corner : corners) {
        if (corner.microseconds >= least)
            continue;
        least = corner.microseconds;
        labels.push_back(std::move(corner.labels));
    }
    return {std::move(labels), gap};
}

} // namespace halftone::tune
