#include "core/layout/name_cut.h"

#include <vector>

namespace halftone::layout {
namespace {

/// Where the characters of a UTF-8 text begin, and its end.
std::vector<std::size_t> beginsOfCharacters(const std::string &text)
{
    std::vector<std::size_t> begins;
    for (std::size_t k = 0; k < text.size(); ++k)
        if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80)
            begins.push_back(k);
    begins.push_back(text.size());
    return begins;
}

} // namespace

NameCut nameCut(std::span<const char> isDigit, std::size_t kept)
{
    const std::size_t size = isDigit.size();
    const std::size_t dropped = size - kept;
    const std::size_t usual = kept / 3;
    if (dropped == 0)
        return {usual, usual};
    // By place: numbers that begin before it, and whether one goes on across it.
    std::vector<std::size_t> begun(size + 1, 0);
    for (std::size_t k = 0; k < size; ++k)
        begun[k + 1] = begun[k] + (isDigit[k] != 0 && (k == 0 || isDigit[k - 1] == 0) ? 1 : 0);
    const auto touched = [&](std::size_t first) {
        const bool isWithin = first > 0 && isDigit[first - 1] != 0 && isDigit[first] != 0;
        return begun[first + dropped] - begun[first] + (isWithin ? 1 : 0);
    };
    NameCut best{usual, usual + dropped};
    std::size_t least = touched(usual);
    for (std::size_t away = 1; away <= kept && least > 0; ++away) {
        const auto take = [&](std::size_t first) {
            if (const std::size_t numbers = touched(first); numbers < least) {
                least = numbers;
                best = {first, first + dropped};
            }
        };
        if (usual + away <= kept)
            take(usual + away);
        if (away <= usual)
            take(usual - away);
    }
    return best;
}

std::string cutName(const std::string &name, std::size_t most)
{
    const std::vector<std::size_t> begins = beginsOfCharacters(name);
    const std::size_t count = begins.size() - 1;
    if (count <= most || most == 0)
        return name;
    std::vector<char> isDigit;
    for (std::size_t k = 0; k < count; ++k)
        isDigit.push_back(name[begins[k]] >= '0' && name[begins[k]] <= '9' ? 1 : 0);
    const NameCut cut = nameCut(isDigit, most - 1);
    return name.substr(0, begins[cut.first]) + "…" + name.substr(begins[cut.last]);
}

} // namespace halftone::layout
