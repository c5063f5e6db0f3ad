#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/file_facts.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::io {

/// False in a build without protobuf or ONNX's schema: nothing below works then.
bool hasOnnxReader();

/// A model file of ONNX: opset 1 to 26 of ai.onnx and any version of other domains, IR 3 to 13. Values of initializers stay
/// where they lie, in the mapped file or in those beside it. Nodes keep all that the file says of them.
/// fails: BadInput with file, place (a byte, a node, a tensor) and finding; Cancelled.
Result<graph::Model> readOnnx(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                              const std::stop_token &stop = {});

/// Part of a file that is written: text, then values, which are made while they are written where they are deferred.
struct FilePiece
{
    std::string text;
    tensor::Tensor values = {};
    std::span<const std::byte> mapped
        = {}; ///< values of a type that is only passed on: good as long as the model

    std::size_t size() const { return text.size() + values.byteCount() + mapped.size(); }
    /// The bytes in order; stops where `take` gives false. Says whether it did not.
    bool inPieces(const std::function<bool(std::span<const std::byte>)> &take) const
    {
        return take(std::as_bytes(std::span(text))) && values.inPieces(take) && take(mapped);
    }
};

/// A model as the bytes of an ONNX file. What was read from one and not changed is written as it was. Values of
/// initializers lie in the file, or in one of the name `dataFile` beside it where that is not empty.
/// outputTypes  of a graph that was changed: those that its outputs come in now; Unknown, or beyond the end: as the file said
/// handedOver   for a runtime, which is to tell of nodes by our names: shapes of inputs by variable; null: for no runtime
struct OnnxBytes
{
    std::vector<FilePiece> message;
    std::vector<FilePiece> data; ///< of the file beside it; empty: none
};
Result<OnnxBytes> writeOnnx(const graph::Model &model, const std::string &dataFile = {},
                            std::span<const tensor::DType> outputTypes = {},
                            const std::unordered_map<std::string, tensor::Shape> *handedOver = nullptr);

/// Needs: a graph that readOnnx() made, or one made of it.
FileFacts onnxFacts(const graph::Graph &graph);

/// The files beside the model that its values lie in, in the order in which it names them.
std::vector<std::shared_ptr<const MappedFile>> externalFilesOf(const graph::Graph &graph);

} // namespace halftone::io
