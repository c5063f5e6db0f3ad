#pragma once

#include "core/base/mapped_file.h"
#include "core/dialect/onnx/output_facts.h"
#include "core/graph/graph.h"

#include <onnx-ml.pb.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// What a graph that was read from an ONNX file keeps of it, for the way back.
namespace halftone::io::onnx {

/// The file as it was read. Values of large initializers are not in `model`.
struct Source
{
    std::shared_ptr<const MappedFile> file;
    ::onnx::ModelProto model;
    std::unordered_map<const ::onnx::TensorProto *, std::span<const std::byte>>
        values; ///< of large initializers, and of tensors in other files
    std::vector<std::string> externalFiles; ///< as the model names them, each once
    std::unordered_map<std::string, std::shared_ptr<const MappedFile>> external; ///< by location
    std::unordered_map<std::string, std::string>
        digests; ///< by location, of files whose checksum the model says
    std::size_t externalBytes = 0;
    std::vector<std::unique_ptr<const ::onnx::GraphProto>> bodies; ///< of calls of functions
};
using SourcePtr = std::shared_ptr<const Source>;

struct NodeData final : graph::FormatData
{
    SourcePtr source;
    const ::onnx::NodeProto *proto = nullptr;
    std::string name; ///< what the node is called here, where the file says another name, or none
};

/// Of a variable: an input, an initializer, or both. Of a Constant node that stands for an initializer of a body.
struct ValueData final : graph::FormatData
{
    SourcePtr source;
    const ::onnx::ValueInfoProto *input = nullptr;
    const ::onnx::TensorProto *initializer = nullptr;
    const ::onnx::SparseTensorProto *sparse = nullptr;
    std::vector<std::int64_t> places; ///< of its elements, as SparseValues has them
};

struct GraphData final : dialect::onnx::OutputFacts
{
    SourcePtr source;
    const ::onnx::GraphProto *proto = nullptr;
    std::vector<graph::NodeDefPtr> nodes; ///< as they were read
};

} // namespace halftone::io::onnx
