#include "halftone/run.h"

#include "core/api/inside.h"
#include "core/api/prepared_run.h"
#include "core/backends/backends.h"
#include "core/base/text.h"
#include "core/interpret/fed_types.h"
#include "core/results/run_json.h"
#include "core/walks/run.h"
#include "core/walks/value_names.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace halftone::api {

struct Prepared::Content
{
    explicit Content(Model prepared)
        : model(std::move(prepared))
    {
    }

    Model model;
    PreparedSettings settings;
    std::mutex mutex;
    std::vector<std::unique_ptr<PreparedRun>> idle; ///< one for each thread that has run it
};

namespace {

/// fails: BadInput for a name that neither an input nor a parameter has
halftone::Result<void> checkFedName(const Model &model, const std::string &name)
{
    if (std::ranges::find(model.inputs(), name, &Value::name) != model.inputs().end())
        return {};
    const graph::Graph &graph = Inside::graphModelOf(model).graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) && graph.node(id).name == name)
            return {};
    }
    std::vector<std::string_view> known;
    for (const Value &input : model.inputs())
        known.push_back(input.name);
    return badInput(name, "the model has no input of this name" + didYouMean(nearestNames(name, known)));
}

halftone::Result<interpret::Feed> feedOf(const Model &model, const std::vector<Array> &inputs)
{
    const graph::Graph &graph = Inside::graphModelOf(model).graph;
    interpret::Feed feed;
    for (const Array &array : inputs) {
        HALFTONE_CHECK(checkFedName(model, array.name));
        HALFTONE_TRY(tensor::Tensor tensor, tensorOf(array));
        HALFTONE_CHECK(interpret::checkFedType(graph, array.name, tensor.dtype()));
        feed.insert_or_assign(array.name, std::move(tensor));
    }
    return feed;
}

/// fails: BadCall for a name that no value has
halftone::Result<void> checkValues(const graph::Graph &graph, const std::vector<std::string> &wanted)
{
    if (wanted.empty())
        return {};
    const std::vector<std::string> heads = walks::sourceOutputNames(graph);
    const std::vector<std::vector<std::string>> values = walks::valueNames(graph);
    std::vector<std::string_view> known(heads.begin(), heads.end());
    for (const auto &names : values)
        known.insert(known.end(), names.begin(), names.end());
    for (const std::string &name : wanted) {
        if (std::ranges::find(known, name) == known.end())
            return badCall("outputs",
                           '"' + name + "\": no value has this name" + didYouMean(nearestNames(name, known)));
    }
    return {};
}

std::vector<Array> arraysOf(const std::vector<io::NamedTensor> &tensors)
{
    std::vector<Array> arrays;
    for (const io::NamedTensor &one : tensors)
        arrays.push_back(arrayOf(one.name, one.tensor));
    return arrays;
}

} // namespace

halftone::Result<Prepared> Inside::prepared(const Model &model, const PrepareOptions &options)
{
    auto content = std::make_shared<Prepared::Content>(model);
    PreparedSettings &settings = content->settings;
    settings.backend = options.backend;
    settings.threads = options.threads;
    settings.allNodes = options.allNodes;
    settings.values = options.outputs;
    settings.seed = options.randomParameters;
    HALFTONE_TRY(settings.precision, precisionOf(options.precision));
    HALFTONE_TRY(settings.accumulator, accumulatorOf(options.accumulate));
    HALFTONE_CHECK(checkValues(Inside::graphModelOf(model).graph, options.outputs));
    HALFTONE_TRY(const backends::BackendInfo info, backends::backendInfo(options.backend));
    if (!info.available)
        return unsupported(Field::Backend, info.name + ": " + info.why);
    return Prepared(std::move(content));
}

Prepared::Prepared(std::shared_ptr<Content> content)
    : m_content(std::move(content))
{
}

Result<std::vector<Array>> Prepared::run(const std::vector<Array> &inputs, const Progress &progress) const
{
    return answer([&]() -> halftone::Result<std::vector<Array>> {
        const graph::Model &model = Inside::graphModelOf(m_content->model);
        const halftone::Progress followed = progressOf(progress);
        HALFTONE_CHECK(followed.checkStop());
        HALFTONE_TRY(const interpret::Feed feed, feedOf(m_content->model, inputs));
        std::unique_ptr<PreparedRun> run;
        {
            const std::scoped_lock lock(m_content->mutex);
            const auto found
                = std::ranges::find_if(m_content->idle, [&feed](const auto &one) { return one->fits(feed); });
            if (found != m_content->idle.end()) {
                run = std::move(*found);
                m_content->idle.erase(found);
            } else if (!m_content->idle.empty()) { // of other shapes: their memory is needed here
                m_content->idle.erase(m_content->idle.begin());
            }
        }
        if (!run) {
            HALFTONE_TRY(run, prepareRun(model, feed, m_content->settings, followed));
        }
        HALFTONE_TRY(const std::vector<io::NamedTensor> values, run->run(feed, followed));
        const std::scoped_lock lock(m_content->mutex);
        m_content->idle.push_back(std::move(run));
        return arraysOf(values);
    });
}

Result<Prepared> prepare(const Model &model, const PrepareOptions &options)
{
    return answer([&] { return Inside::prepared(model, options); });
}

Result<std::vector<Array>> run(const Model &model, const std::vector<Array> &inputs, const Compute &compute,
                               const Progress &progress)
{
    PrepareOptions options;
    options.backend = compute.backend;
    options.threads = compute.threads;
    options.precision = compute.precision;
    const Result<Prepared> prepared = prepare(model, options);
    return prepared.ok() ? prepared.value().run(inputs, progress)
                         : Result<std::vector<Array>>(prepared.error());
}

Result<Run> run(const Model &model, const Data &data, const RunOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Run> {
        walks::RunSettings settings;
        HALFTONE_CHECK(setWork(settings, data, options.compute));
        HALFTONE_TRY(settings.accumulator, accumulatorOf(options.accumulate));
        settings.allNodes = options.allNodes;
        settings.randomParameters = options.randomParameters;
        HALFTONE_TRY(const walks::RunOutcome outcome,
                     Inside::sessionOf(model).run(settings, progressOf(progress)));
        return Run{arraysOf(outcome.outputs),
                   outcome.seconds,
                   outcome.batches,
                   outcome.kernels,
                   accuracyOf(outcome.accuracy),
                   scoreOf(outcome.task),
                   textOf(results::runJson(outcome, settings.backend))};
    });
}

} // namespace halftone::api
