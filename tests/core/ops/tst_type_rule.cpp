#include "core/ops/type_rule.h"

#include <QLatin1Char>
#include <QTest>

#include <vector>

using namespace halftone;
using ops::TypeOutcome;
using ops::TypeRule;
using tensor::DType;

namespace {

constexpr DType kOpen = DType::Unknown;

/// What a rule makes of its positions, written so that a failed comparison shows it.
QString applied(const char *rule, std::vector<DType> inputs, std::vector<DType> outputs,
                DType attributeType = kOpen)
{
    std::size_t where = 99;
    const TypeOutcome outcome = TypeRule::parse(rule, attributeType).apply(inputs, outputs, &where);
    if (outcome == TypeOutcome::Refused)
        return QStringLiteral("refused at %1").arg(where);
    QStringList names;
    const auto add = [&](DType type) { names += QString::fromUtf8(tensor::nameOf(type).data()); };
    std::ranges::for_each(inputs, add);
    names += QStringLiteral("->");
    std::ranges::for_each(outputs, add);
    return names.join(QLatin1Char(' '))
        + (outcome == TypeOutcome::Complete ? QString() : QStringLiteral(" (incomplete)"));
}

} // namespace

class TestTypeRule : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aVariableGoesForwardAndBackward();
    void contradictionsNameTheirPosition();
    void aTakerDoesNotGive();
    void fixedTypesAreFilledInAndHeldTo();
    void marksTellRefusedFromIncomplete();
    void allowedTypesAlsoBindWhatIsFilledIn();
    void defaultsComeLast();
    void functionsFollowTheirVariable();
    void theAttributeTypeStandsForD();
    void repetitionsTakeTurns();
    void missingTrailingInputsAreNoMatter();
    void positionsBeyondTheRuleAreFree();
    void multicastMeetsInTheWidestFloat();
    void multicastNarrowMeetsInTheNarrowest();
    void promotionPrefersFloats();
    void aKnownTypeIsNeverChanged();
    void fallbackIsMarked();
};

void TestTypeRule::aVariableGoesForwardAndBackward()
{
    QCOMPARE(applied("T, T -> T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 float16 -> float16"));
    QCOMPARE(applied("T, T -> T", {kOpen, kOpen}, {DType::BF16}),
             QStringLiteral("bfloat16 bfloat16 -> bfloat16"));
    QCOMPARE(applied("T, T -> T", {kOpen, kOpen}, {kOpen}),
             QStringLiteral("unknown unknown -> unknown (incomplete)"));
}

void TestTypeRule::contradictionsNameTheirPosition()
{
    QCOMPARE(applied("T, T -> T", {DType::F16, DType::F32}, {kOpen}), QStringLiteral("refused at 1"));
    QCOMPARE(applied("T, T -> T", {DType::F16, kOpen}, {DType::F32}), QStringLiteral("refused at 2"));
    QCOMPARE(applied("T, int32 -> T", {DType::F16, DType::I64}, {kOpen}), QStringLiteral("refused at 1"));
    std::vector<DType> in{DType::F16, DType::F32};
    std::vector<DType> out{kOpen};
    QCOMPARE(TypeRule::parse("T, T -> T").apply(in, out), TypeOutcome::Refused); // nobody asks where
}

void TestTypeRule::aTakerDoesNotGive()
{
    QCOMPARE(applied("T, <T -> <T", {kOpen, DType::F16}, {DType::F16}),
             QStringLiteral("unknown float16 -> float16 (incomplete)"));
    QCOMPARE(applied("T, <T -> <T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 float16 -> float16"));
    QCOMPARE(applied("T, <T -> <T", {DType::F16, DType::F32}, {kOpen}), QStringLiteral("refused at 1"));
}

void TestTypeRule::fixedTypesAreFilledInAndHeldTo()
{
    QCOMPARE(applied("? -> int64", {kOpen}, {kOpen}), QStringLiteral("unknown -> int64"));
    QCOMPARE(applied("? -> int64", {kOpen}, {DType::F32}), QStringLiteral("refused at 1"));
}

void TestTypeRule::marksTellRefusedFromIncomplete()
{
    QCOMPARE(applied("T, _! -> T", {DType::F16, kOpen}, {kOpen}), QStringLiteral("refused at 1"));
    QCOMPARE(applied("T~, _~ -> T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 unknown -> unknown (incomplete)"));
    QCOMPARE(applied("T, _ -> T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 unknown -> float16 (incomplete)"));
    QCOMPARE(applied("T, ? -> T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 unknown -> float16"));
}

void TestTypeRule::allowedTypesAlsoBindWhatIsFilledIn()
{
    QCOMPARE(applied("T{float32|float64} -> T", {DType::F16}, {kOpen}), QStringLiteral("refused at 0"));
    QCOMPARE(applied("T{float32|float64} -> T", {kOpen}, {DType::F16}), QStringLiteral("refused at 0"));
    QCOMPARE(applied("T{float} -> T", {DType::BF16}, {kOpen}), QStringLiteral("bfloat16 -> bfloat16"));
    QCOMPARE(applied("T{integer} -> T", {DType::Bool}, {kOpen}), QStringLiteral("refused at 0"));
}

void TestTypeRule::defaultsComeLast()
{
    QCOMPARE(applied("_!, E=D -> E", {DType::I32, kOpen}, {kOpen}, DType::F16),
             QStringLiteral("int32 float16 -> float16"));
    QCOMPARE(applied("_!, E=D -> E", {DType::I32, DType::F64}, {kOpen}, DType::F16),
             QStringLiteral("int32 float64 -> float64"));
    QCOMPARE(applied("T!, L=T -> <T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 float16 -> float16"));
    QCOMPARE(applied("T!, L=T -> <T", {DType::F16, DType::I32}, {kOpen}),
             QStringLiteral("float16 int32 -> float16"));
    QCOMPARE(applied("_=uint8{int8|uint8} -> signed", {kOpen}, {kOpen}), QStringLiteral("uint8 -> uint8"));
    QCOMPARE(applied("_=uint8{int8|uint8}, ? -> signed", {kOpen, DType::I8}, {kOpen}),
             QStringLiteral("uint8 int8 -> int8"));
    QCOMPARE(applied("_=uint8{int8|uint8} -> signed", {DType::F32}, {kOpen}), QStringLiteral("refused at 0"));
}

void TestTypeRule::functionsFollowTheirVariable()
{
    QCOMPARE(applied("T, wide(T) -> T", {DType::BF16, kOpen}, {kOpen}),
             QStringLiteral("bfloat16 float32 -> bfloat16"));
    QCOMPARE(applied("T, wide16(T) -> T", {DType::BF16, kOpen}, {kOpen}),
             QStringLiteral("bfloat16 bfloat16 -> bfloat16"));
    QCOMPARE(applied("T, wide(T) -> T", {DType::F64, kOpen}, {kOpen}),
             QStringLiteral("float64 float64 -> float64"));
    QCOMPARE(applied("T, wide(T) -> T", {DType::F16, DType::F16}, {kOpen}), QStringLiteral("refused at 1"));
    QCOMPARE(applied("T -> scalar(T)", {DType::Bool}, {kOpen}), QStringLiteral("bool -> int64"));
    QCOMPARE(applied("T -> real(T)", {DType::I32}, {kOpen}), QStringLiteral("int32 -> float64"));
    QCOMPARE(applied("T -> real(T)", {kOpen}, {DType::F16}), QStringLiteral("float16 -> float16"));
}

void TestTypeRule::theAttributeTypeStandsForD()
{
    QCOMPARE(applied("T -> cast(T)", {DType::F32}, {kOpen}, DType::F16),
             QStringLiteral("float32 -> float16"));
    QCOMPARE(applied("T -> cast(T)", {DType::I32}, {kOpen}, DType::F16), QStringLiteral("int32 -> int32"));
    QCOMPARE(applied("? -> D", {DType::I32}, {kOpen}), QStringLiteral("int32 -> unknown (incomplete)"));
    std::vector<DType> out{kOpen};
    QCOMPARE(TypeRule::parse("-> D", DType::F32).withAttributeType(DType::I8).apply({}, out),
             TypeOutcome::Complete);
    QCOMPARE(out[0], DType::I8);
}

void TestTypeRule::repetitionsTakeTurns()
{
    QCOMPARE(applied("T... -> T...", {kOpen, kOpen, DType::F16}, {kOpen, kOpen}),
             QStringLiteral("float16 float16 float16 -> float16 float16"));
    QCOMPARE(applied("(T, float32)... -> ?...", {DType::F16, kOpen, kOpen, kOpen}, {kOpen}),
             QStringLiteral("float16 float32 float16 float32 -> unknown"));
    QCOMPARE(applied("T, int64... -> T", {DType::F16, kOpen, kOpen}, {kOpen}),
             QStringLiteral("float16 int64 int64 -> float16"));
}

void TestTypeRule::missingTrailingInputsAreNoMatter()
{
    QCOMPARE(applied("T, <T, <T -> T", {DType::F16, kOpen}, {kOpen}),
             QStringLiteral("float16 float16 -> float16"));
}

void TestTypeRule::positionsBeyondTheRuleAreFree()
{
    QCOMPARE(applied("T -> T", {DType::F16, kOpen}, {kOpen, kOpen}),
             QStringLiteral("float16 unknown -> float16 unknown"));
}

void TestTypeRule::multicastMeetsInTheWidestFloat()
{
    QCOMPARE(applied("multicast", {DType::F16, DType::F32, DType::I32}, {kOpen, kOpen, kOpen}),
             QStringLiteral("float16 float32 int32 -> float32 float32 int32"));
    QCOMPARE(applied("multicast", {DType::F16, DType::F16}, {kOpen, kOpen}),
             QStringLiteral("float16 float16 -> float16 float16"));
    QCOMPARE(applied("multicast", {DType::F16, kOpen}, {kOpen, kOpen}),
             QStringLiteral("float16 unknown -> float16 unknown (incomplete)"));
    QCOMPARE(applied("multicast", {DType::F16, DType::F32}, {DType::F16, kOpen}),
             QStringLiteral("refused at 2"));
}

void TestTypeRule::multicastNarrowMeetsInTheNarrowest()
{
    QCOMPARE(applied("multicast narrow", {DType::F32, DType::BF16}, {kOpen, kOpen}),
             QStringLiteral("float32 bfloat16 -> bfloat16 bfloat16"));
    QCOMPARE(applied("multicast narrow", {DType::F32, DType::F64}, {kOpen, kOpen}),
             QStringLiteral("float32 float64 -> float32 float64"));
}

void TestTypeRule::promotionPrefersFloats()
{
    QCOMPARE(applied("promote", {DType::F16, DType::I64}, {kOpen}),
             QStringLiteral("float16 int64 -> float16"));
    QCOMPARE(applied("promote", {DType::F16, DType::F32}, {kOpen}),
             QStringLiteral("float16 float32 -> float32"));
    QCOMPARE(applied("promote", {kOpen, DType::F32}, {kOpen}), QStringLiteral("float32 float32 -> float32"));
    QCOMPARE(applied("promote", {DType::F16, DType::F32}, {DType::F16}), QStringLiteral("refused at 2"));
}

void TestTypeRule::aKnownTypeIsNeverChanged()
{
    std::vector<DType> in{DType::F32, DType::F16};
    std::vector<DType> out{DType::I32};
    for (const char *rule :
         {"T, T -> T", "multicast", "promote", "float64... -> D", "_, wide(T) -> cast(T)", "T!, <T -> <T"}) {
        static_cast<void>(TypeRule::parse(rule, DType::U8).apply(in, out));
        QCOMPARE(in[0], DType::F32);
        QCOMPARE(in[1], DType::F16);
        QCOMPARE(out[0], DType::I32);
    }
}

void TestTypeRule::fallbackIsMarked()
{
    QVERIFY(TypeRule::parse("fallback").isFallback());
    QVERIFY(!TypeRule::parse("T... -> T...").isFallback());
    QCOMPARE(applied("fallback", {DType::F16}, {kOpen}), QStringLiteral("float16 -> float16"));
}

QTEST_APPLESS_MAIN(TestTypeRule)
#include "tst_type_rule.moc"
