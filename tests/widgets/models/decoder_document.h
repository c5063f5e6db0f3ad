#pragma once

#include "core/io/onnx/onnx_file.h"
#include "core/session/document.h"
#include "tests/support/decoder_network.h"

#include <QFile>
#include <QTemporaryDir>

#include <memory>

namespace halftone::test {

/// Writes a decoder (decoder_network.h) as an ONNX file.
/// gives: false where this build writes no ONNX, or the file cannot be written
inline bool writeDecoder(const QString &path, const DecoderSize &size = {})
{
    const auto bytes = io::writeOnnx(decoderNetwork(size));
    if (!bytes.ok())
        return false;
    QFile file(path);
    bool isWritten = file.open(QIODevice::WriteOnly);
    for (const io::FilePiece &piece : bytes.value().message)
        isWritten = isWritten && piece.inPieces([&file](std::span<const std::byte> part) {
            const auto length = static_cast<qint64>(part.size());
            return file.write(reinterpret_cast<const char *>(part.data()), length) == length;
        });
    return isWritten;
}

/// As a document that was read from such a file; null where this build has no ONNX.
inline std::unique_ptr<session::Document> openDecoder(const DecoderSize &size)
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("decoder.onnx"));
    if (!writeDecoder(path, size))
        return nullptr;
    auto opened = session::Document::open(path.toStdString());
    if (!opened.ok())
        qFatal("%s", opened.error().message().c_str());
    return std::move(opened).value();
}

} // namespace halftone::test
