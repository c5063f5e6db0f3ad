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

/// The user's choice of a task.
struct TaskChoice
{
    std::string targets; ///< an .npz, or a folder of pictures; empty: none
    std::optional<Metric> metric; ///< absent: guessed
    tensor::Tensor array = {}; ///< targets in memory, one row per example; of unknown type: none
};

/// How the first output of a network is evaluated: the requested metric, or the facts to guess it from, with labels and targets. Shared by all
/// comparisons on the same data.
class Task
{
public:
    /// fails: as Targets::open(); BadCall for a metric that cannot use the targets or lacks labels
    static Result<std::shared_ptr<const Task>> of(const TaskChoice &choice, const JudgedExamples &examples,
                                                  const graph::Graph &graph);

    /// The metric for an output of this shape: the requested one; otherwise, with targets, mean IoU for classes, PSNR for pictures and arrays of
    /// three axes, cosine for others; with labels, top-1; with neither, PSNR for pictures at least as large as the input, cosine after a
    /// normalisation, top-1 for other rows of scores. Absent if none applies.
    std::optional<Metric> metricFor(const tensor::Shape &head) const;
    bool isGuessed() const { return !m_asked; }
    const io::Labels &labels() const { return m_labels; }
    /// What the values of the first output mean.
    compare::Scores scores() const
    {
        return m_head == compare::HeadKind::Probabilities ? compare::Scores::Probabilities
                                                          : compare::Scores::Logits;
    }
    const Targets &targets() const { return *m_targets; }

private:
    std::optional<Metric> m_asked;
    io::Labels m_labels;
    std::shared_ptr<const Targets> m_targets;
    compare::HeadKind m_head = compare::HeadKind::Unknown;
    tensor::Shape m_input; ///< of one example of the first input with an area; without: unknown
};

/// Accumulates the score of one or two models on a task. Results of other examples are added as TaskParts.
class TaskCount
{
public:
    explicit TaskCount(std::shared_ptr<const Task> task)
        : m_task(std::move(task))
        , m_hits{AccuracyCount(m_task->labels()), AccuracyCount(m_task->labels())}
    {
    }

    /// Adds the first outputs of the examples first, first + 1, …
    /// other  output of the second model; null: none. Ignored if its shape differs.
    /// fails: BadInput for targets of another size, labels that do not fit or invalid classes, or if the requested metric does not apply to the output
    Result<void> add(const tensor::Tensor &reference, const tensor::Tensor *other, std::size_t first);
    TaskParts parts() const;
    std::optional<TaskScore> result() const { return parts().result(); }

private:
    struct Row;
    using Side = TaskParts::Side;

    Result<void> addRow(const Row &row);
    void addAgreement(const Row &row);
    Result<void> addMask(const Row &row);
    Result<void> addNumbers(const Row &row);
    void addSteps(const Row &row);
    void addSteps(Side side, std::span<const std::int64_t> right, std::span<const float> found);
    void addPictures(Side side, std::vector<float> right, std::span<const float> found);
    void addLikeness(Side side, const std::vector<float> &right, std::span<const float> found);

    std::shared_ptr<const Task> m_task;
    TaskParts m_parts; ///< except for what the next two count
    std::array<AccuracyCount, 2> m_hits; ///< of reference and other model
    compare::ClassAgreement m_agreement{compare::Scores::Logits};
};

} // namespace halftone::tasks
