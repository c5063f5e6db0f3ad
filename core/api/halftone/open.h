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

/// Types of elements.
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
    Int4, ///< one value a byte, as those that follow: integers as Int8 and UInt8 have them, Float4E2M1 as its code
    UInt4,
    Int2,
    UInt2,
    Float4E2M1,
};

std::string_view nameOf(Type type); ///< NumPy's: "float16"
std::size_t sizeOf(Type type); ///< bytes of an element; 0 for Unknown

using Shape = std::vector<std::int64_t>; ///< -1: a length that is not known

/// What a model reads or gives.
struct Value
{
    std::string name;
    std::optional<Shape> shape; ///< nothing: not even how many axes
    Type type = Type::Unknown; ///< of inputs
};

struct OpenOptions
{
    std::string parameters; ///< their file; empty: the one beside the model
    bool withoutParameters = false;
    std::map<std::string, Shape> shapes; ///< of inputs, by name
};

/// A network and its parameters. Immutable, and cheap to copy: copies share everything. Safe to use from several threads.
class Model
{
public:
    const std::string &path() const; ///< where it, or what it was made of, comes from
    bool hasParameters() const;
    std::size_t nodeCount() const;
    std::map<std::string, std::size_t> operators() const; ///< how many nodes each has
    const std::vector<Value> &inputs() const; ///< what a run is fed
    const std::vector<Value> &outputs() const;
    const std::vector<std::string> &notes() const; ///< what is odd about it

private:
    friend struct Inside;
    struct Content;
    explicit Model(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Reads a model: MXNet's NAME-symbol.json with the NAME-NNNN.params beside it.
/// fails: BadInput with the place in the file; Unsupported for an ONNX model
Result<Model> open(const std::string &path, const OpenOptions &options = {}, const Progress &progress = {});

/// Writes PREFIX-symbol.json and, if there are parameters, PREFIX-0000.params: both or none, whole or not at all, and never
/// over the files that the model comes from. Gives their paths.
Result<std::vector<std::string>> save(const Model &model, const std::string &prefix);

/// Where examples for a model come from.
struct Data
{
    std::string inputs; ///< an .npz with arrays by input name, or a folder of pictures
    std::string preprocessing; ///< how pictures become inputs; empty: preprocess.json beside the model
    std::string labels; ///< the right classes; empty: none, but for an array `labels` among the inputs
    std::size_t examples = 0; ///< the first so many; 0: all
};

/// What computes.
struct Compute
{
    std::string backend = "cpu"; ///< or "reference"
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t batch = 0; ///< examples at a time; 0: as the data suggest
};

} // namespace halftone::api
