#include "widgets/inspector/inspector_panel.h"

#include "widgets/common/precision_palette.h"
#include "widgets/common/while_seen.h"

#include <QEvent>
#include <QRegularExpression>
#include <QScrollBar>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr qsizetype kMostLabel = 16; ///< characters beside a value
constexpr qsizetype kMostInLine = 28; ///< characters of both

QString coloured(const QString &text, const QColor &colour)
{
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(colour.name(), text);
}

/// Rich text knows no transparency, which palettes give to their secondary colour.
QColor secondary(const QPalette &palette)
{
    const QColor over = palette.color(QPalette::PlaceholderText);
    const QColor under = palette.color(QPalette::Base);
    const auto channel = [&](int x, int y) {
        return static_cast<int>(static_cast<float>(y) + static_cast<float>(x - y) * over.alphaF());
    };
    return QColor(channel(over.red(), under.red()), channel(over.green(), under.green()),
                  channel(over.blue(), under.blue()));
}

/// A number and its unit stay on one line. The space that keeps them is an ordinary one again where the text is copied.
QString withUnitsKept(QString text)
{
    static const QRegularExpression unit(
        QStringLiteral("(?<=[0-9\u221e]) (?=(?:dB|[n\u00b5m]?s|[kKMG]?i?B|bytes|%)(?![A-Za-z0-9]))"));
    return text.replace(unit, QString(QChar::Nbsp));
}

QString valueHtml(const DetailRow &row, const QPalette &palette)
{
    QString text = withUnitsKept(row.value.toHtmlEscaped());
    if (row.link)
        text = QStringLiteral("<a href=\"node:%1\">%2</a>").arg(*row.link).arg(text);
    if (row.isWarning)
        text = coloured(QStringLiteral("\u26a0 ") + text, warningColour(palette));
    else if (row.isStale)
        text = coloured(text, secondary(palette));
    if (row.precision) {
        const PrecisionLook look = precisionLook(*row.precision, isDark(palette));
        text = coloured(QString(QChar(look.outlined ? 0x25a1 : 0x25a0)), look.colour)
            + QStringLiteral("&nbsp;") + text;
    }
    return text;
}

QString labelHtml(const DetailRow &row, const QPalette &palette)
{
    return coloured(row.label.toHtmlEscaped(), secondary(palette));
}

} // namespace

QString detailsHtml(const Details &details, const QPalette &palette)
{
    QString html = QStringLiteral("<p style=\"margin:0; font-size:large; font-weight:600\">%1</p>")
                       .arg(details.title.toHtmlEscaped());
    if (!details.subtitle.isEmpty())
        html += QStringLiteral("<p style=\"margin:0\">%1</p>")
                    .arg(coloured(details.subtitle.toHtmlEscaped(), secondary(palette)));
    for (const DetailSection &section : details.sections) {
        if (section.rows.empty())
            continue;
        html += section.title.isEmpty()
            ? QStringLiteral("<p style=\"margin-top:4px; margin-bottom:0\"></p>")
            : QStringLiteral("<p style=\"margin-top:12px; margin-bottom:2px; font-weight:600\">%1</p>")
                  .arg(section.title.toHtmlEscaped());
        html += QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"1\">");
        const bool hasLabels
            = std::ranges::any_of(section.rows, [](const DetailRow &row) { return !row.label.isEmpty(); });
        for (const DetailRow &row : section.rows) {
            const bool isLong = row.label.size() > kMostLabel // a name: it would leave no room for the value
                && row.label.size() + row.value.size() > kMostInLine;
            if (isLong)
                html += QStringLiteral("<tr><td colspan=\"2\">%1</td></tr>").arg(labelHtml(row, palette));
            if (!hasLabels)
                html += QStringLiteral("<tr><td>%1</td></tr>").arg(valueHtml(row, palette));
            else
                html += QStringLiteral("<tr><td style=\"white-space:nowrap; padding-right:8px\">%1</td><td "
                                       "width=\"90%\">%2</td></tr>")
                            .arg(isLong ? QString() : labelHtml(row, palette), valueHtml(row, palette));
        }
        html += QStringLiteral("</table>");
    }
    return html;
}

InspectorPanel::InspectorPanel(DocumentController *controller, QWidget *parent)
    : QTextBrowser(parent)
    , m_controller(controller)
    , m_seen(new WhileSeen(this, [this] { refresh(); }))
{
    setAccessibleName(tr("Inspector"));
    setFrameShape(QFrame::NoFrame);
    setOpenLinks(false);
    setUndoRedoEnabled(false);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
    document()->setDocumentMargin(8);
    connect(controller, &DocumentController::documentChanged, m_seen, &WhileSeen::ask);
    connect(controller, &DocumentController::snapshotChanged, m_seen, &WhileSeen::ask);
    connect(controller, &DocumentController::figuresChanged, m_seen, &WhileSeen::ask);
    connect(&controller->selection(), &Selection::changed, m_seen, &WhileSeen::ask);
    connect(this, &QTextBrowser::anchorClicked, this, &InspectorPanel::follow);
    refresh();
}

Details InspectorPanel::details() const
{
    const auto &snapshot = m_controller->snapshot();
    const Selection &selection = m_controller->selection();
    if (selection.nodes().empty())
        return describeModel(*snapshot, m_controller->figures());
    if (selection.nodes().size() == 1)
        return describeNode(*snapshot, m_controller->figures(), selection.nodes().front());
    return describeNodes(*snapshot, m_controller->figures(), selection.nodes());
}

void InspectorPanel::refresh()
{
    if (!m_controller->snapshot()) {
        m_shown.clear();
        setHtml(coloured(tr("Open a model to inspect it."), secondary(palette())));
        return;
    }
    const bool isSame = m_shown == m_controller->selection().nodes();
    const int place = verticalScrollBar()->value();
    m_shown = m_controller->selection().nodes();
    setHtml(detailsHtml(details(), palette()));
    if (isSame)
        verticalScrollBar()->setValue(place);
}

void InspectorPanel::follow(const QUrl &link)
{
    bool isNumber = false;
    const graph::NodeId node = link.path().toUInt(&isNumber);
    const auto &snapshot = m_controller->snapshot();
    if (link.scheme() != QLatin1String("node") || !isNumber || !snapshot
        || node >= snapshot->graph().nodeCount())
        return;
    m_controller->selection().set(node);
    Q_EMIT m_controller->selection().shownRequested(node);
}

void InspectorPanel::changeEvent(QEvent *event)
{
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        refresh();
}

} // namespace halftone::widgets
