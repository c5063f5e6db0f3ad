#include "core/backends/cuda/toolkit/dnn.h"

#include "core/backends/cuda/toolkit/dnn_attention.h"
#include "core/backends/cuda/toolkit/dnn_graph.h"

#include <algorithm>
#include <array>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

constexpr std::int64_t kMostWorkspace = std::int64_t{256} << 20U;
constexpr std::int64_t kConfigurations = 16; ///< that are tried of each heuristic
constexpr std::size_t kMostPlans = 6; ///< plans that are made of them, to be timed: making one may compile it
constexpr std::int64_t kAlignment = 16; ///< of tensors, in bytes: as graphs say it

/// What plans are made for: the device of a handle, or one that is described.
struct Target
{
    cudnnHandle_t handle = nullptr;
    std::optional<Descriptor> device;

    void tell(Descriptor &descriptor, std::optional<cudnnBackendAttributeName_t> asHandle,
              std::optional<cudnnBackendAttributeName_t> asDevice) const
    {
        if (device && asDevice)
            descriptor.set(*asDevice, *device);
        else if (!device && asHandle)
            descriptor.set(*asHandle, CUDNN_TYPE_HANDLE, 1, &handle);
    }
};

/// A graph's plan.
class DnnKernel final : public Product
{
public:
    DnnKernel(const DnnCalls &calls, const Target &target)
        : m_calls(calls)
        , m_target(target)
        , m_graph(calls)
    {
    }

    std::string name() const override { return m_name; }
    std::size_t wayCount() const override { return m_plans.size(); }
    void useWay(std::size_t k) override { m_way = k; }
    std::size_t workspaceBytes() const override { return static_cast<std::size_t>(m_plans[m_way].workspace); }

    Result<void> prepare(const ProductDesc &desc)
    {
        HALFTONE_TRY(
            m_name, desc.isConvolution ? describeConvolution(m_graph, desc) : describeProduct(m_graph, desc));
        return plan(desc.a.dtype == DType::F32 && !desc.allowsTf32);
    }

    Result<void> prepare(const AttentionDesc &desc)
    {
        HALFTONE_TRY(m_name, describeAttention(m_graph, desc));
        std::vector<View> views{desc.queries, desc.keys, desc.values, {DType::F32, {1}, {1}, 0}};
        if (desc.mask)
            views.push_back(*desc.mask);
        views.push_back(desc.result);
        for (const View &view : views) {
            m_offsets.push_back(view.offset * static_cast<std::int64_t>(tensor::sizeOf(view.dtype)));
            if (m_offsets.back() % kAlignment != 0)
                return unsupported("cuda", "a part of a tensor that is not aligned");
        }
        return plan(false);
    }

    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        std::vector<void *> pointers;
        for (std::size_t k = 0; k < arguments.size(); ++k)
            pointers.push_back(arguments[k] + (m_offsets.empty() ? 0 : m_offsets[k]));
        void *const scratch = workspace;
        Descriptor pack(m_calls, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, m_graph.ids())
            .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 static_cast<std::int64_t>(pointers.size()), pointers.data())
            .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &scratch);
        HALFTONE_CHECK(pack.finish());
        return m_calls.check(
            m_calls.cudnnBackendExecute(m_target.handle, m_plans[m_way].descriptor.handle(), pack.handle()),
            m_name);
    }

private:
    /// Plans of what the graph holds by now.
    Result<void> plan(bool isExact)
    {
        const auto operations = m_graph.operations();
        Descriptor graph(m_calls, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        m_target.tell(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, std::nullopt);
        graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  static_cast<std::int64_t>(operations.size()), operations.data());
        HALFTONE_CHECK(graph.finish());
        for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
            if (findWays(graph, mode, isExact))
                return {};
        return unsupported("cuda", "cuDNN has no engine for this " + m_name.substr(m_name.find(' ') + 1));
    }

    /// Does the configuration's engine round more than was asked for? Sums are float32's; TF32 is what tensor cores make of it.
    bool isTooCoarse(const Descriptor &configuration, bool isExact) const
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
        return std::any_of(notes.begin(), notes.begin() + count, [isExact](cudnnBackendNumericalNote_t note) {
            return note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION
                || note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                || (isExact
                    && (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE
                        || note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
        });
    }

    /// The first of the heuristic's configurations that make plans; of a chip that is only described one is enough, for none can run.
    /// returns  whether there is one
    bool findWays(const Descriptor &graph, cudnnBackendHeurMode_t mode, bool isExact)
    {
        Descriptor heuristic(m_calls, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
            .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
        m_target.tell(heuristic, std::nullopt, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
        if (!heuristic.finish().ok())
            return false;
        std::vector<Descriptor> configurations;
        std::vector<cudnnBackendDescriptor_t> handles;
        for (std::int64_t k = 0; k < kConfigurations; ++k) {
            configurations.emplace_back(m_calls, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            handles.push_back(configurations.back().handle());
        }
        std::int64_t count = 0;
        if (m_calls.cudnnBackendGetAttribute(heuristic.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, kConfigurations, &count,
                                             handles.data())
            != CUDNN_STATUS_SUCCESS)
            return false;
        const std::size_t most = m_target.device ? 1 : kMostPlans;
        for (std::size_t k = 0; k < static_cast<std::size_t>(std::min(count, kConfigurations)); ++k)
            if (m_plans.size() < most && !isTooCoarse(configurations[k], isExact))
                addPlan(configurations[k]);
        return !m_plans.empty();
    }

    static bool lacksDriver(const Error &error)
    {
        return error.found.find("RUNTIME_PREREQUISITE_MISSING") != std::string::npos
            || error.found.find("FAILED_CUDA_DRIVER") != std::string::npos;
    }

    /// Nothing where the configuration makes none.
    void addPlan(const Descriptor &configuration)
    {
        Descriptor plan(m_calls, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        m_target.tell(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
        std::int64_t count = 0;
        std::int64_t workspace = 0;
        const auto finished = plan.finish();
        // Attention is compiled for a chip that is only described, but not loaded where no driver is: it could not run either.
        const bool isLacking = !finished.ok() && m_target.device && lacksDriver(finished.error());
        if (isLacking)
            return m_plans.push_back({std::move(plan), 0});
        if (!finished.ok()
            || m_calls.cudnnBackendGetAttribute(plan.handle(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                CUDNN_TYPE_INT64, 1, &count, &workspace)
                != CUDNN_STATUS_SUCCESS
            || workspace > kMostWorkspace)
            return;
        m_plans.push_back({std::move(plan), workspace});
    }

    struct Plan
    {
        Descriptor descriptor;
        std::int64_t workspace = 0;
    };

    const DnnCalls &m_calls;
    const Target &m_target;
    DnnGraph m_graph;
    std::vector<Plan> m_plans; ///< that the heuristic believes in, the best first
    std::size_t m_way = 0;
    std::vector<std::int64_t> m_offsets; ///< of the arguments, in bytes; empty: none
    std::string m_name;
};

class Dnn final : public ProductMaker
{
public:
    Dnn(const DnnCalls &calls, std::string device)
        : m_calls(calls)
        , m_device(std::move(device))
    {
    }

    Result<std::unique_ptr<Product>> prepare(const ProductDesc &desc, CUstream stream) override
    {
        if (!(desc.isConvolution || isForEngines(desc)) || !takesTypes(desc) || desc.a.offset != 0
            || desc.b.offset != 0 || desc.c.offset != 0 || desc.scale != 1)
            return unsupported("cuda", "cuDNN does not compute this product");
        return planned(desc, stream);
    }

    Result<std::unique_ptr<Product>> prepareAttention(const AttentionDesc &desc, CUstream stream) override
    {
        return planned(desc, stream);
    }

private:
    template <class Desc>
    Result<std::unique_ptr<Product>> planned(const Desc &desc, CUstream stream)
    {
        HALFTONE_CHECK(m_device.empty() ? enter(stream) : describe());
        auto kernel = std::make_unique<DnnKernel>(m_calls, m_target);
        HALFTONE_CHECK(kernel->prepare(desc));
        return std::unique_ptr<Product>(std::move(kernel));
    }

    /// A product of matrices with a function that cuBLASLt does not do behind it; with the others it is the quicker one.
    static bool isForEngines(const ProductDesc &desc)
    {
        const bool isOthers = desc.activation == Activation::None || desc.activation == Activation::GeluTanh
            || (desc.activation == Activation::Relu && !desc.ceiling);
        return !isOthers && tensor::isHalf(desc.a.dtype) && (!desc.residual || desc.residual->offset == 0);
    }

    static bool takesTypes(const ProductDesc &desc)
    {
        const DType type = desc.a.dtype;
        if (type == DType::I8) // exact sums; what they stand for is told behind them
            return desc.b.dtype == type && desc.c.dtype == DType::I32 && !desc.hasBias && !desc.residual
                && desc.activation == Activation::None;
        return tensor::isFloat(type) && dnnType(type) && desc.b.dtype == type && desc.c.dtype == type
            && (!desc.residual || desc.residual->dtype == type);
    }

    /// The handle lives as long as the process: what it holds belongs to the device's context.
    Result<void> enter(CUstream stream)
    {
        if (m_target.handle == nullptr)
            HALFTONE_CHECK(m_calls.check(m_calls.cudnnCreate(&m_target.handle), "a handle"));
        return m_calls.check(m_calls.cudnnSetStream(m_target.handle, reinterpret_cast<cudaStream_t>(stream)),
                             "the stream");
    }

    Result<void> describe()
    {
        if (m_target.device)
            return {};
        Descriptor device(m_calls, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                   static_cast<std::int64_t>(m_device.size()) + 1, m_device.c_str());
        HALFTONE_CHECK(device.finish());
        m_target.device.emplace(std::move(device));
        return {};
    }

    DnnCalls m_calls;
    std::string m_device;
    Target m_target;
};

} // namespace

Result<std::shared_ptr<ProductMaker>> loadDnn(const std::string &device)
{
    HALFTONE_TRY(const DnnCalls calls, loadDnnCalls());
    return std::shared_ptr<ProductMaker>(std::make_shared<Dnn>(calls, device));
}

} // namespace halftone::backends::cuda
