#pragma once

#include "core/base/result.h"

#include <initializer_list>
#include <memory>
#include <string>

namespace halftone::backends::cuda {

/// A library that is loaded at run time, and stays loaded: what it has registered with the process must not vanish.
class SharedLibrary
{
public:
    /// The first of the names that there is. fails: Unsupported, with the loader's words
    static Result<SharedLibrary> open(std::initializer_list<const char *> names);

    /// Null where it lacks the function.
    void *find(const char *name) const;
    /// Fills `function`; returns whether it is there.
    template <class F>
    bool get(const char *name, F &function) const
    {
        function = reinterpret_cast<F>(find(name));
        return function != nullptr;
    }

private:
    void *m_handle = nullptr;
};

} // namespace halftone::backends::cuda
