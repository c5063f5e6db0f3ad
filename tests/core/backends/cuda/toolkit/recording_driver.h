#pragma once

#include "core/backends/cuda/toolkit/driver_calls.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace halftone::test {

/// The recording driver; driver functions have no place for a pointer of ours.
struct Driver
{
    int devices = 1;
    int memoryKilohertz = 7251000;
    int memoryBits = 384;
    CUresult initialised = CUDA_SUCCESS;
    std::string failing; ///< a function that fails, with `code`
    CUresult code = CUDA_SUCCESS;
    std::map<std::string, int> calls;
    long long memory = 0; ///< pieces that are held
    long long objects = 0; ///< streams, events, modules, graphs
    std::atomic<std::thread::id> recorder; ///< who records
    std::atomic<bool> hasMixed = false;
    std::mutex mutex;

    void forget()
    {
        devices = 1;
        memoryKilohertz = 7251000;
        memoryBits = 384;
        initialised = code = CUDA_SUCCESS;
        failing.clear();
        calls.clear();
        memory = objects = 0;
        recorder = std::thread::id();
        hasMixed = false;
    }
};
inline Driver driver;

inline CUresult said(const char *name)
{
    const std::scoped_lock lock(driver.mutex);
    ++driver.calls[name];
    return driver.failing == name ? driver.code : CUDA_SUCCESS;
}

template <class Handle>
CUresult made(const char *name, Handle *handle)
{
    const CUresult code = said(name);
    if (code == CUDA_SUCCESS) {
        *handle = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
        ++driver.objects;
    }
    return code;
}

inline CUresult gone(const char *name)
{
    --driver.objects;
    return said(name);
}

inline backends::cuda::DriverCalls recordingDriver()
{
    backends::cuda::DriverCalls c;
    c.cuInit = [](unsigned) { return driver.initialised; };
    c.cuDeviceGetCount = [](int *count) { return *count = driver.devices, CUDA_SUCCESS; };
    c.cuDeviceGet = [](CUdevice *device, int) { return *device = 0, CUDA_SUCCESS; };
    c.cuDeviceGetName = [](char *name, int size, CUdevice) {
        return std::strncpy(name, "Recorder", static_cast<std::size_t>(size)), CUDA_SUCCESS;
    };
    c.cuDeviceGetAttribute = [](int *value, CUdevice_attribute attribute, CUdevice) {
        *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8
            : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR    ? 6
            : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT        ? 84
            : attribute == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE           ? driver.memoryKilohertz
            : attribute == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH     ? driver.memoryBits
                                                                           : 1695000;
        return CUDA_SUCCESS;
    };
    c.cuDeviceTotalMem
        = [](std::size_t *bytes, CUdevice) { return *bytes = std::size_t{24} << 30U, CUDA_SUCCESS; };
    c.cuDevicePrimaryCtxRetain
        = [](CUcontext *context, CUdevice) { return made("cuDevicePrimaryCtxRetain", context); };
    c.cuDevicePrimaryCtxRelease = [](CUdevice) { return gone("cuDevicePrimaryCtxRelease"); };
    c.cuCtxSetCurrent = [](CUcontext) { return said("cuCtxSetCurrent"); };
    c.cuMemGetInfo = [](std::size_t *left, std::size_t *total) {
        *left = std::size_t{100} << 20U;
        *total = std::size_t{24576} << 20U;
        return CUDA_SUCCESS;
    };
    c.cuMemAlloc = [](CUdeviceptr *address, std::size_t) {
        const CUresult code = said("cuMemAlloc");
        if (code == CUDA_SUCCESS) {
            *address = 0x100000;
            ++driver.memory;
        }
        return code;
    };
    c.cuMemFree = [](CUdeviceptr) { return --driver.memory, said("cuMemFree"); };
    c.cuMemAllocHost = [](void **address, std::size_t bytes) {
        *address = ::operator new(bytes);
        ++driver.memory;
        return said("cuMemAllocHost");
    };
    c.cuMemFreeHost = [](void *address) {
        ::operator delete(address);
        return --driver.memory, said("cuMemFreeHost");
    };
    c.cuMemcpyHtoDAsync
        = [](CUdeviceptr, const void *, std::size_t, CUstream) { return said("cuMemcpyHtoDAsync"); };
    c.cuMemcpyDtoDAsync
        = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) { return said("cuMemcpyDtoDAsync"); };
    c.cuMemcpyDtoHAsync
        = [](void *, CUdeviceptr, std::size_t, CUstream) { return said("cuMemcpyDtoHAsync"); };
    c.cuStreamCreate = [](CUstream *stream, unsigned) { return made("cuStreamCreate", stream); };
    c.cuStreamDestroy = [](CUstream) { return gone("cuStreamDestroy"); };
    c.cuStreamSynchronize = [](CUstream) { return said("cuStreamSynchronize"); };
    c.cuStreamBeginCapture = [](CUstream, CUstreamCaptureMode) {
        driver.recorder = std::this_thread::get_id();
        return said("cuStreamBeginCapture");
    };
    c.cuStreamEndCapture = [](CUstream, CUgraph *graph) {
        driver.recorder = std::thread::id();
        return made("cuStreamEndCapture", graph);
    };
    c.cuGraphInstantiate
        = [](CUgraphExec *graph, CUgraph, unsigned long long) { return made("cuGraphInstantiate", graph); };
    c.cuGraphLaunch = [](CUgraphExec, CUstream) { return said("cuGraphLaunch"); };
    c.cuGraphExecDestroy = [](CUgraphExec) { return gone("cuGraphExecDestroy"); };
    c.cuGraphGetNodes = [](CUgraph, CUgraphNode *nodes, std::size_t *count) {
        if (nodes != nullptr)
            for (std::size_t k = 0; k < *count; ++k)
                nodes[k] = reinterpret_cast<CUgraphNode>(k + 1);
        return *count = 3, said("cuGraphGetNodes");
    };
    c.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType *type) { // a copy, a kernel, a copy
        *type = reinterpret_cast<std::uintptr_t>(node) == 2 ? CU_GRAPH_NODE_TYPE_KERNEL
                                                            : CU_GRAPH_NODE_TYPE_MEMCPY;
        return CUDA_SUCCESS;
    };
    c.cuGraphDestroy = [](CUgraph) { return gone("cuGraphDestroy"); };
    c.cuEventCreate = [](CUevent *event, unsigned) { return made("cuEventCreate", event); };
    c.cuEventDestroy = [](CUevent) { return gone("cuEventDestroy"); };
    c.cuEventRecord = [](CUevent, CUstream) { return said("cuEventRecord"); };
    c.cuEventSynchronize = [](CUevent) { return said("cuEventSynchronize"); };
    c.cuEventElapsedTime = [](float *milliseconds, CUevent, CUevent) {
        return *milliseconds = 0.5F, said("cuEventElapsedTime");
    };
    c.cuModuleLoadData = [](CUmodule *module, const void *) { return made("cuModuleLoadData", module); };
    c.cuModuleUnload = [](CUmodule) { return gone("cuModuleUnload"); };
    c.cuModuleGetFunction = [](CUfunction *, CUmodule, const char *) { return said("cuModuleGetFunction"); };
    c.cuLaunchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          CUstream, void **, void **) {
        const std::thread::id recorder = driver.recorder;
        if (recorder != std::thread::id() && recorder != std::this_thread::get_id())
            driver.hasMixed = true; // a launch of another thread gets into the recording
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return said("cuLaunchKernel");
    };
    c.cuGetErrorName
        = [](CUresult, const char **text) { return *text = "CUDA_ERROR_OF_A_TEST", CUDA_SUCCESS; };
    c.cuGetErrorString = [](CUresult, const char **text) { return *text = "as asked for", CUDA_SUCCESS; };
    return c;
}

} // namespace halftone::test
