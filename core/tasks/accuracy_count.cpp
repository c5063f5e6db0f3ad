#include "core/tasks/accuracy_count.h"

#include "core/tensor/elements.h"
#include "core/tensor/top_classes.h"

#include <algorithm>

namespace halftone::tasks {

namespace {

std::size_t rowsOf(const tensor::Tensor &head)
{
    const auto dims = head.shape().dims();
    return dims.empty() ? 0 : static_cast<std::size_t>(dims[0]);
}

} // namespace

Result<void> checkLabels(const std::vector<std::int64_t> &labels, const tensor::Tensor &head,
                         std::size_t first)
{
    const std::size_t rows = rowsOf(head);
    for (std::size_t example = first; example < std::min(first + rows, labels.size()); ++example) {
        const std::size_t classes = head.elementCount() / rows;
        if (static_cast<std::uint64_t>(labels[example]) >= classes)
            return badInput("labels",
                            "class " + std::to_string(labels[example]) + " of example "
                                + std::to_string(example),
                            "0 to " + std::to_string(classes - 1) + ": the first output has "
                                + std::to_string(classes) + " values an example");
    }
    return {};
}

Result<void> AccuracyCount::add(const tensor::Tensor &head, std::size_t first)
{
    if (first >= m_labels.size())
        return {};
    HALFTONE_CHECK(checkLabels(m_labels, head, first));
    const std::size_t rows = rowsOf(head);
    const std::size_t classes = rows == 0 ? 0 : head.elementCount() / rows;
    std::vector<float> scores(rows * classes);
    tensor::widen(head.dtype(), head.bytes().data(), scores.size(), scores.data());
    for (std::size_t row = 0; row < rows && first + row < m_labels.size(); ++row) {
        const auto top = tensor::topClasses(std::span(scores).subspan(row * classes, classes), 5);
        const auto place = std::ranges::find(top, static_cast<std::size_t>(m_labels[first + row]));
        ++m_hits.examples;
        m_hits.top1 += place == top.begin() && place != top.end() ? 1 : 0;
        m_hits.top5 += place != top.end() ? 1 : 0;
    }
    return {};
}

void AccuracyHits::add(const AccuracyHits &more)
{
    examples += more.examples;
    top1 += more.top1;
    top5 += more.top5;
}

std::optional<Accuracy> accuracyOf(const AccuracyHits &hits)
{
    if (hits.examples == 0)
        return std::nullopt;
    const auto all = static_cast<double>(hits.examples);
    return Accuracy{static_cast<double>(hits.top1) / all, static_cast<double>(hits.top5) / all,
                    static_cast<std::size_t>(hits.examples)};
}

} // namespace halftone::tasks
