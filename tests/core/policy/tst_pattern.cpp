#include "core/policy/pattern.h"
#include "tests/support/cpu_clock.h"

#include <QTest>

#include <string>

using halftone::policy::Pattern;

class PatternTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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
        row("^.$", "\n", true);
        row("^.$", "é", true);
        row("^[éè]$", "è", true);
        row("(?i)CONV", "conv0", true);
        row("^a{2,3}$", "aa", true);
        row("\\bconv\\b", "a conv", true);
        row("b$", "ab\nc", false);
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
        row("*a", "character 1: nothing to repeat; put a character or a group before it");
        row("a|+", "character 3: nothing to repeat");
        row("x(a*|*)", "character 6: nothing to repeat");
        row("a**é", "character 2: two repetitions in a row, expected one of *, + and ?");
        row("(?a)", "character 1: an unknown group, expected (…), (?:…) or (?i)");
        row("ab)", "character 3: unmatched ')'; write '\\)' to match the character itself");
        row("a(b(c)", "character 2: unmatched '('; write '\\(' to match the character itself");
        row("a(?:b", "character 2: unmatched '('");
        row("\\Q(\\E([)(]", "character 6: unmatched '('");
        row("[[:alpha:](](x", "character 13: unmatched '('");
        row("[])][^])]\\)(a))", "character 15: unmatched ')'");
        row("\\x{41}\\1", "character 7: an unknown escape");
        row("a(?i)(?x)", "character 6: an unknown group");
        row("éx[abc", "character 3: unmatched '['; write '\\[' to match the character itself");
        row("x[]", "character 2: unmatched '['");
        row("a[z-a]", "character 3: an invalid range, expected a range such as [a-z]");
        row("[a-\\d]",
            "character 4: an unknown escape, expected \\d, \\w, \\s, \\b, or '\\' before punctuation");
        row("a\\", "character 2: a '\\' at the end; write '\\\\' to match the character itself");
        row("a\\1", "character 2: an unknown escape");
        row("a{3,2}", "character 2: a repetition that is too large or reversed, expected for example {2,5}");
        row("(a{1000}){1000}", "character 10: a repetition that is too large");
    }

    void malformedPatternsAreRefusedWithTheirPlace()
    {
        QFETCH(std::string, pattern);
        const auto compiled = Pattern::compile(pattern);
        QVERIFY(!compiled.ok());
        QFETCH(std::string, message);
        QVERIFY2(compiled.error().message().starts_with(message), compiled.error().message().c_str());
    }

    void theLengthIsBounded()
    {
        QVERIFY(Pattern::compile(std::string(Pattern::kMostBytes, 'a')).ok());
        const auto compiled = Pattern::compile(std::string(1'000'000, 'a'));
        QVERIFY(!compiled.ok());
        QCOMPARE(compiled.error().message(),
                 std::string("character 4097: a pattern that is too long, expected at most 4,096 bytes"));
    }

    void placesAreCountedFromWhereThePersonTyped()
    {
        QCOMPARE(Pattern::compile("*", 7).error().where, std::string("character 8"));
    }

    void bytesThatAreNotUtf8Match()
    {
        const auto pattern = Pattern::compile("^\xFF.$");
        QVERIFY(pattern.ok());
        QVERIFY(pattern.value().matches("\xFF\xFE") && !pattern.value().matches("\xFF"));
        QVERIFY(Pattern::compile("conv").value().matches("\xFF_conv"));
    }

    void theLongestWrongPatternIsExplainedAtOnce_data()
    {
        QTest::addColumn<std::string>("pattern");
        QTest::addColumn<std::string>("where");
        const std::string many(Pattern::kMostBytes - 2, 'a');
        QTest::newRow("parenthesis") << '(' + many << std::string("character 1");
        QTest::newRow("parentheses") << std::string(many.size(), '(') << std::string("character 1");
        QTest::newRow("bracket") << '[' + many << std::string("character 1");
        QTest::newRow("nothing to repeat") << '*' + many << std::string("character 1");
    }

    void theLongestWrongPatternIsExplainedAtOnce()
    {
        QFETCH(std::string, pattern);
        const halftone::test::CpuClock clock;
        const auto compiled = Pattern::compile(pattern);
        const auto elapsed = clock.elapsed();
        QVERIFY(!compiled.ok());
        QTEST(compiled.error().where, "where");
        QVERIFY2(elapsed < halftone::test::instrumented(50), std::to_string(elapsed).c_str());
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
