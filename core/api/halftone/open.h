#pragma once

#include "halftone/array.h"
#include "halftone/result.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::api {

/// An input or output of a model.
struct Value
{
    std::string name;
    std::optional<Shape> shape; ///< absent: unknown rank
    Type type = Type::Unknown; ///< Unknown: cannot be inferred
};

/// An operator of the main graph.
struct Node
{
    std::string name;
    std::string op;
    std::vector<std::string> inputs; ///< names of values
    std::vector<std::string> outputs;
};

struct OpenOptions
{
    std::string parameters; ///< parameter file, for MXNet; empty: the one beside the model
    bool withoutParameters = false;
    std::map<std::string, Shape> shapes; ///< of the inputs, by name
};

/// A graph and its parameters. Immutable and cheap to copy: copies share everything. Safe to use from several threads.
class Model
{
public:
    const std::string &path() const; ///< the file it was read from or derived from
    std::string format() const; ///< "onnx" or "mxnet"
    bool hasParameters() const;
    std::size_t nodeCount() const; ///< with inputs and parameters
    std::map<std::string, std::size_t> operators() const; ///< number of nodes per operator
    std::vector<Node> nodes() const; ///< operators in the order of the file
    const std::vector<Value> &inputs() const; ///< inputs needed by run()
    const std::vector<Value> &outputs() const;
    const std::vector<std::string> &notes() const; ///< remarks about the file
    Result<std::string> report() const; ///< as JSON: what `info --json` prints

private:
    friend struct Inside;
    struct Content;
    explicit Model(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Reads an ONNX model, or MXNet's NAME-symbol.json with the NAME-NNNN.params beside it.
/// fails: BadInput with the place in the file; Unsupported for a format that this build cannot read
Result<Model> open(const std::string &path, const OpenOptions &options = {}, const Progress &progress = {});

/// Reads the bytes of such a file, which are copied.
/// path  named by errors; its folder holds the weights that an ONNX model keeps in other files. Empty: there are none
/// fails: as open()
Result<Model> read(std::span<const std::byte> bytes, const std::string &path = {},
                   const OpenOptions &options = {});

struct SaveOptions
{
    bool externalData
        = false; ///< ONNX: always store weights in PREFIX.onnx.data; otherwise only those beyond 2 GB
};

/// Writes PREFIX.onnx, or for an MXNet model PREFIX-symbol.json and, if there are parameters, PREFIX-0000.params; a PREFIX that ends in .onnx
/// makes ONNX of an MXNet model. All files or none are written, and never over those that the model was read from. Returns their paths.
/// fails: Unsupported for an operator that has no counterpart in the other format; errors of the file system
Result<std::vector<std::string>> save(const Model &model, const std::string &prefix,
                                      const SaveOptions &options = {});

/// The file that save() would write. fails: Unsupported for a model of several files, or of more than 2 GB
Result<std::vector<std::byte>> bytes(const Model &model);

} // namespace halftone::api
