#include "core/base/markup.h"

#include <QTest>

using namespace halftone;

class TestMarkup : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void markupInNamesIsText()
    {
        QCOMPARE(markupText("<b a=\"x\" c='y'>&"),
                 std::string("&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;"));
    }

    void whatXmlCannotHoldIsReplaced()
    {
        QCOMPARE(markupText(std::string_view("a\0b\x1b\x7f", 5)),
                 std::string("a\xEF\xBF\xBD"
                             "b\xEF\xBF\xBD\xEF\xBF\xBD"));
        QCOMPARE(markupText("a\tb\nü"), std::string("a\tb\nü"));
    }
};

QTEST_GUILESS_MAIN(TestMarkup)
#include "tst_markup.moc"
