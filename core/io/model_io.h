#pragma once

#include "core/base/mapped_file.h"
#include "core/base/output_lock.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/onnx_facts.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::io {

struct LoadOptions
{
    /// Parameter file; empty: the one beside the symbol (`P-NNNN.params` for `P-symbol.json`, the highest
    /// NNNN); "none": as noParams.
    std::string params;
    bool noParams = false;
    bool takesParametersAlone
        = false; ///< a parameter file without a graph is no error: `model.graph` is then empty
};

struct LoadedModel
{
    graph::Model model;
    std::string modelPath; ///< path of the model; empty if only a parameter file was loaded
    std::string paramsPath; ///< path of a separate parameter file; empty if there is none
    /// Remarks about a readable model: notes of the symbol reader, unused parameters, variables without
    /// parameters.
    std::vector<std::string> notes;
    std::optional<OnnxFacts> onnx; ///< for an ONNX file
    /// All files read: modelPath, paramsPath, then the external data files of an ONNX model.
    std::vector<std::shared_ptr<const MappedFile>> files;
};

/// Loads a model (app/README.md, "Common rules"): an ONNX file, or an MXNet symbol with the parameters beside it. The
/// content decides the format. A symbol without a parameter file is loaded without parameters, with a note. Parameters
/// with another hash than the symbol stores (io/pair_mark.h) are rejected, or noted if they were named. A pair that is
/// being replaced is awaited for at most a second.
/// fails: BadInput with file and place; Unsupported for an ONNX model if this build cannot read ONNX.
Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options = {});

/// The type that the file declares for output `k`; Unknown if it declares none.
tensor::DType declaredOutputType(const LoadedModel &loaded, std::size_t k);

/// The files of a model to be written. While this object lives, no other process can claim them.
class ModelOutput
{
public:
    /// `prefix`: prefix of the files of an MXNet model, or the name of an ONNX file.
    /// fails: BadCall for a prefix without a name (empty, a folder); BadInput while another process writes there, or when
    /// the folder is missing or not writable
    static Result<ModelOutput> claim(const std::string &prefix);

    const std::string &modelPath() const { return m_modelPath; }
    /// ONNX: the file of values that are not stored in the model.
    const std::string &paramsPath() const { return m_paramsPath; }
    bool isOnnx() const;
    /// ONNX: stores all values in the separate file, whatever their size.
    void putValuesApart() { m_hasValuesApart = true; }
    bool hasValuesApart() const { return m_hasValuesApart; }

private:
    ModelOutput(const std::string &prefix, OutputLock lock);

    std::string m_modelPath;
    std::string m_paramsPath;
    bool m_hasValuesApart = false;
    OutputLock m_lock;
};

/// The output file name for `prefix` in the format of the given file: ONNX files end in ".onnx". An unreadable file counts as not
/// ONNX.
std::string outputName(const std::string &prefix, const std::string &modelPath);

/// The files that saveModel() writes for that; an ONNX model too large for one file has a second one.
std::vector<std::string> outputFiles(const std::string &prefix, const std::string &modelPath,
                                     bool hasParameters);

/// Writes a model and returns the paths. ONNX: one file, with the values in a second one if it would be too large. MXNet:
/// `<prefix>-symbol.json` and, if there are parameters, `<prefix>-0000.params`: both or neither, with the hash of the parameter file
/// in the symbol. Files of `source`, from which the model was made, are never overwritten.
/// outputTypes  for a changed ONNX model: the new types of its outputs; Unknown, or beyond the end: as in its file
/// fails        BadCall if an output would overwrite a file of `source`; otherwise errors of the file system
Result<std::vector<std::string>> saveModel(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source,
                                           std::span<const tensor::DType> outputTypes = {});
/// The same without a previous claim().
Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source);

/// The parameter file beside `P-symbol.json`: `P-NNNN.params` with the highest NNNN; absent if there is
/// none, or for another name.
std::optional<std::string> paramsBeside(const std::string &modelPath);

} // namespace halftone::io
