#include "halftone/tune.h"

#include "core/api/front_content.h"
#include "core/api/inside.h"
#include "core/policy/policy_json.h"
#include "core/tune/adopt.h"
#include "core/tune/front_json.h"
#include "core/tune/kept_record.h"
#include "core/tune/limit_text.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace halftone::api {
namespace {

halftone::Result<tune::SearchSettings> settingsOf(const TuneOptions &options, const Data &data)
{
    tune::SearchSettings settings;
    if (!options.limit.empty()) {
        settings.limit = tune::limitNamed(options.limit);
        if (!settings.limit)
            return badCall("limit", options.limit, "sqnr=30 (dB) or top1=-0.5 (points)");
        const bool mayHaveLabels = data.inMemory || !data.labels.empty() || data.inputs.ends_with(".npz");
        if (settings.limit->metric == tune::Limit::Metric::Top1 && !mayHaveLabels)
            return badCall("limit", options.limit + " needs labelled data", "; pass labels too");
    }
    if (!(options.seconds >= 0 && options.seconds < 1e9))
        return badCall("time", std::to_string(options.seconds), "seconds");
    if (options.seconds > 0)
        settings.time = std::chrono::duration<double>(options.seconds);
    settings.points = std::max<std::size_t>(options.points, 1);
    settings.onlyFastest = options.onlyFastest;
    return settings;
}

/// With the shapes of one example where the model does not know them.
halftone::Result<session::Session> shapedSession(const Model &model, const walks::ExampleOptions &data)
{
    session::Session session = Inside::sessionOf(model);
    HALFTONE_TRY(const auto shapes,
                 walks::shapesOfOne(data, session.source().model, session.source().modelPath));
    for (const auto &[name, shape] : shapes)
        if (!session.inputShapes().contains(name))
            HALFTONE_CHECK(session.setInputShape(name, shape));
    return session;
}

halftone::Result<tune::TuneTask> taskOf(const Model &model, const Policy &policy, const Data &data,
                                        const TuneOptions &options)
{
    tune::TuneTask task;
    HALFTONE_CHECK(setWork(task.compare, data, options.compute));
    task.compare.settings.memoryLimit = options.memoryLimit;
    HALFTONE_TRY(const session::Session session, shapedSession(model, task.compare.examples));
    HALFTONE_TRY(const policy::Policy wanted, policyOf(policy));
    std::vector<std::string> notes; // the model has told them
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    task.source = session.sharedSource();
    task.shapes = std::make_shared<const infer::ShapeMap>(std::move(shapes));
    task.policy = std::make_shared<const policy::Policy>(tune::withoutAdopted(wanted));
    task.latency.backend = task.compare.backend;
    task.latency.threads = task.compare.threads;
    task.hasInt8 = options.int8;
    return task;
}

std::string reportOf(const tune::Front &front, const tune::TuneTask &task,
                     const std::optional<tune::Limit> &limit, std::vector<std::string> &policies)
{
    policies.assign(front.points.size(), {});
    for (std::size_t k = 0; k < front.points.size(); ++k)
        if (front.points[k].measured)
            policies[k] = policy::writePolicy(
                tune::adoptedPolicy(front, *task.policy, task.source->model.graph, front.points[k].labels));
    OrderedJson json = tune::frontJson(front, policies, limit, tensor::nameOf(task.policy->target));
    for (const char *const list : {"points", "measured"})
        for (OrderedJson &row : json[list])
            if (row.contains("policy") && row["policy"].is_string())
                row["policy"] = parseOrdered(row["policy"].get_ref<const std::string &>());
    return textOf(json);
}

} // namespace

Front::Front(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
}

const std::vector<FrontPoint> &Front::points() const
{
    return m_content->points;
}

std::string Front::report() const
{
    return m_content->report;
}

Result<std::size_t> Front::fastest() const
{
    return answer([&]() -> halftone::Result<std::size_t> {
        const auto picked = tune::pick(m_content->front, tune::Pick::FastestWithin, m_content->limit);
        if (!picked)
            return badInput("limit", "no measured point meets it", "; set a looser limit");
        return m_content->placeOf(*picked);
    });
}

std::size_t Front::knee() const
{
    const auto picked = tune::pick(m_content->front, tune::Pick::Knee, m_content->limit);
    return picked ? m_content->placeOf(*picked) : 0;
}

Result<Conversion> Front::conversion(std::size_t point, const Progress &progress) const
{
    return answer([&]() -> halftone::Result<Conversion> {
        const Content &content = *m_content;
        if (point >= content.offered.size())
            return badCall("point", std::to_string(point),
                           "less than " + std::to_string(content.offered.size()));
        ConvertOptions options;
        options.data = content.data;
        options.compute = content.compute;
        return Inside::convert(content.model,
                               tune::policyFor(*content.task.policy, content.task.source->model.graph,
                                               content.front.groups,
                                               content.front.points[content.offered[point]].labels),
                               options, progressOf(progress));
    });
}

Result<Front> tune(const Model &model, const Policy &policy, const Data &data, const TuneOptions &options,
                   const Progress &progress)
{
    return answer([&]() -> halftone::Result<Front> {
        HALFTONE_TRY(const tune::SearchSettings settings, settingsOf(options, data));
        HALFTONE_TRY(const tune::TuneTask task, taskOf(model, policy, data, options));
        HALFTONE_TRY(tune::Record record, tune::keptRecord(task, options.state, false));
        tune::ModelOracle oracle(task);
        tune::RecordingOracle recording(oracle, std::move(record), options.state);
        HALFTONE_TRY(tune::Front found, tune::search(recording, settings, progressOf(progress)));
        return Inside::front(model, data, options.compute, task, settings.limit, std::move(found));
    });
}

Front Inside::front(const Model &model, const Data &data, const Compute &compute, const tune::TuneTask &task,
                    const std::optional<tune::Limit> &limit, tune::Front found)
{
    Front::Content content{model, data, compute, task, limit, std::move(found), {}, {}, {}};
    std::vector<std::string> policies;
    content.report = reportOf(content.front, task, limit, policies);
    content.offered = content.front.best();
    for (const std::size_t k : content.offered) {
        const tune::Measurement &measured = *content.front.points[k].measured;
        content.points.push_back(
            {measured.milliseconds, measured.ratio, measured.sqnrDb, measured.top1, policies[k]});
    }
    return Front(std::make_shared<const Front::Content>(std::move(content)));
}

} // namespace halftone::api
