#pragma once

#include <cstddef>
#include <cstdint>

/// What is called of ONNX Runtime's table of functions (OrtApi), by place. The table only grows: places stay what they are. All are in the
/// version 11 that is asked for but the last, which every release from 1.12 on has; releases before 1.20 are refused.
namespace halftone::served::ort {

struct Api; ///< the table
struct Status; ///< null: no error
struct Env;
struct Session;
struct Options;
struct RunOptions;
struct Value;
struct Memory;
struct TypeAndShape;
struct Allocator;
struct CudaOptions;

struct ApiBase
{
    const void *const *(*getApi)(std::uint32_t version);
    const char *(*versionString)();
};

inline constexpr std::uint32_t kApiVersion = 11;

/// A function at a place of the table.
template <std::size_t place, class Function>
struct Call
{
    template <class... Arguments>
    auto operator()(const void *const *table, Arguments... arguments) const
    {
        return reinterpret_cast<Function *>(const_cast<void *>(table[place]))(arguments...);
    }
};

inline constexpr Call<2, const char *(const Status *)> errorMessage;
inline constexpr Call<3, Status *(int, const char *, Env **)> createEnv;
inline constexpr Call<7, Status *(const Env *, const char *, const Options *, Session **)> createSession;
inline constexpr Call<9,
                      Status *(Session *, const RunOptions *, const char *const *, const Value *const *,
                               std::size_t, const char *const *, std::size_t, Value **)>
    run;
inline constexpr Call<10, Status *(Options **)> createOptions;
inline constexpr Call<14, Status *(Options *, const char *)> enableProfiling;
inline constexpr Call<24, Status *(Options *, int)> setIntraOpThreads;
inline constexpr Call<25, Status *(Options *, int)> setInterOpThreads;
inline constexpr Call<31, Status *(const Session *, std::size_t *)> outputCount;
inline constexpr Call<37, Status *(const Session *, std::size_t, Allocator *, char **)> outputName;
inline constexpr Call<
    49, Status *(const Memory *, void *, std::size_t, const std::int64_t *, std::size_t, int, Value **)>
    createTensor;
inline constexpr Call<51, Status *(Value *, void **)> tensorData;
inline constexpr Call<60, Status *(const TypeAndShape *, int *)> elementType;
inline constexpr Call<61, Status *(const TypeAndShape *, std::size_t *)> dimensionCount;
inline constexpr Call<62, Status *(const TypeAndShape *, std::int64_t *, std::size_t)> dimensions;
inline constexpr Call<65, Status *(const Value *, TypeAndShape **)> typeAndShape;
inline constexpr Call<69, Status *(int, int, Memory **)> createCpuMemory;
inline constexpr Call<76, Status *(Allocator *, void *)> freeMemory;
inline constexpr Call<78, Status *(Allocator **)> defaultAllocator;
inline constexpr Call<93, void(Status *)> releaseStatus;
inline constexpr Call<95, void(Session *)> releaseSession;
inline constexpr Call<96, void(Value *)> releaseValue;
inline constexpr Call<99, void(TypeAndShape *)> releaseTypeAndShape;
inline constexpr Call<100, void(Options *)> releaseOptions;
inline constexpr Call<110, Status *(Session *, Allocator *, char **)> endProfiling;
inline constexpr Call<125, Status *(char ***, int *)> availableProviders;
inline constexpr Call<126, Status *(char **, int)> releaseProviders;
inline constexpr Call<204, Status *(Options *, const CudaOptions *)> appendCuda;
inline constexpr Call<205, Status *(CudaOptions **)> createCudaOptions;
inline constexpr Call<208, void(CudaOptions *)> releaseCudaOptions;
inline constexpr Call<
    216, Status *(Options *, const char *, const char *const *, const char *const *, std::size_t)>
    appendProvider;

} // namespace halftone::served::ort
