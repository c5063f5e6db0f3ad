#include "core/backends/cuda/toolkit/blas.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <numeric>
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

constexpr int kAlgorithms = 8; ///< of a product, to be timed
constexpr std::size_t kWorkspace = std::size_t{32} << 20U; ///< what NVIDIA advises for Hopper
/// Parts of a long sum meet in the type that is summed in, never in that of the result.
constexpr std::uint32_t kReductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
constexpr std::int64_t kBufferAlignment = 256;
/// Algorithms of an epilogue are sought with a bias in place; where it lies, a run says.
constexpr std::uintptr_t kSomeBias = 0x1000;

Error blasError(cublasStatus_t status, const std::string &what)
{
    const std::string text
        = "cuBLASLt: " + what + " (status " + std::to_string(static_cast<int>(status)) + ')';
    return status == CUBLAS_STATUS_ALLOC_FAILED ? noMemory(text) : unsupported("cuda", text);
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
    std::size_t wayCount() const override { return m_algorithms.size(); }
    void useWay(std::size_t k) override { m_way = k; }
    std::size_t workspaceBytes() const override { return m_algorithms[m_way].workspaceSize; }

    Result<void> prepare(const ProductDesc &desc)
    {
        HALFTONE_TRY(const BlasProduct product, blasProduct(desc));
        HALFTONE_CHECK(describe(desc, product));
        HALFTONE_CHECK(addLayout(product.first, desc.b.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.second, desc.a.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.residual, desc.c.dtype, product.batch));
        HALFTONE_CHECK(addLayout(product.result, desc.c.dtype, product.batch));
        const auto bytes = [](const BlasMatrix &matrix, DType type) {
            return matrix.offset * static_cast<std::int64_t>(tensor::sizeOf(type));
        };
        m_offsets = {bytes(product.first, desc.b.dtype), bytes(product.second, desc.a.dtype),
                     bytes(product.residual, desc.c.dtype), bytes(product.result, desc.c.dtype)};
        m_hasBias = desc.hasBias;
        m_hasResidual = desc.residual.has_value();
        setScale(desc);
        m_name = std::string("cuBLASLt product") + (m_hasBias ? " + bias" : "")
            + (m_hasResidual ? " + residual" : "")
            + (desc.activation == Activation::Relu           ? " + relu"
                   : desc.activation == Activation::GeluTanh ? " + gelu"
                                                             : "");
        return findWays();
    }

    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        const void *const bias = m_hasBias ? arguments[2] : nullptr;
        if (m_hasBias)
            HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
        std::byte *const result = arguments.back() + m_offsets[3];
        const std::byte *const residual
            = m_hasResidual ? arguments[arguments.size() - 2] + m_offsets[2] : result;
        const cublasLtMatmulHeuristicResult_t &way = m_algorithms[m_way];
        return check(m_calls.cublasLtMatmul(
                         m_handle, m_operation.get(), m_alpha.data(), arguments[1] + m_offsets[0],
                         m_layouts[0].get(), arguments[0] + m_offsets[1], m_layouts[1].get(), m_beta.data(),
                         residual, m_layouts[2].get(), result, m_layouts[3].get(), &way.algo, workspace,
                         way.workspaceSize, reinterpret_cast<cudaStream_t>(m_stream)),
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
        if (desc.hasBias) {
            HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, kSomeBias));
            HALFTONE_CHECK(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, *blasType(desc.c.dtype)));
        }
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

    /// The algorithms that the library believes in, the best first.
    Result<void> findWays()
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
        constexpr std::array kAlignments{
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
        for (std::size_t k = 0; k < kAlignments.size();
             ++k) { // buffers themselves lie as the library expects
            const auto alignment = static_cast<std::uint32_t>(std::gcd(m_offsets[k], kBufferAlignment));
            HALFTONE_CHECK(check(m_calls.cublasLtMatmulPreferenceSetAttribute(
                                     preference.get(), kAlignments[k], &alignment, sizeof alignment),
                                 "a preference"));
        }
        int found = 0;
        m_algorithms.resize(kAlgorithms);
        HALFTONE_CHECK(
            check(m_calls.cublasLtMatmulAlgoGetHeuristic(
                      m_handle, m_operation.get(), m_layouts[0].get(), m_layouts[1].get(), m_layouts[2].get(),
                      m_layouts[3].get(), preference.get(), kAlgorithms, m_algorithms.data(), &found),
                  "the choice of an algorithm"));
        m_algorithms.resize(static_cast<std::size_t>(std::max(found, 0)));
        std::erase_if(m_algorithms, [](const cublasLtMatmulHeuristicResult_t &way) {
            return way.state != CUBLAS_STATUS_SUCCESS;
        });
        return !m_algorithms.empty()
            ? Result<void>()
            : Result<void>(unsupported("cuda", "cuBLASLt has no algorithm for this product"));
    }

    const BlasCalls &m_calls;
    cublasLtHandle_t m_handle;
    CUstream m_stream;
    Owned<cublasLtMatmulDesc_t, decltype(&::cublasLtMatmulDescDestroy)> m_operation;
    std::vector<Layout> m_layouts; ///< first, second, residual, result
    std::vector<cublasLtMatmulHeuristicResult_t> m_algorithms;
    std::size_t m_way = 0;
    std::array<std::int64_t, 4> m_offsets{}; ///< bytes, of the same
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

} // namespace

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
