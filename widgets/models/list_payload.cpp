#include "widgets/models/list_payload.h"

namespace halftone::widgets {
namespace {

std::vector<std::string> linesOf(const QMimeData &data, const char *format)
{
    std::vector<std::string> lines;
    for (const QByteArray &line : data.data(QLatin1String(format)).split('\n')) {
        if (!line.isEmpty())
            lines.push_back(line.toStdString());
    }
    return lines;
}

QByteArray joinedLines(const std::vector<std::string> &lines)
{
    QByteArray text;
    for (const std::string &line : lines)
        text += QByteArray::fromStdString(line) + '\n';
    text.chop(1);
    return text;
}

} // namespace

ListPayload payloadOf(const QMimeData &data)
{
    return {linesOf(data, kOpsMime), linesOf(data, kNodesMime)};
}

void writePayload(const ListPayload &payload, QMimeData &data)
{
    if (!payload.ops.empty())
        data.setData(QLatin1String(kOpsMime), joinedLines(payload.ops));
    if (!payload.nodes.empty())
        data.setData(QLatin1String(kNodesMime), joinedLines(payload.nodes));
    std::vector<std::string> all = payload.ops;
    all.insert(all.end(), payload.nodes.begin(), payload.nodes.end());
    data.setText(QString::fromUtf8(joinedLines(all)));
}

} // namespace halftone::widgets
