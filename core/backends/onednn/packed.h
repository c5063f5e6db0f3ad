#pragma once

#include <cstddef>
#include <memory>

namespace halftone::backends::onednn {

/// Memory with a copy of a tensor in another layout or type.
struct Packed
{
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
};

} // namespace halftone::backends::onednn
