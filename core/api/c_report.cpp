#include "core/api/c_settings.h"

namespace halftone::api::c {
namespace {

/// folded  unless the settings say
Result<PictureOptions> pictureOptions(const char *text, bool folded)
{
    Settings settings(text);
    PictureOptions options;
    options.folded = folded;
    settings.readName("fold", options.folded, {{"none", false}, {"auto", true}});
    settings.read("all_nodes", options.allNodes);
    HALFTONE_CHECK(settings.finish());
    return options;
}

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_model_svg(const ht_model *model, const ht_conversion *conversion, const char *settings,
                     ht_progress progress, void *user, char **svg, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_TRY(const PictureOptions options, pictureOptions(settings, false));
        const Follower follower(progress, user);
        const auto *const converted
            = conversion != nullptr ? std::get_if<Conversion>(&conversion->made) : nullptr;
        const Model &shown = conversion != nullptr && converted == nullptr
            ? std::get_if<Quantization>(&conversion->made)->model
            : model->model;
        HALFTONE_TRY(const std::string drawn,
                     converted != nullptr ? picture(*converted, options, follower.progress())
                                          : picture(shown, options, follower.progress()));
        return give(drawn, svg);
    });
}

ht_kind ht_model_layout(const ht_model *model, const char *settings, ht_progress progress, void *user,
                        char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_TRY(const PictureOptions options, pictureOptions(settings, true));
        const Follower follower(progress, user);
        HALFTONE_TRY(const std::string report, layoutReport(model->model, options, follower.progress()));
        return give(report, json);
    });
}

ht_kind ht_report(const ht_model *model, const ht_data *data, const ht_front *front, const char *text,
                  ht_progress progress, void *user, char **html, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        Settings settings(text);
        ReportOptions options;
        readPolicy(settings, options.policy);
        settings.readCount("threads", options.threads);
        settings.read("latency", options.latency);
        readArithmetic(settings, options.arithmetic);
        HALFTONE_CHECK(settings.finish());
        if (data != nullptr)
            options.data = data->data;
        if (front != nullptr)
            options.front = front->front;
        const Follower follower(progress, user);
        HALFTONE_TRY(const std::string page, reportPage(model->model, options, follower.progress()));
        return give(page, html);
    });
}
