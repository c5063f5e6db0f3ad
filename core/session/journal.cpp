#include "core/session/journal.h"

#include "core/base/file_error.h"
#include "core/base/json.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/session/path_json.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

namespace halftone::session {
namespace {

using Json = OrderedJson;

constexpr const char *kAnywhere = "/"; ///< paths in journals are absolute: they lie in no model's folder

std::string lineOf(const Json &json)
{
    return jsonText(json) + '\n';
}

struct Lines
{
    std::vector<std::string_view> whole; ///< that were written to their end
    bool isTorn = false; ///< something stands behind them
};

Lines linesOf(std::string_view text)
{
    Lines lines;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1)
        lines.whole.push_back(text.substr(start, end - start));
    lines.isTorn = start < text.size();
    return lines;
}

/// A line says one thing, with what belongs to it.
Result<void> checkKeys(const Json &step, const std::string &where)
{
    if (!step.is_object())
        return badInput(where, step.type_name(), "an object");
    static const std::vector<std::vector<std::string_view>> kKinds{
        {"policy", "what"}, {"undo"}, {"redo"}, {"view"}, {"data"}};
    const auto isOf = [&step](const std::vector<std::string_view> &kind) {
        return step.contains(kind.front()) && std::ranges::all_of(step.items(), [&kind](const auto &item) {
                   return std::ranges::find(kind, item.key()) != kind.end();
               });
    };
    if (std::ranges::any_of(kKinds, isOf))
        return {};
    std::vector<std::string> keys;
    for (const auto &[key, value] : step.items())
        keys.push_back(printable(key, 40));
    return badInput(where, keys.empty() ? "no keys" : "the keys " + joined(keys),
                    "those of an edit, undo, redo, view or data");
}

Result<void> replay(const Json &step, History &history, const std::string &where)
{
    if (step.contains("undo")) {
        if (history.current == 0)
            return badInput(where, "an undo without an edit");
        --history.current;
        return {};
    }
    if (step.contains("redo")) {
        if (history.current + 1 >= history.entries.size())
            return badInput(where, "a redo without an undo");
        ++history.current;
        return {};
    }
    if (!step.contains("policy") || !step.contains("what") || !step["what"].is_string())
        return badInput(where, "a step without the keys policy and what", "an edit, undo or redo");
    auto policy = policy::readPolicy(jsonText(step["policy"]));
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

Result<void> takeData(const Json &json, std::optional<walks::ExampleOptions> &data, const std::string &where)
{
    const auto isText = [&json](const char *key) { return json.contains(key) && json[key].is_string(); };
    if (!json.is_object() || !isText("inputs") || !isText("preprocess") || !isText("labels")
        || !json.contains("examples") || !json["examples"].is_number_unsigned())
        return badInput(where + ".data", "no data", "inputs, preprocess, labels and examples");
    const std::string metric = isText("metric") ? json["metric"].get<std::string>() : std::string();
    if (!metric.empty() && !tasks::metricNamed(metric))
        return badInput(where + ".data.metric", metric.substr(0, 40), "the name of a metric");
    walks::ExampleOptions taken;
    HALFTONE_TRY(taken.inputs, readPath(json, "inputs"));
    HALFTONE_TRY(taken.preprocess, readPath(json, "preprocess"));
    HALFTONE_TRY(taken.labels, readPath(json, "labels"));
    HALFTONE_TRY(taken.targets, readPath(json, "targets"));
    taken.examples = json["examples"].get<std::size_t>();
    taken.metric = tasks::metricNamed(metric);
    data = std::move(taken);
    return {};
}

Result<void> takeStep(const Json &step, Journal::Head &head, const std::string &where)
{
    HALFTONE_CHECK(checkKeys(step, where));
    if (step.contains("view"))
        return takeView(step["view"], head.state.view, where);
    if (step.contains("data"))
        return takeData(step["data"], head.state.data, where);
    HALFTONE_CHECK(replay(step, head.state.history, where));
    ++head.steps;
    return {};
}

/// Where the session was saved, and what of it was not.
Result<void> takeSession(const Json &line, Journal::Head &head, const std::string &where)
{
    if (!line.is_object() || !line.contains("session"))
        return badInput(where, "no session path");
    auto path = readPath(line, "session");
    if (!path.ok())
        return badInput(where + '.' + path.error().where, path.error().found, path.error().expected);
    head.sessionPath = std::move(path).value();
    if (const auto hash = line.find("session_hash"); hash != line.end() && hash->is_number_unsigned())
        head.sessionHash = hash->get<std::uint64_t>();
    const auto steps = line.find("steps");
    if (steps != line.end() && steps->is_number_unsigned())
        head.steps = steps->get<std::size_t>();
    return {};
}

Result<void> takeLine(std::string_view line, std::size_t number, Journal::Head &head)
{
    const std::string where = "line " + std::to_string(number);
    const Json step = parseOrdered(line);
    if (step.is_discarded())
        return badInput(where, "not JSON");
    return number == 2 ? takeSession(step, head, where) : takeStep(step, head, where);
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
    Json session = Json::object();
    putPath(session, "session", head.sessionPath);
    if (head.sessionHash)
        session["session_hash"] = *head.sessionHash;
    if (head.steps > 0)
        session["steps"] = head.steps;
    HALFTONE_CHECK(journal.append(sessionText(head.state, kAnywhere, true) + lineOf(session)));
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
    return append(
        lineOf({{"policy", parseOrdered(policy::writePolicy(entry.policy))}, {"what", entry.what}}));
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

Result<void> Journal::dataAttached(const walks::ExampleOptions &data)
{
    const auto absolute = [](const std::string &path) {
        return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
    };
    Json json = Json::object();
    putPath(json, "inputs", absolute(data.inputs));
    putPath(json, "preprocess", absolute(data.preprocess));
    putPath(json, "labels", absolute(data.labels));
    json["examples"] = data.examples;
    putPath(json, "targets", absolute(data.targets));
    json["metric"] = data.metric ? tasks::nameOf(*data.metric) : std::string_view();
    return append(lineOf({{"data", std::move(json)}}));
}

Result<Journal::Head> Journal::read(const std::string &path)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    const Lines lines = linesOf(mapped->text());
    if (lines.whole.empty())
        return inFile(badInput({}, lines.isTorn ? "an incomplete first line" : "nothing", "a journal"), path);
    Head head;
    auto state = parseSession(lines.whole[0], kAnywhere);
    if (!state.ok())
        return inFile(std::move(state).error(), path);
    head.state = std::move(state).value();
    for (const std::string &key : std::exchange(head.state.unknown, {}))
        head.lost.push_back("line 1: the key " + key);
    const auto firstData = head.state.data;
    for (std::size_t i = 1; i < lines.whole.size(); ++i) {
        if (const auto taken = takeLine(lines.whole[i], i + 1, head); !taken.ok())
            head.lost.push_back(taken.error().message());
    }
    if (lines.isTorn)
        head.lost.push_back("line " + std::to_string(lines.whole.size() + 1) + ": torn");
    head.hasOtherData = head.state.data != firstData;
    return head;
}

} // namespace halftone::session
