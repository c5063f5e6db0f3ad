#include "core/backends/cuda/toolkit/shared_library.h"

#include <dlfcn.h>

namespace halftone::backends::cuda {

Result<SharedLibrary> SharedLibrary::open(std::initializer_list<const char *> names)
{
    std::string why;
    for (const char *name : names) {
        SharedLibrary library;
        library.m_handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library.m_handle != nullptr)
            return library;
        const char *text = dlerror();
        why += (why.empty() ? "" : "; ") + std::string(text == nullptr ? name : text);
    }
    return unsupported("cuda", why);
}

void *SharedLibrary::find(const char *name) const
{
    return dlsym(m_handle, name);
}

} // namespace halftone::backends::cuda
