#include "core/tensor/form_cache.h"

namespace halftone::tensor {

FormCache::Key FormCache::keyOf(const Tensor &source, DType to)
{
    return {source.place(), source.byteCount(), source.dtype(), to};
}

const FormCache::Form *FormCache::find(const Tensor &source, DType to)
{
    const Key key = keyOf(source, to);
    if (const auto found = m_kept.find(key); found != m_kept.end())
        return &found->second.form;
    if (!m_before)
        return nullptr;
    const auto found = m_before->m_kept.find(key);
    return found == m_before->m_kept.end() ? nullptr : &m_kept.emplace(key, found->second).first->second.form;
}

void FormCache::keep(const Tensor &source, DType to, Form form)
{
    if (source.byteCount() > 0) // which all lie in one place
        m_kept.insert_or_assign(keyOf(source, to), Kept{source, std::move(form)});
}

} // namespace halftone::tensor
