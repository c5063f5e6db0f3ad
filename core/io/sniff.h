#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace halftone::io {

/// The format of a file by its first bytes, regardless of its name.
enum class Format
{
    SymbolJson,
    Params,
    Onnx
};

/// fails: BadInput for anything else, naming what it looks like: a model of another program and how to export ONNX from it
/// (foreign_formats.h), or an empty file, a web page, UTF-16, a byte order mark, an archive, a pickle, ….
Result<Format> sniff(std::span<const std::byte> bytes);

/// Could an unknown file be a damaged or unusually ordered ONNX model, given that its name says so?
bool mayBeOnnx(std::span<const std::byte> bytes);

} // namespace halftone::io
