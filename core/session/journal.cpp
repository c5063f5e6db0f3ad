#include "core/session/journal.h"

#include "core/base/file_error.h"
#include "core/base/json.h"
#include "core/base/mapped_file.h"
#include "core/policy/policy_json.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

namespace halftone::session {
namespace {

using Json = OrderedJson;

constexpr const char *kAnywhere = "/"; ///< paths in journals are absolute: they lie in no model's folder

std::string lineOf(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// The lines that were written to their end.
std::vector<std::string_view> wholeLines(std::string_view text)
{
    std::vector<std::string_view> lines;
    for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string_view::npos;
         start = end + 1)
        lines.push_back(text.substr(start, end - start));
    return lines;
}

Result<void> replay(const Json &step, History &history, const std::string &where)
{
    if (!step.is_object())
        return badInput(where, step.type_name(), "an object");
    if (step.contains("undo")) {
        if (history.current == 0)
            return badInput(where, "an undo of nothing");
        --history.current;
        return {};
    }
    if (step.contains("redo")) {
        if (history.current + 1 >= history.entries.size())
            return badInput(where, "a redo of nothing");
        ++history.current;
        return {};
    }
    if (!step.contains("policy") || !step.contains("what") || !step["what"].is_string())
        return badInput(where, "a step without policy and what", "an edit, undo or redo");
    auto policy = policy::readPolicy(step["policy"].dump());
    if (!policy.ok())
        return badInput(where + ".policy." + policy.error().where, policy.error().found,
                        policy.error().expected);
    history.entries.resize(history.current + 1);
    history.entries.push_back({std::move(policy).value(), step["what"].get<std::string>()});
    ++history.current;
    return {};
}

Result<void> takeView(const Json &json, std::map<std::string, std::string> &view, const std::string &where)
{
    if (!json.is_object())
        return badInput(where + ".view", json.type_name(), "texts by name");
    std::map<std::string, std::string> taken;
    for (const auto &[name, value] : json.items()) {
        if (!value.is_string())
            return badInput(std::string(where).append(".view.").append(name), value.type_name(), "a text");
        taken.emplace(name, value.get<std::string>());
    }
    view = std::move(taken);
    return {};
}

Result<void> takeData(const Json &json, std::optional<jobs::ExampleOptions> &data, const std::string &where)
{
    const auto isText = [&json](const char *key) { return json.contains(key) && json[key].is_string(); };
    if (!json.is_object() || !isText("inputs") || !isText("preprocess") || !isText("labels")
        || !json.contains("examples") || !json["examples"].is_number_unsigned())
        return badInput(where + ".data", "no data", "inputs, preprocess, labels and examples");
    const std::string metric = isText("metric") ? json["metric"].get<std::string>() : std::string();
    if (!metric.empty() && !jobs::metricNamed(metric))
        return badInput(where + ".data.metric", metric.substr(0, 40), "the name of a metric");
    data = jobs::ExampleOptions{json["inputs"].get<std::string>(),
                                json["preprocess"].get<std::string>(),
                                json["labels"].get<std::string>(),
                                json["examples"].get<std::size_t>(),
                                isText("targets") ? json["targets"].get<std::string>() : std::string(),
                                jobs::metricNamed(metric)};
    return {};
}

Result<void> takeStep(const Json &step, Journal::Head &head, const std::string &where)
{
    if (step.is_object() && step.contains("view"))
        return takeView(step["view"], head.state.view, where);
    if (step.is_object() && step.contains("data"))
        return takeData(step["data"], head.state.data, where);
    HALFTONE_CHECK(replay(step, head.state.history, where));
    ++head.steps;
    return {};
}

} // namespace

Journal::Journal(FileDescriptor file, std::string path)
    : m_file(std::move(file))
    , m_path(std::move(path))
{
}

Result<Journal> Journal::create(const std::string &path, const Head &head)
{
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    if (!file.isOpen())
        return fileError(path, "create", errno);
    Journal journal(std::move(file), path);
    HALFTONE_CHECK(journal.append(sessionText(head.state, kAnywhere, true)));
    HALFTONE_CHECK(journal.append(lineOf({{"session", head.sessionPath}})));
    return journal;
}

/// One call of write(), so that a kill leaves whole lines and at most one torn one.
Result<void> Journal::append(const std::string &line)
{
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t written = ::write(m_file.number(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fileError(m_path, "write", errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> Journal::edited(const HistoryEntry &entry)
{
    return append(lineOf({{"policy", Json::parse(policy::writePolicy(entry.policy))}, {"what", entry.what}}));
}

Result<void> Journal::undone()
{
    return append("{\"undo\":1}\n");
}

Result<void> Journal::redone()
{
    return append("{\"redo\":1}\n");
}

Result<void> Journal::viewChanged(const std::map<std::string, std::string> &view)
{
    return append(lineOf({{"view", view}}));
}

Result<void> Journal::dataAttached(const jobs::ExampleOptions &data)
{
    const auto absolute = [](const std::string &path) {
        return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
    };
    return append(lineOf({{"data",
                           {{"inputs", absolute(data.inputs)},
                            {"preprocess", absolute(data.preprocess)},
                            {"labels", absolute(data.labels)},
                            {"examples", data.examples},
                            {"targets", absolute(data.targets)},
                            {"metric", data.metric ? jobs::nameOf(*data.metric) : std::string_view()}}}}));
}

Result<Journal::Head> Journal::read(const std::string &path)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    const std::vector<std::string_view> lines = wholeLines(mapped->text());
    if (lines.size() < 2)
        return inFile(badInput({}, std::to_string(lines.size()) + " lines", "a journal's two first ones"),
                      path);
    Head head;
    auto state = parseSession(lines[0], kAnywhere);
    if (!state.ok())
        return inFile(std::move(state).error(), path);
    head.state = std::move(state).value();
    const auto firstData = head.state.data;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const std::string where = "line " + std::to_string(i + 1);
        const Json step = Json::parse(lines[i], nullptr, false);
        if (step.is_discarded())
            return inFile(badInput(where, "no JSON"), path);
        if (i == 1) {
            if (!step.is_object() || !step.contains("session") || !step["session"].is_string())
                return inFile(badInput(where, "no path of a session"), path);
            head.sessionPath = step["session"].get<std::string>();
            continue;
        }
        auto taken = takeStep(step, head, where);
        if (!taken.ok())
            return inFile(std::move(taken).error(), path);
    }
    head.hasOtherData = head.state.data != firstData;
    return head;
}

} // namespace halftone::session
