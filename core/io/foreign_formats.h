#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halftone::io {

/// A model format of another program, which is recognised but not read.
struct ForeignFormat
{
    std::string_view name; ///< one word: "tflite"
    std::string_view title; ///< with its article, as an error says what was found: "a TensorFlow Lite model"
    std::string_view way; ///< how to get an ONNX model from it, as an error says what is expected
};

/// All that are recognised, in a fixed order.
std::span<const ForeignFormat> foreignFormats();

/// The format of a file, told by its content; null for none of the table. Reads the first bytes, the outermost fields of a protobuf message,
/// the names in a zip archive or the last bytes, never the whole file.
const ForeignFormat *foreignFormatOf(std::span<const std::byte> bytes);

/// Likewise of a folder, told by the files in it: a SavedModel or a Core ML package.
const ForeignFormat *foreignFormatOfFolder(const std::string &path);

} // namespace halftone::io
