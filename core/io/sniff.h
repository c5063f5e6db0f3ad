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
    Params
};

/// fails: for anything else, saying what it looks like (empty, a web page, UTF-16, a byte order mark, an
/// archive, a pickle, …); an ONNX model is Errc::Unsupported.
Result<Format> sniff(std::span<const std::byte> bytes);

} // namespace halftone::io
