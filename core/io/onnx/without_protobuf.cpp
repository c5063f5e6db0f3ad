#include "core/io/onnx/onnx_file.h"

/// In place of the other sources of this folder but onnx_format.cpp if protobuf or ONNX's schema is missing.
namespace halftone::io {

Result<graph::Model> readOnnx(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &,
                              const std::stop_token &)
{
    return inFile(unsupported({}, "an ONNX model, which this build cannot read"), file->path());
}

Result<OnnxBytes> writeOnnx(const graph::Model &, const std::string &, std::span<const tensor::DType>,
                            const std::unordered_map<std::string, tensor::Shape> *)
{
    return unsupported({}, "an ONNX model, which this build cannot write");
}

bool hasOnnxReader()
{
    return false;
}

FileFacts onnxFacts(const graph::Graph &)
{
    return {};
}

std::vector<std::shared_ptr<const MappedFile>> externalFilesOf(const graph::Graph &)
{
    return {};
}

} // namespace halftone::io
