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

void ClassOverlap::add(std::span<const Class> classes)
{
    m_classes.resize(std::max(m_classes.size(), classes.size()));
    for (std::size_t k = 0; k < classes.size(); ++k) {
        m_classes[k].right += classes[k].right;
        m_classes[k].found += classes[k].found;
        m_classes[k].both += classes[k].both;
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
