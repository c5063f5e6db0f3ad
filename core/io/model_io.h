#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/graph/model.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::io {

struct LoadOptions
{
    /// The parameter file; empty: the one beside the symbol (`P-NNNN.params` for `P-symbol.json`, the highest
    /// NNNN); "none": as noParams.
    std::string params;
    bool noParams = false;
};

struct LoadedModel
{
    graph::Model model;
    std::string symbolPath; ///< empty when a bare parameter file was loaded
    std::string paramsPath; ///< empty when there are none
    /// What is odd but readable: the symbol's own notes, parameters that no variable uses, variables that
    /// only data could fill.
    std::vector<std::string> notes;
    std::vector<FileIdentity> sources; ///< which files those are, whatever their names
};

/// Loads an MXNet model (spec: cli, "MODEL"): a symbol with the parameters beside it, or a bare parameter
/// file (`model.graph` is then empty). Files are told by their content. A symbol whose parameters are not
/// there loads without, with a note. fails: BadInput with file and place; Unsupported for an ONNX model.
Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options = {});

/// Writes `<prefix>-symbol.json` and, when the model has parameters, `<prefix>-0000.params`: both or none.
/// Gives the paths written. `source` is what the model was made from: its files are never written over.
/// fails: BadCall when an output would replace a file of `source`; else what the file system says.
Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source);

/// The parameter file beside `P-symbol.json`: `P-NNNN.params` with the highest NNNN; nothing when there is
/// none or the name is another.
std::optional<std::string> paramsBeside(const std::string &symbolPath);

} // namespace halftone::io
