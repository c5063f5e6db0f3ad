#pragma once

#include "core/base/result.h"
#include "core/tensor/dtype.h"

#include <cudnn.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::backends::cuda {

/// cuDNN's functions that are used, found at run time.
// clang-format off
#define HALFTONE_DNN_CALLS(X) \
    X(cudnnCreate) X(cudnnDestroy) X(cudnnSetStream) X(cudnnGetErrorString) X(cudnnGetLastErrorString) \
    X(cudnnBackendCreateDescriptor) X(cudnnBackendDestroyDescriptor) X(cudnnBackendSetAttribute) \
    X(cudnnBackendGetAttribute) X(cudnnBackendFinalize) X(cudnnBackendExecute)
// clang-format on

struct DnnCalls
{
#define HALFTONE_CALL(name) decltype(&::name) name = nullptr;
    HALFTONE_DNN_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL

    /// What a call said, as an error: "cuDNN: WHAT: CUDNN_STATUS_… (…)"
    Result<void> check(cudnnStatus_t status, const std::string &what) const;
};

/// fails: Unsupported, saying what is missing
Result<DnnCalls> loadDnnCalls();

/// One of cuDNN's descriptors; attributes are set, then it is finished. The first call that fails is told by finish().
class Descriptor
{
public:
    using Dims = std::vector<std::int64_t>;

    Descriptor(const DnnCalls &calls, cudnnBackendDescriptorType_t type);
    Descriptor(Descriptor &&other) noexcept;
    Descriptor &operator=(Descriptor &&other) noexcept;
    ~Descriptor();

    cudnnBackendDescriptor_t handle() const { return m_handle; }

    Descriptor &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                    const void *values);
    Descriptor &set(cudnnBackendAttributeName_t name, const Descriptor &other);
    Descriptor &set(cudnnBackendAttributeName_t name, const Dims &values);
    Descriptor &set(cudnnBackendAttributeName_t name, std::int64_t value);
    Result<void> finish();

private:
    const DnnCalls *m_calls;
    cudnnBackendDescriptor_t m_handle = nullptr;
    Result<void> m_failure;
};

/// Nothing for a type that graphs of ours do not use.
std::optional<cudnnDataType_t> dnnType(tensor::DType type);

} // namespace halftone::backends::cuda
