#include "core/io/mxnet/mxnet_format.h"

#include "core/base/atomic_file.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/io/model_io.h"
#include "core/io/mxnet/pair_mark.h"
#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/symbol_json.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <unordered_set>

namespace halftone::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSymbolEnding = "-symbol.json";
constexpr std::string_view kParamsEnding = ".params";

/// The number in `<stem>-NNNN.params`.
std::optional<std::int64_t> epochOf(std::string_view file, std::string_view stem)
{
    if (!file.starts_with(stem) || !file.ends_with(kParamsEnding)
        || file.size() <= stem.size() + 1 + kParamsEnding.size() || file[stem.size()] != '-')
        return std::nullopt;
    const std::string_view digits
        = file.substr(stem.size() + 1, file.size() - stem.size() - 1 - kParamsEnding.size());
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
        const std::string_view name = dialect::variableOf(model.graph, array.name);
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
        notes.push_back("unused parameters: " + joined(unused));
    if (open.size() > 1)
        notes.push_back("variables without parameters, treated as inputs: " + joined(open));
}

std::optional<std::string> symbolParamsBeside(const std::string &modelPath)
{
    const fs::path path(modelPath);
    const std::string name = path.filename().string();
    if (!name.ends_with(kSymbolEnding))
        return std::nullopt;
    const std::string stem = name.substr(0, name.size() - kSymbolEnding.size());
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
    checkMemory(error);
    return best;
}

Result<void> loadParams(const std::shared_ptr<const MappedFile> &file, const std::stop_token &stop,
                        LoadedModel &loaded)
{
    HALFTONE_TRY(loaded.model.parameters, readParams(file, stop));
    loaded.model.hasParameters = true;
    loaded.paramsPath = file->path();
    loaded.files.push_back(file);
    return {};
}

/// The parameter file that path and options mean; empty for none.
std::string chosenParams(const std::string &path, const LoadOptions &options, std::vector<std::string> &notes)
{
    if (options.leavesOutParameters())
        return {};
    if (!options.params.empty())
        return options.params;
    auto beside = symbolParamsBeside(path);
    if (!beside)
        notes.push_back("no parameter file next to the symbol: loaded without parameters");
    return beside.value_or(std::string());
}

/// What the symbol's and the parameters' names have in common; empty for a symbol of another name.
std::string prefixOf(const std::string &modelPath)
{
    return modelPath.ends_with(kSymbolEnding) ? modelPath.substr(0, modelPath.size() - kSymbolEnding.size())
                                              : std::string();
}

/// Does the path lead to another file by now?
bool isReplaced(const MappedFile &opened)
{
    const auto now = MappedFile::open(opened.path());
    return now.ok() && now.value()->identity() != opened.identity();
}

/// Are these the parameters that the symbol was written with? Those that somebody names are taken all the same.
Result<void> checkPair(const MappedFile &params, const std::string &mark, const LoadOptions &options,
                       std::vector<std::string> &notes)
{
    constexpr std::size_t kPiece = std::size_t{1} << 24;
    Xxh64 hash;
    for (auto rest = params.bytes(); !rest.empty(); rest = rest.subspan(std::min(kPiece, rest.size()))) {
        if (options.stop.stop_requested())
            return cancelled();
        hash.add(rest.first(std::min(kPiece, rest.size())));
    }
    if (pairMark(hash) == mark)
        return {};
    if (options.params.empty())
        return orElse({Errc::BadInput,
                       params.path(),
                       {},
                       "this parameter file does not belong to the symbol next to it",
                       "files of the same export"},
                      halftone::Field::Params, "to use it anyway");
    notes.emplace_back("the symbol was exported with a different parameter file");
    return {};
}

/// `isChanging`: another process is replacing the files, of which those read may belong to different runs.
Result<void> addParams(const MappedFile &symbol, const std::optional<std::string> &mark,
                       const LoadOptions &options, LoadedModel &loaded, bool &isChanging)
{
    const std::string params = chosenParams(symbol.path(), options, loaded.notes);
    const bool isBusy = mark && OutputLock::isHeld(prefixOf(symbol.path()));
    if (params.empty()) {
        isChanging = isBusy && !options.leavesOutParameters();
        return {};
    }
    HALFTONE_TRY(const auto file, MappedFile::open(params));
    HALFTONE_CHECK(loadParams(file, options.stop, loaded));
    const Result<void> pair = mark ? checkPair(*file, *mark, options, loaded.notes) : Result<void>();
    // The symbol is replaced first, and where there is no mark that alone shows that the parameters may be newer.
    isChanging = isReplaced(symbol) || (!pair.ok() && (isBusy || isReplaced(*file)));
    HALFTONE_CHECK(pair);
    noteMismatch(loaded.model, loaded.notes);
    return {};
}

Likeness sniffMxnet(std::span<const std::byte> content, std::string_view)
{
    if (isParamsFile(content))
        return Likeness::Certain;
    constexpr std::size_t kBlanksSeen = 4096;
    const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
    const std::string_view json = trimmed(text.substr(0, kBlanksSeen));
    return json.starts_with('{') || json.starts_with('[') ? Likeness::Content : Likeness::None;
}

Result<LoadedModel> loadParamsAlone(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options)
{
    if (!options.takesParametersAlone)
        return inFile(badInput({}, "parameters without a graph", "a model: " + modelPlaceholders()),
                      file->path());
    LoadedModel loaded;
    loaded.model.graph = emptySymbol();
    HALFTONE_CHECK(loadParams(file, options.stop, loaded));
    return loaded;
}

Result<LoadedModel> loadMxnet(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options,
                              bool &isChanging)
{
    if (isParamsFile(file->bytes()))
        return loadParamsAlone(file, options);
    LoadedModel loaded;
    auto graph = readSymbol(file->text(), loaded.notes, options.stop);
    if (!graph.ok())
        return inFile(std::move(graph).error(), file->path());
    loaded.model.graph = std::move(graph).value();
    const std::optional<std::string> mark = takePairMark(loaded.model.graph);
    loaded.modelPath = file->path();
    loaded.files.push_back(file);
    HALFTONE_CHECK(addParams(*file, mark, options, loaded, isChanging));
    return loaded;
}

OutputNames mxnetOutputNames(const std::string &prefix)
{
    return {prefix, prefix + std::string(kSymbolEnding), prefix + "-0000" + std::string(kParamsEnding)};
}

Result<std::vector<std::string>> saveMxnet(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source, std::span<const tensor::DType>)
{
    HALFTONE_TRY(AtomicFile symbol, createOutput(output.modelPath(), source));
    if (!model.hasParameters) {
        // Parameters of a former run are not this symbol's: it says that it was written with none, the empty file.
        const bool hasNeighbour = symbolParamsBeside(output.modelPath()).has_value();
        HALFTONE_CHECK(symbol.write(writeSymbol(
            withPairMark(model.graph, hasNeighbour ? std::optional(pairMark(Xxh64())) : std::nullopt))));
        HALFTONE_CHECK(symbol.commit());
        return std::vector{symbol.path()};
    }
    HALFTONE_TRY(AtomicFile params, createOutput(output.valuesPath(), source));
    Xxh64 hash;
    HALFTONE_CHECK(writeParams(model.parameters, [&](std::span<const std::byte> bytes) {
        hash.add(bytes);
        return params.write(bytes);
    }));
    HALFTONE_CHECK(symbol.write(writeSymbol(withPairMark(model.graph, pairMark(hash)))));
    // The symbol first: it bears the mark, so that a run killed in between leaves no pair that fits.
    const std::array both{&symbol, &params};
    HALFTONE_CHECK(AtomicFile::commitTogether(both));
    return std::vector{symbol.path(), params.path()};
}

} // namespace

const ModelFormat &mxnetFormat()
{
    static constexpr ModelFormat kFormat{
        .name = "mxnet",
        .title = "MXNet",
        .model = "an MXNet model",
        .files = "an MXNet symbol (JSON) or parameter list",
        .infoName = "mxnet-symbol",
        .parametersInfoName = "mxnet-params",
        .placeholder = "NAME-symbol.json",
        .readHelp = "P-symbol.json with P-NNNN.params beside it",
        .writeHelp = "P-symbol.json and P-0000.params",
        .ending = kSymbolEnding,
        .hasParameterFile = true,
        .sniff = sniffMxnet,
        .load = loadMxnet,
        .outputNames = mxnetOutputNames,
        .save = saveMxnet,
        .parametersBeside = symbolParamsBeside,
    };
    return kFormat;
}

} // namespace halftone::io
