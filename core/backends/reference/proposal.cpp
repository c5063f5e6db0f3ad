#include "core/backends/reference/boxes.h"
#include "core/backends/reference/kernels.h"

#include <cmath>
#include <functional>
#include <vector>

namespace halftone::backends::reference {
namespace {

/// A box of whole pixels, both edges included, and how likely it holds something.
template <class Real>
struct Candidate
{
    Box<Real> box{};
    Real score = 0;
};

/// The anchors around the first place, ratio by ratio: of the stride's area, then scaled (Faster R-CNN's rounding).
template <class Real>
std::vector<Box<Real>> anchorsOf(const ops::Proposal &op)
{
    const auto side = static_cast<Real>(op.stride);
    const Real center = (side - 1) / 2;
    std::vector<Box<Real>> anchors;
    for (const double givenRatio : op.ratios) {
        const auto ratio = static_cast<Real>(givenRatio);
        const Real width = std::floor(std::sqrt(std::floor(side * side / ratio)) + Real(0.5));
        const Real height = std::floor(width * ratio + Real(0.5));
        for (const double scale : op.scales) {
            const Real halfWidth = (width * static_cast<Real>(scale) - 1) / 2;
            const Real halfHeight = (height * static_cast<Real>(scale) - 1) / 2;
            anchors.push_back(
                {center - halfWidth, center - halfHeight, center + halfWidth, center + halfHeight});
        }
    }
    return anchors;
}

template <class Real>
Box<Real> moved(const Box<Real> &anchor, const std::array<Real, 4> &offset, bool byCorner)
{
    if (byCorner)
        return {anchor.left + offset[0], anchor.top + offset[1], anchor.right + offset[2],
                anchor.bottom + offset[3]};
    const Real width = anchor.right - anchor.left + 1;
    const Real height = anchor.bottom - anchor.top + 1;
    const Real x = anchor.left + (width - 1) / 2 + offset[0] * width;
    const Real y = anchor.top + (height - 1) / 2 + offset[1] * height;
    const Real halfWidth = (std::exp(offset[2]) * width - 1) / 2;
    const Real halfHeight = (std::exp(offset[3]) * height - 1) / 2;
    return {x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight};
}

/// Overlap as a share of the union, of boxes that include their edges.
template <class Real>
Real shareOf(const Box<Real> &a, const Box<Real> &b)
{
    const auto area = [](const Box<Real> &box) {
        return std::max(Real(0), box.right - box.left + 1) * std::max(Real(0), box.bottom - box.top + 1);
    };
    const Real both = area({std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                            std::min(a.bottom, b.bottom)});
    return both / (area(a) + area(b) - both);
}

/// One picture's regions.
template <class Real>
class Proposals
{
public:
    Proposals(const ops::Proposal &op, DimSpan dims, const Real *picture)
        : m_op(op)
        , m_height(dims[2])
        , m_width(dims[3])
        , m_picture(picture)
        , m_anchors(anchorsOf<Real>(op))
    {
    }

    /// Candidates that survive suppression, best first.
    std::vector<Candidate<Real>> find(const Real *scores, const Real *offsets) const
    {
        std::vector<Candidate<Real>> all;
        const auto anchors = static_cast<std::int64_t>(m_anchors.size());
        for (std::int64_t place = 0; place < m_height * m_width; ++place) {
            for (std::int64_t a = 0; a < anchors; ++a)
                all.push_back(candidate(place, a, scores[(anchors + a) * m_height * m_width + place],
                                        offsets + 4 * a * m_height * m_width + place));
        }
        std::ranges::stable_sort(all, std::greater(), &Candidate<Real>::score);
        if (m_op.before > 0 && all.size() > static_cast<std::size_t>(m_op.before))
            all.resize(static_cast<std::size_t>(m_op.before));
        std::vector<Candidate<Real>> kept;
        for (const Candidate<Real> &next : all) {
            if (kept.size() >= static_cast<std::size_t>(m_op.after))
                break;
            const bool overlaps = std::ranges::any_of(kept, [&](const Candidate<Real> &better) {
                return shareOf(better.box, next.box) > static_cast<Real>(m_op.threshold);
            });
            if (!overlaps)
                kept.push_back(next);
        }
        return kept;
    }

private:
    Candidate<Real> candidate(std::int64_t place, std::int64_t a, Real score, const Real *offset) const
    {
        const std::int64_t plane = m_height * m_width;
        const std::int64_t row = place / m_width;
        const std::int64_t column = place % m_width;
        const auto right = static_cast<Real>(column * m_op.stride);
        const auto down = static_cast<Real>(row * m_op.stride);
        Box<Real> anchor = m_anchors[static_cast<std::size_t>(a)];
        anchor = {anchor.left + right, anchor.top + down, anchor.right + right, anchor.bottom + down};
        Candidate<Real> found{
            moved(anchor, {offset[0], offset[plane], offset[2 * plane], offset[3 * plane]}, m_op.iouLoss),
            score};
        const auto inside = [](Real &at, Real size) { at = std::max(std::min(at, size - 1), Real(0)); };
        for (Real *at : {&found.box.left, &found.box.right})
            inside(*at, m_picture[1]);
        for (Real *at : {&found.box.top, &found.box.bottom})
            inside(*at, m_picture[0]);
        const auto stride = static_cast<Real>(m_op.stride);
        if (static_cast<Real>(row) >= std::trunc(m_picture[0] / stride)
            || static_cast<Real>(column) >= std::trunc(m_picture[1] / stride))
            found.score = -1; // in the padding
        dropSmall(found);
        return found;
    }

    void dropSmall(Candidate<Real> &found) const
    {
        const Real least = static_cast<Real>(m_op.leastSize) * m_picture[2];
        Box<Real> &box = found.box;
        if (box.right - box.left + 1 >= least && box.bottom - box.top + 1 >= least)
            return;
        box = {box.left - least / 2, box.top - least / 2, box.right + least / 2, box.bottom + least / 2};
        found.score = -1;
    }

    const ops::Proposal &m_op;
    std::int64_t m_height;
    std::int64_t m_width;
    const Real *m_picture; ///< height, width, scale
    std::vector<Box<Real>> m_anchors;
};

} // namespace

template <class Real>
Result<void> compute(const ops::Proposal &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t anchors = op.ratios.size() * op.scales.size();
    if (anchors == 0 || static_cast<std::size_t>(dims[1]) != 2 * anchors || op.stride < 1 || dims[0] < 1)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(),
                        "two channels for each of the " + std::to_string(anchors) + " anchors");
    const std::size_t pictures = op.perPicture ? static_cast<std::size_t>(dims[0]) : 1;
    const auto rows = static_cast<std::size_t>(op.after);
    const std::size_t plane = extent(dims, 2, 4);
    for (std::size_t n = 0; n < pictures; ++n) {
        const Proposals<Real> proposals(op, dims, arrays.in[2] + 3 * n);
        const auto found
            = proposals.find(arrays.in[0] + n * 2 * anchors * plane, arrays.in[1] + n * 4 * anchors * plane);
        for (std::size_t i = 0; i < rows && !found.empty(); ++i) {
            const auto &[box, score] = found[i % found.size()]; // too few are repeated
            Real *out = arrays.out[0] + (n * rows + i) * 5;
            out[0] = static_cast<Real>(n);
            putBox(box, ops::BoxForm::Corner, out + 1);
            if (arrays.out.size() > 1 && arrays.out[1])
                arrays.out[1][n * rows + i] = score;
        }
        if (found.empty())
            return badInput("input 0", "no positions", "at least one");
    }
    return {};
}

HALFTONE_BOTH(Proposal)

} // namespace halftone::backends::reference
