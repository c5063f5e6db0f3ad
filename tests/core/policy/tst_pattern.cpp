#include "core/policy/pattern.h"
#include "tests/support/cpu_clock.h"

#include <QTest>

#include <random>
#include <set>
#include <string>

using halftone::policy::Pattern;

namespace {

/// A pattern as a tree, made together with its text, and matched the slow way: by trying every choice.
struct Tree
{
    enum class Kind
    {
        Byte,
        Any,
        Digits,
        NoLetterA,
        Start,
        End,
        Sequence,
        Choice,
        Star,
        Plus,
        Maybe
    } kind
        = Kind::Byte;
    char byte = 'a';
    std::vector<Tree> parts;

    std::string text() const
    {
        switch (kind) {
        case Kind::Byte:
            return std::string(1, byte);
        case Kind::Any:
            return ".";
        case Kind::Digits:
            return byte == 'a' ? "\\d" : "[0-9]";
        case Kind::NoLetterA:
            return "[^a]";
        case Kind::Start:
            return "^";
        case Kind::End:
            return "$";
        case Kind::Sequence:
            return parts.empty() ? "" : parts[0].text() + parts[1].text();
        case Kind::Choice:
            return "(" + parts[0].text() + "|" + parts[1].text() + ")";
        case Kind::Star:
            return "(" + parts[0].text() + ")*";
        case Kind::Plus:
            return "(" + parts[0].text() + ")+";
        case Kind::Maybe:
            return "(" + parts[0].text() + ")?";
        }
        return {};
    }

    /// All places where a match that begins at `at` can end.
    std::set<std::size_t> ends(const std::string &name, std::size_t at) const
    {
        const bool more = at < name.size();
        switch (kind) {
        case Kind::Byte:
            return more && name[at] == byte ? std::set{at + 1} : std::set<std::size_t>();
        case Kind::Any:
            return more ? std::set{at + 1} : std::set<std::size_t>();
        case Kind::Digits:
            return more && name[at] >= '0' && name[at] <= '9' ? std::set{at + 1} : std::set<std::size_t>();
        case Kind::NoLetterA:
            return more && name[at] != 'a' ? std::set{at + 1} : std::set<std::size_t>();
        case Kind::Start:
            return at == 0 ? std::set{at} : std::set<std::size_t>();
        case Kind::End:
            return more ? std::set<std::size_t>() : std::set{at};
        case Kind::Sequence: {
            if (parts.empty())
                return {at};
            std::set<std::size_t> all;
            for (const std::size_t middle : parts[0].ends(name, at))
                all.merge(parts[1].ends(name, middle));
            return all;
        }
        case Kind::Choice: {
            std::set<std::size_t> all = parts[0].ends(name, at);
            all.merge(parts[1].ends(name, at));
            return all;
        }
        case Kind::Maybe: {
            std::set<std::size_t> all = parts[0].ends(name, at);
            all.insert(at);
            return all;
        }
        case Kind::Star:
        case Kind::Plus:
            break;
        }
        std::set<std::size_t> all = parts[0].ends(name, at);
        for (std::size_t before = 0; before != all.size();) {
            before = all.size();
            for (const std::size_t end : std::set(all))
                all.merge(parts[0].ends(name, end));
        }
        if (kind == Kind::Star)
            all.insert(at);
        return all;
    }

    bool found(const std::string &name) const
    {
        for (std::size_t at = 0; at <= name.size(); ++at) {
            if (!ends(name, at).empty())
                return true;
        }
        return false;
    }
};

class Source
{
public:
    explicit Source(unsigned seed)
        : m_engine(seed)
    {
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>(m_engine() % limit); }

    Tree tree(unsigned depth)
    {
        using Kind = Tree::Kind;
        static constexpr Kind kLeaves[] = {Kind::Byte,   Kind::Byte,      Kind::Byte,  Kind::Any,
                                           Kind::Digits, Kind::NoLetterA, Kind::Start, Kind::End};
        static constexpr Kind kInner[]
            = {Kind::Sequence, Kind::Sequence, Kind::Choice, Kind::Star, Kind::Plus, Kind::Maybe};
        Tree tree;
        tree.byte = "ab0"[below(3)];
        if (depth == 0 || below(5) == 0) {
            tree.kind = kLeaves[below(std::size(kLeaves))];
            return tree;
        }
        tree.kind = kInner[below(std::size(kInner))];
        const unsigned parts = tree.kind == Kind::Sequence ? 2 * (below(8) != 0)
            : tree.kind == Kind::Choice                    ? 2
                                                           : 1;
        for (unsigned i = 0; i < parts; ++i)
            tree.parts.push_back(this->tree(depth - 1));
        return tree;
    }

    std::string name()
    {
        std::string name;
        for (unsigned length = below(9); length > 0; --length)
            name += "ab0_"[below(4)];
        return name;
    }

private:
    std::mt19937 m_engine;
};

} // namespace

class PatternTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreesWithTryingEveryChoiceOnRandomPatterns()
    {
        Source source(20753);
        Pattern::Scratch scratch;
        int matched = 0;
        for (int round = 0; round < 3000; ++round) {
            const Tree tree = source.tree(4);
            const auto pattern = Pattern::compile(tree.text());
            QVERIFY2(pattern.ok(), tree.text().c_str());
            for (int i = 0; i < 10; ++i) {
                const std::string name = source.name();
                const bool expected = tree.found(name);
                matched += expected;
                QVERIFY2(pattern.value().matches(name, scratch) == expected,
                         ("/" + tree.text() + "/ on \"" + name + "\"").c_str());
            }
        }
        QVERIFY(matched > 3000 && matched < 27000);
    }

    void matchesAsWritten_data()
    {
        QTest::addColumn<std::string>("pattern");
        QTest::addColumn<std::string>("name");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char *pattern, const char *name, bool matches) {
            QTest::addRow("/%s/ %s", pattern, name) << std::string(pattern) << std::string(name) << matches;
        };
        row("conv", "stage1_conv0_fwd", true);
        row("^conv", "stage1_conv0_fwd", false);
        row("^conv\\d+_fwd$", "conv12_fwd", true);
        row("^conv\\d+_fwd$", "conv_fwd", false);
        row("Conv", "conv0", false);
        row("a|b|c", "xxc", true);
        row("^(a|b|)$", "", true);
        row("^(a|b|)$", "ab", false);
        row("()", "", true);
        row("^[]a]+$", "]a", true);
        row("^[a-]+$", "-a", true);
        row("^[^\\d_]+$", "abc", true);
        row("^[^\\d_]+$", "ab_", false);
        row("^[\\w.]+$", "a.b_9", true);
        row("[+-9]", ",", true);
        row("[\\--9]", "/", true);
        row("\\[0\\]", "conv[0]", true);
        row("a\\/b", "a/b", true);
        row("^\\S+$", "two words", false);
        row("^a.c$", "abc", true);
        row("^(a*)*$", "aaaa", true);
        row("^(a*)*b$", "aaaa", false);
        row("^a+?b$", "aab", true);
        row("^^a$$", "a", true);
        row("^(é|è)$", "é", true);
        row("-}", "a-}", true);
    }

    void matchesAsWritten()
    {
        QFETCH(std::string, pattern);
        QFETCH(std::string, name);
        const auto compiled = Pattern::compile(pattern);
        QVERIFY2(compiled.ok(), compiled.ok() ? "" : compiled.error().message().c_str());
        QTEST(compiled.value().matches(name), "matches");
    }

    void malformedPatternsAreRefusedWithTheirPlace_data()
    {
        QTest::addColumn<std::string>("pattern");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char *pattern, const char *message) {
            QTest::addRow("%s", pattern) << std::string(pattern) << std::string(message);
        };
        row("*a", "character 1: a '*' that repeats nothing, expected something before it");
        row("a|+", "character 3: a '+' that repeats nothing, expected something before it");
        row("(?a)", "character 2: a '?' that repeats nothing, expected something before it");
        row("ab)", "character 3: a ')' that closes nothing, expected '\\)' for the sign itself");
        row("a(b(c)", "character 2: a '(' without its ')', expected '\\(' for the sign itself");
        row("x[abc", "character 2: a '[' without its ']', expected '\\[' for the sign itself");
        row("x[]", "character 2: a '[' without its ']', expected '\\[' for the sign itself");
        row("a[z-a]", "character 5: a range that ends before it starts, expected [a-z]");
        row("[a-\\d]", "character 4: a range that ends before it starts, expected [a-z]");
        row("[é]", "character 2: a letter outside ASCII in a class, expected (é|è) instead of [éè]");
        row("a\\", "character 2: a '\\' at the end, expected '\\\\' for the sign itself");
        row("a\\b",
            "character 2: \"\\b\", expected one of \\d \\D \\w \\W \\s \\S or a sign behind the '\\'");
        row("a{2}", "character 2: a repetition count, expected *, + or ?, or '\\{' for the sign itself");
    }

    void malformedPatternsAreRefusedWithTheirPlace()
    {
        QFETCH(std::string, pattern);
        const auto compiled = Pattern::compile(pattern);
        QVERIFY(!compiled.ok());
        QTEST(compiled.error().message(), "message");
    }

    void theNumberOfStatesIsBounded()
    {
        QVERIFY(Pattern::compile(std::string(Pattern::kMostStates - 10, 'a')).ok());
        const auto compiled = Pattern::compile(std::string(1'000'000, 'a'));
        QVERIFY(!compiled.ok());
        QCOMPARE(compiled.error().message(),
                 std::string("character 1000: a pattern that is too long, expected at most 1000 states"));
    }

    void deepNestingNeedsNoStack()
    {
        const std::string open(1'000'000, '(');
        QVERIFY(!Pattern::compile(open).ok());
        QVERIFY(!Pattern::compile(open + std::string(1'000'000, ')')).ok());
    }

    /// Exponential for a matcher that goes back: 2^28 ways to fail.
    void timeStaysLinearInTheName()
    {
        const auto pattern = Pattern::compile("^(a|a)*(a+)+$");
        QVERIFY(pattern.ok());
        const halftone::test::CpuClock clock;
        QVERIFY(!pattern.value().matches(std::string(100'000, 'a') + 'b'));
        QVERIFY2(clock.elapsed() < halftone::test::instrumented(2000),
                 std::to_string(clock.elapsed()).c_str());
    }
};

QTEST_APPLESS_MAIN(PatternTest)
#include "tst_pattern.moc"
