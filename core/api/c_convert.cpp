#include "core/api/c_settings.h"
#include "core/dialect/registry.h"

namespace halftone::api::c {
namespace {

Data dataOf(const ht_data *data)
{
    return data != nullptr ? data->data : Data();
}

void readQuantization(Settings &settings, QuantizeOptions &options)
{
    settings.readName<std::optional<QuantizedForm>>("form", options.form,
                                                    {{"qdq", QuantizedForm::Qdq},
                                                     {"qoperator", QuantizedForm::QOperator},
                                                     {"onednn", QuantizedForm::Fused},
                                                     {"plain", QuantizedForm::Plain}});
    settings.readName("dtype", options.codes,
                      {{"int8", Codes::Int8}, {"uint8", Codes::UInt8}, {"auto", Codes::Auto}});
    settings.readName("mode", options.full, {{"smart", false}, {"full", true}});
    settings.readName<std::optional<bool>>("granularity", options.perChannel,
                                           {{"tensor", false}, {"channel", true}});
    settings.readName("levels", options.isNeutral, {{"mxnet", false}, {"neutral", true}});
    settings.read("table", options.rangeTable);
    settings.read("hardware", options.hardware);
    settings.read("exclude", options.excluded);
    settings.read("exclude_op", options.excludedOperators);
    settings.read("int8_op", options.onlyOperators);
    settings.read("correct_biases", options.correctBiases);
    settings.read("percentile", options.percentile);
    settings.read("weights", options.weights);
    settings.read("weight_method", options.weightMethod);
    settings.read("weight_form", options.weightForm);
    readCompute(settings, options.compute);
}

const Model &madeModel(const ht_conversion &conversion)
{
    const auto *const converted = std::get_if<Conversion>(&conversion.made);
    return converted != nullptr ? converted->model() : std::get_if<Quantization>(&conversion.made)->model;
}

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_convert(const ht_model *model, const ht_data *data, const char *text, ht_progress progress,
                   void *user, ht_conversion **conversion, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        Policy policy;
        ConvertOptions options;
        readPolicy(settings, policy);
        settings.read("strict", options.strict);
        settings.readCount("opset", options.opset);
        settings.read("table", options.rangeTable);
        settings.read("percentile", options.percentile);
        settings.read("correct_biases", options.correctBiases);
        settings.read("for_compare", options.isForAnalysis);
        readMethod(settings, "calib", policy.thresholds);
        readCompute(settings, options.compute);
        HALFTONE_CHECK(settings.finish());
        options.data = dataOf(data);
        const Follower follower(progress, user);
        HALFTONE_TRY(Conversion made, convert(model->model, policy, options, follower.progress()));
        *conversion = new ht_conversion{std::move(made)};
        return std::monostate();
    });
}

ht_kind ht_quantize(const ht_model *model, const ht_data *data, const ht_calibration *calibration,
                    const char *text, ht_progress progress, void *user, ht_conversion **conversion,
                    ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        QuantizeOptions options;
        options.data = dataOf(data);
        readQuantization(settings, options);
        const halftone::OrderedJson *const calib = settings.value("calib");
        if (calib != nullptr && *calib == "none")
            options.data = Data();
        else
            readMethod(settings, "calib", options.method);
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        HALFTONE_TRY(Quantization made,
                     calibration != nullptr
                         ? quantize(model->model, calibration->calibration, options, follower.progress())
                         : quantize(model->model, options, follower.progress()));
        *conversion = new ht_conversion{std::move(made)};
        return std::monostate();
    });
}

ht_kind ht_conversion_report(const ht_conversion *conversion, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(conversion, "conversion"));
        const auto *const converted = std::get_if<Conversion>(&conversion->made);
        return give(converted != nullptr ? converted->report()
                                         : std::get_if<Quantization>(&conversion->made)->report,
                    json);
    });
}

ht_kind ht_conversion_policy(const ht_conversion *conversion, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(conversion, "conversion"));
        const auto *const converted = std::get_if<Conversion>(&conversion->made);
        if (converted == nullptr)
            return badSetting("conversion", "a quantized model, which no policy made",
                              "a result of ht_convert()");
        return give(converted->policy(), json);
    });
}

ht_kind ht_conversion_model(const ht_conversion *conversion, ht_model **model, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(conversion, "conversion"));
        *model = new ht_model{madeModel(*conversion)};
        return std::monostate();
    });
}

void ht_conversion_free(ht_conversion *conversion)
{
    delete conversion;
}

ht_kind ht_verify(const ht_model *model, const char *text, ht_progress progress, void *user, char **json,
                  ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        Policy policy;
        readPolicy(settings, policy);
        VerifyOptions options;
        settings.read("backend", options.backend);
        readPrecision(settings, options.precision);
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        HALFTONE_TRY(const Verification found,
                     verify(model->model, hasPolicy(text) ? std::optional(policy) : std::nullopt, options,
                            follower.progress()));
        return give(found.report, json);
    });
}

ht_kind ht_policy_import(const char *from, const char *lists, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_TRY(const std::string report, importedPolicy(c::textOf(from), c::textOf(lists)));
        return give(report, json);
    });
}

ht_kind ht_lists(const char *text, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        Settings settings(text);
        Type target = Type::Float16;
        std::string dialect(halftone::dialect::allDialects().front()->name());
        std::string version;
        settings.read("target", target);
        settings.read("dialect", dialect);
        settings.read("version", version);
        HALFTONE_CHECK(settings.finish());
        HALFTONE_TRY(const std::string report, listsReport(target, dialect, version));
        return give(report, json);
    });
}
