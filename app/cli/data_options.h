#pragma once

#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "core/backends/backends.h"
#include "core/base/result.h"
#include "core/tasks/task_metric.h"
#include "core/walks/examples.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::cli {

/// fails: BadCall for a number below 0 or beyond all sense, naming its option.
Result<void> checkCounts(std::initializer_list<std::pair<std::string_view, std::int64_t>> counts);

/// "--memory": a number of MiB, or one with its unit (KiB, MiB, GiB), as bytes. fails: BadCall
Result<std::size_t> memoryOf(const std::string &text);

/// By what the first output is judged.
struct TaskOptions
{
    std::string targets;
    std::string metric;
    std::string nextToken;

    void addTo(Command &command);
    walks::ExampleOptions applied(walks::ExampleOptions data) const;
};

/// "31.20 → 31.18 dB; to float32 58.71 dB", and that the metric is a guess; empty for none.
std::string taskText(const tasks::TaskScore &task);

/// The data that a command runs over, and what computes: shared by all that do.
struct DataOptions
{
    walks::ExampleOptions data;
    TaskOptions task; ///< for labels of accuracy
    std::string backend{backends::kDefaultBackend};
    std::int64_t examples = 0;
    std::int64_t batch = 0;
    std::int64_t threads = 0;

    /// What `--labels` are for.
    enum class Labels
    {
        Accuracy,
        Order ///< of the pictures
    };
    void addTo(Command &command, Labels labels);

    /// Checks the numbers and puts all into a job's options. fails: BadCall
    template <class JobOptions>
    Result<void> take(JobOptions &options) const
    {
        HALFTONE_CHECK(checkCounts({{"--examples", examples}, {"--batch", batch}, {"--threads", threads}}));
        options.examples = task.applied(data);
        options.examples.examples = static_cast<std::size_t>(examples);
        options.backend = backend;
        options.batch = static_cast<std::size_t>(batch);
        options.threads = static_cast<unsigned>(std::min<std::int64_t>(threads, 1024));
        return {};
    }
};

} // namespace halftone::cli
