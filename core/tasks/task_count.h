#pragma once

#include "core/compare/class_agreement.h"
#include "core/compare/head_kind.h"
#include "core/graph/graph.h"
#include "core/tasks/accuracy_count.h"
#include "core/tasks/targets.h"
#include "core/tasks/task_parts.h"
#include "core/tensor/tensor.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tasks {

/// What a person chose for a task.
struct TaskChoice
{
    std::string targets; ///< an .npz, or a folder of pictures; empty: not known
    std::optional<Metric> metric; ///< nothing: guessed
};

/// By what a network's first output is judged: the metric that was asked for, or what its guess is made from, and what is
/// right. One for all comparisons over the same data.
class Task
{
public:
    /// fails: as Targets::open(); BadCall for a metric that cannot use the targets
    static Result<std::shared_ptr<const Task>> of(const TaskChoice &choice, const JudgedExamples &examples,
                                                  const graph::Graph &graph);

    /// For an output of this shape. Nothing where none is asked for and none suggests itself. What is asked for is taken; else: with
    /// targets, mean IoU for classes, PSNR for pictures and arrays of three axes, cosine for others; with labels top-1; without
    /// either, PSNR for pictures at least as large as the input, cosine for what a normalisation gives, top-1 for other rows of scores.
    std::optional<Metric> metricFor(const tensor::Shape &head) const;
    bool isGuessed() const { return !m_asked; }
    const std::vector<std::int64_t> &labels() const { return m_labels; }
    const Targets &targets() const { return *m_targets; }

private:
    std::optional<Metric> m_asked;
    std::vector<std::int64_t> m_labels;
    std::shared_ptr<const Targets> m_targets;
    compare::HeadKind m_head = compare::HeadKind::Unknown;
    tensor::Shape m_input; ///< of one example of the first input with an area; without: unknown
};

/// Adds up how well one or two models do a task; counts over other examples of it add up by their parts.
class TaskCount
{
public:
    explicit TaskCount(std::shared_ptr<const Task> task)
        : m_task(std::move(task))
        , m_hits{AccuracyCount(m_task->labels()), AccuracyCount(m_task->labels())}
    {
    }

    /// Rows of the first outputs are examples first, first + 1, …
    /// other  of another model; null: there is none. One of another shape is not judged.
    /// fails: BadInput for what is right in another size, or for classes that there are not; for an output that the metric asked for
    ///        says nothing of
    Result<void> add(const tensor::Tensor &reference, const tensor::Tensor *other, std::size_t first);
    TaskParts parts() const;
    std::optional<TaskScore> result() const { return parts().result(); }

private:
    struct Row;
    using Side = TaskParts::Side;

    Result<void> addRow(const Row &row);
    Result<void> addMask(const Row &row);
    Result<void> addNumbers(const Row &row);
    void addPictures(Side side, std::vector<float> right, std::span<const float> found);
    void addLikeness(Side side, const std::vector<float> &right, std::span<const float> found);

    std::shared_ptr<const Task> m_task;
    TaskParts m_parts; ///< but for what these two count
    std::array<AccuracyCount, 2> m_hits; ///< of Reference and Other
    compare::ClassAgreement m_agreement{compare::Scores::Logits};
};

} // namespace halftone::tasks
