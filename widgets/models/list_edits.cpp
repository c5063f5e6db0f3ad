#include "widgets/models/list_edits.h"

#include "core/dialect/dialect.h"
#include "widgets/common/formatters.h"

#include <utility>

namespace halftone::widgets {

QString namedOperators(const std::vector<std::string> &ops)
{
    if (ops.size() == 1)
        return plain(ops.front());
    if (ops.size() == 2)
        return plain(ops[0]) + QStringLiteral(" and ") + plain(ops[1]);
    return counted(ops.size(), "operator", "operators");
}

std::optional<policy::Edit> asOne(const session::Snapshot &snapshot, std::vector<policy::Edit> edits,
                                  const QString &what)
{
    if (edits.empty())
        return std::nullopt;
    if (edits.size() == 1)
        return std::move(edits.front());
    policy::Policy policy = *snapshot.policy;
    for (const policy::Edit &edit : edits) {
        auto next = policy::applyEdit(policy, edit, dialect::of(snapshot.graph()));
        if (!next.ok())
            return edit; // alone it says what is wrong
        policy = std::move(next).value();
    }
    return policy::ReplacePolicy{std::move(policy), what.toStdString()};
}

} // namespace halftone::widgets
