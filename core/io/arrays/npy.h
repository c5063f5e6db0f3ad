#pragma once

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <array>
#include <string>
#include <string_view>

namespace halftone::io {

inline constexpr std::string_view kNpySuffix = ".npy"; ///< of an archive's entries
/// A type that .npy lacks, as what its elements travel, and what stands behind the key then (app/README.md, "Data").
struct TravellingType
{
    tensor::DType type;
    tensor::DType stored;
    std::string_view suffix;
};
inline constexpr std::array kTravellingTypes{
    TravellingType{tensor::DType::BF16, tensor::DType::U16, ":bf16"},
    TravellingType{tensor::DType::F8E4M3FN, tensor::DType::U8, ":float8_e4m3fn"},
    TravellingType{tensor::DType::F8E5M2, tensor::DType::U8, ":float8_e5m2"},
    TravellingType{tensor::DType::TF32, tensor::DType::F32, ":tf32"},
    TravellingType{tensor::DType::Posit16, tensor::DType::U16, ":posit16"},
    TravellingType{tensor::DType::I4, tensor::DType::U8, ":int4"},
    TravellingType{tensor::DType::U4, tensor::DType::U8, ":uint4"},
    TravellingType{tensor::DType::I2, tensor::DType::U8, ":int2"},
    TravellingType{tensor::DType::U2, tensor::DType::U8, ":uint2"},
    TravellingType{tensor::DType::F4E2M1, tensor::DType::U8, ":float4e2m1"},
    TravellingType{tensor::DType::F4E2M1, tensor::DType::U8, ":float4_e2m1fn"},
    TravellingType{tensor::DType::F8E8M0, tensor::DType::U8, ":float8_e8m0fnu"}};

/// The start of an `.npy` image, after which the values follow; bfloat16 is written as uint16.
std::string npyHeader(tensor::DType type, const tensor::Shape &shape);

} // namespace halftone::io
