#pragma once

#include <cstddef>
#include <cstdint>

/// The functions of OpenVINO's C interface that are called, found by name. A status other than 0 is an error.
namespace halftone::served::ov {

struct Core;
struct Model;
struct Compiled;
struct Request;
struct Tensor;

struct Version
{
    const char *number;
    const char *description;
};

struct Devices
{
    char **names;
    std::size_t size;
};

struct Shape
{
    std::int64_t rank;
    std::int64_t *dims;
};

struct Profiled
{
    int status; ///< 0: not run, 1: optimized out, 2: executed
    std::int64_t microseconds;
    std::int64_t ofProcessor;
    const char *node;
    const char *execution;
    const char *type;
};

struct ProfiledList
{
    Profiled *rows;
    std::size_t size;
};

using Status = int;

struct Calls
{
    Status (*ov_get_openvino_version)(Version *) = nullptr;
    void (*ov_version_free)(Version *) = nullptr;
    const char *(*ov_get_last_err_msg)() = nullptr;
    Status (*ov_core_create)(Core **) = nullptr;
    Status (*ov_core_get_available_devices)(const Core *, Devices *) = nullptr;
    void (*ov_available_devices_free)(Devices *) = nullptr;
    Status (*ov_core_read_model)(const Core *, const char *path, const char *weights, Model **) = nullptr;
    void (*ov_model_free)(Model *) = nullptr;
    Status (*ov_model_outputs_size)(const Model *, std::size_t *) = nullptr;
    Status (*ov_core_compile_model)(const Core *, const Model *, const char *device, std::size_t properties,
                                    Compiled **, ...)
        = nullptr;
    void (*ov_compiled_model_free)(Compiled *) = nullptr;
    Status (*ov_compiled_model_create_infer_request)(const Compiled *, Request **) = nullptr;
    void (*ov_infer_request_free)(Request *) = nullptr;
    Status (*ov_infer_request_get_tensor)(const Request *, const char *name, Tensor **) = nullptr;
    Status (*ov_infer_request_get_output_tensor_by_index)(const Request *, std::size_t, Tensor **) = nullptr;
    Status (*ov_infer_request_infer)(Request *) = nullptr;
    Status (*ov_infer_request_get_profiling_info)(const Request *, ProfiledList *) = nullptr;
    void (*ov_profiling_info_list_free)(ProfiledList *) = nullptr;
    void (*ov_tensor_free)(Tensor *) = nullptr;
    Status (*ov_tensor_get_byte_size)(const Tensor *, std::size_t *) = nullptr;
    Status (*ov_tensor_get_shape)(const Tensor *, Shape *) = nullptr;
    Status (*ov_shape_free)(Shape *) = nullptr;
    Status (*ov_tensor_data)(const Tensor *, void **) = nullptr;
};

} // namespace halftone::served::ov
