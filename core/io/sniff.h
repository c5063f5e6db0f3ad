#pragma once

#include "core/base/result.h"
#include "core/io/formats.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace halftone::io {

/// The format of a file, told by its first bytes. The name decides only for content that no format is sure of.
/// fails: BadInput for anything else, naming what it looks like: a model of another program and how to export ONNX from it
/// (foreign_formats.h), or an empty file, a web page, UTF-16, a byte order mark, an archive, a pickle, ….
Result<const ModelFormat *> sniff(std::span<const std::byte> bytes, std::string_view path = {});

} // namespace halftone::io
