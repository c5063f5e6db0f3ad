#include "core/tasks/accuracy_count.h"

#include "core/tensor/elements.h"
#include "core/tensor/top_classes.h"

#include <algorithm>

namespace halftone::tasks {

namespace {

std::size_t examplesOf(const tensor::Tensor &head)
{
    const auto dims = head.shape().dims();
    return dims.empty() ? 0 : static_cast<std::size_t>(dims[0]);
}

/// Steps of an example lie along its second axis, their scores along the last; of one step, the scores are all there is.
bool fitSteps(const tensor::Shape &head, std::size_t steps)
{
    const auto dims = head.dims();
    if (steps > 1)
        return dims.size() == 3 && dims[1] == static_cast<std::int64_t>(steps);
    return std::ranges::count_if(dims.subspan(1), [](std::int64_t dim) { return dim > 1; }) <= 1;
}

Result<void> checkShape(const io::Labels &labels, const tensor::Shape &head)
{
    if (fitSteps(head, labels.perExample))
        return {};
    const std::string wanted = labels.areOfSteps()
        ? "a first output of shape [examples, " + std::to_string(labels.perExample) + ", classes]"
        : "a first output with one row of scores an example";
    return badInput("labels",
                    (labels.areOfSteps() ? std::to_string(labels.perExample) + " labels" : "one label")
                        + " an example, but the first output has the shape " + head.toString(),
                    wanted + ", or labels that have its shape but for the last axis");
}

} // namespace

Result<void> checkLabels(const io::Labels &labels, const tensor::Tensor &head, std::size_t first)
{
    const std::size_t examples = examplesOf(head);
    const std::size_t end = std::min(first + examples, labels.examples());
    if (first >= end)
        return {};
    HALFTONE_CHECK(checkShape(labels, head.shape()));
    const std::size_t classes = head.elementCount() / examples / labels.perExample;
    for (std::size_t example = first; example < end; ++example) {
        for (const std::int64_t label : labels.of(example)) {
            const bool isJudged = !labels.areOfSteps() || label != io::Labels::kNotJudged;
            if (isJudged && static_cast<std::uint64_t>(label) >= classes)
                return badInput("labels",
                                "class " + std::to_string(label) + " of example " + std::to_string(example),
                                "0 to " + std::to_string(classes - 1) + ": the first output has "
                                    + std::to_string(classes) + " values "
                                    + (labels.areOfSteps() ? "a step" : "an example"));
        }
    }
    return {};
}

Result<void> AccuracyCount::add(const tensor::Tensor &head, std::size_t first)
{
    if (first >= m_labels.examples())
        return {};
    HALFTONE_CHECK(checkLabels(m_labels, head, first));
    const std::size_t examples = std::min(examplesOf(head), m_labels.examples() - first);
    if (examples == 0)
        return {};
    const std::size_t classes = head.elementCount() / examplesOf(head) / m_labels.perExample;
    std::vector<float> scores(classes);
    const auto labels = std::span(m_labels.classes).subspan(first * m_labels.perExample);
    for (std::size_t row = 0; row < examples * m_labels.perExample; ++row) {
        if (labels[row] == io::Labels::kNotJudged)
            continue;
        const std::size_t offset = row * classes * tensor::sizeOf(head.dtype());
        tensor::widen(head.dtype(), head.bytes().data() + offset, classes, scores.data());
        const auto top = tensor::topClasses(scores, 5);
        const auto place = std::ranges::find(top, static_cast<std::size_t>(labels[row]));
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
