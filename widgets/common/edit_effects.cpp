#include "widgets/common/edit_effects.h"

namespace halftone::widgets {
namespace {

std::vector<session::EditEffect> effectsOf(const session::Snapshot &snapshot,
                                           const std::vector<policy::Edit> &edits, const Progress &progress)
{
    std::vector<session::EditEffect> effects;
    for (const policy::Edit &edit : edits)
        effects.push_back(session::Document::effectOf(snapshot, edit, progress));
    return effects;
}

} // namespace

EditEffects::EditEffects(const DocumentController *controller, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
{
    connect(controller, &DocumentController::documentChanged, this, &EditEffects::forget);
    connect(controller, &DocumentController::snapshotChanged, this, &EditEffects::forget);
}

void EditEffects::ask(std::vector<policy::Edit> edits, Tell tell)
{
    forget();
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    if (m_controller->convertsAtOnce()) {
        tell(effectsOf(*snapshot, edits, {}));
        return;
    }
    m_asking.start(
        [snapshot, edits = std::move(edits)](std::stop_token stop) { // stopped: nobody is told
            return effectsOf(*snapshot, edits, {std::move(stop), {}});
        },
        std::move(tell));
}

} // namespace halftone::widgets
