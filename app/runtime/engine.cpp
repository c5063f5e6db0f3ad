#include "app/runtime/engine.h"

#include <dlfcn.h>

namespace halftone::served {

Result<Library> Library::load(const std::string &file)
{
    Library library;
    library.m_handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.m_handle == nullptr)
        return unsupported({}, ::dlerror());
    return library;
}

void *Library::find(const char *name) const
{
    return ::dlsym(m_handle, name);
}

Result<std::unique_ptr<Engine>> loadEngine(std::string_view kind, const std::string &library)
{
    return kind == "ort" ? loadOrt(library)
        : kind == "openvino"
        ? loadOpenvino(library)
        : Result<std::unique_ptr<Engine>>(unsupported({}, "no such kind of runtime: " + std::string(kind)));
}

} // namespace halftone::served
