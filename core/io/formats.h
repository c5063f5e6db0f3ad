#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::io {

struct LoadOptions;
struct LoadedModel;
class ModelOutput;

/// How clearly a file belongs to a format, in rising order.
enum class Likeness : std::uint8_t
{
    None,
    Content, ///< it begins as files of the format do, but others may begin alike
    Name, ///< its name says so, and its first byte does not contradict: perhaps damaged
    Certain ///< it bears the format's signature
};

/// The files that a model is written to.
struct OutputNames
{
    std::string common; ///< which is locked while they are written
    std::string model;
    std::string values; ///< parameters, or values that are stored apart; empty: the format has no such file
};

/// Takes the next bytes of a file that is written.
using BytesWriter = std::function<Result<void>(std::span<const std::byte>)>;

/// A row of the table of formats, made by a function in the folder of the format (onnx/onnx_format.h). What a model of the format means is
/// for its dialect (core/dialect), which has the same name.
struct ModelFormat
{
    // --- texts
    std::string_view name; ///< as options, JSON and Dialect::name() have it: "onnx"
    std::string_view title; ///< "ONNX"
    std::string_view model; ///< in a sentence: "an ONNX model"
    std::string_view files; ///< all files that are read, in a sentence: "an ONNX model"
    std::string_view infoName; ///< of a model in `info --json`: "onnx"
    std::string_view parametersInfoName{}; ///< of a parameter file; empty: there are none
    std::string_view placeholder; ///< of a model's path in help texts: "MODEL.onnx"
    std::string_view readHelp; ///< likewise, with the files that are read beside it
    std::string_view writeHelp; ///< what `--out P` writes: "P.onnx"

    // --- properties
    std::string_view ending; ///< of the names of model files: ".onnx"
    bool hasParameterFile = false; ///< parameters are in a file of their own, which `--params` may name
    bool declaresOutputTypes = false; ///< a file states the types of its outputs
    bool mayHaveSeparateValues = false; ///< ModelOutput::separateValues() has an effect
    bool isReadable = true; ///< by this build: false if a library is missing
    bool isCopiedByDefault = false; ///< `convert` without a policy writes the model as it is

    // --- functions
    /// `content`: at least the first bytes.
    Likeness (*sniff)(std::span<const std::byte> content, std::string_view path);
    /// isChanging  set if another process is replacing the files, of which those read may not belong together
    /// fails       BadInput with file and place; Unsupported if this build cannot read the format; Cancelled
    Result<LoadedModel> (*load)(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options,
                                bool &isChanging);
    /// Of a model that is written under this name, with or without the ending.
    OutputNames (*outputNames)(const std::string &prefix);
    /// As saveModel(). Needs: a model of this format.
    Result<std::vector<std::string>> (*save)(const graph::Model &model, const ModelOutput &output,
                                             const LoadedModel &source,
                                             std::span<const tensor::DType> outputTypes);
    /// As `save`, for a runtime that is to tell of nodes by our names: each node has the name that it bears in the graph, and inputs have
    /// these shapes, by variable. Outputs are the graph's heads in their order. Null: no runtime reads the format.
    Result<std::vector<std::string>> (*handOver)(const graph::Model &model, const ModelOutput &output,
                                                 std::span<const tensor::DType> outputTypes,
                                                 const std::unordered_map<std::string, tensor::Shape> &shapes)
        = nullptr;
    /// The same as the bytes of one file, given to `write` in pieces; null: a model of this format is more than one file.
    /// fails: Unsupported for a model that is too large for one file; as `write`
    Result<void> (*toBytes)(const graph::Model &model, std::span<const tensor::DType> outputTypes,
                            const BytesWriter &write)
        = nullptr;
    /// The parameter file beside a model; null: hasParameterFile is not set.
    std::optional<std::string> (*parametersBeside)(const std::string &modelPath) = nullptr;
};

/// All formats, the default first.
std::span<const ModelFormat *const> formats();

/// Adds a format that a program links itself; it stays in the table. Call from one thread before formats are used. An existing name is not
/// replaced.
/// returns  whether it was added
bool addFormat(const ModelFormat &format);

const ModelFormat *formatNamed(std::string_view name); ///< null: there is none
/// The format of a graph's dialect; null: files of it are neither read nor written.
const ModelFormat *formatOf(const graph::Graph &graph);
/// By the ending of a file name; null: it belongs to none.
const ModelFormat *formatOfName(std::string_view path);

/// The format that a model is written in: the one whose ending `prefix` has, otherwise that of `graph`.
const ModelFormat &outputFormat(const std::string &prefix, const graph::Graph &graph);
/// Likewise, otherwise that of a file; the default format if the file cannot be read.
const ModelFormat &outputFormat(const std::string &prefix, const std::string &modelPath);

// --- texts of all formats
std::string expectedFiles(); ///< "an ONNX model, or an MXNet symbol (JSON) or parameter list"
std::string modelPlaceholders(); ///< "MODEL.onnx, NAME-symbol.json"
std::string parameterFileHelp(); ///< of the option --params: "MXNet parameter file, or 'none'"
std::string filePatterns(); ///< for file dialogs: "*.onnx *-symbol.json"

} // namespace halftone::io
