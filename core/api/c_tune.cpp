#include "core/api/c_settings.h"
#include "core/base/text.h"

#include "halftone/machine.h"

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_tune(const ht_model *model, const ht_data *data, const char *text, ht_progress progress,
                void *user, ht_front **front, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(data, "data"));
        Settings settings(text);
        Policy policy;
        TuneOptions options;
        readPolicy(settings, policy);
        readCompute(settings, options.compute);
        settings.read("int8", options.int8);
        settings.read("limit", options.limit);
        settings.readTime("time", options.seconds);
        settings.readCount("points", options.points);
        settings.read("state", options.state);
        settings.readName("pick", options.onlyFastest, {{"fastest-within", true}, {"knee", false}});
        settings.readMemory("memory", options.memoryLimit);
        HALFTONE_CHECK(settings.finish());
        const Follower follower(progress, user);
        HALFTONE_TRY(Front found, tune(model->model, policy, data->data, options, follower.progress()));
        *front = new ht_front{std::move(found)};
        return std::monostate();
    });
}

ht_kind ht_front_report(const ht_front *front, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(front, "front"));
        return give(front->front.report(), json);
    });
}

ht_kind ht_front_pick(const ht_front *front, const char *which, ht_progress progress, void *user,
                      ht_conversion **conversion, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(front, "front"));
        const std::string name = c::textOf(which);
        const auto number = halftone::parseInteger(name);
        std::size_t point = front->front.knee();
        if (name == "fastest-within") {
            HALFTONE_TRY(point, front->front.fastest());
        } else if (number && *number >= 0) {
            point = static_cast<std::size_t>(*number);
        } else if (name != "knee") {
            return badSetting("which", '"' + name + '"', "fastest-within, knee or the number of a point");
        }
        const Follower follower(progress, user);
        HALFTONE_TRY(Conversion made, front->front.conversion(point, follower.progress()));
        *conversion = new ht_conversion{std::move(made)};
        return std::monostate();
    });
}

void ht_front_free(ht_front *front)
{
    delete front;
}

ht_kind ht_backends(char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_TRY(const std::string report, backendsReport());
        return give(report, json);
    });
}

ht_kind ht_hardware(const char *name, ht_progress progress, void *user, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        const Follower follower(progress, user);
        HALFTONE_TRY(const std::string report, hardwareReport(c::textOf(name), follower.progress()));
        return give(report, json);
    });
}
