#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace halftone::io {

/// Does the content have the signature of a parameter file?
bool isParamsFile(std::span<const std::byte> content);

/// Reads a list of arrays as MXNet saves it (core/io/mxnet/FORMATS.md, F-params): versions V0 to V3, mixed as
/// they like, dense and sparse, named or not. Tensors share the mapping: no value is copied. Every count is
/// checked against the bytes left before anything is allocated. Of arrays with one name the last one stays,
/// in the place of the first. Bytes after the end are ignored, as MXNet does. fails: BadInput with the byte
/// offset of the field that is wrong; Cancelled.
Result<std::vector<tensor::Array>> readParams(const std::shared_ptr<const MappedFile> &file,
                                              const std::stop_token &stop = {});

/// The same from bytes that `owner` keeps alive. Errors carry no file name.
Result<std::vector<tensor::Array>> readParams(std::span<const std::byte> bytes,
                                              const std::shared_ptr<const void> &owner,
                                              const std::stop_token &stop = {});

using WriteBytes = std::function<Result<void>(std::span<const std::byte>)>;

/// Writes `arrays` as MXNet 1.9.1 does: V2, with the names in order (or without names when no array has one).
/// An array of rank 0 becomes V3, which alone can say it. Values go from the tensors' bytes to `write`, piece by piece.
/// fails: when `write` does.
Result<void> writeParams(std::span<const tensor::Array> arrays, const WriteBytes &write);

} // namespace halftone::io
