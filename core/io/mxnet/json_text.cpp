#include "core/io/mxnet/json_text.h"

namespace halftone::io {

void appendQuoted(std::string &out, std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\r')
            out += "\\r";
        else if (byte < 0x20)
            out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
        else
            out += c;
    }
    out += '"';
}

void JsonWriter::key(std::string_view key)
{
    separate();
    text(key);
    m_out += ": ";
}

void JsonWriter::element()
{
    separate();
}

void JsonWriter::begin(char bracket, bool isSpread)
{
    m_out += bracket;
    m_scopes.push_back({isSpread, true});
}

void JsonWriter::end(char bracket)
{
    const Scope scope = m_scopes.back();
    m_scopes.pop_back();
    if (scope.isSpread && !scope.isEmpty)
        breakLine();
    m_out += bracket;
}

void JsonWriter::separate()
{
    if (!m_scopes.back().isEmpty)
        m_out += ", ";
    m_scopes.back().isEmpty = false;
    breakLine();
}

void JsonWriter::breakLine()
{
    if (!m_scopes.empty() && !m_scopes.back().isSpread)
        return;
    m_out += '\n';
    m_out.append(m_scopes.size() * 2, ' ');
}

} // namespace halftone::io
