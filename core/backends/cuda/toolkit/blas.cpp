#include "core/backends/cuda/toolkit/blas.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

// clang-format off
#define HALFTONE_BLAS_CALLS(X) \
    X(cublasLtCreate) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute) \
    X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) X(cublasLtMatrixLayoutSetAttribute) \
    X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute) \
    X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
// clang-format on

struct BlasCalls
{
#define HALFTONE_CALL(name) decltype(&::name) name = nullptr;
    HALFTONE_BLAS_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
};

constexpr std::size_t kWorkspace = std::size_t{32} << 20U; ///< what NVIDIA advises for Hopper
/// Parts of a long sum meet in the type that is summed in, never in that of the result.
constexpr std::uint32_t kReductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
/// Algorithms of an epilogue are sought with a bias in place; where it lies, a run says.
constexpr std::uintptr_t kSomeBias = 0x1000;

Error blasError(cublasStatus_t status, const std::string &what)
{
    return unsupported("cuda",
                       "cuBLASLt: " + what + " (status " + std::to_string(static_cast<int>(status)) + ')');
}

Result<void> check(cublasStatus_t status, const std::string &what)
{
    return status == CUBLAS_STATUS_SUCCESS ? Result<void>() : Result<void>(blasError(status, what));
}

std::optional<cudaDataType_t> blasType(DType type)
{
    switch (type) {
    case DType::F32:
        return CUDA_R_32F;
    case DType::F16:
        return CUDA_R_16F;
    case DType::BF16:
        return CUDA_R_16BF;
    case DType::F64:
        return CUDA_R_64F;
    case DType::I8:
        return CUDA_R_8I;
    case DType::I32:
        return CUDA_R_32I;
    case DType::F8E4M3FN:
        return CUDA_R_8F_E4M3;
    case DType::F8E5M2:
        return CUDA_R_8F_E5M2;
    default:
        return std::nullopt;
    }
}

/// A view (batch, rows, columns) of ours; seen with columns first it is transposed already.
std::optional<BlasMatrix> matrixOf(const View &view, std::int64_t batch)
{
    const std::size_t rank = view.dims.size();
    const auto flat = reshaped(view, Dims{batch, view.dims[rank - 2], view.dims[rank - 1]});
    if (!flat || flat->offset != 0)
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
    return rowsRun ? BlasMatrix{flat->dims[2], flat->dims[1], leading, flat->strides[0], false}
                   : BlasMatrix{flat->dims[1], flat->dims[2], leading, flat->strides[0], true};
}

std::optional<cublasLtEpilogue_t> epilogueOf(Activation activation, bool hasBias)
{
    switch (activation) {
    case Activation::None:
        return hasBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case Activation::Relu:
        return hasBias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::GeluTanh: // that is the form that cuBLASLt has
        return hasBias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
        return std::nullopt;
    }
}

/// One of the library's objects.
template <class Handle, class Destroy>
class Owned
{
public:
    explicit Owned(Destroy destroy)
        : m_destroy(destroy)
    {
    }
    Owned(Owned &&other) noexcept
        : m_handle(std::exchange(other.m_handle, nullptr))
        , m_destroy(other.m_destroy)
    {
    }
    Owned &operator=(Owned &&) = delete;
    ~Owned()
    {
        if (m_handle != nullptr)
            m_destroy(m_handle);
    }
    Handle *out() { return &m_handle; }
    Handle get() const { return m_handle; }

private:
    Handle m_handle = nullptr;
    Destroy m_destroy;
};

using Layout = Owned<cublasLtMatrixLayout_t, decltype(&::cublasLtMatrixLayoutDestroy)>;

class BlasKernel final : public Product
{
public:
    BlasKernel(const BlasCalls &calls, cublasLtHandle_t handle, CUstream stream)
        : m_calls(calls)
        , m_handle(handle)
        , m_stream(stream)
        , m_operation(calls.cublasLtMatmulDescDestroy)
    {
    }

    std::string name() const override { return m_name; }
    std::size_t workspaceBytes() const override { return m_algorithm.workspaceSize; }

    Result<void> prepare(const ProductDesc &desc)
    {
        HALFTONE_TRY(const BlasProduct product, blasProduct(desc));
        HALFTONE_CHECK(describe(desc, product));
        HALFTONE_CHECK(addLayout(product.first, desc.b.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.second, desc.a.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.residual, desc.c.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.result, desc.c.dtype, product.batch));
        m_hasBias = desc.hasBias;
        m_hasResidual = desc.residual.has_value();
        setScale(desc);
        m_name = std::string("cuBLASLt product") + (m_hasBias ? " + bias" : "")
            + (m_hasResidual ? " + residual" : "")
            + (desc.activation == Activation::Relu           ? " + relu"
                   : desc.activation == Activation::GeluTanh ? " + gelu"
                                                             : "");
        return choose();
    }

    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        const void *const bias = m_hasBias ? arguments[2] : nullptr;
        if (m_hasBias)
            HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
        std::byte *const result = arguments.back();
        const std::byte *const residual = m_hasResidual ? arguments[arguments.size() - 2] : result;
        return check(m_calls.cublasLtMatmul(
                         m_handle, m_operation.get(), m_alpha.data(), arguments[1], m_layouts[0].get(),
                         arguments[0], m_layouts[1].get(), m_beta.data(), residual, m_layouts[2].get(),
                         result, m_layouts[3].get(), &m_algorithm.algo, workspace, m_algorithm.workspaceSize,
                         reinterpret_cast<cudaStream_t>(m_stream)),
                     "a product");
    }

private:
    template <class T>
    Result<void> set(cublasLtMatmulDescAttributes_t attribute, const T &value)
    {
        return check(
            m_calls.cublasLtMatmulDescSetAttribute(m_operation.get(), attribute, &value, sizeof value),
            "an attribute");
    }

    /// The factors of product and residual, in the type that they are read in.
    void setScale(const ProductDesc &desc)
    {
        const double add = m_hasResidual ? 1 : 0;
        const auto hold = [this](auto alpha, decltype(alpha) beta) {
            std::memcpy(m_alpha.data(), &alpha, sizeof alpha);
            std::memcpy(m_beta.data(), &beta, sizeof beta);
        };
        if (desc.c.dtype == DType::F64)
            hold(desc.scale, add);
        else if (desc.c.dtype == DType::I32)
            hold(std::int32_t{1}, 0);
        else
            hold(static_cast<float>(desc.scale), static_cast<float>(add));
    }

    Result<void> describe(const ProductDesc &desc, const BlasProduct &product)
    {
        const bool isDouble = desc.c.dtype == DType::F64;
        const bool isWhole = desc.c.dtype == DType::I32;
        const cublasComputeType_t compute = isDouble        ? CUBLAS_COMPUTE_64F
            : isWhole                                       ? CUBLAS_COMPUTE_32I
            : desc.allowsTf32 && desc.a.dtype == DType::F32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                            : CUBLAS_COMPUTE_32F;
        HALFTONE_CHECK(check(m_calls.cublasLtMatmulDescCreate(m_operation.out(), compute,
                                                              isDouble      ? CUDA_R_64F
                                                                  : isWhole ? CUDA_R_32I
                                                                            : CUDA_R_32F),
                             "a description"));
        if (desc.hasBias)
            HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, kSomeBias));
        const auto operation = [](bool isTransposed) { return isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
        HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_TRANSA, operation(product.first.isTransposed)));
        HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_TRANSB, operation(product.second.isTransposed)));
        return set(CUBLASLT_MATMUL_DESC_EPILOGUE, *epilogueOf(desc.activation, desc.hasBias));
    }

    Result<void> addLayout(const BlasMatrix &matrix, DType type, std::int64_t batch)
    {
        Layout layout(m_calls.cublasLtMatrixLayoutDestroy);
        HALFTONE_CHECK(check(m_calls.cublasLtMatrixLayoutCreate(
                                 layout.out(), *blasType(type), static_cast<std::uint64_t>(matrix.rows),
                                 static_cast<std::uint64_t>(matrix.columns), matrix.leading),
                             "a layout"));
        const auto count = static_cast<std::int32_t>(batch);
        HALFTONE_CHECK(check(m_calls.cublasLtMatrixLayoutSetAttribute(
                                 layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                             "a layout"));
        HALFTONE_CHECK(check(m_calls.cublasLtMatrixLayoutSetAttribute(
                                 layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                 &matrix.batchStride, sizeof matrix.batchStride),
                             "a layout"));
        m_layouts.push_back(std::move(layout));
        return {};
    }

    /// The algorithm that the library believes in.
    Result<void> choose()
    {
        Owned<cublasLtMatmulPreference_t, decltype(&::cublasLtMatmulPreferenceDestroy)> preference(
            m_calls.cublasLtMatmulPreferenceDestroy);
        HALFTONE_CHECK(check(m_calls.cublasLtMatmulPreferenceCreate(preference.out()), "a preference"));
        HALFTONE_CHECK(check(
            m_calls.cublasLtMatmulPreferenceSetAttribute(
                preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace),
            "a preference"));
        HALFTONE_CHECK(check(m_calls.cublasLtMatmulPreferenceSetAttribute(
                                 preference.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &kReductions,
                                 sizeof kReductions),
                             "a preference"));
        int found = 0;
        HALFTONE_CHECK(check(
            m_calls.cublasLtMatmulAlgoGetHeuristic(m_handle, m_operation.get(), m_layouts[0].get(),
                                                   m_layouts[1].get(), m_layouts[2].get(), m_layouts[3].get(),
                                                   preference.get(), 1, &m_algorithm, &found),
            "the choice of an algorithm"));
        return found > 0 ? Result<void>()
                         : Result<void>(unsupported("cuda", "cuBLASLt has no algorithm for this product"));
    }

    const BlasCalls &m_calls;
    cublasLtHandle_t m_handle;
    CUstream m_stream;
    Owned<cublasLtMatmulDesc_t, decltype(&::cublasLtMatmulDescDestroy)> m_operation;
    std::vector<Layout> m_layouts; ///< first, second, residual, result
    cublasLtMatmulHeuristicResult_t m_algorithm{};
    bool m_hasBias = false;
    bool m_hasResidual = false;
    std::array<std::byte, 8> m_alpha{};
    std::array<std::byte, 8> m_beta{};
    std::string m_name;
};

class Blas final : public ProductMaker
{
public:
    explicit Blas(const BlasCalls &calls)
        : m_calls(calls)
    {
    }

    /// The handle lives as long as the process: what it holds belongs to the device's context.
    Result<std::unique_ptr<Product>> prepare(const ProductDesc &desc, CUstream stream) override
    {
        if (const auto product = blasProduct(desc); !product.ok()) // before anything is made for it
            return product.error();
        if (m_handle == nullptr)
            HALFTONE_CHECK(check(m_calls.cublasLtCreate(&m_handle), "a handle"));
        auto kernel = std::make_unique<BlasKernel>(m_calls, m_handle, stream);
        HALFTONE_CHECK(kernel->prepare(desc));
        return std::unique_ptr<Product>(std::move(kernel));
    }

private:
    BlasCalls m_calls;
    cublasLtHandle_t m_handle = nullptr;
};

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
    return isFloat && a == b && (a == c || (tensor::isHalf(a) && c == DType::F32 && !desc.hasBias));
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
    return product.first.isTransposed && !product.second.isTransposed && fits(product.first.rows)
        && fits(product.first.leading) && fits(product.second.leading) && fits(product.first.batchStride)
        && fits(product.second.batchStride) && product.first.columns % resultUnit == 0
        && product.result.leading % resultUnit == 0;
}

} // namespace

Result<BlasProduct> blasProduct(const ProductDesc &desc)
{
    if (desc.isConvolution || !takesTypes(desc) || !epilogueOf(desc.activation, desc.hasBias) || desc.ceiling)
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

Result<std::shared_ptr<ProductMaker>> loadBlas()
{
    HALFTONE_TRY(const SharedLibrary library,
                 SharedLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12"}));
    BlasCalls calls;
    bool isWhole = true;
#define HALFTONE_CALL(name) isWhole = library.get(#name, calls.name) && isWhole;
    HALFTONE_BLAS_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!isWhole)
        return unsupported("cuda", "cuBLASLt lacks a function that is used");
    return std::shared_ptr<ProductMaker>(std::make_shared<Blas>(calls));
}

} // namespace halftone::backends::cuda
