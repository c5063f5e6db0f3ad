#include "core/backends/cuda/toolkit/dnn_calls.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <array>
#include <utility>

namespace halftone::backends::cuda {

Result<void> DnnCalls::check(cudnnStatus_t status, const std::string &what) const
{
    if (status == CUDNN_STATUS_SUCCESS)
        return {};
    std::array<char, 512> why{};
    cudnnGetLastErrorString(why.data(), why.size() - 1);
    std::string text = "cuDNN: " + what + ": " + cudnnGetErrorString(status);
    if (why[0] != '\0')
        text += " (" + std::string(why.data()) + ')';
    return status == CUDNN_STATUS_ALLOC_FAILED ? Result<void>(noMemory(text))
                                               : Result<void>(unsupported("cuda", text));
}

Result<DnnCalls> loadDnnCalls()
{
    HALFTONE_TRY(const SharedLibrary library,
                 SharedLibrary::open({"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"}));
    DnnCalls calls;
    std::string missing;
#define HALFTONE_CALL(name)                                                                                  \
    if (!library.get(#name, calls.name))                                                                     \
        missing += " " #name;
    HALFTONE_DNN_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!missing.empty())
        return unsupported("cuda", "cuDNN lacks" + missing);
    return calls;
}

Descriptor::Descriptor(const DnnCalls &calls, cudnnBackendDescriptorType_t type)
    : m_calls(&calls)
    , m_failure(calls.check(calls.cudnnBackendCreateDescriptor(type, &m_handle), "a descriptor"))
{
}

Descriptor::Descriptor(Descriptor &&other) noexcept
    : m_calls(other.m_calls)
    , m_handle(std::exchange(other.m_handle, nullptr))
    , m_failure(std::move(other.m_failure))
{
}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept
{
    std::swap(m_handle, other.m_handle);
    std::swap(m_failure, other.m_failure);
    return *this;
}

Descriptor::~Descriptor()
{
    if (m_handle != nullptr)
        m_calls->cudnnBackendDestroyDescriptor(m_handle);
}

Descriptor &Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            std::int64_t count, const void *values)
{
    if (m_failure.ok())
        m_failure = m_calls->check(m_calls->cudnnBackendSetAttribute(m_handle, name, type, count, values),
                                   "an attribute");
    return *this;
}

Descriptor &Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor &other)
{
    const cudnnBackendDescriptor_t handle = other.handle();
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

Descriptor &Descriptor::set(cudnnBackendAttributeName_t name, const Dims &values)
{
    return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

Descriptor &Descriptor::set(cudnnBackendAttributeName_t name, std::int64_t value)
{
    return set(name, CUDNN_TYPE_INT64, 1, &value);
}

Result<void> Descriptor::finish()
{
    HALFTONE_CHECK(m_failure);
    return m_calls->check(m_calls->cudnnBackendFinalize(m_handle), "a graph that it does not take");
}

std::optional<cudnnDataType_t> dnnType(tensor::DType type)
{
    using tensor::DType;
    switch (type) {
    case DType::F32:
        return CUDNN_DATA_FLOAT;
    case DType::F16:
        return CUDNN_DATA_HALF;
    case DType::BF16:
        return CUDNN_DATA_BFLOAT16;
    case DType::I8:
        return CUDNN_DATA_INT8;
    case DType::I32:
        return CUDNN_DATA_INT32;
    default:
        return std::nullopt;
    }
}

} // namespace halftone::backends::cuda
