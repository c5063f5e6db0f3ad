#pragma once

#include "core/session/document.h"
#include "widgets/common/latest_job.h"
#include "widgets/common/selection.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halftone::widgets {

/// The opened document as the panels see it: the newest snapshot and figures, edits, and signals when they change. All
/// panels get this one object; none keeps state of the model's beside it.
class DocumentController : public QObject
{
    Q_OBJECT

public:
    explicit DocumentController(QObject *parent = nullptr);
    ~DocumentController() override;

    /// Shows another document; null closes. Where its conversion takes a while, snapshot() waits for it (Snapshot::isAwaited()), and
    /// snapshotChanged() follows.
    void setDocument(std::unique_ptr<session::Document> document);
    bool isOpen() const { return m_document != nullptr; }
    const session::Document *document() const { return m_document.get(); }

    /// Null while nothing is open.
    const std::shared_ptr<const session::Snapshot> &snapshot() const { return m_snapshot; }
    bool isDeriving() const
    {
        return m_deriving.isRunning();
    } ///< snapshot() awaits it, or is of an earlier edit still
    /// Stops the conversion that runs: snapshot() then has an error of Errc::Cancelled.
    void stopDeriving();
    /// Once more what was stopped or has failed; nothing else.
    void resumeDeriving();
    const session::Figures &figures() const { return m_figures; }
    Selection &selection() { return m_selection; }

    /// The snapshot follows at once where converting is quick, else from a job.
    bool apply(const policy::Edit &edit); ///< false, after editRefused(): nothing has changed
    void undo();
    void redo();
    /// The shapes of inputs, as data bring them. false, after editRefused(), for shapes that contradict the model.
    bool setInputShapes(const std::vector<std::pair<std::string, tensor::Shape>> &shapes);
    /// Is an edit converted on this thread, within some milliseconds? Needs: an open document.
    bool convertsAtOnce() const;

    void setFigures(session::Figures figures);

Q_SIGNALS:
    void documentChanged(); ///< another document, or none; snapshot() is already the new one
    void snapshotChanged(); ///< another conversion of the same document
    void figuresChanged();
    void editRefused(const QString &why);
    void derivingChanged(); ///< isDeriving()
    void derivingProgressed(double share, const QString &what); ///< share in [0, 1]; what: "converting"
    /// What the history has done, for whoever writes it down: at once, the snapshot may follow later.
    void edited();
    void undone();
    void redone();

private:
    struct Told; // by the thread that converts

    void derive();
    void deriveBeside(const session::Document::Request &request);
    void setDeriving(bool isDeriving);
    void take(std::shared_ptr<const session::Snapshot> snapshot);

    std::unique_ptr<session::Document> m_document;
    std::shared_ptr<const session::Snapshot> m_snapshot;
    session::Figures m_figures;
    Selection m_selection;
    bool m_isDeriving = false; ///< as derivingChanged() has told
    std::shared_ptr<Told> m_told;
    QTimer m_poll;
    LatestJob m_deriving;
    LatestJob m_discarding; ///< of the document before, which takes a while where it is large
};

} // namespace halftone::widgets
