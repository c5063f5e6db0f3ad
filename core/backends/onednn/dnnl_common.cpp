#include "core/backends/onednn/dnnl_common.h"

#include "core/backends/onednn/float16_kernels.h"
#include "core/base/memory.h"
#include "core/base/text.h"

#include <omp.h>

#include <algorithm>

namespace halftone::backends::onednn {

using tensor::DType;

const dnnl::engine &cpu()
{
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

std::optional<Type> dnnlType(DType type)
{
    switch (type) {
    case DType::F32:
        return Type::f32;
    case DType::BF16:
        return Type::bf16;
    case DType::F16:
        return hasNativeFloat16() ? std::optional(Type::f16) : std::nullopt;
    case DType::I32:
        return Type::s32;
    case DType::I8:
        return Type::s8;
    case DType::U8:
        return Type::u8;
    default:
        return std::nullopt;
    }
}

DType dtypeOf(Type type)
{
    switch (type) {
    case Type::f32:
        return DType::F32;
    case Type::bf16:
        return DType::BF16;
    case Type::f16:
        return DType::F16;
    case Type::s32:
        return DType::I32;
    case Type::s8:
        return DType::I8;
    case Type::u8:
        return DType::U8;
    default:
        return DType::Unknown;
    }
}

Dims dimsOf(const tensor::Shape &shape)
{
    Dims dims(shape.dims().begin(), shape.dims().end());
    if (dims.empty())
        dims.push_back(1);
    return dims;
}

Desc plainDesc(const Dims &dims, Type type)
{
    Dims strides(dims.size());
    dnnl::memory::dim stride = 1;
    for (std::size_t k = dims.size(); k-- > 0;) {
        strides[k] = stride;
        stride *= std::max<dnnl::memory::dim>(dims[k], 1);
    }
    return {dims, type, strides};
}

bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa wanted)
{
    const auto bits = static_cast<unsigned>(wanted);
    return (static_cast<unsigned>(isa) & bits) == bits;
}

std::int64_t channelBlock()
{
    return includes(dnnl::get_effective_cpu_isa(), dnnl::cpu_isa::avx512_core) ? 16 : 8;
}

std::optional<Desc> descIn(Format format, const Dims &dims, Type type)
{
    if (format == Format::Plain)
        return plainDesc(dims, type);
    const bool blocked = format == Format::Blocked;
    if (format == Format::Other)
        return std::nullopt;
    const bool isWide = channelBlock() == 16;
    switch (dims.size()) {
    case 3:
        return Desc(dims, type, !blocked ? Tag::nwc : isWide ? Tag::nCw16c : Tag::nCw8c);
    case 4:
        return Desc(dims, type, !blocked ? Tag::nhwc : isWide ? Tag::nChw16c : Tag::nChw8c);
    case 5:
        return Desc(dims, type, !blocked ? Tag::ndhwc : isWide ? Tag::nCdhw16c : Tag::nCdhw8c);
    default:
        return std::nullopt;
    }
}

Format formatOf(const Desc &desc)
{
    for (const Format format : {Format::Plain, Format::Blocked, Format::ChannelsLast}) {
        const auto candidate = descIn(format, desc.get_dims(), desc.get_data_type());
        if (candidate && *candidate == desc)
            return format;
    }
    return Format::Other;
}

Desc withType(const Desc &desc, Type type)
{
    const auto same = descIn(formatOf(desc), desc.get_dims(), type);
    return same ? *same : plainDesc(desc.get_dims(), type);
}

bool multipliesTiles()
{
    return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
}

dnnl::primitive_attr userScratchpad()
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

Error refusalOf(const dnnl::error &error, const std::string &where)
{
    if (error.status != dnnl_out_of_memory)
        return unsupported(where, std::string("oneDNN says: ") + error.what());
    Error refusal = noMemory("out of memory: oneDNN says: " + std::string(error.what()) + ", "
                             + humanBytes(availableMemory()) + " left");
    refusal.where = where;
    return refusal;
}

bool isReference(std::string_view kernel)
{
    return kernel.starts_with("ref");
}

bool isUnhurried(std::string_view kernel)
{
    return isReference(kernel) || kernel.starts_with("gemm");
}

ThreadScope::ThreadScope(int threads)
    : m_before(omp_get_max_threads())
{
    if (threads > 0)
        omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope()
{
    omp_set_num_threads(m_before);
}

} // namespace halftone::backends::onednn
