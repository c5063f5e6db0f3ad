#include "core/backends/backends.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/api/halftone/version.h"
#include "core/base/text.h"

#include <memory>

namespace halftone::cli {
namespace {

using backends::BackendInfo;

/// What may stand behind the colon of its name; empty where it is not there or does not start.
std::vector<std::string> variantsOf(const BackendInfo &info)
{
    if (!info.available)
        return {};
    auto variants = backends::providersOf(info.name);
    return variants.ok() ? std::move(variants).value() : std::vector<std::string>();
}

Json runtimeJson(const BackendInfo &info)
{
    return {{"version", info.version.empty() ? Json() : Json(info.version)},
            {"file", info.file.empty() ? Json() : Json(info.file)},
            {"providers", variantsOf(info)}};
}

/// "1.22.0, PATH; providers: A, B", below the table: the columns are for what all backends have.
void printRuntime(const BackendInfo &info)
{
    std::string variants;
    for (const std::string &variant : variantsOf(info))
        variants += (variants.empty() ? "; --backend " : ", ") + info.name + ':' + variant;
    print('\n' + info.name + ": " + printable(info.version + ", " + info.file + variants) + '\n');
}

Result<void> listBackends(bool asJson)
{
    const std::vector<BackendInfo> all = backends::allBackends();
    if (asJson) {
        Json backends = Json::array();
        for (const BackendInfo &info : all) {
            Json dtypes = Json::object();
            for (const auto &[type, support] : info.dtypes)
                dtypes[std::string(tensor::nameOf(type))] = kernels::nameOf(support);
            backends.push_back({{"name", info.name},
                                {"available", info.available},
                                {"device", info.device},
                                {"dtypes", std::move(dtypes)},
                                {"why", info.why}});
            if (info.wholeModels)
                backends.back().update(runtimeJson(info));
        }
        printJson({{"version", HALFTONE_VERSION}, {"backends", std::move(backends)}});
        return {};
    }
    Table table({"backend", "device", "native", "emulated", "note"});
    for (const BackendInfo &info : all) {
        std::string lists[2];
        for (const auto &[type, support] : info.dtypes) {
            if (support == kernels::Support::No)
                continue;
            std::string &list = lists[support == kernels::Support::Native ? 0 : 1];
            list += (list.empty() ? "" : " ") + std::string(tensor::nameOf(type));
        }
        table.add({info.name, info.available ? info.device : "-", lists[0].empty() ? "-" : lists[0],
                   lists[1].empty() ? "-" : lists[1], info.why});
    }
    print(table.toString());
    for (const BackendInfo &info : all)
        if (info.wholeModels && info.available)
            printRuntime(info);
    return {};
}

} // namespace

void addBackends(Parser &app, Action &chosen)
{
    const auto asJson = std::make_shared<bool>(false);
    Command command
        = app.command("backends", "List the backends of this build and what this machine supports");
    command.flag("--json", *asJson, "Print as JSON");
    command.onChosen(
        [asJson, &chosen] { chosen = [asJson](const std::stop_token &) { return listBackends(*asJson); }; });
}

} // namespace halftone::cli
