#include "core/api/c_settings.h"

namespace halftone::api::c {
namespace {

Result<CompareOptions> compareOptions(const char *text)
{
    Settings settings(text);
    CompareOptions options;
    readCompute(settings, options.compute);
    settings.readName(
        "effect", options.effect,
        {{"cumulative", Effect::Cumulative}, {"isolated", Effect::Isolated}, {"both", Effect::Both}});
    settings.read("threshold", options.threshold);
    settings.readMemory("memory", options.memoryLimit);
    settings.read("against_backend", options.otherBackend);
    settings.read("accumulate", options.accumulate);
    readArithmetic(settings, options.arithmetic);
    HALFTONE_CHECK(settings.finish());
    return options;
}

Done giveComparison(const Result<Comparison> &compared, char **json)
{
    if (!compared.ok())
        return compared.error();
    return give(compared.value().report, json);
}

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_calibrate(const ht_model *model, const ht_data *data, const char *text, ht_progress progress,
                     void *user, ht_calibration **calibration, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(data, "data"));
        Settings settings(text);
        CalibrateOptions options;
        options.method = ThresholdMethod::MinMax;
        options.codes = Codes::Int8;
        readCompute(settings, options.compute);
        settings.readName("method", options.method,
                          {{"minmax", ThresholdMethod::MinMax},
                           {"entropy", ThresholdMethod::Entropy},
                           {"percentile", ThresholdMethod::Percentile},
                           {"mse", ThresholdMethod::Mse}});
        settings.readName("dtype", options.codes,
                          {{"int8", Codes::Int8}, {"uint8", Codes::UInt8}, {"auto", Codes::Auto}});
        settings.read("percentile", options.percentile);
        settings.read("layers", options.layers);
        settings.readMemory("memory", options.memoryLimit);
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        HALFTONE_TRY(Calibration made, calibrate(model->model, data->data, options, follower.progress()));
        *calibration = new ht_calibration{std::move(made)};
        return std::monostate();
    });
}

ht_kind ht_calibration_report(const ht_calibration *calibration, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(calibration, "calibration"));
        HALFTONE_TRY(const std::string report, calibration->calibration.report());
        return give(report, json);
    });
}

ht_kind ht_calibration_save(const ht_calibration *calibration, const char *path, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(calibration, "calibration"));
        HALFTONE_CHECK(present(path, "path"));
        HALFTONE_CHECK(saveCalibration(calibration->calibration, path));
        return std::monostate();
    });
}

void ht_calibration_free(ht_calibration *calibration)
{
    delete calibration;
}

ht_kind ht_compare(const ht_model *model, const ht_conversion *conversion, const ht_data *data,
                   const char *text, ht_progress progress, void *user, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(conversion, "conversion"));
        HALFTONE_CHECK(present(data, "data"));
        HALFTONE_TRY(const CompareOptions options, compareOptions(text));
        const Follower follower(progress, user);
        if (const auto *const converted = std::get_if<Conversion>(&conversion->made))
            return giveComparison(compare(*converted, data->data, options, follower.progress()), json);
        return giveComparison(compare(model->model, std::get_if<Quantization>(&conversion->made)->model,
                                      data->data, options, follower.progress()),
                              json);
    });
}

ht_kind ht_compare_models(const ht_model *model, const ht_model *other, const ht_data *data, const char *text,
                          ht_progress progress, void *user, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(other, "other"));
        HALFTONE_CHECK(present(data, "data"));
        HALFTONE_TRY(const CompareOptions options, compareOptions(text));
        const Follower follower(progress, user);
        return giveComparison(compare(model->model, other->model, data->data, options, follower.progress()),
                              json);
    });
}

ht_kind ht_compare_values(const ht_model *model, const ht_array *values, size_t count, const ht_data *data,
                          const char *text, ht_progress progress, void *user, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(data, "data"));
        HALFTONE_TRY(const CompareOptions options, compareOptions(text));
        HALFTONE_TRY(const std::vector<Array> arrays, arraysOf(values, count));
        const Follower follower(progress, user);
        return giveComparison(compareValues(model->model, arrays, data->data, options, follower.progress()),
                              json);
    });
}

ht_kind ht_profile(const ht_model *model, const ht_conversion *conversion, const char *text,
                   ht_progress progress, void *user, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        ProfileOptions options;
        bool versus = false;
        settings.read("backend", options.backend);
        readPrecision(settings, options.precision);
        settings.readCount("threads", options.threads);
        settings.readCount("repeats", options.repeats);
        settings.readCount("warmup", options.warmup);
        settings.readCount("batch", options.batch);
        settings.readSeed("random_params", options.randomParameters);
        settings.read("versus_fp32", versus);
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        const auto *const converted
            = conversion != nullptr ? std::get_if<Conversion>(&conversion->made) : nullptr;
        if (converted != nullptr) {
            HALFTONE_TRY(const Profile found, profile(*converted, options, versus, follower.progress()));
            return give(found.report, json);
        }
        const Model &measured
            = conversion != nullptr ? std::get_if<Quantization>(&conversion->made)->model : model->model;
        HALFTONE_TRY(const Profile found,
                     profile(measured, options, versus ? std::optional(model->model) : std::nullopt,
                             follower.progress()));
        return give(found.report, json);
    });
}
