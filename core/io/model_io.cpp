#include "core/io/model_io.h"

#include "core/base/atomic_file.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/io/foreign_formats.h"
#include "core/io/mxnet/pair_mark.h"
#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/io/onnx/onnx_file.h"
#include "core/io/sniff.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_set>

namespace halftone::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSymbolSuffix = "-symbol.json";
constexpr std::string_view kParamsSuffix = ".params";
constexpr std::string_view kNoParams = "none";
constexpr std::string_view kOnnxSuffix = ".onnx";
constexpr std::string_view kDataSuffix = ".data";

/// The files of a model that is written under that name.
std::string modelFile(const std::string &name)
{
    return name.ends_with(kOnnxSuffix) ? name : name + std::string(kSymbolSuffix);
}

std::string paramsFile(const std::string &name)
{
    return name.ends_with(kOnnxSuffix) ? name + std::string(kDataSuffix)
                                       : name + "-0000" + std::string(kParamsSuffix);
}

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

Result<void> loadParams(const std::shared_ptr<const MappedFile> &file, LoadedModel &loaded)
{
    HALFTONE_TRY(loaded.model.parameters, readParams(file));
    loaded.model.hasParameters = true;
    loaded.paramsPath = file->path();
    loaded.files.push_back(file);
    return {};
}

bool leavesOut(const LoadOptions &options)
{
    return options.noParams || options.params == kNoParams;
}

/// The parameter file that path and options mean; empty for none.
std::string chosenParams(const std::string &path, const LoadOptions &options, std::vector<std::string> &notes)
{
    if (leavesOut(options))
        return {};
    if (!options.params.empty())
        return options.params;
    auto beside = paramsBeside(path);
    if (!beside)
        notes.push_back("no parameter file next to the symbol: loaded without parameters");
    return beside.value_or(std::string());
}

/// What the symbol's and the parameters' names have in common; empty for a symbol of another name.
std::string prefixOf(const std::string &modelPath)
{
    return modelPath.ends_with(kSymbolSuffix) ? modelPath.substr(0, modelPath.size() - kSymbolSuffix.size())
                                              : std::string();
}

/// Does the path lead to another file by now?
bool isReplaced(const MappedFile &opened)
{
    const auto now = MappedFile::open(opened.path());
    return now.ok() && now.value()->identity() != opened.identity();
}

/// Are these the parameters that the symbol was written with? Those that somebody names are taken all the same.
Result<void> checkPair(const MappedFile &params, const std::string &mark, bool isNamed,
                       std::vector<std::string> &notes)
{
    Xxh64 hash;
    hash.add(params.bytes());
    if (pairMark(hash) == mark)
        return {};
    if (!isNamed)
        return orElse({Errc::BadInput,
                       params.path(),
                       {},
                       "this parameter file does not belong to the symbol next to it",
                       "files of the same export"},
                      Field::Params, "to use it anyway");
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
        isChanging = isBusy && !leavesOut(options);
        return {};
    }
    HALFTONE_TRY(const auto file, MappedFile::open(params));
    HALFTONE_CHECK(loadParams(file, loaded));
    const Result<void> pair
        = mark ? checkPair(*file, *mark, !options.params.empty(), loaded.notes) : Result<void>();
    // The symbol is replaced first, and where there is no mark that alone shows that the parameters may be newer.
    isChanging = isReplaced(symbol) || (!pair.ok() && (isBusy || isReplaced(*file)));
    HALFTONE_CHECK(pair);
    noteMismatch(loaded.model, loaded.notes);
    return {};
}

Result<void> loadOnnx(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options,
                      LoadedModel &loaded)
{
    if (!options.params.empty() && options.params != kNoParams)
        return badCall(Field::Params, "an ONNX model contains its parameters",
                       "; leave the parameter file out");
    HALFTONE_TRY(loaded.model, readOnnx(file, loaded.notes));
    if (leavesOut(options)) {
        loaded.model.parameters.clear();
        loaded.model.hasParameters = false;
    }
    loaded.modelPath = file->path();
    loaded.onnx = onnxFacts(loaded.model.graph);
    loaded.files = externalFilesOf(loaded.model.graph);
    loaded.files.insert(loaded.files.begin(), file);
    return {};
}

Result<LoadedModel> readOnce(const std::string &path, const LoadOptions &options, bool &isChanging)
{
    LoadedModel loaded;
    if (std::error_code none; fs::is_directory(path, none)) {
        if (const ForeignFormat *const foreign = foreignFormatOfFolder(path))
            return inFile(badInput({}, std::string(foreign->title), std::string(foreign->way)), path);
    }
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    Result<Format> format = sniff(file->bytes());
    if (!format.ok() && path.ends_with(kOnnxSuffix) && mayBeOnnx(file->bytes()))
        format = Format::Onnx;
    if (!format.ok())
        return inFile(format.error(), path);
    if (format.value() == Format::Onnx) {
        HALFTONE_CHECK(loadOnnx(file, options, loaded));
        return loaded;
    }
    if (format.value() == Format::Params && !options.takesParametersAlone)
        return inFile(badInput({}, "parameters without a graph", "a model: NAME-symbol.json or NAME.onnx"),
                      path);
    if (format.value() == Format::Params) {
        loaded.model.graph = emptySymbol();
        HALFTONE_CHECK(loadParams(file, loaded));
        return loaded;
    }
    auto graph = readSymbol(file->text(), loaded.notes);
    if (!graph.ok())
        return inFile(std::move(graph).error(), path);
    loaded.model.graph = std::move(graph).value();
    const std::optional<std::string> mark = takePairMark(loaded.model.graph);
    loaded.modelPath = path;
    loaded.files.push_back(file);
    HALFTONE_CHECK(addParams(*file, mark, options, loaded, isChanging));
    return loaded;
}

/// Refuses to write over what is still being read.
Result<AtomicFile> createOutput(const std::string &path, const LoadedModel &source)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    if (file.replaces()
        && std::ranges::find(source.files, *file.replaces(), &MappedFile::identity) != source.files.end())
        return Error{Errc::BadCall,
                     path,
                     {},
                     "the output would overwrite the model that is being read",
                     "; choose another file name"};
    return file;
}

Result<void> writePieces(std::span<const FilePiece> pieces, AtomicFile &file)
{
    for (const FilePiece &piece : pieces) {
        Result<void> written;
        piece.inPieces([&](std::span<const std::byte> bytes) {
            written = file.write(bytes);
            return written.ok();
        });
        HALFTONE_CHECK(std::move(written));
    }
    return {};
}

Result<std::vector<std::string>> saveOnnx(const graph::Model &model, const ModelOutput &output,
                                          const LoadedModel &source,
                                          std::span<const tensor::DType> outputTypes)
{
    if (dialect::of(model.graph).name() != kOnnxSuffix.substr(1))
        return inFile(unsupported({},
                                  std::string(dialect::of(model.graph).title()) + " models"
                                      + " cannot be written as ONNX by this build"),
                      output.modelPath());
    const std::string apart = fs::path(output.paramsPath()).filename().string();
    auto bytes = writeOnnx(model, output.hasValuesApart() ? apart : std::string(), outputTypes);
    if (!output.hasValuesApart() && !bytes.ok() && bytes.error().code == Errc::Unsupported)
        bytes = writeOnnx(model, apart, outputTypes);
    if (!bytes.ok())
        return inFile(std::move(bytes).error(), output.modelPath());
    HALFTONE_TRY(AtomicFile file, createOutput(output.modelPath(), source));
    HALFTONE_CHECK(writePieces(bytes.value().message, file));
    if (bytes.value().data.empty()) {
        HALFTONE_CHECK(file.commit());
        return std::vector{file.path()};
    }
    HALFTONE_TRY(AtomicFile data, createOutput(output.paramsPath(), source));
    HALFTONE_CHECK(writePieces(bytes.value().data, data));
    const std::array both{&data, &file};
    HALFTONE_CHECK(AtomicFile::commitTogether(both));
    return std::vector{file.path(), data.path()};
}

} // namespace

std::string outputName(const std::string &prefix, const std::string &modelPath)
{
    if (prefix.ends_with(kOnnxSuffix))
        return prefix;
    const auto file = MappedFile::open(modelPath);
    const auto format = file.ok() ? sniff(file.value()->bytes()) : Result<Format>(Format::Params);
    const bool isOnnx = format.ok() ? format.value() == Format::Onnx : modelPath.ends_with(kOnnxSuffix);
    if (isOnnx && prefix.ends_with(kSymbolSuffix))
        return prefix; // a file of MXNet's: saveModel() says that it is none
    return isOnnx ? prefix + std::string(kOnnxSuffix) : prefix;
}

std::vector<std::string> outputFiles(const std::string &prefix, const std::string &modelPath,
                                     bool hasParameters)
{
    const std::string name = outputName(prefix, modelPath);
    std::vector<std::string> files{modelFile(name)};
    if (hasParameters && !name.ends_with(kOnnxSuffix))
        files.push_back(paramsFile(name));
    return files;
}

std::optional<std::string> paramsBeside(const std::string &modelPath)
{
    const fs::path path(modelPath);
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
    checkMemory(error);
    return best;
}

Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options)
{
    constexpr int kAttempts = 20;
    constexpr std::chrono::milliseconds kWait(50);
    for (int attempt = 1;; ++attempt) {
        bool isChanging = false;
        auto loaded = readOnce(path, options, isChanging);
        if (!isChanging || attempt == kAttempts)
            return loaded;
        std::this_thread::sleep_for(kWait);
    }
}

ModelOutput::ModelOutput(const std::string &prefix, OutputLock lock)
    : m_modelPath(modelFile(prefix))
    , m_paramsPath(paramsFile(prefix))
    , m_lock(std::move(lock))
{
}

bool ModelOutput::isOnnx() const
{
    return m_modelPath.ends_with(kOnnxSuffix);
}

Result<ModelOutput> ModelOutput::claim(const std::string &prefix)
{
    const std::string name = fs::path(prefix).filename().string();
    if (name.empty() || name == "." || name == "..")
        return Error{Errc::BadCall, prefix, {}, "no file name", "FOLDER/NAME or NAME"};
    HALFTONE_TRY(OutputLock lock, OutputLock::take(prefix));
    return ModelOutput(prefix, std::move(lock));
}

tensor::DType declaredOutputType(const LoadedModel &loaded, std::size_t k)
{
    if (!loaded.onnx || k >= loaded.onnx->outputs.size())
        return tensor::DType::Unknown;
    return tensor::dtypeNamed(loaded.onnx->outputs[k].dtype).value_or(tensor::DType::Unknown);
}

Result<std::vector<std::string>> saveModel(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source,
                                           std::span<const tensor::DType> outputTypes)
{
    if (output.isOnnx())
        return saveOnnx(model, output, source, outputTypes);
    if (dialect::of(model.graph).name() == kOnnxSuffix.substr(1))
        return inFile(unsupported({}, "an ONNX model cannot be written as an MXNet symbol with parameters"),
                      output.modelPath());
    HALFTONE_TRY(AtomicFile symbol, createOutput(output.modelPath(), source));
    if (!model.hasParameters) {
        // Parameters of a former run are not this symbol's: it says that it was written with none, the empty file.
        const bool hasNeighbour = paramsBeside(output.modelPath()).has_value();
        HALFTONE_CHECK(symbol.write(writeSymbol(
            withPairMark(model.graph, hasNeighbour ? std::optional(pairMark(Xxh64())) : std::nullopt))));
        HALFTONE_CHECK(symbol.commit());
        return std::vector{symbol.path()};
    }
    HALFTONE_TRY(AtomicFile params, createOutput(output.paramsPath(), source));
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

Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source)
{
    HALFTONE_TRY(const ModelOutput output, ModelOutput::claim(outputName(prefix, source.modelPath)));
    return saveModel(model, output, source);
}

} // namespace halftone::io
