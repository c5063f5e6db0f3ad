#include "core/tensor/short_name.h"

namespace halftone::tensor {

std::string_view shortNameOf(DType type)
{
    switch (type) {
    case DType::F16:
        return "f16";
    case DType::BF16:
        return "b16";
    case DType::F32:
        return "f32";
    case DType::F64:
        return "f64";
    case DType::I8:
        return "i8";
    case DType::U8:
        return "u8";
    case DType::I32:
        return "i32";
    case DType::I64:
        return "i64";
    case DType::Bool:
        return "bool";
    case DType::F8E4M3FN:
        return "e4m3";
    case DType::F8E5M2:
        return "e5m2";
    case DType::TF32:
        return "tf32";
    case DType::Posit16:
        return "p16";
    case DType::I4:
        return "i4";
    case DType::U4:
        return "u4";
    case DType::I2:
        return "i2";
    case DType::U2:
        return "u2";
    case DType::F4E2M1:
        return "e2m1";
    case DType::F8E8M0:
        return "e8m0";
    default:
        return "?";
    }
}

} // namespace halftone::tensor
