#include "core/ops/box_selection.h"

#include <algorithm>
#include <numeric>

namespace halftone::ops {
namespace {

struct Box
{
    float top = 0;
    float left = 0;
    float bottom = 0;
    float right = 0;

    float area() const { return (bottom - top) * (right - left); }
};

Box boxOf(const float *values, bool centred)
{
    if (centred)
        return {values[1] - values[3] / 2, values[0] - values[2] / 2, values[1] + values[3] / 2,
                values[0] + values[2] / 2};
    return {std::min(values[0], values[2]), std::min(values[1], values[3]), std::max(values[0], values[2]),
            std::max(values[1], values[3])};
}

bool overlap(const Box &a, const Box &b, double threshold)
{
    const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
    if (!(height > 0 && width > 0 && a.area() > 0 && b.area() > 0))
        return false;
    const float common = height * width;
    return static_cast<double>(common / (a.area() + b.area() - common)) > threshold;
}

} // namespace

std::vector<std::array<std::int64_t, 3>> selectBoxes(const NonMaxSuppression &op,
                                                     std::span<const float> boxes,
                                                     std::span<const float> scores,
                                                     const tensor::Shape &scoreShape)
{
    std::vector<std::array<std::int64_t, 3>> selected;
    const std::int64_t classes = scoreShape[1];
    const auto number = static_cast<std::size_t>(scoreShape[2]);
    for (std::int64_t line = 0; line < scoreShape[0] * classes; ++line) {
        const float *score = scores.data() + static_cast<std::size_t>(line) * number;
        const float *ofBatch = boxes.data() + static_cast<std::size_t>(line / classes) * number * 4;
        std::vector<std::size_t> order(number);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::erase_if(order, [&](std::size_t i) {
            return op.scoreThreshold && !(static_cast<double>(score[i]) > *op.scoreThreshold);
        });
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
        std::vector<Box> kept;
        for (const std::size_t i : order) {
            if (static_cast<std::int64_t>(kept.size()) >= op.mostPerClass)
                break;
            const Box box = boxOf(ofBatch + i * 4, op.centred);
            if (std::ranges::any_of(
                    kept, [&](const Box &other) { return overlap(box, other, op.overlapThreshold); }))
                continue;
            kept.push_back(box);
            selected.push_back({line / classes, line % classes, static_cast<std::int64_t>(i)});
        }
    }
    return selected;
}

} // namespace halftone::ops
