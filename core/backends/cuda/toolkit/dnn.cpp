#include "core/backends/cuda/toolkit/dnn.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <cudnn.h>

#include <algorithm>
#include <array>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

// clang-format off
#define HALFTONE_DNN_CALLS(X) \
    X(cudnnCreate) X(cudnnSetStream) X(cudnnGetErrorString) X(cudnnBackendCreateDescriptor) X(cudnnBackendDestroyDescriptor) \
    X(cudnnBackendSetAttribute) X(cudnnBackendGetAttribute) X(cudnnBackendFinalize) X(cudnnBackendExecute)
// clang-format on

struct DnnCalls
{
#define HALFTONE_CALL(name) decltype(&::name) name = nullptr;
    HALFTONE_DNN_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL

    Result<void> check(cudnnStatus_t status, const std::string &what) const
    {
        if (status == CUDNN_STATUS_SUCCESS)
            return {};
        return unsupported("cuda", "cuDNN: " + what + ": " + cudnnGetErrorString(status));
    }
};

constexpr std::int64_t kMostWorkspace = std::int64_t{256} << 20U;
constexpr std::int64_t kConfigurations = 16; ///< that are tried

/// One of cuDNN's descriptors; attributes are set, then it is finished.
class Descriptor
{
public:
    Descriptor(const DnnCalls &calls, cudnnBackendDescriptorType_t type)
        : m_calls(&calls)
        , m_failure(calls.check(calls.cudnnBackendCreateDescriptor(type, &m_handle), "a descriptor"))
    {
    }
    Descriptor(Descriptor &&other) noexcept
        : m_calls(other.m_calls)
        , m_handle(std::exchange(other.m_handle, nullptr))
        , m_failure(std::move(other.m_failure))
    {
    }
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_handle, other.m_handle);
        std::swap(m_failure, other.m_failure);
        return *this;
    }
    ~Descriptor()
    {
        if (m_handle != nullptr)
            m_calls->cudnnBackendDestroyDescriptor(m_handle);
    }

    cudnnBackendDescriptor_t handle() const { return m_handle; }

    Descriptor &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                    const void *values)
    {
        if (m_failure.ok())
            m_failure = m_calls->check(m_calls->cudnnBackendSetAttribute(m_handle, name, type, count, values),
                                       "an attribute");
        return *this;
    }
    Descriptor &set(cudnnBackendAttributeName_t name, const Descriptor &other)
    {
        const cudnnBackendDescriptor_t handle = other.handle();
        return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
    }
    Descriptor &set(cudnnBackendAttributeName_t name, const Dims &values)
    {
        return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
    }
    Descriptor &set(cudnnBackendAttributeName_t name, std::int64_t value)
    {
        return set(name, CUDNN_TYPE_INT64, 1, &value);
    }

    Result<void> finish()
    {
        HALFTONE_CHECK(m_failure);
        return m_calls->check(m_calls->cudnnBackendFinalize(m_handle), "a graph that it does not take");
    }

private:
    const DnnCalls *m_calls;
    cudnnBackendDescriptor_t m_handle = nullptr;
    Result<void> m_failure;
};

std::optional<cudnnDataType_t> dnnType(DType type)
{
    switch (type) {
    case DType::F32:
        return CUDNN_DATA_FLOAT;
    case DType::F16:
        return CUDNN_DATA_HALF;
    case DType::BF16:
        return CUDNN_DATA_BFLOAT16;
    default:
        return std::nullopt;
    }
}

std::optional<cudnnPointwiseMode_t> modeOf(Activation activation)
{
    switch (activation) {
    case Activation::Relu:
        return CUDNN_POINTWISE_RELU_FWD;
    case Activation::GeluErf:
        return CUDNN_POINTWISE_GELU_FWD;
    case Activation::GeluTanh:
        return CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
    case Activation::Sigmoid:
        return CUDNN_POINTWISE_SIGMOID_FWD;
    case Activation::Tanh:
        return CUDNN_POINTWISE_TANH_FWD;
    case Activation::Swish:
        return CUDNN_POINTWISE_SWISH_FWD;
    case Activation::None:
        break;
    }
    return std::nullopt;
}

/// cuDNN knows no tensors of three axes: a spatial axis of 1 is put behind the channels.
View withTwoSpatial(View view)
{
    if (view.dims.size() != 3)
        return view;
    view.dims.insert(view.dims.begin() + 2, 1);
    view.strides.insert(view.strides.begin() + 2, view.strides[2] * view.dims[3]);
    return view;
}

/// The same of a list by spatial axis.
Dims withTwoSpatial(Dims values, std::int64_t neutral)
{
    if (values.size() == 1)
        values.insert(values.begin(), neutral);
    return values;
}

/// A convolution as a graph of operations, and the plan that computes it.
class DnnKernel final : public Product
{
public:
    DnnKernel(const DnnCalls &calls, cudnnHandle_t handle)
        : m_calls(calls)
        , m_handle(handle)
        , m_plan(calls, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    {
    }

    std::string name() const override { return m_name; }
    std::size_t workspaceBytes() const override { return static_cast<std::size_t>(m_workspace); }

    Result<void> prepare(const ProductDesc &desc)
    {
        HALFTONE_CHECK(addOperations(desc));
        std::vector<cudnnBackendDescriptor_t> operations;
        for (const Descriptor &operation : m_operations)
            operations.push_back(operation.handle());
        Descriptor graph(m_calls, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &m_handle)
            .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 static_cast<std::int64_t>(operations.size()), operations.data());
        HALFTONE_CHECK(graph.finish());
        return choose(graph, desc.a.dtype == DType::F32 && !desc.allowsTf32);
    }

    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        std::vector<void *> pointers(arguments.begin(), arguments.end());
        void *const scratch = workspace;
        Descriptor pack(m_calls, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, m_ids)
            .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 static_cast<std::int64_t>(pointers.size()), pointers.data())
            .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &scratch);
        HALFTONE_CHECK(pack.finish());
        return m_calls.check(m_calls.cudnnBackendExecute(m_handle, m_plan.handle(), pack.handle()),
                             "a convolution");
    }

private:
    /// One that is fed gets the next place among the arguments; another lives within the graph, in float32.
    Result<std::size_t> addTensor(const View &view, bool isVirtual)
    {
        const cudnnDataType_t type = isVirtual ? CUDNN_DATA_FLOAT : *dnnType(view.dtype);
        const std::int64_t id = static_cast<std::int64_t>(m_tensors.size()) + 1;
        Descriptor tensor(m_calls, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
            .set(CUDNN_ATTR_TENSOR_DIMENSIONS, view.dims)
            .set(CUDNN_ATTR_TENSOR_STRIDES, view.strides)
            .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
            .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16)
            .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &isVirtual);
        HALFTONE_CHECK(tensor.finish());
        m_tensors.push_back(std::move(tensor));
        if (!isVirtual)
            m_ids.push_back(id);
        return m_tensors.size() - 1;
    }

    Result<void> addConvolution(const ProductDesc &desc, std::size_t data, std::size_t weight,
                                std::size_t result)
    {
        const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
        const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
        const Dims stride = withTwoSpatial(desc.stride, 1);
        Descriptor convolution(m_calls, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
        convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute)
            .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
            .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, withTwoSpatial(desc.dilate, 1))
            .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
            .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, withTwoSpatial(desc.padBegin, 0))
            .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, withTwoSpatial(desc.padEnd, 0))
            .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(stride.size()));
        HALFTONE_CHECK(convolution.finish());
        const float one = 1;
        const float zero = 0;
        Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
        operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution)
            .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, m_tensors[data])
            .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, m_tensors[weight])
            .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, m_tensors[result])
            .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one)
            .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
        HALFTONE_CHECK(operation.finish());
        m_parts.push_back(std::move(convolution));
        m_operations.push_back(std::move(operation));
        return {};
    }

    /// second  nothing for a function of one tensor
    Result<void> addPointwise(cudnnPointwiseMode_t mode, std::size_t first, std::optional<std::size_t> second,
                              std::size_t result)
    {
        const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
        Descriptor pointwise(m_calls, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
        pointwise.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
            .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
        HALFTONE_CHECK(pointwise.finish());
        Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
            .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, m_tensors[first])
            .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, m_tensors[result]);
        if (second)
            operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, m_tensors[*second]);
        HALFTONE_CHECK(operation.finish());
        m_parts.push_back(std::move(pointwise));
        m_operations.push_back(std::move(operation));
        return {};
    }

    /// Tensors that are fed come in the order of the arguments: data, weight[, bias][, residual], result.
    Result<void> addOperations(const ProductDesc &desc)
    {
        const View c = withTwoSpatial(desc.c);
        HALFTONE_TRY(const std::size_t data, addTensor(withTwoSpatial(desc.a), false));
        HALFTONE_TRY(const std::size_t weight, addTensor(withTwoSpatial(desc.b), false));
        struct Stage
        {
            cudnnPointwiseMode_t mode;
            std::optional<std::size_t> operand;
        };
        std::vector<Stage> stages;
        m_name = "cuDNN convolution";
        if (desc.hasBias) {
            View bias{c.dtype, Dims(c.dims.size(), 1), Dims(c.dims.size(), 1), 0};
            bias.dims[1] = c.dims[1];
            bias.strides[0] = c.dims[1];
            std::fill(bias.strides.begin() + 2, bias.strides.end(), c.dims[1]);
            HALFTONE_TRY(const std::size_t operand, addTensor(bias, false));
            stages.push_back({CUDNN_POINTWISE_ADD, operand});
            m_name += " + bias";
        }
        if (desc.residual) {
            HALFTONE_TRY(const std::size_t operand, addTensor(withTwoSpatial(*desc.residual), false));
            stages.push_back({CUDNN_POINTWISE_ADD, operand});
            m_name += " + residual";
        }
        if (const auto mode = modeOf(desc.activation)) {
            stages.push_back({*mode, std::nullopt});
            m_name += " + activation";
        }
        HALFTONE_TRY(const std::size_t result, addTensor(c, false));
        std::size_t current = result;
        if (!stages.empty()) {
            HALFTONE_TRY(current, addTensor(c, true));
        }
        HALFTONE_CHECK(addConvolution(desc, data, weight, current));
        for (std::size_t k = 0; k < stages.size(); ++k) {
            std::size_t next = result;
            if (k + 1 < stages.size()) {
                HALFTONE_TRY(next, addTensor(c, true));
            }
            HALFTONE_CHECK(addPointwise(stages[k].mode, current, stages[k].operand, next));
            current = next;
        }
        return {};
    }

    /// Does the configuration's engine round more than was asked for? TF32 is what tensor cores make of float32.
    bool isTooCoarse(const Descriptor &configuration) const
    {
        Descriptor engine(m_calls, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        cudnnBackendDescriptor_t handle = engine.handle();
        std::int64_t count = 0;
        if (m_calls.cudnnBackendGetAttribute(configuration.handle(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle)
            != CUDNN_STATUS_SUCCESS)
            return true;
        std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
        if (m_calls.cudnnBackendGetAttribute(handle, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                             CUDNN_TYPE_NUMERICAL_NOTE, notes.size(), &count, notes.data())
            != CUDNN_STATUS_SUCCESS)
            return true;
        return std::any_of(notes.begin(), notes.begin() + count, [](cudnnBackendNumericalNote_t note) {
            return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE
                || note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
        });
    }

    /// The first of the heuristic's configurations that makes a plan.
    Result<void> choose(const Descriptor &graph, bool isExact)
    {
        const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
        Descriptor heuristic(m_calls, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
            .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
        HALFTONE_CHECK(heuristic.finish());
        std::vector<Descriptor> configurations;
        std::vector<cudnnBackendDescriptor_t> handles;
        for (std::int64_t k = 0; k < kConfigurations; ++k) {
            configurations.emplace_back(m_calls, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            handles.push_back(configurations.back().handle());
        }
        std::int64_t count = 0;
        HALFTONE_CHECK(
            m_calls.check(m_calls.cudnnBackendGetAttribute(heuristic.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, kConfigurations,
                                                           &count, handles.data()),
                          "the choice of an engine"));
        for (std::int64_t k = 0; k < std::min(count, kConfigurations); ++k) {
            const Descriptor &configuration = configurations[static_cast<std::size_t>(k)];
            if ((!isExact || !isTooCoarse(configuration)) && makesPlan(configuration))
                return {};
        }
        return unsupported("cuda", "cuDNN has no engine for this convolution");
    }

    bool makesPlan(const Descriptor &configuration)
    {
        Descriptor plan(m_calls, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &m_handle)
            .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
        std::int64_t count = 0;
        if (!plan.finish().ok()
            || m_calls.cudnnBackendGetAttribute(plan.handle(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                CUDNN_TYPE_INT64, 1, &count, &m_workspace)
                != CUDNN_STATUS_SUCCESS
            || m_workspace > kMostWorkspace)
            return false;
        m_plan = std::move(plan);
        return true;
    }

    const DnnCalls &m_calls;
    cudnnHandle_t m_handle;
    std::vector<Descriptor> m_tensors;
    std::vector<Descriptor> m_parts; ///< what operations refer to
    std::vector<Descriptor> m_operations;
    Descriptor m_plan;
    Dims m_ids; ///< of the tensors that are fed, in the order of the arguments
    std::int64_t m_workspace = 0;
    std::string m_name;
};

class Dnn final : public ProductMaker
{
public:
    explicit Dnn(const DnnCalls &calls)
        : m_calls(calls)
    {
    }

    Result<std::unique_ptr<Product>> prepare(const ProductDesc &desc, CUstream stream) override
    {
        const bool isSame = desc.a.dtype == desc.b.dtype && desc.a.dtype == desc.c.dtype
            && (!desc.residual || desc.residual->dtype == desc.c.dtype);
        if (!desc.isConvolution || !isSame || !dnnType(desc.a.dtype) || desc.a.offset != 0
            || desc.c.offset != 0)
            return unsupported("cuda", "cuDNN does not compute this product");
        if (m_handle == nullptr)
            HALFTONE_CHECK(m_calls.check(m_calls.cudnnCreate(&m_handle), "a handle"));
        HALFTONE_CHECK(m_calls.check(m_calls.cudnnSetStream(m_handle, reinterpret_cast<cudaStream_t>(stream)),
                                     "the stream"));
        auto kernel = std::make_unique<DnnKernel>(m_calls, m_handle);
        HALFTONE_CHECK(kernel->prepare(desc));
        return std::unique_ptr<Product>(std::move(kernel));
    }

private:
    DnnCalls m_calls;
    cudnnHandle_t m_handle
        = nullptr; ///< lives as long as the process: what it holds belongs to the device's context
};

} // namespace

Result<std::shared_ptr<ProductMaker>> loadDnn()
{
    HALFTONE_TRY(const SharedLibrary library, SharedLibrary::open({"libcudnn.so.9"}));
    DnnCalls calls;
    bool isWhole = true;
#define HALFTONE_CALL(name) isWhole = library.get(#name, calls.name) && isWhole;
    HALFTONE_DNN_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!isWhole)
        return unsupported("cuda", "cuDNN lacks a function that is used");
    return std::shared_ptr<ProductMaker>(std::make_shared<Dnn>(calls));
}

} // namespace halftone::backends::cuda
