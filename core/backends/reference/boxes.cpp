#include "core/backends/reference/boxes.h"

#include "core/backends/reference/kernels.h"

#include <cmath>
#include <utility>

namespace halftone::backends::reference {

template <class Real>
Result<void> compute(const ops::BoxPrior &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto height = static_cast<Real>(dims[2]);
    const auto width = static_cast<Real>(dims[3]);
    const auto at = [](const std::vector<double> &values, std::size_t i, double fallback) {
        return static_cast<Real>(i < values.size() ? values[i] : fallback);
    };
    const bool areGiven = at(op.steps, 0, -1) > 0 && at(op.steps, 1, -1) > 0; // one alone does not count
    const Real stepY = areGiven ? at(op.steps, 0, -1) : Real(1) / height;
    const Real stepX = areGiven ? at(op.steps, 1, -1) : Real(1) / width;
    // Half extents: every size with the first ratio, then the first size with the other ratios.
    std::vector<std::pair<Real, Real>> halves;
    const auto add = [&](Real size, Real ratio) {
        const Real root = std::sqrt(ratio);
        halves.emplace_back(size * height / width * root / 2, size / root / 2);
    };
    for (std::size_t i = 0; i < op.sizes.size(); ++i)
        add(at(op.sizes, i, 1), at(op.ratios, 0, 1));
    for (std::size_t i = 1; i < op.ratios.size(); ++i)
        add(at(op.sizes, 0, 1), at(op.ratios, i, 1));
    Real *out = arrays.out[0];
    const auto put = [&](Real value) { *out++ = op.clip ? std::clamp(value, Real(0), Real(1)) : value; };
    for (std::int64_t y = 0; y < dims[2]; ++y) {
        const Real centerY = (static_cast<Real>(y) + at(op.offsets, 0, 0.5)) * stepY;
        for (std::int64_t x = 0; x < dims[3]; ++x) {
            const Real centerX = (static_cast<Real>(x) + at(op.offsets, 1, 0.5)) * stepX;
            for (const auto &[halfWidth, halfHeight] : halves) {
                put(centerX - halfWidth);
                put(centerY - halfHeight);
                put(centerX + halfWidth);
                put(centerY + halfHeight);
            }
        }
    }
    return {};
}

namespace {

/// A row of the detection's result.
template <class Real>
struct Detection
{
    Real id;
    Real score;
    Box<Real> box;
};

template <class Real>
Box<Real> located(const ops::BoxDetection &op, const Real *anchor, const Real *offset)
{
    const auto variance = [&](std::size_t i) { return static_cast<Real>(op.variances[i]); };
    const Real width = anchor[2] - anchor[0];
    const Real height = anchor[3] - anchor[1];
    const Real x = offset[0] * variance(0) * width + (anchor[0] + anchor[2]) / 2;
    const Real y = offset[1] * variance(1) * height + (anchor[1] + anchor[3]) / 2;
    const Real halfWidth = std::exp(offset[2] * variance(2)) * width / 2;
    const Real halfHeight = std::exp(offset[3] * variance(3)) * height / 2;
    Box<Real> box{x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight};
    if (op.clip) {
        for (Real *side : {&box.left, &box.top, &box.right, &box.bottom})
            *side = std::clamp(*side, Real(0), Real(1));
    }
    return box;
}

/// One picture's detections: the best class of each anchor, best score first, those that overlap a better one of their
/// class marked by id -1.
template <class Real>
std::vector<Detection<Real>> detect(const ops::BoxDetection &op, const Real *scores, const Real *offsets,
                                    const Real *anchors, std::size_t classes, std::size_t anchorCount)
{
    std::vector<Detection<Real>> found;
    for (std::size_t a = 0; a < anchorCount; ++a) {
        std::size_t id = 0;
        Real score = -1;
        for (std::size_t c = 1; c < classes; ++c) { // class 0 is the background, whatever the attribute says
            if (scores[c * anchorCount + a] > score) {
                score = scores[c * anchorCount + a];
                id = c;
            }
        }
        if (id > 0 && !(score < static_cast<Real>(op.threshold)))
            found.push_back(
                {static_cast<Real>(id - 1), score, located(op, anchors + 4 * a, offsets + 4 * a)});
    }
    if (found.empty() || op.nmsThreshold <= 0 || op.nmsThreshold > 1)
        return found;
    const std::size_t kept
        = op.nmsTopK > 0 ? std::min(found.size(), static_cast<std::size_t>(op.nmsTopK)) : found.size();
    // Only the best are put in order; behind them stands what stood there before, marked.
    std::vector<Detection<Real>> sorted = found;
    std::ranges::stable_sort(sorted, std::greater(), &Detection<Real>::score);
    std::copy_n(sorted.begin(), kept, found.begin());
    for (std::size_t i = kept; i < found.size(); ++i)
        found[i].id = -1;
    for (std::size_t i = 0; i < kept; ++i) {
        for (std::size_t j = i + 1; j < kept && found[i].id >= 0; ++j) {
            if (found[j].id >= 0 && (op.forceSuppress || found[i].id == found[j].id)
                && overlap(found[i].box, found[j].box) >= static_cast<Real>(op.nmsThreshold))
                found[j].id = -1;
        }
    }
    return found;
}

} // namespace

template <class Real>
Result<void> compute(const ops::BoxDetection &op, const Arrays<Real> &arrays)
{
    if (op.variances.size() != 4)
        return badInput("variances", std::to_string(op.variances.size()) + " values", "4");
    const auto classes = static_cast<std::size_t>(arrays.inDims(0)[1]);
    const auto anchors = static_cast<std::size_t>(arrays.inDims(0)[2]);
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(-1));
    for (std::size_t n = 0; n < static_cast<std::size_t>(arrays.inDims(0)[0]); ++n) {
        const auto found = detect(op, arrays.in[0] + n * classes * anchors, arrays.in[1] + n * anchors * 4,
                                  arrays.in[2], classes, anchors);
        Real *out = arrays.out[0] + n * anchors * 6;
        for (const Detection<Real> &d : found) {
            for (const Real value : {d.id, d.score, d.box.left, d.box.top, d.box.right, d.box.bottom})
                *out++ = value;
        }
    }
    return {};
}

namespace {

/// Positions of one set's boxes that stay, best first.
template <class Real>
std::vector<std::size_t> survivors(const ops::BoxNms &op, const Real *set, std::size_t boxes,
                                   std::size_t width)
{
    const auto field = [&](std::size_t box, std::int64_t index) {
        return set[box * width + static_cast<std::size_t>(index)];
    };
    const bool hasIds = op.idIndex >= 0;
    std::vector<std::size_t> order;
    for (std::size_t box = 0; box < boxes; ++box) {
        const bool background = hasIds && op.backgroundId >= 0
            && static_cast<std::int64_t>(field(box, op.idIndex)) == op.backgroundId;
        if (field(box, op.scoreIndex) > static_cast<Real>(op.validThreshold) && !background)
            order.push_back(box);
    }
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t box) { return field(box, op.scoreIndex); });
    if (op.topK > 0 && order.size() > static_cast<std::size_t>(op.topK))
        order.resize(static_cast<std::size_t>(op.topK));
    std::vector<std::size_t> kept;
    for (const std::size_t box : order) {
        const Box<Real> own = boxAt(set + box * width + op.coordStart, op.inForm);
        const bool suppressed = std::ranges::any_of(kept, [&](std::size_t better) {
            const bool rivals
                = op.forceSuppress || !hasIds || field(better, op.idIndex) == field(box, op.idIndex);
            return rivals
                && overlap(boxAt(set + better * width + op.coordStart, op.inForm), own)
                > static_cast<Real>(op.overlapThreshold);
        });
        if (!suppressed)
            kept.push_back(box);
    }
    return kept;
}

} // namespace

template <class Real>
Result<void> compute(const ops::BoxNms &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto width = static_cast<std::size_t>(dims.back());
    const auto boxes = static_cast<std::size_t>(dims[dims.size() - 2]);
    const auto inside = [&](std::int64_t first, std::int64_t length) {
        return first >= 0 && first + length <= static_cast<std::int64_t>(width);
    };
    if (!inside(op.coordStart, 4) || !inside(op.scoreIndex, 1) || (op.idIndex >= 0 && !inside(op.idIndex, 1)))
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(),
                        "boxes that hold the coordinates, score and id that the attributes name");
    Real *places = arrays.out.size() > 1 ? arrays.out[1] : nullptr;
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(-1));
    if (places)
        std::fill_n(places, arrays.outCount(1), Real(-1));
    for (std::size_t n = 0; n < extent(dims, 0, dims.size() - 2); ++n) {
        const Real *set = arrays.in[0] + n * boxes * width;
        Real *out = arrays.out[0] + n * boxes * width;
        std::size_t row = n * boxes;
        for (const std::size_t box : survivors(op, set, boxes, width)) {
            std::copy_n(set + box * width, width, out);
            if (op.inForm != op.outForm)
                putBox(boxAt(set + box * width + op.coordStart, op.inForm), op.outForm, out + op.coordStart);
            if (places)
                places[row++] = static_cast<Real>(n * boxes + box);
            out += width;
        }
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::BoxIou &op, const Arrays<Real> &arrays)
{
    Real *out = arrays.out[0];
    for (std::size_t i = 0; i < arrays.inCount(0); i += 4) {
        for (std::size_t j = 0; j < arrays.inCount(1); j += 4)
            *out++ = overlap(boxAt(arrays.in[0] + i, op.form), boxAt(arrays.in[1] + j, op.form));
    }
    return {};
}

HALFTONE_BOTH(BoxPrior)
HALFTONE_BOTH(BoxDetection)
HALFTONE_BOTH(BoxNms)
HALFTONE_BOTH(BoxIou)

} // namespace halftone::backends::reference
