#pragma once

#include "core/io/onnx/onnx_file.h"
#include "core/session/document.h"
#include "tests/support/decoder_network.h"

#include <QFile>
#include <QTemporaryDir>

#include <memory>

namespace halftone::test {

/// Writes a decoder (decoder_network.h) as an ONNX file.
/// gives: whether that was possible
inline bool writeDecoder(const QString &path, const DecoderSize &size = {})
{
    QFile file(path);
    const auto bytes = io::writeOnnx(decoderNetwork(size));
    bool isWritten = bytes.ok() && file.open(QIODevice::WriteOnly);
    for (const io::FilePiece &piece : bytes.value().message)
        isWritten = isWritten && piece.inPieces([&file](std::span<const std::byte> part) {
            const auto length = static_cast<qint64>(part.size());
            return file.write(reinterpret_cast<const char *>(part.data()), length) == length;
        });
    return isWritten;
}

/// As a document that was read from such a file; null where that failed.
inline std::unique_ptr<session::Document> openDecoder(const DecoderSize &size)
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("decoder.onnx"));
    if (!writeDecoder(path, size))
        return nullptr;
    auto opened = session::Document::open(path.toStdString());
    return opened.ok() ? std::move(opened).value() : nullptr;
}

} // namespace halftone::test
