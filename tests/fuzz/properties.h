#pragma once

#include <cstddef>
#include <span>

/// What must hold of every input, good or bad, for each fuzz target; a violation ends the program. Besides
/// not crashing: what was read can be written, the writing can be read again, and writing that gives the same
/// bytes.
namespace halftone::fuzz {

void checkSymbolJson(std::span<const std::byte> input);
void checkParams(std::span<const std::byte> input);
void checkPolicy(std::span<const std::byte> input);
/// The bytes of a model file of ONNX, which may name values.bin beside it (256 bytes) for its values. Types and shapes are
/// sought too, and what was read is written with values inside and beside the file.
void checkOnnx(std::span<const std::byte> input);

/// The bytes of a model file of TensorFlow Lite. Types and shapes are sought too.
void checkTflite(std::span<const std::byte> input);

/// A file of a shard's statistics. Also with a checksum that is right, so that what lies behind it is read.
void checkStatistics(std::span<const std::byte> input);

} // namespace halftone::fuzz
