#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>

/// The numbers of MXNet's parameter files, shared by reader and writer.
namespace halftone::io::params {

inline constexpr std::uint64_t kListMagic = 0x112;
inline constexpr std::uint32_t kV1 = 0xF993FAC8;
inline constexpr std::uint32_t kV2 = 0xF993FAC9;
inline constexpr std::uint32_t kV3 = 0xF993FACA;

/// What is wrong with a sparse array's indices; empty when nothing is. RowSparse: row ids ascending, in
/// range, one per stored row. Csr: rank 2, row pointers from 0 to the stored count, never falling, columns in
/// range.
std::string wrongSparse(const tensor::Array &array);

} // namespace halftone::io::params
