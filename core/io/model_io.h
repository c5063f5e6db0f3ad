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
    /// The parameter file; empty: the one beside the symbol (`P-NNNN.params` for `P-symbol.json`, the highest
    /// NNNN); "none": as noParams.
    std::string params;
    bool noParams = false;
    bool takesParametersAlone
        = false; ///< a parameter file without a graph is no error: `model.graph` is then empty
};

struct LoadedModel
{
    graph::Model model;
    std::string modelPath; ///< of the model or its graph; empty when a bare parameter file was loaded
    std::string paramsPath; ///< of parameters in a file of their own; empty when there are none
    /// What is odd but readable: the symbol's own notes, parameters that no variable uses, variables that
    /// only data could fill.
    std::vector<std::string> notes;
    std::optional<OnnxFacts> onnx; ///< of an ONNX file
    /// All that it was read from: that of modelPath, that of paramsPath, then those that an ONNX file's values lie in.
    std::vector<std::shared_ptr<const MappedFile>> files;
};

/// Loads a model (app/README.md, "Common rules"): an ONNX file, or an MXNet symbol with the parameters beside it. Files are told by their content. A symbol whose parameters are not
/// there loads without, with a note. Parameters beside a symbol that bears another file's mark (io/pair_mark.h) are
/// refused, named ones noted; a pair that is being replaced is waited for, at most a second.
/// fails: BadInput with file and place; Unsupported for an ONNX model where this build cannot read it.
Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options = {});

/// The type that a file says of output `k` of its graph; Unknown where it says none.
tensor::DType declaredOutputType(const LoadedModel &loaded, std::size_t k);

/// The files of a model to be written. From claim() on, until it is gone, nobody else can claim them.
class ModelOutput
{
public:
    /// `prefix`: of an MXNet model's files, or the name of an ONNX file.
    /// fails: BadCall for a prefix without a name (empty, a folder); BadInput while another process writes there, or when
    /// the folder is missing or not writable
    static Result<ModelOutput> claim(const std::string &prefix);

    const std::string &modelPath() const { return m_modelPath; }
    /// Of an ONNX model: where its values lie if not in the model.
    const std::string &paramsPath() const { return m_paramsPath; }
    bool isOnnx() const;
    /// Values go into the file beside an ONNX model, however small they are.
    void putValuesApart() { m_hasValuesApart = true; }
    bool hasValuesApart() const { return m_hasValuesApart; }

private:
    ModelOutput(const std::string &prefix, OutputLock lock);

    std::string m_modelPath;
    std::string m_paramsPath;
    bool m_hasValuesApart = false;
    OutputLock m_lock;
};

/// What the output of a model in the format of that file is called, when a person asks for `prefix`: an ONNX file ends in
/// ".onnx". A file that cannot be read is none.
std::string outputName(const std::string &prefix, const std::string &modelPath);

/// The files that saveModel() writes for that; of an ONNX model too large for one file, there is a second one.
std::vector<std::string> outputFiles(const std::string &prefix, const std::string &modelPath,
                                     bool hasParameters);

/// An ONNX model goes into one file; of one too large for that, the values go into a second file beside it. Of an MXNet model
/// writes `<prefix>-symbol.json` and, when it has parameters, `<prefix>-0000.params`: both or none, the symbol marked with its
/// parameter file. Gives the paths written. `source` is what the model was made from: its files are never written over.
/// outputTypes  of an ONNX model that was changed: those that its outputs come in now; Unknown, or beyond the end: as its file said
/// fails        BadCall when an output would replace a file of `source`; else what the file system says.
Result<std::vector<std::string>> saveModel(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source,
                                           std::span<const tensor::DType> outputTypes = {});
/// The same where nothing was claimed before.
Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source);

/// The parameter file beside `P-symbol.json`: `P-NNNN.params` with the highest NNNN; nothing when there is
/// none or the name is another.
std::optional<std::string> paramsBeside(const std::string &modelPath);

} // namespace halftone::io
