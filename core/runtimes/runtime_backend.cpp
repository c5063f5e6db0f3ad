#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/base/text.h"
#include "core/runtimes/runtime_plan.h"
#include "core/runtimes/runtime_process.h"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace halftone::runtimes {
namespace {

std::string absence(const RuntimeKind &kind, const FoundLibrary &library)
{
    return std::string(kind.library) + " is not in " + printable(joined(library.tried, 3), 300)
        + "; pip install " + std::string(kind.package) + ", or name its folder in "
        + std::string(kind.variable);
}

/// Where only a script knows the place, it is asked for it, once.
Result<FoundLibrary> usable(const RuntimeKind &kind, const FoundLibrary &library)
{
    static std::mutex mutex;
    static std::map<std::string_view, FoundLibrary> asked;
    if (!library.file.empty())
        return library;
    const std::scoped_lock lock(mutex);
    const auto [place, isNew] = asked.try_emplace(kind.name);
    if (isNew)
        place->second = askForLibrary(kind, library);
    if (place->second.file.empty())
        return unsupported(std::string(kind.title), absence(kind, place->second));
    return place->second;
}

class RuntimeBackend final : public kernels::Backend
{
public:
    explicit RuntimeBackend(RuntimeSetting setting)
        : m_setting(std::move(setting))
    {
    }

    std::string_view name() const override { return m_setting.kind->name; }

    /// Whatever a runtime does with a type, its times are those of that runtime.
    kernels::Support support(tensor::DType) const override { return kernels::Support::Native; }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        return unsupported(operation.opName, std::string(m_setting.kind->title) + " runs whole models");
    }

    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &options) const override
    {
        RuntimeSetting setting = m_setting;
        HALFTONE_TRY(setting.library, usable(*setting.kind, setting.library));
        return makeRuntimePlan(setting, model, options);
    }

private:
    RuntimeSetting m_setting;
};

Result<std::vector<std::string>> providersOf(const RuntimeKind &kind, const FoundLibrary &found)
{
    HALFTONE_TRY(const FoundLibrary library, usable(kind, found));
    HALFTONE_TRY(const std::unique_ptr<RuntimeProcess> process,
                 RuntimeProcess::start(kind.name, std::string(kind.title), library.file));
    HALFTONE_TRY(const Message answer, process->ask({{"do", "providers"}}));
    if (const std::string words = textOf(answer.head, "error"); !words.empty())
        return unsupported(std::string(kind.title), words);
    return answer.head.value("names", std::vector<std::string>());
}

backends::BackendEntry entryOf(const RuntimeKind &kind)
{
    const FoundLibrary library = findLibrary(kind);
    backends::BackendEntry entry{.name = std::string(kind.name),
                                 .device = {},
                                 .why = absence(kind, library),
                                 .makesPlans = true,
                                 .wholeModels = true,
                                 .takesPrecision = kind.takesPrecision,
                                 .version = library.version,
                                 .file = library.file,
                                 .make = {}};
    if (library.file.empty() && !library.mayBeAsked)
        return entry;
    const RuntimeSetting setting{&kind, library, {}};
    entry.device = setting.title() + ", " + std::string(kind.provider);
    entry.why = library.mayBeAsked
        ? "runs whole models; the python3 in PATH is a script, which tells its place"
        : "runs whole models, from " + library.file;
    entry.providers = [&kind, library] { return providersOf(kind, library); };
    entry.make = [setting](const backends::BackendUse &use) {
        return std::make_shared<RuntimeBackend>(RuntimeSetting{setting.kind, setting.library, use});
    };
    return entry;
}

std::vector<backends::BackendEntry> entries()
{
    std::vector<backends::BackendEntry> all;
    for (const RuntimeKind &kind : kinds())
        all.push_back(entryOf(kind));
    return all;
}

} // namespace
} // namespace halftone::runtimes

/// Programs name this symbol when they link the room (CMakeLists.txt), which puts its backends into the table.
extern "C" const bool halftone_adds_runtimes;
extern "C" const bool halftone_adds_runtimes = halftone::backends::addBackends(halftone::runtimes::entries);
