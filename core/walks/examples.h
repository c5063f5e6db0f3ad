#pragma once

#include "core/base/field.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/labels.h"
#include "core/tasks/task_count.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::walks {

/// Where a model's input data come from.
struct ExampleOptions
{
    std::string inputs; ///< an .npz, or a folder of pictures
    std::string preprocess; ///< for pictures; empty: preprocess.json beside the model
    std::string labels; ///< a CSV or an .npz; empty: none, but for an array `labels` among the inputs
    std::size_t examples = 0; ///< maximum number; 0: all
    std::string targets
        = {}; ///< expected values of the first output: an .npz, or a folder of pictures; empty: unknown
    std::optional<tasks::Metric> metric = {}; ///< absent: guessed
    std::string nextToken
        = {}; ///< the input whose next token is the right class of each step; empty: guessed where a metric needs labels
    bool widens = false; ///< float32 inputs accept 16-bit arrays: the model was widened
    /// Arrays in memory in place of a file, of which errors then speak as `inputs`. As in an .npz, `labels` are the labels; `targets` are the
    /// targets. null: none
    std::shared_ptr<const std::vector<io::NamedTensor>> arrays = {};

    bool operator==(const ExampleOptions &) const = default;
    /// Equal except for targets and metric: inputs and labels, and therefore values and ranges, are the same.
    bool hasInputsOf(ExampleOptions other) const
    {
        if (takesNextTokens() != other.takesNextTokens())
            return false;
        other.targets = targets;
        other.metric = metric;
        return *this == other;
    }
    bool takesNextTokens() const
    {
        return labels.empty() && (!nextToken.empty() || (metric && tasks::needsLabels(*metric)));
    }
};

/// Examples in order, read on demand. May be used from another thread than the one that created it.
class ExampleSource
{
public:
    virtual ~ExampleSource() = default;

    /// The number of examples; absent if the arrays have no axis of examples.
    virtual std::optional<std::size_t> count() const = 0;
    /// The default batch size; 0: all examples at once.
    virtual std::size_t usualBatch() const = 0;
    /// Examples [first, first + number) as inputs of the model; number 0: all, unchanged.
    virtual Result<interpret::Feed> batch(std::size_t first, std::size_t number) const = 0;
    /// The inputs that have an axis of examples.
    virtual std::vector<std::string> cutInputs() const { return {}; }
    /// The labels of the examples; empty if there are none.
    const io::Labels &labels() const { return m_labels; }
    /// What the data lack and was chosen, a sentence each.
    const std::vector<std::string> &notes() const { return m_notes; }
    /// The file names of pictures, one for each example; empty for arrays.
    const std::vector<std::string> &files() const { return m_files; }
    virtual bool isBgr() const { return false; } ///< colour order of pictures as inputs

protected:
    io::Labels m_labels;
    std::vector<std::string> m_notes;
    std::vector<std::string> m_files;
};

/// The file that errors about labels name.
const std::string &labelsFile(const ExampleOptions &options);

/// fails: BadInput for unreadable files, arrays that do not belong to an input, labels that name no picture or are fewer than the examples;
/// BadCall for pictures without a preprocess file.
Result<std::unique_ptr<ExampleSource>> openExamples(const ExampleOptions &options, const graph::Model &model,
                                                    const std::string &modelPath);

/// The task of the first output on these examples. fails: as Task::of()
Result<std::shared_ptr<const tasks::Task>> taskOf(const ExampleOptions &options, const ExampleSource &source,
                                                  const graph::Graph &graph);

/// XXH64 of the names, types, shapes and elements of arrays. Needs: options.arrays
std::uint64_t hashOfArrays(const ExampleOptions &options);

/// A file that a setting names.
struct FieldFile
{
    Field field = Field::None;
    std::string path;
    std::string_view word = {}; ///< for a setting without a field: "targets"
};

/// The existing files that openExamples() and batch() read: arrays or pictures, preprocessing, labels, targets.
std::vector<FieldFile> exampleFiles(const ExampleOptions &options, const std::string &modelPath);

/// The shapes of inputs for one example (or as many as the model requires), from which all others can be inferred. fails: as openExamples()
Result<std::vector<std::pair<std::string, tensor::Shape>>>
shapesOfOne(const ExampleOptions &options, const graph::Model &model, const std::string &modelPath);

} // namespace halftone::walks
