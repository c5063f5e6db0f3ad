#pragma once

#include "core/base/atomic_file.h"
#include "core/base/mapped_file.h"
#include "core/base/output_lock.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/file_facts.h"
#include "core/io/formats.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace halftone::io {

struct LoadOptions
{
    /// Parameter file, for a format that has them; empty: the one beside the model; "none": as noParams.
    std::string params{};
    bool noParams = false;
    bool takesParametersAlone
        = false; ///< a parameter file without a graph is no error: `model.graph` is then empty

    std::stop_token stop{}; ///< ends reading

    bool leavesOutParameters() const;
};

struct LoadedModel
{
    graph::Model model;
    std::string modelPath; ///< path of the model; empty if only a parameter file was loaded
    std::string paramsPath; ///< path of a separate parameter file; empty if there is none
    /// Remarks about a readable model: notes of the symbol reader, unused parameters, variables without
    /// parameters.
    std::vector<std::string> notes;
    std::optional<FileFacts> facts; ///< absent for a format whose files do not describe themselves
    /// All files read: modelPath, paramsPath, then other files with values of the model.
    std::vector<std::shared_ptr<const MappedFile>> files;
};

/// Loads a model (app/README.md, "Common rules"), of a format that the content decides (sniff.h). A model without its parameter file is loaded
/// without parameters, with a note. Parameters with another hash than the model stores (io/mxnet/pair_mark.h) are rejected, or noted if they were
/// named. A pair of files that is being replaced is awaited for at most a second.
/// fails: BadInput with file and place; Unsupported for a format that this build cannot read; Cancelled
Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options = {});

/// The type that the file declares for output `k`; Unknown if it declares none.
tensor::DType declaredOutputType(const LoadedModel &loaded, std::size_t k);

/// The files of a model to be written. While this object lives, no other process can claim them.
class ModelOutput
{
public:
    /// `prefix`: the name of the files, with or without the format's ending.
    /// fails: BadCall for a prefix without a name (empty, a folder); BadInput while another process writes there, or when
    /// the folder is missing or not writable
    static Result<ModelOutput> claim(const std::string &prefix, const ModelFormat &format);

    const ModelFormat &format() const { return *m_format; }
    const std::string &modelPath() const { return m_names.model; }
    /// The file of parameters, or of values that are not stored in the model.
    const std::string &valuesPath() const { return m_names.values; }
    /// Stores all values in the separate file, whatever their size. Formats that always do, or never, ignore it.
    void separateValues() { m_hasValuesApart = true; }
    bool hasSeparateValues() const { return m_hasValuesApart; }

private:
    ModelOutput(const ModelFormat &format, OutputNames names, OutputLock lock);

    const ModelFormat *m_format;
    OutputNames m_names;
    bool m_hasValuesApart = false;
    OutputLock m_lock;
};

/// The files that saveModel() writes for that; a format with all in one file may need a second one for a very large model.
std::vector<std::string> outputFiles(const std::string &prefix, const ModelFormat &format,
                                     bool hasParameters);

/// A file of a model that is written. fails: BadCall if it would overwrite a file of `source`
Result<AtomicFile> createOutput(const std::string &path, const LoadedModel &source);

/// Writes a model and returns the paths, all files or none. Files of `source`, from which the model was made, are never overwritten.
/// outputTypes  for a changed model whose format declares them: the new types of its outputs; Unknown, or beyond the end: as in its file
/// fails        BadCall if an output would overwrite a file of `source`; Unsupported for a model of another format; otherwise errors of the
///              file system
Result<std::vector<std::string>> saveModel(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source,
                                           std::span<const tensor::DType> outputTypes = {});
/// The same without a previous claim(), in outputFormat().
Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source);

/// The parameter file beside a model: for `P-symbol.json` it is `P-NNNN.params` with the highest NNNN. Absent if there is none, or for a format
/// without such files.
std::optional<std::string> paramsBeside(const std::string &modelPath);

} // namespace halftone::io
