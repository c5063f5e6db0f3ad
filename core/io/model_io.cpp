#include "core/io/model_io.h"

#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/io/params_file.h"
#include "core/io/sniff.h"
#include "core/io/symbol_json.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_set>

namespace halftone::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSymbolSuffix = "-symbol.json";
constexpr std::string_view kParamsSuffix = ".params";
constexpr std::string_view kNoParams = "none";

/// The number in `<stem>-NNNN.params`.
std::optional<std::int64_t> epochOf(std::string_view file, std::string_view stem)
{
    if (!file.starts_with(stem) || !file.ends_with(kParamsSuffix)
        || file.size() <= stem.size() + 1 + kParamsSuffix.size() || file[stem.size()] != '-')
        return std::nullopt;
    const std::string_view digits
        = file.substr(stem.size() + 1, file.size() - stem.size() - 1 - kParamsSuffix.size());
    if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    return parseInteger(digits);
}

void noteMismatch(const graph::Model &model, std::vector<std::string> &notes)
{
    std::unordered_set<std::string_view> variables;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (model.graph.isVariable(id))
            variables.insert(model.graph.node(id).name);
    }
    std::unordered_set<std::string_view> given;
    std::vector<std::string> unused;
    for (const tensor::Array &array : model.parameters) {
        const std::string_view name = graph::variableOf(array.name);
        given.insert(name);
        if (!variables.contains(name))
            unused.push_back(printable(name, 100));
    }
    std::vector<std::string> open;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (const std::string &name = model.graph.node(id).name;
            model.graph.isVariable(id) && !given.contains(name))
            open.push_back(printable(name, 100));
    }
    if (!unused.empty())
        notes.push_back("parameters that no variable of the symbol uses: " + joined(unused));
    if (open.size() > 1)
        notes.push_back("variables without parameters, taken as data: " + joined(open));
}

Result<void> loadParams(const std::shared_ptr<const MappedFile> &file, LoadedModel &loaded)
{
    HALFTONE_TRY(loaded.model.parameters, readParams(file));
    loaded.model.hasParameters = true;
    loaded.paramsPath = file->path();
    loaded.sources.push_back(file->identity());
    return {};
}

/// The parameter file that path and options mean; empty for none.
std::string chosenParams(const std::string &path, const LoadOptions &options, std::vector<std::string> &notes)
{
    if (options.noParams || options.params == kNoParams)
        return {};
    if (!options.params.empty())
        return options.params;
    auto beside = paramsBeside(path);
    if (!beside)
        notes.push_back("no parameter file beside the symbol: loaded without parameters");
    return beside.value_or(std::string());
}

/// Refuses to write over what is still being read.
Result<AtomicFile> createOutput(const std::string &path, std::span<const FileIdentity> sources)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    if (file.replaces() && std::ranges::find(sources, *file.replaces()) != sources.end())
        return Error{Errc::BadCall,
                     path,
                     {},
                     "the output would replace the model that is being read",
                     "another place for it"};
    return file;
}

} // namespace

std::optional<std::string> paramsBeside(const std::string &symbolPath)
{
    const fs::path path(symbolPath);
    const std::string name = path.filename().string();
    if (!name.ends_with(kSymbolSuffix))
        return std::nullopt;
    const std::string stem = name.substr(0, name.size() - kSymbolSuffix.size());
    std::optional<std::string> best;
    std::int64_t highest = -1;
    std::error_code error;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string file = at->path().filename().string();
        if (const auto epoch = epochOf(file, stem); epoch && *epoch > highest) {
            highest = *epoch;
            best = (path.parent_path() / file).string();
        }
    }
    return best;
}

Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options)
{
    LoadedModel loaded;
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    const Result<Format> format = sniff(file->bytes());
    if (!format.ok())
        return inFile(format.error(), path);
    if (format.value() == Format::Params) {
        HALFTONE_CHECK(loadParams(file, loaded));
        return loaded;
    }
    auto graph = readSymbol(file->text(), loaded.notes);
    if (!graph.ok())
        return inFile(std::move(graph).error(), path);
    loaded.model.graph = std::move(graph).value();
    loaded.symbolPath = path;
    loaded.sources.push_back(file->identity());
    if (const std::string params = chosenParams(path, options, loaded.notes); !params.empty()) {
        HALFTONE_TRY(const auto paramsFile, MappedFile::open(params));
        HALFTONE_CHECK(loadParams(paramsFile, loaded));
        noteMismatch(loaded.model, loaded.notes);
    }
    return loaded;
}

Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source)
{
    HALFTONE_TRY(AtomicFile symbol, createOutput(prefix + std::string(kSymbolSuffix), source.sources));
    HALFTONE_CHECK(symbol.write(writeSymbol(model.graph)));
    if (!model.hasParameters) {
        HALFTONE_CHECK(symbol.commit());
        return std::vector{symbol.path()};
    }
    HALFTONE_TRY(AtomicFile params,
                 createOutput(prefix + "-0000" + std::string(kParamsSuffix), source.sources));
    HALFTONE_CHECK(writeParams(model.parameters, params));
    const std::array both{&params, &symbol};
    HALFTONE_CHECK(AtomicFile::commitTogether(both));
    return std::vector{symbol.path(), params.path()};
}

} // namespace halftone::io
