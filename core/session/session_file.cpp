#include "core/session/session_file.h"

#include "core/base/atomic_file.h"
#include "core/base/fnv1a.h"
#include "core/base/hex.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/session/path_json.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

namespace halftone::session {
namespace {

namespace fs = std::filesystem;
using Json = OrderedJson;

constexpr int kFormatVersion = 1;

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

/// Takes values out of the parsed text; the first one that does not fit is the error.
class SessionReader
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
            refuse(join(path, key), "missing", "a value");
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

    /// As putPath() wrote it.
    std::string path(const Json &object, const char *key, const std::string &where, bool needed = true)
    {
        if (member(object, key, where, needed) == nullptr)
            return {};
        auto read = readPath(object, key);
        if (read.ok())
            return std::move(read).value();
        refuse(join(where, read.error().where), read.error().found, read.error().expected);
        return {};
    }

    std::size_t number(const Json &object, const char *key, const std::string &path, bool needed = true)
    {
        const Json *const value = member(object, key, path, needed);
        if (!value)
            return 0;
        if (value->is_number_unsigned())
            return value->get<std::size_t>();
        refuse(join(path, key), jsonText(*value).substr(0, 40), "a whole number from 0 on");
        return 0;
    }

    std::optional<tasks::Metric> metric(const Json &data)
    {
        const std::string name = text(data, "metric", "data", false);
        const auto metric = tasks::metricNamed(name);
        if (!metric && !name.empty())
            refuse("data.metric", '"' + name.substr(0, 40) + '"',
                   "top1, top5, miou, psnr, cosine or perplexity");
        return metric;
    }

    History history(const Json &root, std::vector<std::string> &unknown)
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
            auto read = policy::readPolicy(jsonText(*policy));
            if (!read.ok()) {
                refuse(path + ".policy." + read.error().where, read.error().found, read.error().expected);
                return history;
            }
            history.entries.push_back({std::move(read).value(), text((*entries)[i], "what", path)});
            noteUnknown((*entries)[i], path, {"policy", "what"}, unknown);
        }
        history.current = number(root, "current", {});
        if (!error && history.current >= history.entries.size())
            refuse("current", std::to_string(history.current),
                   "less than " + std::to_string(history.entries.size()));
        return history;
    }

    std::optional<std::uint64_t> hash(const Json &model, const char *key)
    {
        const std::string digits = text(model, key, "model", false);
        if (digits.empty())
            return std::nullopt;
        if (digits.size() != 16 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
            refuse(join("model", key), digits.substr(0, 40), "16 hexadecimal digits");
            return std::nullopt;
        }
        return std::stoull(digits, nullptr, 16);
    }

    /// Notes what `object` holds beyond `keys`.
    void noteUnknown(const Json &object, const std::string &where,
                     std::initializer_list<std::string_view> keys, std::vector<std::string> &unknown)
    {
        if (!object.is_object())
            return;
        for (const auto &[key, value] : object.items()) {
            const std::string_view known = key.ends_with(kPathBytes)
                ? std::string_view(key).substr(0, key.size() - std::string_view(kPathBytes).size())
                : std::string_view(key);
            if (std::ranges::find(keys, known) == keys.end())
                unknown.push_back(printable(join(where, key), 100));
        }
    }

    void refuse(std::string where, std::string found, std::string expected)
    {
        if (!error)
            error = badInput(std::move(where), std::move(found), std::move(expected));
    }

    std::optional<Error> error;

private:
    static std::string join(const std::string &path, const std::string &key)
    {
        return path.empty() ? key : path + '.' + key;
    }
};

} // namespace

Result<SessionFile> readSession(const std::string &path)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(path));
    return readSession(*mapped);
}

Result<SessionFile> readSession(const MappedFile &file)
{
    auto session = parseSession(file.text(), fs::absolute(file.path()).parent_path().string());
    if (!session.ok())
        return inFile(std::move(session).error(), file.path());
    return session;
}

Result<SessionFile> parseSession(std::string_view text, const std::string &folderPath)
{
    const fs::path folder = folderPath;
    const Json root = parseOrdered(text);
    if (root.is_discarded())
        return badInput({}, "not JSON", "a session file");
    SessionReader reader;
    SessionFile session;
    const std::size_t version = reader.number(root, "halftone", {});
    if (!reader.error && version != kFormatVersion)
        reader.refuse("halftone", "format version " + std::to_string(version),
                      std::to_string(kFormatVersion));
    if (const Json *const model = reader.error ? nullptr : reader.member(root, "model", {})) {
        session.modelPath = absoluteIn(folder, reader.path(*model, "symbol", "model"));
        session.paramsPath = absoluteIn(folder, reader.path(*model, "params", "model", false));
        session.modelHash = reader.hash(*model, "hash");
        session.externalHash = reader.hash(*model, "external_hash");
        reader.noteUnknown(*model, "model", {"symbol", "params", "hash", "external_hash"}, session.unknown);
    }
    if (!reader.error)
        session.history = reader.history(root, session.unknown);
    if (const Json *const data = reader.error ? nullptr : reader.member(root, "data", {}, false)) {
        walks::ExampleOptions options;
        options.inputs = absoluteIn(folder, reader.path(*data, "inputs", "data"));
        options.preprocess = absoluteIn(folder, reader.path(*data, "preprocess", "data", false));
        options.labels = absoluteIn(folder, reader.path(*data, "labels", "data", false));
        options.examples = reader.number(*data, "examples", "data", false);
        options.targets = absoluteIn(folder, reader.path(*data, "targets", "data", false));
        options.metric = reader.metric(*data);
        reader.noteUnknown(*data, "data", {"inputs", "preprocess", "labels", "examples", "targets", "metric"},
                           session.unknown);
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
        session.results = jsonText(*results);
    reader.noteUnknown(root, {}, {"halftone", "model", "history", "current", "data", "view", "results"},
                       session.unknown);
    if (reader.error)
        return *reader.error;
    return session;
}

std::string sessionText(const SessionFile &session, const std::string &folderPath, bool oneLine)
{
    const fs::path folder = folderPath;
    Json root{{"halftone", kFormatVersion}, {"model", Json::object()}};
    putPath(root["model"], "symbol", relativeTo(folder, session.modelPath));
    if (!session.paramsPath.empty())
        putPath(root["model"], "params", relativeTo(folder, session.paramsPath));
    if (session.modelHash)
        root["model"]["hash"] = hexDigits(*session.modelHash);
    if (session.externalHash)
        root["model"]["external_hash"] = hexDigits(*session.externalHash);
    Json entries = Json::array();
    for (const HistoryEntry &entry : session.history.entries)
        entries.push_back(
            {{"policy", parseOrdered(policy::writePolicy(entry.policy))}, {"what", entry.what}});
    root["history"] = std::move(entries);
    root["current"] = session.history.current;
    if (session.data) {
        Json data = Json::object();
        putPath(data, "inputs", relativeTo(folder, session.data->inputs));
        if (!session.data->preprocess.empty())
            putPath(data, "preprocess", relativeTo(folder, session.data->preprocess));
        if (!session.data->labels.empty())
            putPath(data, "labels", relativeTo(folder, session.data->labels));
        if (session.data->examples > 0)
            data["examples"] = session.data->examples;
        if (!session.data->targets.empty())
            putPath(data, "targets", relativeTo(folder, session.data->targets));
        if (session.data->metric)
            data["metric"] = tasks::nameOf(*session.data->metric);
        root["data"] = std::move(data);
    }
    root["view"] = session.view;
    if (!session.results.empty())
        root["results"] = parseOrdered(session.results);
    return jsonText(root, oneLine ? -1 : 1) + '\n';
}

Result<std::uint64_t> writeSession(const SessionFile &session, const std::string &path)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path, AtomicFile::Sources::Any));
    const std::string text
        = sessionText(session, fs::absolute(path).parent_path().lexically_normal().string());
    HALFTONE_CHECK(file.write(text));
    HALFTONE_CHECK(file.commit());
    Fnv1a hash;
    hash.add(text);
    return hash.value();
}

std::uint64_t contentHash(std::span<const std::shared_ptr<const MappedFile>> files)
{
    constexpr std::size_t kPiece = std::size_t{64} << 20;
    Fnv1a hash;
    for (const auto &file : files) {
        const std::string_view text = file->text();
        for (std::size_t at = 0; at < text.size(); at += kPiece) {
            hash.add(text.substr(at, kPiece));
            MappedFile::release(file->bytes().subspan(at, std::min(kPiece, text.size() - at)));
        }
    }
    return hash.value();
}

Result<void> putHashes(const io::LoadedModel &source, SessionFile &session)
{
    const std::span files(source.files);
    const std::size_t own
        = std::min(files.size(), source.paramsPath.empty() ? std::size_t{1} : std::size_t{2});
    const std::uint64_t hash = contentHash(files.first(own));
    const std::uint64_t external = contentHash(files.subspan(own));
    for (const auto &file : files)
        HALFTONE_CHECK(file->check());
    session.modelHash = hash;
    session.externalHash = own < files.size() ? std::optional(external) : std::nullopt;
    return {};
}

Result<bool> isModelOf(const SessionFile &session, const io::LoadedModel &source)
{
    if (!session.modelHash)
        return true;
    SessionFile now;
    HALFTONE_CHECK(putHashes(source, now));
    return now.modelHash == session.modelHash
        && (!session.externalHash || now.externalHash == session.externalHash); // not told by older sessions
}

} // namespace halftone::session
