#include "core/backends/reference/boxes.h"
#include "core/backends/reference/kernels.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

/// Targets for training detectors, and the greedy pairing of boxes.
namespace halftone::backends::reference {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

enum class Role
{
    Ignored,
    Negative,
    Positive
};

/// What an anchor is trained towards.
template <class Real>
struct Match
{
    Role role = Role::Ignored;
    std::size_t label = kNone;
    Real overlap = -1;
};

/// One picture: its labels (class, box, …) and the anchors.
template <class Real>
class Matcher
{
public:
    Matcher(const Real *anchors, std::size_t anchorCount, const Real *labels, std::size_t labelCount,
            std::size_t labelWidth)
        : m_labels(labelCount)
        , m_overlaps(anchorCount * labelCount)
        , m_matches(anchorCount)
    {
        for (std::size_t a = 0; a < anchorCount; ++a)
            for (std::size_t l = 0; l < labelCount; ++l)
                m_overlaps[a * labelCount + l]
                    = overlap(boxAt(anchors + 4 * a, ops::BoxForm::Corner),
                              boxAt(labels + l * labelWidth + 1, ops::BoxForm::Corner));
    }

    const std::vector<Match<Real>> &matches() const { return m_matches; }

    /// Each label gets an anchor of its own: the pair that overlaps most first.
    void pairOff()
    {
        constexpr auto kLeast = static_cast<Real>(1e-6);
        std::vector<std::size_t> pairs(m_overlaps.size());
        std::iota(pairs.begin(), pairs.end(), std::size_t{0});
        std::erase_if(pairs, [this](std::size_t pair) { return !(m_overlaps[pair] > kLeast); });
        std::ranges::stable_sort(pairs, std::greater(),
                                 [this](std::size_t pair) { return m_overlaps[pair]; });
        std::vector<bool> isTaken(m_labels);
        for (const std::size_t pair : pairs) {
            Match<Real> &match = m_matches[pair / m_labels];
            if (match.role == Role::Positive || isTaken[pair % m_labels])
                continue;
            match = {Role::Positive, pair % m_labels, m_overlaps[pair]};
            isTaken[pair % m_labels] = true;
        }
    }

    /// Anchors that overlap a label by more than the threshold are trained towards it, too.
    void addOverlapping(Real threshold)
    {
        for (std::size_t a = 0; a < m_matches.size(); ++a) {
            Match<Real> &match = m_matches[a];
            if (match.role == Role::Positive)
                continue;
            const auto first = m_overlaps.begin() + static_cast<std::ptrdiff_t>(a * m_labels);
            const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(m_labels));
            match.label = static_cast<std::size_t>(best - first);
            match.overlap = *best;
            if (threshold > 0 && *best > threshold)
                match.role = Role::Positive;
        }
    }

    void allOthersNegative()
    {
        for (Match<Real> &match : m_matches)
            match.role = match.role == Role::Positive ? Role::Positive : Role::Negative;
    }

    /// Of the anchors that overlap no label as far as `limit`, those are negative whose background is the least likely:
    /// `ratio` for each positive one, as many as there are.
    void mineNegatives(Real ratio, Real limit, const Real *scores, std::size_t classes)
    {
        const std::size_t anchors = m_matches.size();
        std::vector<std::pair<Real, std::size_t>> candidates;
        std::size_t positives = 0;
        for (std::size_t a = 0; a < anchors; ++a) {
            positives += m_matches[a].role == Role::Positive ? 1 : 0;
            if (m_matches[a].role != Role::Positive && m_matches[a].overlap < limit)
                candidates.emplace_back(background(scores + a, classes, anchors), a);
        }
        const Real wanted = static_cast<Real>(positives) * ratio;
        const std::size_t count = wanted < static_cast<Real>(candidates.size())
            ? static_cast<std::size_t>(std::max(wanted, Real(0)))
            : candidates.size();
        std::ranges::stable_sort(candidates, {}, &std::pair<Real, std::size_t>::first);
        for (std::size_t i = 0; i < count; ++i)
            m_matches[candidates[i].second].role = Role::Negative;
    }

private:
    /// The softmax of class 0; scores of one anchor lie `stride` apart.
    static Real background(const Real *scores, std::size_t classes, std::size_t stride)
    {
        Real largest = scores[0];
        for (std::size_t c = 1; c < classes; ++c)
            largest = std::max(largest, scores[c * stride]);
        Real sum = 0;
        for (std::size_t c = 0; c < classes; ++c)
            sum += std::exp(scores[c * stride] - largest);
        return std::exp(scores[0] - largest) / sum;
    }

    std::size_t m_labels;
    std::vector<Real> m_overlaps; ///< (anchors, labels)
    std::vector<Match<Real>> m_matches; ///< by anchor
};

template <class Real>
void putOffsets(const std::vector<double> &variances, const Real *anchor, const Real *box, Real *out)
{
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const Real size = anchor[axis + 2] - anchor[axis];
        const Real center = (box[axis] + box[axis + 2]) / 2 - (anchor[axis] + anchor[axis + 2]) / 2;
        out[axis] = center / size / static_cast<Real>(variances[axis]);
        out[axis + 2] = std::log((box[axis + 2] - box[axis]) / size) / static_cast<Real>(variances[axis + 2]);
    }
}

} // namespace

template <class Real>
Result<void> compute(const ops::BoxTarget &op, const Arrays<Real> &arrays)
{
    if (op.variances.size() != 4)
        return badInput("variances", std::to_string(op.variances.size()) + " values", "4");
    const auto anchors = static_cast<std::size_t>(arrays.inDims(0)[1]);
    const auto rows = static_cast<std::size_t>(arrays.inDims(1)[1]);
    const auto width = static_cast<std::size_t>(arrays.inDims(1)[2]);
    const auto classes = static_cast<std::size_t>(arrays.inDims(2)[1]);
    if (classes == 0)
        return badInput("input 2", "no classes", "one or more, the first of which is the background");
    for (const std::size_t o : {0, 1})
        if (arrays.out[o])
            std::fill_n(arrays.out[o], arrays.outCount(o), Real(0));
    if (arrays.out[2])
        std::fill_n(arrays.out[2], arrays.outCount(2), static_cast<Real>(op.ignoreLabel));
    for (std::size_t n = 0; n < static_cast<std::size_t>(arrays.inDims(1)[0]); ++n) {
        const Real *labels = arrays.in[1] + n * rows * width;
        std::size_t count = 0; // a class of -1 ends the list
        while (count < rows && labels[count * width] != Real(-1))
            ++count;
        if (count == 0)
            continue;
        Matcher<Real> matcher(arrays.in[0], anchors, labels, count, width);
        matcher.pairOff();
        matcher.addOverlapping(static_cast<Real>(op.overlapThreshold));
        if (op.negativeMiningRatio > 0)
            matcher.mineNegatives(static_cast<Real>(op.negativeMiningRatio),
                                  static_cast<Real>(op.negativeMiningThreshold),
                                  arrays.in[2] + n * classes * anchors, classes);
        else
            matcher.allOthersNegative();
        for (std::size_t a = 0; a < anchors; ++a) {
            const Match<Real> &match = matcher.matches()[a];
            const std::size_t at = n * anchors + a;
            const bool isPositive = match.role == Role::Positive;
            if (arrays.out[2] && match.role != Role::Ignored)
                arrays.out[2][at] = isPositive ? labels[match.label * width] + 1 : Real(0);
            if (isPositive && arrays.out[0])
                putOffsets(op.variances, arrays.in[0] + 4 * a, labels + match.label * width + 1,
                           arrays.out[0] + 4 * at);
            if (isPositive && arrays.out[1])
                std::fill_n(arrays.out[1] + 4 * at, 4, Real(1));
        }
    }
    return {};
}

/// Best score first, equal ones in order; the first score beyond the threshold between an unpaired row and an unpaired
/// column ends it. MXNet's limit of pairs lets one more pass than its number says, and so does this.
template <class Real>
Result<void> compute(const ops::BoxMatch &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto columns = static_cast<std::size_t>(dims.back());
    const auto rows = static_cast<std::size_t>(dims[dims.size() - 2]);
    const auto threshold = static_cast<Real>(op.threshold);
    for (const std::size_t o : {0, 1})
        if (arrays.out[o])
            std::fill_n(arrays.out[o], arrays.outCount(o), Real(-1));
    std::vector<std::size_t> order(rows * columns);
    for (std::size_t n = 0; n < extent(dims, 0, dims.size() - 2); ++n) {
        const Real *scores = arrays.in[0] + n * order.size();
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return op.ascending ? scores[a] < scores[b] : scores[a] > scores[b];
        });
        std::vector<bool> rowTaken(rows);
        std::vector<bool> columnTaken(columns);
        std::int64_t pairs = 0;
        for (const std::size_t place : order) {
            const std::size_t row = place / columns;
            const std::size_t column = place % columns;
            if (rowTaken[row] || columnTaken[column])
                continue;
            if (op.ascending ? !(scores[place] < threshold) : !(scores[place] > threshold))
                break;
            rowTaken[row] = columnTaken[column] = true;
            if (arrays.out[0])
                arrays.out[0][n * rows + row] = static_cast<Real>(column);
            if (arrays.out[1])
                arrays.out[1][n * columns + column] = static_cast<Real>(row);
            if (++pairs > op.topK && op.topK > 0)
                break;
        }
    }
    return {};
}

HALFTONE_BOTH(BoxTarget)
HALFTONE_BOTH(BoxMatch)

} // namespace halftone::backends::reference
