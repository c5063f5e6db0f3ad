#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/policy/edits.h"
#include "core/session/session.h"
#include "core/session/session_file.h"
#include "core/session/snapshot.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::session {

/// One opened model, the policy that a person tunes, and every state it has been in. Undo has no limit. For one thread;
/// what derive() and effectOf() are given may be used by any.
class Document
{
public:
    /// fails: what io::loadModel refuses; Cancelled
    static Result<std::unique_ptr<Document>>
    open(const std::string &path, const io::LoadOptions &options = {}, const Progress &progress = {});

    /// The same for an opened model. fails: for contradicting input shapes; Cancelled
    static Result<std::unique_ptr<Document>> of(Session session, const Progress &progress = {});

    const Session &session() const { return m_session; }
    const std::vector<std::string> &notes() const { return m_notes; } ///< what is odd about the model

    /// fails: BadInput for a name that is no input and a shape that contradicts the model; nothing is changed then.
    Result<void> setInputShape(const std::string &name, const tensor::Shape &shape);

    const policy::Policy &policy() const { return *m_states[m_current].policy; }
    std::uint64_t revision() const { return m_revision; }

    /// fails: what policy::applyEdit() refuses; the policy is then untouched.
    Result<void> apply(const policy::Edit &edit);
    bool canUndo() const { return m_current > 0; }
    bool canRedo() const { return m_current + 1 < m_states.size(); }
    void undo();
    void redo();
    std::string undoText() const; ///< of the edit that undo() takes back; "" if there is none
    std::string redoText() const;

    /// The statistics that ranges of int8 operators come from; null: none. true: the policy has such operators, so that a new
    /// revision begins.
    bool setCalibration(std::shared_ptr<const walks::CalibrateOutcome> calibration);

    History history() const;
    /// Needs: a history with an entry and a current one among them.
    void setHistory(const History &history);

    /// What the policy of now makes of the model. Pure; a job may call derive() with the request on another thread.
    struct Request
    {
        std::uint64_t revision = 0;
        std::shared_ptr<const io::LoadedModel> source;
        std::shared_ptr<const infer::ShapeMap> shapes;
        std::shared_ptr<const infer::TypeMap> sourceTypes;
        std::shared_ptr<const policy::Policy> policy;
        std::shared_ptr<const walks::CalibrateOutcome> calibration; ///< null: ranges are found at run time
        bool isRough = false; ///< ranges only have to be there
    };
    Request request() const;
    /// What is known before derive() has an answer, or without one: the model, the lists, and the conversion of `before` (null: none).
    /// Takes no time to speak of.
    /// error  why there is no conversion of this policy; nothing: it is still being computed
    static std::shared_ptr<const Snapshot> unconverted(const Request &request, const Snapshot *before,
                                                       std::optional<Error> error);
    /// A policy that cannot be applied gives a snapshot with `error` and the conversion of `before` (null: none).
    /// fails: Cancelled
    static Result<std::shared_ptr<const Snapshot>> derive(const Request &request, const Snapshot *before,
                                                          const Progress &progress = {});
    /// `snapshot` as it would be after `edit`. fails: for an edit that cannot be done, or whose policy cannot be applied
    static Result<std::shared_ptr<const Snapshot>>
    afterEdit(const Snapshot &snapshot, const policy::Edit &edit, const Progress &progress = {});
    /// What `edit` would do to `snapshot`.
    static EditEffect effectOf(const Snapshot &snapshot, const policy::Edit &edit,
                               const Progress &progress = {});

private:
    explicit Document(Session session);
    Result<void> inferShapes();
    void inferTypes();
    void goTo(std::size_t state);

    struct State
    {
        std::shared_ptr<const policy::Policy> policy;
        std::string what; ///< the edit that led here
    };

    Session m_session;
    std::shared_ptr<const infer::ShapeMap> m_shapes;
    std::shared_ptr<const infer::TypeMap> m_sourceTypes;
    std::vector<std::string> m_notes;
    std::shared_ptr<const walks::CalibrateOutcome> m_calibration;
    std::vector<State> m_states;
    std::size_t m_current = 0;
    std::uint64_t m_revision = 1;
    std::uint64_t m_nextRevision = 2;
};

} // namespace halftone::session
