#include "core/tasks/task_count.h"

#include "core/tensor/elements.h"
#include "core/tensor/similarity.h"

#include <algorithm>
#include <cmath>

namespace halftone::tasks {
namespace {

using tensor::Shape;
using tensor::Tensor;

constexpr std::int64_t kLeastSide = 8; ///< of what is taken for a picture
constexpr float kMostClasses = 65536;

std::vector<std::int64_t> withoutFirst(const Shape &shape)
{
    return {shape.dims().begin() + (shape.rank() > 0 ? 1 : 0), shape.dims().end()};
}

struct Area
{
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// Of (C, H, W), or (H, W, C) where that has the fewer channels.
std::optional<Area> areaOf(std::span<const std::int64_t> dims)
{
    if (dims.size() != 3)
        return std::nullopt;
    return dims[0] <= dims[2] ? Area{dims[0], dims[1], dims[2]} : Area{dims[2], dims[0], dims[1]};
}

bool isPicture(const Area &area)
{
    return (area.channels == 1 || area.channels == 3) && area.height >= kLeastSide
        && area.width >= kLeastSide;
}

/// As large as what went in, or larger.
bool isPictureOf(std::span<const std::int64_t> head, const Shape &input)
{
    const auto out = areaOf(head);
    const auto in = areaOf(input.dims());
    return out && in && isPicture(*out) && out->height >= in->height && out->width >= in->width;
}

bool isRowOfScores(std::span<const std::int64_t> dims)
{
    std::int64_t elements = 1;
    std::size_t axes = 0;
    for (const std::int64_t dim : dims) {
        elements *= dim;
        axes += dim > 1 ? 1 : 0;
    }
    return axes == 1 && elements > 1;
}

std::vector<float> rowOf(const Tensor &head, std::size_t row, std::size_t size)
{
    std::vector<float> values(size);
    const std::size_t offset = row * size * tensor::sizeOf(head.dtype());
    tensor::widen(head.dtype(), head.bytes().data() + offset, size, values.data());
    return values;
}

/// The axis of classes in an output of one example, for masks of this shape; the output's rank where it has none.
std::optional<std::size_t> classAxis(const std::vector<std::int64_t> &head,
                                     std::span<const std::int64_t> mask)
{
    if (std::ranges::equal(head, mask))
        return head.size();
    if (head.size() != mask.size() + 1)
        return std::nullopt;
    if (std::equal(head.begin() + 1, head.end(), mask.begin(), mask.end()))
        return 0;
    if (std::equal(head.begin(), head.end() - 1, mask.begin(), mask.end()))
        return head.size() - 1;
    return std::nullopt;
}

/// Where there is one value a pixel, it is the class, or, of real numbers, the probability of class 1.
std::vector<std::int64_t> classesOf(std::span<const float> values, const std::vector<std::int64_t> &shape,
                                    std::size_t axis, bool isReal)
{
    const std::size_t classes = axis < shape.size() ? static_cast<std::size_t>(shape[axis]) : 1;
    const std::size_t pixels = values.size() / classes;
    const std::size_t step = axis == 0 ? pixels : 1;
    const std::size_t stride = axis == 0 ? 1 : classes;
    std::vector<std::int64_t> found(pixels);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const float *const first = &values[pixel * stride];
        if (classes == 1) {
            found[pixel]
                = isReal ? (*first > 0.5F ? 1 : 0) : std::llround(std::clamp(*first, 0.0F, kMostClasses));
            continue;
        }
        std::size_t best = 0;
        for (std::size_t k = 1; k < classes; ++k)
            best = first[k * step] > first[best * step] ? k : best;
        found[pixel] = static_cast<std::int64_t>(best);
    }
    return found;
}

std::size_t usualClassAxis(const std::vector<std::int64_t> &head)
{
    if (head.size() < 3)
        return head.size();
    return head.front() <= head.back() ? 0 : head.size() - 1;
}

/// The right classes of one example.
struct Mask
{
    std::vector<std::int64_t> right;
    std::size_t axis = 0; ///< of classes in the output
};

Result<void> checkClasses(const Mask &mask, const std::vector<std::int64_t> &head, const Targets &targets)
{
    const std::int64_t classes = mask.axis < head.size() ? head[mask.axis] : 1;
    const std::int64_t most = classes > 1 ? classes - 1 : static_cast<std::int64_t>(kMostClasses);
    const auto wrong = std::ranges::find_if(mask.right, [&](std::int64_t one) {
        return one < 0 || (one > most && one != tensor::ClassOverlap::kIgnored);
    });
    if (wrong == mask.right.end())
        return {};
    return inFile(badInput("targets", "class " + std::to_string(*wrong),
                           "0 to " + std::to_string(most) + ", or 255 for ignored pixels"),
                  targets.path());
}

Result<Mask> maskOf(const Targets &targets, std::size_t example, const std::vector<std::int64_t> &head)
{
    Mask mask;
    Shape shape;
    HALFTONE_TRY(mask.right, targets.classes(example, shape));
    std::span<const std::int64_t> dims = shape.dims();
    if (dims.size() == head.size() && dims.size() > 2 && dims[0] == 1 && head[0] != 1)
        dims = dims.subspan(1); // an axis of channels, of which there is one
    const auto axis = classAxis(head, dims);
    if (!axis)
        return inFile(badInput("targets", "a mask of shape " + shape.toString(),
                               "the size of the first output, which is " + Shape(head).toString()),
                      targets.path());
    mask.axis = *axis;
    HALFTONE_CHECK(checkClasses(mask, head, targets));
    return mask;
}

Error notJudged(const Shape &head, Metric metric)
{
    return badInput("metric", std::string(titleOf(metric)) + " of a first output of shape " + head.toString(),
                    metric == Metric::MeanIou ? "one value per class for each pixel"
                                              : "more than one value per example");
}

} // namespace

Result<std::shared_ptr<const Task>> Task::of(const TaskChoice &choice, const JudgedExamples &examples,
                                             const graph::Graph &graph)
{
    auto task = std::make_shared<Task>();
    task->m_asked = choice.metric;
    task->m_labels = examples.labels;
    HALFTONE_TRY(task->m_targets,
                 choice.array.dtype() == tensor::DType::Unknown ? Targets::open(choice.targets, examples)
                                                                : Targets::of(choice.array, examples));
    if (choice.metric && isOfClasses(*choice.metric) && task->m_targets->kind() != Targets::Kind::None)
        return badCall("targets", "not used by the metric " + std::string(titleOf(*choice.metric)),
                       "; pass labels or choose another metric");
    if (choice.metric && needsLabels(*choice.metric) && examples.labels.areEmpty())
        return badCall("labels", "missing for the metric " + std::string(titleOf(*choice.metric)),
                       "; pass labels, or inputs whose next token is right");
    if (!graph.heads().empty())
        task->m_head = compare::headKindOf(graph, graph.heads()[0]);
    const bool isOpen
        = !choice.metric && task->m_labels.areEmpty() && task->m_targets->kind() == Targets::Kind::None;
    if (isOpen) {
        HALFTONE_TRY(task->m_input, examples.inputShape());
    }
    return std::shared_ptr<const Task>(std::move(task));
}

std::optional<Metric> Task::metricFor(const Shape &head) const
{
    if (m_asked)
        return m_asked;
    const std::vector<std::int64_t> dims = withoutFirst(head);
    switch (m_targets->kind()) {
    case Targets::Kind::Classes: // bytes may be a picture, too
        if (m_targets->areBytes() && std::ranges::equal(dims, m_targets->shape().dims()) && areaOf(dims)
            && isPicture(*areaOf(dims)))
            return Metric::Psnr;
        return Metric::MeanIou;
    case Targets::Kind::Masks: // grey pictures, where a grey picture comes out
        return areaOf(dims) && areaOf(dims)->channels == 1 ? Metric::Psnr : Metric::MeanIou;
    case Targets::Kind::Pictures:
        return Metric::Psnr;
    case Targets::Kind::Array:
        return areaOf(dims) && isPicture(*areaOf(dims)) ? Metric::Psnr : Metric::Cosine;
    case Targets::Kind::None:
        break;
    }
    if (!m_labels.areEmpty())
        return Metric::Top1;
    if (isPictureOf(dims, m_input))
        return Metric::Psnr;
    if (!isRowOfScores(dims))
        return std::nullopt;
    return m_head == compare::HeadKind::Embedding ? Metric::Cosine : Metric::Top1;
}

/// One example of the first outputs.
struct TaskCount::Row
{
    std::size_t example = 0;
    std::vector<std::int64_t> shape;
    std::vector<float> reference;
    std::vector<float> other; ///< empty: none
    bool isReal = true;
};

Result<void> TaskCount::add(const Tensor &reference, const Tensor *other, std::size_t first)
{
    const std::optional<Metric> metric = m_task->metricFor(reference.shape());
    const std::size_t rows
        = reference.shape().rank() == 0 ? 0 : static_cast<std::size_t>(reference.shape()[0]);
    if (!metric || rows == 0)
        return {};
    m_parts.areMixed = m_parts.areMixed || (m_parts.metric && *m_parts.metric != *metric);
    m_parts.metric = m_parts.metric.value_or(*metric);
    const bool differs = other != nullptr && other->shape() != reference.shape();
    m_parts.shapesDiffer = m_parts.shapesDiffer || differs;
    Row row;
    row.shape = withoutFirst(reference.shape());
    row.isReal = tensor::isFloat(reference.dtype());
    const std::size_t size = reference.elementCount() / rows;
    if (size == 0 || (size == 1 && *metric != Metric::MeanIou)
        || (*metric == Metric::MeanIou && row.shape.size() < 2))
        return m_task->isGuessed() ? Result<void>() : notJudged(reference.shape(), *metric);
    const bool hasOther = other != nullptr && !differs;
    if (*metric == Metric::Perplexity)
        HALFTONE_CHECK(checkLabels(m_task->labels(), reference, first));
    if (isOfClasses(*metric)) {
        HALFTONE_CHECK(m_hits[Side::Reference].add(reference, first));
        if (hasOther)
            HALFTONE_CHECK(m_hits[Side::Other].add(*other, first));
    }
    for (std::size_t k = 0; k < rows; ++k) {
        row.example = first + k;
        row.reference = rowOf(reference, k, size);
        row.other = hasOther ? rowOf(*other, k, size) : std::vector<float>();
        HALFTONE_CHECK(addRow(row));
        ++m_parts.examples;
    }
    return {};
}

Result<void> TaskCount::addRow(const Row &row)
{
    switch (*m_parts.metric) {
    case Metric::Top1:
    case Metric::Top5:
        addAgreement(row);
        return {};
    case Metric::Perplexity:
        addSteps(row);
        return {};
    case Metric::MeanIou:
        return addMask(row);
    case Metric::Psnr:
    case Metric::Cosine:
        return addNumbers(row);
    }
    return {};
}

/// Of one row of scores, or of one at each step.
void TaskCount::addAgreement(const Row &row)
{
    const std::size_t steps = m_task->labels().perExample;
    const std::size_t classes = row.reference.size() / steps;
    for (std::size_t at = 0; !row.other.empty() && at < steps; ++at)
        m_agreement.add(std::span(row.reference).subspan(at * classes, classes),
                        std::span(row.other).subspan(at * classes, classes));
}

void TaskCount::addSteps(const Row &row)
{
    const std::span<const std::int64_t> right = m_task->labels().of(row.example);
    addSteps(Side::Reference, right, row.reference);
    if (!row.other.empty())
        addSteps(Side::Other, right, row.other);
}

void TaskCount::addSteps(Side side, std::span<const std::int64_t> right, std::span<const float> found)
{
    TaskParts::Likeness &sums = m_parts.likeness[side];
    const std::size_t classes = found.size() / right.size();
    double sum = 0;
    for (std::size_t at = 0; at < right.size(); ++at) {
        if (right[at] == io::Labels::kNotJudged)
            continue;
        const auto scores = found.subspan(at * classes, classes);
        sum -= compare::logarithms(scores, m_task->scores())[static_cast<std::size_t>(right[at])];
        ++sums.examples;
    }
    sums.value.add(sum);
}

Result<void> TaskCount::addMask(const Row &row)
{
    Mask mask{{}, usualClassAxis(row.shape)};
    if (m_task->targets().kind() != Targets::Kind::None) {
        HALFTONE_TRY(mask, maskOf(m_task->targets(), row.example, row.shape));
    }
    const auto reference = classesOf(row.reference, row.shape, mask.axis, row.isReal);
    if (!mask.right.empty())
        m_parts.overlaps[Side::Reference].add(mask.right, reference);
    if (row.other.empty())
        return {};
    const auto other = classesOf(row.other, row.shape, mask.axis, row.isReal);
    if (!mask.right.empty())
        m_parts.overlaps[Side::Other].add(mask.right, other);
    m_parts.overlaps[Side::Agreement].add(reference, other);
    return {};
}

/// Which peak it is, 1 or 255, only all examples say.
void TaskCount::addPictures(Side side, std::vector<float> right, std::span<const float> found)
{
    constexpr float kWidePeak = 255;
    TaskParts::Likeness &sums = m_parts.likeness[side];
    sums.wide.add(tensor::psnrDb(right, found, kWidePeak));
    if (side != Side::Agreement && m_task->targets().areBytes()) {
        for (float &value : right)
            value /= kWidePeak;
    }
    sums.value.add(tensor::psnrDb(right, found, 1));
    ++sums.examples;
}

void TaskCount::addLikeness(Side side, const std::vector<float> &right, std::span<const float> found)
{
    if (*m_parts.metric == Metric::Psnr)
        return addPictures(side, right, found);
    m_parts.likeness[side].value.add(tensor::cosineOf(right, found));
    ++m_parts.likeness[side].examples;
}

Result<void> TaskCount::addNumbers(const Row &row)
{
    constexpr float kMostOfUnit = 2;
    const Targets &targets = m_task->targets();
    std::vector<float> right;
    if (targets.kind() != Targets::Kind::None) {
        HALFTONE_TRY(right, targets.values(row.example, row.shape));
    }
    // From 0 to 1, or from 0 to 255: what the numbers themselves suggest.
    const std::vector<float> &telling = right.empty() || targets.areBytes() ? row.reference : right;
    ++m_parts.peaks;
    if (std::ranges::any_of(telling, [](float value) { return std::abs(value) > kMostOfUnit; }))
        ++m_parts.widePeaks;
    if (!right.empty())
        addLikeness(Side::Reference, right, row.reference);
    if (row.other.empty())
        return {};
    if (!right.empty())
        addLikeness(Side::Other, right, row.other);
    addLikeness(Side::Agreement, row.reference, row.other);
    return {};
}

TaskParts TaskCount::parts() const
{
    TaskParts parts = m_parts;
    parts.isGuessed = m_task->isGuessed();
    for (std::size_t k = 0; k < m_hits.size(); ++k)
        parts.hits[k] = m_hits[k].hits();
    parts.agreement = m_agreement.parts();
    return parts;
}

} // namespace halftone::tasks
