#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::io {

/// Deepest nesting of brackets that any JSON reader of ours follows.
inline constexpr std::size_t kDeepestJson = 64;

/// Appends `text` as a JSON string, with its quotes. `text` is UTF-8.
void appendQuoted(std::string &out, std::string_view text);

/// Writes JSON with MXNet's line breaks (dmlc's JSON writer), so that a file that MXNet wrote comes back byte
/// for byte: a container is spread over lines or not, as its opener says, and a container's last line break
/// belongs to the container around it.
class JsonWriter
{
public:
    explicit JsonWriter(std::string &out)
        : m_out(out)
    {
    }

    void beginObject(bool isSpread) { begin('{', isSpread); }
    void beginArray(bool isSpread) { begin('[', isSpread); }
    void endObject() { end('}'); }
    void endArray() { end(']'); }

    /// The next value belongs to `key`.
    void key(std::string_view key);
    /// The next value is an element of the array.
    void element();

    void text(std::string_view value) { appendQuoted(m_out, value); }
    void number(std::uint64_t value) { m_out += std::to_string(value); }
    void verbatim(std::string_view json) { m_out += json; }

private:
    struct Scope
    {
        bool isSpread = false;
        bool isEmpty = true;
    };

    void begin(char bracket, bool isSpread);
    void end(char bracket);
    void separate();
    void breakLine();

    std::string &m_out;
    std::vector<Scope> m_scopes;
};

} // namespace halftone::io
