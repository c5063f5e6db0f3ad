#include "core/base/cpu_kind.h"

#include "core/base/hex.h"
#include "core/base/xxh64.h"

#include <algorithm>
#include <fstream>
#include <span>
#include <string_view>

namespace halftone {

std::string cpuKind()
{
    std::ifstream file("/proc/cpuinfo");
    std::string name;
    std::string cache;
    std::string sets;
    for (std::string line; std::getline(file, line) && !line.empty();) { // of the first processor
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string value = line.substr(std::min(colon + 2, line.size()));
        const auto is = [&line](std::string_view key) { return line.starts_with(key); };
        if (is("model name") || is("CPU part"))
            name = value;
        else if (is("cache size"))
            cache = ", " + value + " of cache";
        else if (is("flags") || is("Features"))
            sets = value;
    }
    if (name.empty() && sets.empty())
        return "unknown";
    Xxh64 hash;
    hash.add(std::as_bytes(std::span(sets)));
    return name + cache + ", instruction sets " + hexDigits(hash.value());
}

} // namespace halftone
