#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

/// What all files of this folder need of oneDNN. Its exceptions end here: primitive descriptors are made with
/// allow_empty, whatever else may throw goes through attempt(), and who calls from outside through contained().
namespace halftone::backends::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

const dnnl::engine &cpu();

/// Nothing for a type that oneDNN's CPU kernels do not take (float16 where the processor has none: it is emulated above).
std::optional<Type> dnnlType(tensor::DType type);
tensor::DType dtypeOf(Type type);

/// A scalar becomes one element of rank 1, since oneDNN knows no rank 0.
Dims dimsOf(const tensor::Shape &shape);

/// How a tensor lies in memory, as far as plans care.
enum class Format : std::uint8_t
{
    Plain, ///< row-major in the order of the dimensions
    Blocked, ///< channelBlock() channels together
    ChannelsLast, ///< nhwc
    Other
};

/// Does a processor of the kind `isa` have all that `wanted` has?
bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa wanted);

/// 16 where the processor has vectors of 512 bits, nChw16c, else 8: so oneDNN's fastest convolutions want them.
std::int64_t channelBlock();

/// Row-major.
Desc plainDesc(const Dims &dims, Type type);
/// Nothing where the format makes no sense: ranks other than 3, 4 and 5 for the last two.
std::optional<Desc> descIn(Format format, const Dims &dims, Type type);
/// Plain wins where several hold (one channel, one pixel).
Format formatOf(const Desc &desc);
/// The same dimensions and layout with another element type.
Desc withType(const Desc &desc, Type type);

/// Has the processor units that multiply tiles of bfloat16 and of codes (AMX), faster than any kernel without them?
bool multipliesTiles();

/// The caller brings a primitive's scratch memory.
dnnl::primitive_attr userScratchpad();

/// NoMemory where that was the reason, else Unsupported.
Error refusalOf(const dnnl::error &error, const std::string &where);

/// Calls `make`, which may throw dnnl::error, and gives what it returns.
template <class F>
auto attempt(const std::string &where, F &&make) -> Result<decltype(make())>
{
    try {
        return make();
    } catch (const dnnl::error &error) {
        return refusalOf(error, where);
    }
}

/// The same for what gives a Result itself.
template <class F>
auto contained(const std::string &where, F &&work) -> decltype(work())
{
    try {
        return work();
    } catch (const dnnl::error &error) { // a shape that it cannot describe, say
        return refusalOf(error, where);
    }
}

/// Is it one of oneDNN's reference kernels, which are hundreds of times slower than others, by its name?
bool isReference(std::string_view kernel);
/// Is it one of these, or another one that takes little advantage of the processor?
bool isUnhurried(std::string_view kernel);

/// The number of threads that oneDNN's kernels use in this scope, both when they are made and when they run; 0 leaves
/// it alone.
class ThreadScope
{
public:
    explicit ThreadScope(int threads);
    ~ThreadScope();
    ThreadScope(const ThreadScope &) = delete;
    ThreadScope &operator=(const ThreadScope &) = delete;

private:
    int m_before = 0;
};

} // namespace halftone::backends::onednn
