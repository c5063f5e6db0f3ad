#include "core/session/accuracy_count.h"

#include "core/runtime/reference/elements.h"
#include "core/tensor/top_classes.h"

#include <algorithm>

namespace halftone::session {

void AccuracyCount::add(const tensor::Tensor &head, std::size_t first)
{
    const auto dims = head.shape().dims();
    const std::size_t rows = dims.empty() ? 0 : static_cast<std::size_t>(dims[0]);
    const std::size_t classes = rows == 0 ? 0 : head.elementCount() / rows;
    if (first >= m_labels.size())
        return;
    std::vector<float> scores(rows * classes);
    runtime::reference::widen(head.dtype(), head.bytes().data(), scores.size(), scores.data());
    for (std::size_t row = 0; row < rows && first + row < m_labels.size(); ++row) {
        const auto top = tensor::topClasses(std::span(scores).subspan(row * classes, classes), 5);
        const auto place = std::ranges::find(top, static_cast<std::size_t>(m_labels[first + row]));
        ++m_examples;
        m_top1 += place == top.begin() && place != top.end() ? 1 : 0;
        m_top5 += place != top.end() ? 1 : 0;
    }
}

std::optional<Accuracy> AccuracyCount::result() const
{
    if (m_examples == 0)
        return std::nullopt;
    const auto all = static_cast<double>(m_examples);
    return Accuracy{static_cast<double>(m_top1) / all, static_cast<double>(m_top5) / all, m_examples};
}

} // namespace halftone::session
