#include "core/session/session_file.h"

#include "core/base/atomic_file.h"
#include "core/base/fnv1a.h"
#include "core/base/json.h"
#include "core/base/mapped_file.h"
#include "core/policy/policy_json.h"

#include <array>
#include <cstdio>
#include <filesystem>

namespace halftone::session {
namespace {

namespace fs = std::filesystem;
using Json = OrderedJson;

constexpr int kVersion = 1;

std::string relativeTo(const fs::path &folder, const std::string &path)
{
    if (path.empty())
        return path;
    const fs::path absolute = fs::absolute(path).lexically_normal();
    const fs::path relative = absolute.lexically_relative(folder);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return (below ? relative : absolute).string();
}

std::string absoluteIn(const fs::path &folder, const std::string &path)
{
    return path.empty() ? path : (folder / path).lexically_normal().string();
}

std::string hex(std::uint64_t value)
{
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

/// Takes values out of the parsed text; the first one that does not fit is the error.
class Reader
{
public:
    const Json *member(const Json &object, const char *key, const std::string &path, bool needed = true)
    {
        const auto found = object.is_object() ? object.find(key) : object.end();
        if (!object.is_object())
            refuse(path.empty() ? "$" : path, object.type_name(), "an object");
        else if (found != object.end() && !found->is_null())
            return &*found;
        else if (needed)
            refuse(join(path, key), "nothing", "a value");
        return nullptr;
    }

    std::string text(const Json &object, const char *key, const std::string &path, bool needed = true)
    {
        const Json *const value = member(object, key, path, needed);
        if (!value)
            return {};
        if (value->is_string())
            return value->get<std::string>();
        refuse(join(path, key), value->type_name(), "a text");
        return {};
    }

    std::size_t number(const Json &object, const char *key, const std::string &path, bool needed = true)
    {
        const Json *const value = member(object, key, path, needed);
        if (!value)
            return 0;
        if (value->is_number_unsigned())
            return value->get<std::size_t>();
        refuse(join(path, key), value->dump().substr(0, 40), "a whole number from 0 on");
        return 0;
    }

    std::optional<jobs::Metric> metric(const Json &data)
    {
        const std::string name = text(data, "metric", "data", false);
        const auto metric = jobs::metricNamed(name);
        if (!metric && !name.empty())
            refuse("data.metric", '"' + name.substr(0, 40) + '"', "top1, top5, miou, psnr or cosine");
        return metric;
    }

    History history(const Json &root)
    {
        History history;
        const Json *const entries = member(root, "history", {});
        if (entries && (!entries->is_array() || entries->empty()))
            refuse("history", entries->is_array() ? "an empty list" : entries->type_name(),
                   "a list of one or more states");
        if (!entries || error)
            return history;
        for (std::size_t i = 0; i < entries->size() && !error; ++i) {
            const std::string path = "history[" + std::to_string(i) + ']';
            const Json *const policy = member((*entries)[i], "policy", path);
            if (!policy)
                return history;
            auto read = policy::readPolicy(policy->dump());
            if (!read.ok()) {
                refuse(path + ".policy." + read.error().where, read.error().found, read.error().expected);
                return history;
            }
            history.entries.push_back({std::move(read).value(), text((*entries)[i], "what", path)});
        }
        history.current = number(root, "current", {});
        if (!error && history.current >= history.entries.size())
            refuse("current", std::to_string(history.current),
                   "less than " + std::to_string(history.entries.size()));
        return history;
    }

    std::optional<std::uint64_t> hash(const Json &model)
    {
        const std::string digits = text(model, "hash", "model", false);
        if (digits.empty())
            return std::nullopt;
        if (digits.size() != 16 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
            refuse("model.hash", digits.substr(0, 40), "16 hexadecimal digits");
            return std::nullopt;
        }
        return std::stoull(digits, nullptr, 16);
    }

    void refuse(std::string where, std::string found, std::string expected)
    {
        if (!error)
            error = badInput(std::move(where), std::move(found), std::move(expected));
    }

    std::optional<Error> error;

private:
    static std::string join(const std::string &path, const char *key)
    {
        return path.empty() ? key : path + '.' + key;
    }
};

} // namespace

Result<SessionFile> readSession(const std::string &path)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    auto session = parseSession(mapped->text(), fs::absolute(path).parent_path().string());
    if (!session.ok())
        return inFile(std::move(session).error(), path);
    return session;
}

Result<SessionFile> parseSession(std::string_view text, const std::string &folderPath)
{
    const fs::path folder = folderPath;
    const Json root = Json::parse(text, nullptr, false);
    if (root.is_discarded())
        return badInput({}, "no JSON", "a session file");
    Reader reader;
    SessionFile session;
    const std::size_t version = reader.number(root, "halftone", {});
    if (!reader.error && version != kVersion)
        reader.refuse("halftone", "format version " + std::to_string(version), std::to_string(kVersion));
    if (const Json *const model = reader.error ? nullptr : reader.member(root, "model", {})) {
        session.modelPath = absoluteIn(folder, reader.text(*model, "symbol", "model"));
        session.paramsPath = absoluteIn(folder, reader.text(*model, "params", "model", false));
        session.modelHash = reader.hash(*model);
    }
    if (!reader.error)
        session.history = reader.history(root);
    if (const Json *const data = reader.error ? nullptr : reader.member(root, "data", {}, false)) {
        jobs::ExampleOptions options;
        options.inputs = absoluteIn(folder, reader.text(*data, "inputs", "data"));
        options.preprocess = absoluteIn(folder, reader.text(*data, "preprocess", "data", false));
        options.labels = absoluteIn(folder, reader.text(*data, "labels", "data", false));
        options.examples = reader.number(*data, "examples", "data", false);
        options.targets = absoluteIn(folder, reader.text(*data, "targets", "data", false));
        options.metric = reader.metric(*data);
        session.data = std::move(options);
    }
    if (const Json *const view = reader.error ? nullptr : reader.member(root, "view", {}, false)) {
        if (!view->is_object())
            reader.refuse("view", view->type_name(), "an object");
        else
            for (const auto &[name, value] : view->items())
                session.view.insert_or_assign(name, reader.text(*view, name.c_str(), "view"));
    }
    if (const Json *const results = reader.error ? nullptr : reader.member(root, "results", {}, false))
        session.results = results->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (reader.error)
        return *reader.error;
    return session;
}

std::string sessionText(const SessionFile &session, const std::string &folderPath, bool oneLine)
{
    const fs::path folder = folderPath;
    Json root{{"halftone", kVersion}, {"model", {{"symbol", relativeTo(folder, session.modelPath)}}}};
    if (!session.paramsPath.empty())
        root["model"]["params"] = relativeTo(folder, session.paramsPath);
    if (session.modelHash)
        root["model"]["hash"] = hex(*session.modelHash);
    Json entries = Json::array();
    for (const HistoryEntry &entry : session.history.entries)
        entries.push_back({{"policy", Json::parse(policy::writePolicy(entry.policy))}, {"what", entry.what}});
    root["history"] = std::move(entries);
    root["current"] = session.history.current;
    if (session.data) {
        Json data{{"inputs", relativeTo(folder, session.data->inputs)}};
        if (!session.data->preprocess.empty())
            data["preprocess"] = relativeTo(folder, session.data->preprocess);
        if (!session.data->labels.empty())
            data["labels"] = relativeTo(folder, session.data->labels);
        if (session.data->examples > 0)
            data["examples"] = session.data->examples;
        if (!session.data->targets.empty())
            data["targets"] = relativeTo(folder, session.data->targets);
        if (session.data->metric)
            data["metric"] = jobs::nameOf(*session.data->metric);
        root["data"] = std::move(data);
    }
    root["view"] = session.view;
    if (!session.results.empty())
        root["results"] = Json::parse(session.results);
    return root.dump(oneLine ? -1 : 1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<void> writeSession(const SessionFile &session, const std::string &path)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path, AtomicFile::Sources::Any));
    HALFTONE_CHECK(
        file.write(sessionText(session, fs::absolute(path).parent_path().lexically_normal().string())));
    return file.commit();
}

Result<std::uint64_t> contentHash(const std::vector<std::string> &paths)
{
    Fnv1a hash;
    for (const std::string &path : paths) {
        HALFTONE_TRY(const auto mapped, MappedFile::open(path));
        hash.add(mapped->text());
    }
    return hash.value();
}

} // namespace halftone::session
