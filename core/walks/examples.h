#pragma once

#include "core/base/field.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/interpret/interpreter.h"
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
    std::size_t examples = 0; ///< the first so many; 0: all
    std::string targets
        = {}; ///< what the first output should be: an .npz, or a folder of pictures; empty: not known
    std::optional<tasks::Metric> metric = {}; ///< nothing: guessed
    bool widens = false; ///< float32 inputs take 16-bit arrays: the model that declares those was widened

    bool operator==(const ExampleOptions &) const = default;
    /// All but what is right, and what is made of it: whose values and ranges are the same.
    bool hasInputsOf(ExampleOptions other) const
    {
        other.targets = targets;
        other.metric = metric;
        return *this == other;
    }
};

/// Examples in order, read when they are asked for. Safe to use from another thread than the one that made it.
class ExampleSource
{
public:
    virtual ~ExampleSource() = default;

    /// Examples there are. Nothing where the arrays have no axis of examples.
    virtual std::optional<std::size_t> count() const = 0;
    /// How many to run at once when the caller has no wish; 0: all.
    virtual std::size_t usualBatch() const = 0;
    /// Examples [first, first + number) as inputs of the model; number 0: all, untouched.
    virtual Result<interpret::Feed> batch(std::size_t first, std::size_t number) const = 0;
    /// The inputs of which every example has a part.
    virtual std::vector<std::string> cutInputs() const { return {}; }
    /// The right classes, as many as count(); empty without labels.
    const std::vector<std::int64_t> &labels() const { return m_labels; }
    /// The names of the pictures, as many as count(); empty where examples are none.
    const std::vector<std::string> &files() const { return m_files; }
    virtual bool isBgr() const { return false; } ///< of pictures: the order of their colours as inputs

protected:
    std::vector<std::int64_t> m_labels;
    std::vector<std::string> m_files;
};

/// The file that an error about a label is about.
const std::string &labelsFile(const ExampleOptions &options);

/// fails: BadInput for files that cannot be read, arrays that are no input, labels that name no picture or are fewer than
/// the examples; BadCall for pictures without a preprocess file.
Result<std::unique_ptr<ExampleSource>> openExamples(const ExampleOptions &options, const graph::Model &model,
                                                    const std::string &modelPath);

/// By what these examples are judged. fails: as Task::of()
Result<std::shared_ptr<const tasks::Task>> taskOf(const ExampleOptions &options, const ExampleSource &source,
                                                  const graph::Graph &graph);

/// A file that a setting leads to.
struct FieldFile
{
    Field field = Field::None;
    std::string path;
    std::string_view word = {}; ///< for a setting that has no field: "targets"
};

/// The files that openExamples() and batch() read, as far as they are there: arrays or pictures, rules, labels, targets.
std::vector<FieldFile> exampleFiles(const ExampleOptions &options, const std::string &modelPath);

/// The shapes that one example gives the inputs (as many as the model takes, where it takes another number only), so that those of the rest of the network follow. fails: as openExamples().
Result<std::vector<std::pair<std::string, tensor::Shape>>>
shapesOfOne(const ExampleOptions &options, const graph::Model &model, const std::string &modelPath);

} // namespace halftone::walks
