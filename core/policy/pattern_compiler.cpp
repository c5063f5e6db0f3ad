#include "core/policy/pattern.h"

#include <optional>
#include <string>
#include <utility>

namespace halftone::policy {
namespace {

using Bytes = std::bitset<256>;

constexpr std::string_view kSigns = ".[]()*+?|^$\\/{}-";

Bytes range(unsigned char first, unsigned char last)
{
    Bytes set;
    for (unsigned byte = first; byte <= last; ++byte)
        set.set(byte);
    return set;
}

/// The bytes that `\letter` stands for; nothing when it stands for none.
std::optional<Bytes> escaped(char letter)
{
    const Bytes digits = range('0', '9');
    const Bytes word = digits | range('a', 'z') | range('A', 'Z') | range('_', '_');
    const Bytes blank = range('\t', '\r') | range(' ', ' ');
    switch (letter) {
    case 'd':
        return digits;
    case 'D':
        return ~digits;
    case 'w':
        return word;
    case 'W':
        return ~word;
    case 's':
        return blank;
    case 'S':
        return ~blank;
    default:
        break;
    }
    if (kSigns.find(letter) == std::string_view::npos)
        return std::nullopt;
    const auto byte = static_cast<unsigned char>(letter);
    return range(byte, byte);
}

} // namespace

/// Builds the states while reading from left to right. Open groups lie on a stack, so that nesting costs no
/// recursion.
class PatternCompiler
{
public:
    explicit PatternCompiler(std::string_view text)
        : m_text(text)
    {
    }

    Result<Pattern> compile();

private:
    using Kind = Pattern::State::Kind;

    /// A part of the automaton with one way in, and one way out: `next` of its last state, still open.
    struct Part
    {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    struct Group
    {
        std::size_t opened = 0; ///< place of its parenthesis
        std::optional<Part> alternatives; ///< those that are complete
        std::optional<Part> sequence; ///< of the alternative under way, but for `latest`
        std::optional<Part> latest; ///< what a repetition sign would repeat
    };

    static Error error(std::size_t at, std::string found, std::string expected);
    std::uint32_t addState(Kind kind, std::uint32_t next = 0, std::uint32_t other = 0);
    void link(Part from, std::uint32_t to) { m_pattern.m_states[from.last].next = to; }
    void joinLatest();
    void append(Part part);
    void appendBytes(const Bytes &set);
    void appendState(Kind kind);

    Result<void> readOne(char sign);
    Result<void> repeat(char sign);
    Result<Bytes> readEscape();
    Result<Bytes> readClass();
    Result<unsigned char> readRangeEnd(unsigned char first);
    void finishAlternative();
    Result<void> closeGroup();

    std::string_view m_text;
    std::size_t m_at = 0; ///< just behind what was read
    Pattern m_pattern;
    std::vector<Group> m_groups = std::vector<Group>(1); ///< the open ones; the first is the whole
};

Error PatternCompiler::error(std::size_t at, std::string found, std::string expected)
{
    return badInput("character " + std::to_string(at + 1), std::move(found), std::move(expected));
}

std::uint32_t PatternCompiler::addState(Kind kind, std::uint32_t next, std::uint32_t other)
{
    m_pattern.m_states.push_back({kind, next, other});
    return static_cast<std::uint32_t>(m_pattern.m_states.size() - 1);
}

void PatternCompiler::joinLatest()
{
    Group &group = m_groups.back();
    if (!group.latest)
        return;
    if (group.sequence)
        link(*group.sequence, group.latest->first);
    group.sequence = Part{group.sequence.value_or(*group.latest).first, group.latest->last};
    group.latest.reset();
}

void PatternCompiler::append(Part part)
{
    joinLatest();
    m_groups.back().latest = part;
}

void PatternCompiler::appendBytes(const Bytes &set)
{
    m_pattern.m_sets.push_back(set);
    const std::uint32_t state
        = addState(Kind::Bytes, 0, static_cast<std::uint32_t>(m_pattern.m_sets.size() - 1));
    append({state, state});
}

void PatternCompiler::appendState(Kind kind)
{
    const std::uint32_t state = addState(kind);
    append({state, state});
}

void PatternCompiler::finishAlternative()
{
    appendState(Kind::Pass); // so that an empty alternative is a part too
    joinLatest();
    const Part sequence = *std::exchange(m_groups.back().sequence, std::nullopt);
    std::optional<Part> &before = m_groups.back().alternatives;
    if (!before) {
        before = sequence;
        return;
    }
    const std::uint32_t end = addState(Kind::Pass);
    link(*before, end);
    link(sequence, end);
    before = Part{addState(Kind::Fork, before->first, sequence.first), end};
}

Result<void> PatternCompiler::closeGroup()
{
    if (m_groups.size() == 1)
        return error(m_at - 1, "a ')' that closes nothing", "'\\)' for the sign itself");
    finishAlternative();
    const Part whole = *m_groups.back().alternatives;
    m_groups.pop_back();
    append(whole);
    return {};
}

Result<void> PatternCompiler::repeat(char sign)
{
    std::optional<Part> &part = m_groups.back().latest;
    if (!part)
        return error(m_at - 1, std::string("a '") + sign + "' that repeats nothing", "something before it");
    const std::uint32_t end = addState(Kind::Pass);
    const std::uint32_t fork = addState(Kind::Fork, part->first, end);
    link(*part, sign == '?' ? end : fork);
    part = Part{sign == '+' ? part->first : fork, end};
    return {};
}

/// What stands behind a backslash.
Result<Bytes> PatternCompiler::readEscape()
{
    if (m_at == m_text.size())
        return error(m_at - 1, "a '\\' at the end", "'\\\\' for the sign itself");
    if (const std::optional<Bytes> set = escaped(m_text[m_at])) {
        ++m_at;
        return *set;
    }
    return error(m_at - 1, "\"" + std::string(m_text.substr(m_at - 1, 2)) + "\"",
                 R"(one of \d \D \w \W \s \S or a sign behind the '\')");
}

/// The end of a range `first-…`, whose '-' was read.
Result<unsigned char> PatternCompiler::readRangeEnd(unsigned char first)
{
    const std::size_t at = m_at;
    auto last = static_cast<unsigned char>(m_text[m_at++]);
    if (last == '\\') {
        HALFTONE_TRY(const Bytes set, readEscape());
        last = static_cast<unsigned char>(set.count() == 1 ? m_text[m_at - 1] : 0);
    }
    if (last < first || last >= 0x80)
        return error(at, "a range that ends before it starts", "[a-z]");
    return last;
}

/// The rest of a class, whose '[' was read.
Result<Bytes> PatternCompiler::readClass()
{
    const std::size_t opened = m_at - 1;
    const bool negated = m_text.substr(m_at).starts_with('^');
    m_at += negated ? 1 : 0;
    Bytes set;
    for (const std::size_t start = m_at; m_at < m_text.size();) {
        const auto byte = static_cast<unsigned char>(m_text[m_at++]);
        if (byte == ']' && m_at - 1 > start)
            return negated ? ~set : set;
        if (byte >= 0x80)
            return error(m_at - 1, "a letter outside ASCII in a class", "(é|è) instead of [éè]");
        Bytes member = range(byte, byte);
        if (byte == '\\') {
            HALFTONE_TRY(member, readEscape());
        }
        const std::string_view rest = m_text.substr(m_at);
        if (member.count() == 1 && rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
            const auto first = static_cast<unsigned char>(m_text[m_at++ - 1]);
            HALFTONE_TRY(const unsigned char last, readRangeEnd(first));
            member = range(first, last);
        }
        set |= member;
    }
    return error(opened, "a '[' without its ']'", "'\\[' for the sign itself");
}

Result<void> PatternCompiler::readOne(char sign)
{
    switch (sign) {
    case '*':
    case '+':
    case '?':
        return repeat(sign);
    case '(':
        m_groups.push_back({m_at - 1, {}, {}, {}});
        return {};
    case ')':
        return closeGroup();
    case '|':
        finishAlternative();
        return {};
    case '^':
        appendState(Kind::Start);
        return {};
    case '$':
        appendState(Kind::End);
        return {};
    case '{':
        return error(m_at - 1, "a repetition count", "*, + or ?, or '\\{' for the sign itself");
    default:
        break;
    }
    Bytes set
        = sign == '.' ? ~Bytes() : range(static_cast<unsigned char>(sign), static_cast<unsigned char>(sign));
    if (sign == '[') {
        HALFTONE_TRY(set, readClass());
    } else if (sign == '\\') {
        HALFTONE_TRY(set, readEscape());
    }
    appendBytes(set);
    return {};
}

Result<Pattern> PatternCompiler::compile()
{
    while (m_at < m_text.size()) {
        HALFTONE_CHECK(readOne(m_text[m_at++]));
        if (m_pattern.m_states.size() >= Pattern::kMostStates)
            return error(m_at - 1, "a pattern that is too long",
                         "at most " + std::to_string(Pattern::kMostStates) + " states");
    }
    if (m_groups.size() > 1)
        return error(m_groups.back().opened, "a '(' without its ')'", "'\\(' for the sign itself");
    finishAlternative();
    const Part whole = *m_groups.back().alternatives;
    link(whole, addState(Kind::Match));
    m_pattern.m_first = whole.first;
    return std::move(m_pattern);
}

Result<Pattern> Pattern::compile(std::string_view text)
{
    return PatternCompiler(text).compile();
}

} // namespace halftone::policy
