#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

#include <tflite_generated.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading of TensorFlow Lite; schema 3, as LiteRT has it.
namespace halftone::io::tflite {

namespace schema = tfliteschema;

/// The file, whose tables the verifier has accepted.
struct Source
{
    std::shared_ptr<const MappedFile> file;
    const schema::Model *model = nullptr;
};

/// How reals become codes: real = (code - zero) · scale; one of each, or one for each place of the axis.
struct Codes
{
    std::vector<float> scales;
    std::vector<std::int64_t> zeros;
    std::int64_t axis = 0;

    bool operator==(const Codes &) const = default;
};

/// A tensor of a subgraph.
struct TensorFacts
{
    std::string name; ///< as in the file; may be empty
    tensor::DType type = tensor::DType::Unknown; ///< Unknown: not supported
    std::string typeName; ///< as the schema calls it: "FLOAT32"
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> signature; ///< the same, -1 for open extents
    std::optional<Codes> codes; ///< of integers with scales
    bool isState = false; ///< keeps its value from one inference to the next
    bool hasBytes = false; ///< there are values for it in the file
    std::optional<tensor::Tensor> values; ///< of supported types
};

/// fails: BadInput for values whose number the shape does not give
Result<TensorFacts> readTensor(const Source &source, const schema::Tensor &tensor, const std::string &where);

/// The bytes of a buffer, in the flatbuffer or behind it. fails: BadInput for a place beyond the file
Result<std::span<const std::byte>> bufferBytes(const Source &source, std::uint32_t index,
                                               const std::string &where);

/// The options of an operator as attributes: those that are written or have a default other than 0.
/// fails: BadInput for a field that lies beyond the file
Result<graph::Attributes> readOptions(const Source &source, const schema::Operator &op,
                                      const std::string &where);

/// "(code - 3) · 0.5", or of many scales the number and the axis: for people, and to tell nodes apart.
std::string textOf(const Codes &codes);

inline std::string textOf(const flatbuffers::String *text)
{
    return text == nullptr ? std::string() : text->str();
}

} // namespace halftone::io::tflite
