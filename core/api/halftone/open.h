#pragma once

#include "halftone/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::api {

/// Element types.
enum class Type : std::uint8_t
{
    Unknown,
    Float32,
    Float64,
    Float16,
    BFloat16,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Bool,
    Float8E4M3FN,
    Float8E5M2,
    TensorFloat32,
    Posit16,
    Int4, ///< this and the following: one value per byte; integers as in Int8 and UInt8, Float4E2M1 as its code
    UInt4,
    Int2,
    UInt2,
    Float4E2M1,
    Float8E8M0, ///< powers of two: scales of blocks
};

std::string_view nameOf(Type type); ///< NumPy's name, e.g. "float16"
std::size_t sizeOf(Type type); ///< bytes per element; 0 for Unknown

using Shape = std::vector<std::int64_t>; ///< -1: unknown length

/// An input or output of a model.
struct Value
{
    std::string name;
    std::optional<Shape> shape; ///< absent: unknown rank
    Type type = Type::Unknown; ///< for inputs
};

struct OpenOptions
{
    std::string parameters; ///< parameter file; empty: the one beside the model
    bool withoutParameters = false;
    std::map<std::string, Shape> shapes; ///< of the inputs, by name
};

/// A graph and its parameters. Immutable and cheap to copy: copies share everything. Safe to use from several threads.
class Model
{
public:
    const std::string &path() const; ///< the file it was read from or derived from
    bool hasParameters() const;
    std::size_t nodeCount() const;
    std::map<std::string, std::size_t> operators() const; ///< number of nodes per operator
    const std::vector<Value> &inputs() const; ///< inputs needed by run()
    const std::vector<Value> &outputs() const;
    const std::vector<std::string> &notes() const; ///< remarks about the file

private:
    friend struct Inside;
    struct Content;
    explicit Model(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Reads a model: MXNet's NAME-symbol.json with the NAME-NNNN.params beside it.
/// fails: BadInput with the place in the file; Unsupported for an ONNX model
Result<Model> open(const std::string &path, const OpenOptions &options = {}, const Progress &progress = {});

/// Writes PREFIX-symbol.json and, if there are parameters, PREFIX-0000.params: both or neither, and never
/// over the files that the model was read from. Returns their paths.
Result<std::vector<std::string>> save(const Model &model, const std::string &prefix);

/// Examples for a model.
struct Data
{
    std::string inputs; ///< an .npz file with one array per input, or a folder of pictures
    std::string preprocessing; ///< preprocessing of pictures; empty: preprocess.json beside the model
    std::string labels; ///< correct classes; empty: the array `labels` of the inputs, if any
    std::size_t examples = 0; ///< use only the first N; 0: all
};

/// Where and how to compute.
struct Compute
{
    std::string backend = "cpu"; ///< or "reference"
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples per batch; 0: automatic
};

} // namespace halftone::api
