#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace halftone::io {

/// What a file is by its first bytes; its name does not count.
enum class Format
{
    SymbolJson,
    Params,
    Onnx
};

/// fails: for anything else, saying what it looks like: a model of another program and how to get ONNX from it (foreign_formats.h), or an
/// empty file, a web page, UTF-16, a byte order mark, an archive, a pickle, ….
Result<Format> sniff(std::span<const std::byte> bytes);

/// Could a file that sniff() does not know be a damaged or oddly ordered ONNX model, when its name says that it is one?
bool mayBeOnnx(std::span<const std::byte> bytes);

} // namespace halftone::io
