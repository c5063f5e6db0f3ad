#include "core/api/c_settings.h"

namespace halftone::api::c {
namespace {

/// outputs: "heads", "all" or names
void readOutputs(Settings &settings, bool &allNodes, std::vector<std::string> &names)
{
    const OrderedJson *const outputs = settings.value("outputs");
    if (outputs == nullptr)
        return;
    if (outputs->is_array())
        settings.read("outputs", names);
    else
        settings.readName("outputs", allNodes, {{"heads", false}, {"all", true}});
}

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_runner_new(const ht_model *model, const char *text, ht_runner **runner, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        PrepareOptions options;
        settings.read("backend", options.backend);
        readPrecision(settings, options.precision);
        settings.readCount("threads", options.threads);
        settings.read("accumulate", options.accumulate);
        settings.readSeed("random_params", options.randomParameters);
        readOutputs(settings, options.allNodes, options.outputs);
        HALFTONE_CHECK(settings.finish());
        HALFTONE_TRY(Prepared prepared, prepare(model->model, options));
        *runner = new ht_runner{std::move(prepared)};
        return std::monostate();
    });
}

ht_kind ht_runner_run(const ht_runner *runner, const ht_array *inputs, size_t count, ht_progress progress,
                      void *user, ht_values **values, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(runner, "runner"));
        HALFTONE_TRY(const std::vector<Array> arrays, arraysOf(inputs, count));
        const Follower follower(progress, user);
        HALFTONE_TRY(std::vector<Array> outputs, runner->prepared.run(arrays, follower.progress()));
        *values = valuesOf(std::move(outputs));
        return std::monostate();
    });
}

void ht_runner_free(ht_runner *runner)
{
    delete runner;
}

ht_kind ht_run(const ht_model *model, const ht_data *data, const char *text, ht_progress progress, void *user,
               ht_values **values, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(data, "data"));
        Settings settings(text);
        RunOptions options;
        std::vector<std::string> names;
        readCompute(settings, options.compute);
        settings.read("accumulate", options.accumulate);
        settings.readSeed("random_params", options.randomParameters);
        readOutputs(settings, options.allNodes, names);
        if (!names.empty())
            settings.fail("outputs", "names", "heads or all");
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        HALFTONE_TRY(Run ran, run(model->model, data->data, options, follower.progress()));
        HALFTONE_CHECK(give(ran.report, json));
        *values = valuesOf(std::move(ran.outputs));
        return std::monostate();
    });
}
