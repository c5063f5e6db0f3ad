#include "core/tensor/class_overlap.h"

#include <algorithm>

namespace halftone::tensor {

void ClassOverlap::add(std::span<const std::int64_t> right, std::span<const std::int64_t> found)
{
    for (std::size_t pixel = 0; pixel < right.size(); ++pixel) {
        if (right[pixel] == kIgnored || right[pixel] < 0)
            continue;
        const auto r = static_cast<std::size_t>(right[pixel]);
        const auto f = static_cast<std::size_t>(found[pixel]);
        m_classes.resize(std::max({m_classes.size(), r + 1, f + 1}));
        ++m_classes[r].right;
        ++m_classes[f].found;
        m_classes[r].both += r == f ? 1 : 0;
    }
}

std::optional<double> ClassOverlap::meanIou() const
{
    double sum = 0;
    std::size_t occurring = 0;
    for (const Class &one : m_classes) {
        const std::uint64_t either = one.right + one.found - one.both;
        if (either == 0)
            continue;
        sum += static_cast<double>(one.both) / static_cast<double>(either);
        ++occurring;
    }
    return occurring == 0 ? std::nullopt : std::optional(sum / static_cast<double>(occurring));
}

} // namespace halftone::tensor
