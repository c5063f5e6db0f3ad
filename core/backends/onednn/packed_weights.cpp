#include "core/backends/onednn/packed_weights.h"

#include "core/base/memory.h"
#include "core/kernels/buffer.h"

#include <cstdint>
#include <utility>

namespace halftone::backends::onednn {
namespace {

std::string textOf(const Desc &desc)
{
    std::string key = " ";
    const auto append = [&key](const Dims &dims) {
        for (const auto dim : dims)
            key += ' ' + std::to_string(dim);
        key += ';';
    };
    key += std::to_string(static_cast<int>(desc.get_data_type()));
    append(desc.get_dims());
    append(desc.get_padded_dims());
    append(desc.get_strides());
    append(desc.get_inner_blks());
    append(desc.get_inner_idxs());
    return key;
}

} // namespace

Result<std::shared_ptr<const Packed>> pack(const tensor::Tensor &tensor, const Desc &from, const Desc &to,
                                           Allocate *allocate)
{
    auto packed = std::make_shared<Packed>();
    packed->bytes = to.get_size();
    packed->memory = allocate(packed->bytes);
    if (!packed->memory)
        return outOfMemory(packed->bytes, "weights");
    HALFTONE_TRY(const tensor::Tensor unpacked, kernels::readable(tensor));
    const auto done = attempt("plan", [&] {
        // oneDNN's handles are not const; it does not write what it reads.
        dnnl::memory source(from, cpu(), const_cast<std::byte *>(unpacked.bytes().data()));
        dnnl::memory target(to, cpu(), packed->memory.get());
        dnnl::stream stream(cpu());
        dnnl::reorder(source, target).execute(stream, source, target);
        stream.wait();
        return true;
    });
    if (!done.ok())
        return done.error();
    return std::shared_ptr<const Packed>(std::move(packed));
}

std::string packingName(const Desc &from, const Desc &to)
{
    return textOf(from) + textOf(to);
}

Result<std::shared_ptr<const Packed>> PackedWeights::get(const tensor::Tensor &tensor, const Desc &from,
                                                         const Desc &to)
{
    const std::string key
        = std::to_string(reinterpret_cast<std::uintptr_t>(tensor.bytes().data())) + packingName(from, to);
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_packed.find(key); found != m_packed.end()) {
        if (std::shared_ptr<const Packed> held = found->second.lock())
            return held;
    }
    HALFTONE_TRY(const std::shared_ptr<const Packed> made, pack(tensor, from, to));
    // With its source, so that no other tensor comes to lie there while somebody holds this one.
    const auto held = std::make_shared<const Held>(Held{made, tensor});
    std::shared_ptr<const Packed> packed(held, made.get());
    m_packed[key] = packed;
    if (m_packed.size() >= m_tidyAt) {
        std::erase_if(m_packed, [](const auto &entry) { return entry.second.expired(); });
        m_tidyAt = 2 * m_packed.size() + 64;
    }
    return packed;
}

} // namespace halftone::backends::onednn
