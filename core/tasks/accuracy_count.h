#pragma once

#include "core/base/result.h"
#include "core/io/pictures/labels.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>

namespace halftone::tasks {

/// Shares of the examples, or of their judged steps, in [0, 1].
struct Accuracy
{
    double top1 = 0;
    double top5 = 0;
    std::size_t examples = 0;
};

/// Numbers of correct predictions; those of other examples can be added.
struct AccuracyHits
{
    std::uint64_t examples = 0;
    std::uint64_t top1 = 0;
    std::uint64_t top5 = 0;

    void add(const AccuracyHits &more);
};

std::optional<Accuracy> accuracyOf(const AccuracyHits &hits); ///< absent without labelled examples

/// fails: BadInput if an example of `head` has not one row of scores for each step that is labelled, or a label is not among its classes.
/// head  its examples are first, first + 1, …
Result<void> checkLabels(const io::Labels &labels, const tensor::Tensor &head, std::size_t first);

/// Counts how often the label is the first class, or among the first five, of the rows of an output (tensor::topClasses).
class AccuracyCount
{
public:
    /// `labels` must outlive this; if empty, nothing is counted.
    explicit AccuracyCount(const io::Labels &labels)
        : m_labels(labels)
    {
    }

    /// Examples are first, first + 1, … fails: as checkLabels()
    Result<void> add(const tensor::Tensor &head, std::size_t first);
    std::optional<Accuracy> result() const { return accuracyOf(m_hits); }
    const AccuracyHits &hits() const { return m_hits; }

private:
    const io::Labels &m_labels;
    AccuracyHits m_hits;
};

} // namespace halftone::tasks
