#include "core/backends/cuda/toolkit/blas.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

/// What the library does behind a product; of GELU it has the form with tanh.
bool hasEpilogue(const ProductDesc &desc)
{
    return !desc.ceiling
        && (desc.activation == Activation::None || desc.activation == Activation::Relu
            || desc.activation == Activation::GeluTanh);
}

/// A view (batch, rows, columns) of ours; seen with columns first it is transposed already.
std::optional<BlasMatrix> matrixOf(const View &view, std::int64_t batch)
{
    const std::size_t rank = view.dims.size();
    const auto flat = reshaped(view, Dims{batch, view.dims[rank - 2], view.dims[rank - 1]});
    if (!flat)
        return std::nullopt;
    const auto leadingOf = [&](std::size_t axis, std::size_t other) {
        return flat->dims[axis] == 1 ? flat->dims[other] : flat->strides[axis];
    };
    const bool rowsRun = flat->strides[2] == 1 || flat->dims[2] == 1;
    const std::int64_t leading = rowsRun ? leadingOf(1, 2) : leadingOf(2, 1);
    if (!rowsRun && flat->strides[1] != 1 && flat->dims[1] != 1)
        return std::nullopt;
    if (leading < (rowsRun ? flat->dims[2] : flat->dims[1]))
        return std::nullopt;
    return rowsRun ? BlasMatrix{flat->dims[2], flat->dims[1], leading, flat->strides[0], false, flat->offset}
                   : BlasMatrix{flat->dims[1], flat->dims[2], leading, flat->strides[0], true, flat->offset};
}

bool isFloat8(DType type)
{
    return type == DType::F8E4M3FN || type == DType::F8E5M2;
}

/// Products of codes give their sums alone: int8 in int32; float8, one of them e4m3, in a wider float, a bias of which has the 16 bits
/// of the result (cuBLAS documentation, table of cublasLtMatmul's types).
bool takesTypes(const ProductDesc &desc)
{
    const DType a = desc.a.dtype;
    const DType b = desc.b.dtype;
    const DType c = desc.c.dtype;
    const bool isBare = !desc.residual && desc.activation == Activation::None;
    if (a == DType::I8)
        return b == a && c == DType::I32 && isBare && !desc.hasBias && desc.scale == 1;
    if (isFloat8(a))
        return isFloat8(b) && (a == DType::F8E4M3FN || b == DType::F8E4M3FN) && isBare
            && (tensor::isHalf(c) || (c == DType::F32 && !desc.hasBias));
    const bool isFloat = a == DType::F32 || a == DType::F64 || tensor::isHalf(a);
    return isFloat && a == b && (a == c || (tensor::isHalf(a) && c == DType::F32));
}

/// Codes are multiplied where the depth runs fastest in both matrices, and extents and distances are multiples of 4 (int8) or of 16
/// bytes (float8); of the same documentation.
bool isAligned(const ProductDesc &desc, const BlasProduct &product)
{
    if (desc.a.dtype != DType::I8 && !isFloat8(desc.a.dtype))
        return true;
    const std::int64_t unit = desc.a.dtype == DType::I8 ? 4 : 16;
    const std::int64_t resultUnit
        = desc.a.dtype == DType::I8 ? 4 : 16 / static_cast<std::int64_t>(tensor::sizeOf(desc.c.dtype));
    const auto fits = [unit](std::int64_t value) { return value % unit == 0; };
    return product.first.isTransposed && !product.second.isTransposed && product.first.offset == 0
        && product.second.offset == 0 && product.result.offset == 0 && fits(product.first.rows)
        && fits(product.first.leading) && fits(product.second.leading) && fits(product.first.batchStride)
        && fits(product.second.batchStride) && product.first.columns % resultUnit == 0
        && product.result.leading % resultUnit == 0;
}

/// (N, C, spatial…), channels fastest, as a matrix of places and channels.
std::optional<View> placesOf(const View &view)
{
    std::vector<std::size_t> axes{0};
    for (std::size_t axis = 2; axis < view.dims.size(); ++axis)
        axes.push_back(axis);
    axes.push_back(1);
    return view.strides[1] == 1
        ? reshaped(permuted(view, axes), Dims{countOf(view.dims) / view.dims[1], view.dims[1]})
        : std::nullopt;
}

/// A convolution whose window is one place, as a product of matrices.
std::optional<ProductDesc> asMatrices(const ProductDesc &desc)
{
    const auto all = [](const Dims &values, std::int64_t wanted) {
        return std::ranges::all_of(values, [wanted](std::int64_t value) { return value == wanted; });
    };
    if (desc.groups != 1 || !all(desc.stride, 1) || !all(desc.padBegin, 0) || !all(desc.padEnd, 0)
        || !all(Dims(desc.b.dims.begin() + 2, desc.b.dims.end()), 1))
        return std::nullopt;
    const auto a = placesOf(desc.a);
    const auto c = placesOf(desc.c);
    const auto residual = desc.residual ? placesOf(*desc.residual) : c;
    if (!a || !c || !residual)
        return std::nullopt;
    ProductDesc matrices = desc;
    matrices.isConvolution = false;
    matrices.a = *a;
    matrices.b = View{desc.b.dtype,
                      {desc.b.dims[1], desc.b.dims[0]},
                      {desc.b.strides[1], desc.b.strides[0]},
                      desc.b.offset};
    matrices.c = *c;
    if (desc.residual)
        matrices.residual = residual;
    return matrices;
}

} // namespace

Result<BlasProduct> blasProduct(const ProductDesc &desc)
{
    if (desc.isConvolution) {
        const auto matrices = asMatrices(desc);
        return matrices
            ? blasProduct(*matrices)
            : Result<BlasProduct>(unsupported("cuda", "this convolution is not a matrix product"));
    }
    if (!takesTypes(desc) || !hasEpilogue(desc))
        return unsupported("cuda", "cuBLASLt does not compute this product");
    const std::size_t rank = desc.c.dims.size();
    const std::int64_t batch = countOf(std::span(desc.c.dims).first(rank - 2));
    const auto first = matrixOf(desc.b, batch);
    const auto second = matrixOf(desc.a, batch);
    const auto result = matrixOf(desc.c, batch);
    const auto residual
        = desc.residual && desc.residual->dims.size() >= 2 ? matrixOf(*desc.residual, batch) : result;
    if (!first || !second || !result || result->isTransposed || !residual || residual->isTransposed
        || residual->columns != result->columns)
        return unsupported("cuda", "matrices that cuBLASLt cannot see in this layout");
    const BlasProduct product{*first, *second, *result, *residual, batch};
    if (!isAligned(desc, product))
        return unsupported("cuda", "codes in an order or of extents that cuBLASLt does not multiply");
    return product;
}

} // namespace halftone::backends::cuda
