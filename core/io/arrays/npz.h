#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::io {

/// An array under its key. In a file, bfloat16 travels as uint16 with ":bf16" after the key, floats and integers of fewer bits as uint8 with their name; here
/// it is DType::BF16 under the bare key.
struct NamedTensor
{
    std::string name;
    tensor::Tensor tensor;
};

/// Reads the arrays of an `.npz` (stored or deflated, ZIP64 too) in the order of the archive, or of an `.npy`
/// (one array, named ""). Numbers and bool in either byte order and element order; the result is row-major
/// and little-endian. fails: BadInput naming the entry: a type that is no number (strings, objects, records),
/// a header that cannot be read, sizes that do not fit the entry, a broken or encrypted archive, a directory that
/// contradicts the entries, values that do not give their checksum (an `.npy` has none), two entries of one name.
Result<std::vector<NamedTensor>> readNpz(const std::string &path);

/// The array of one `.npy` image in memory; shares `bytes` where their order allows it.
Result<tensor::Tensor> readNpy(std::span<const std::byte> bytes, const std::shared_ptr<const void> &owner);

/// Writes an `.npz` as NumPy does (stored, not deflated), whole or not at all. Keys are names as printable() shows them;
/// what ends like a key of bfloat16 gets "_", and a name that is taken "_1", "_2", ….
Result<void> writeNpz(std::span<const NamedTensor> arrays, const std::string &path);

} // namespace halftone::io
