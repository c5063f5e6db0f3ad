#include "core/api/c_settings.h"
#include "core/base/huge_pages.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace halftone::api::c {
namespace {

Result<OpenOptions> openOptions(const char *text)
{
    Settings settings(text);
    OpenOptions options;
    settings.read("params", options.parameters);
    settings.read("no_params", options.withoutParameters);
    settings.read("shape", options.shapes);
    HALFTONE_CHECK(settings.finish());
    return options;
}

Done giveModel(Result<Model> opened, ht_model **model)
{
    HALFTONE_TRY(Model made, std::move(opened));
    *model = new ht_model{std::move(made)};
    return std::monostate();
}

OrderedJson nodesJson(const Model &model)
{
    OrderedJson nodes = OrderedJson::array();
    for (const Node &node : model.nodes())
        nodes.push_back(
            {{"name", node.name}, {"op", node.op}, {"inputs", node.inputs}, {"outputs", node.outputs}});
    return nodes;
}

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_model_open(const char *path, const char *settings, ht_model **model, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(path, "path"));
        HALFTONE_TRY(const OpenOptions options, openOptions(settings));
        return giveModel(open(path, options), model);
    });
}

ht_kind ht_model_read(const void *bytes, size_t size, const char *path, const char *settings,
                      ht_model **model, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(bytes, "bytes"));
        HALFTONE_TRY(const OpenOptions options, openOptions(settings));
        return giveModel(read({static_cast<const std::byte *>(bytes), size}, c::textOf(path), options),
                         model);
    });
}

ht_kind ht_model_bytes(const ht_model *model, void **bytes, size_t *size, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_TRY(const std::vector<std::byte> made, halftone::api::bytes(model->model));
        void *const copy = std::malloc(made.size() + 1);
        if (copy == nullptr)
            throw std::bad_alloc();
        halftone::wantHugePages(copy, made.size());
        std::memcpy(copy, made.data(), made.size());
        *bytes = copy;
        *size = made.size();
        return std::monostate();
    });
}

ht_kind ht_model_save(const ht_model *model, const char *out, const char *text, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_CHECK(present(out, "out"));
        Settings settings(text);
        SaveOptions options;
        settings.read("external_data", options.externalData);
        HALFTONE_CHECK(settings.finish());
        HALFTONE_TRY(const std::vector<std::string> written, save(model->model, out, options));
        return give(halftone::api::textOf(halftone::OrderedJson{{"written", written}}), json);
    });
}

ht_kind ht_model_info(const ht_model *model, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        HALFTONE_TRY(const std::string report, model->model.report());
        return give(report, json);
    });
}

ht_kind ht_model_nodes(const ht_model *model, char **json, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(model, "model"));
        return give(halftone::api::textOf(nodesJson(model->model)), json);
    });
}

void ht_model_free(ht_model *model)
{
    delete model;
}
