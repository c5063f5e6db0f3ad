#pragma once

#include "widgets/common/document_controller.h"
#include "widgets/common/latest_job.h"

#include <QObject>

#include <functional>
#include <vector>

namespace halftone::widgets {

/// What edits would do, for whoever shows it before they are made: at once where converting is quick, else from a thread beside the window's.
/// Only the newest question is answered, and none that another snapshot has overtaken.
class EditEffects : public QObject
{
    Q_OBJECT

public:
    /// Gets an effect for each edit, in their order.
    using Tell = std::function<void(const std::vector<session::EditEffect> &)>;

    explicit EditEffects(const DocumentController *controller, QObject *parent = nullptr);

    /// Tells nothing while no document is open.
    void ask(std::vector<policy::Edit> edits, Tell tell);
    void forget() { m_asking.cancel(); } ///< the question that is not answered yet
    bool isAsking() const { return m_asking.isRunning(); }

private:
    const DocumentController *m_controller;
    LatestJob m_asking;
};

} // namespace halftone::widgets
