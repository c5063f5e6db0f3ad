#include "core/base/byte_reader.h"

namespace halftone {

Error ByteReader::tooShort(std::uint64_t wanted, std::string_view what) const
{
    return errorAt(m_offset,
                   "the file ends in " + std::string(what) + ": " + std::to_string(left()) + " bytes left",
                   std::to_string(wanted));
}

} // namespace halftone
