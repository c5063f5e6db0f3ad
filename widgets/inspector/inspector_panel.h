#pragma once

#include "widgets/common/document_controller.h"
#include "widgets/inspector/details.h"

#include <QTextBrowser>

namespace halftone::widgets {

class WhileSeen;

/// All that is known of the chosen node, of several, or of the model when none is chosen. The text can be selected and
/// copied; names of nodes are links.
class InspectorPanel : public QTextBrowser
{
    Q_OBJECT

public:
    explicit InspectorPanel(DocumentController *controller, QWidget *parent = nullptr);

protected:
    void changeEvent(QEvent *event) override;

private:
    void refresh();
    Details details() const;
    void follow(const QUrl &link);

    DocumentController *m_controller;
    WhileSeen *m_seen;
    std::vector<graph::NodeId> m_shown; ///< to keep the place when the same nodes are shown again
};

/// As the rich text that the panel shows.
QString detailsHtml(const Details &details, const QPalette &palette);

} // namespace halftone::widgets
