#pragma once

#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"
#include "tests/support/files.h"
#include "tests/support/tensors.h"

#include <QDir>
#include <QFile>
#include <QString>
#include <QStringList>

#include <cmath>
#include <string>
#include <vector>

/// The operator cases of both formats (tests/data/onnx_ops, some of tests/data/onnx_special, tests/data/ops), for whoever computes them.
namespace halftone::test {

/// A recorded case with a network of one operator or a few.
struct Case
{
    graph::Model model;
    interpret::Feed feed;
    std::vector<tensor::Tensor> expected;
};

inline QString difference(const tensor::Tensor &got, const tensor::Tensor &want, double relative,
                          double absolute)
{
    if (got.shape() != want.shape() || got.dtype() != want.dtype())
        return QString::fromStdString(std::string(tensor::nameOf(got.dtype())) + got.shape().toString()
                                      + ", expected " + std::string(tensor::nameOf(want.dtype()))
                                      + want.shape().toString());
    const auto g = valuesOf(got);
    const auto w = valuesOf(want);
    for (std::size_t i = 0; i < g.size(); ++i)
        if (g[i] != w[i]
            && (std::isnan(g[i]) != std::isnan(w[i])
                || std::abs(g[i] - w[i]) > absolute + relative * std::abs(w[i])))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    return {};
}

inline Result<Case> onnxCase(const QString &path)
{
    HALFTONE_TRY(const auto arrays, io::readNpz((path + ".npz").toStdString()));
    HALFTONE_TRY(const auto loaded, io::loadModel((path + ".onnx").toStdString(), {{}, true}));
    Case found{loaded.model, {}, {}};
    for (const io::NamedTensor &array : arrays) {
        if (array.name.starts_with("in."))
            found.feed.emplace(array.name.substr(3), array.tensor);
        else
            found.expected.push_back(array.tensor);
    }
    return found;
}

inline Result<Case> mxnetCase(const QString &folder)
{
    const std::string path = folder.toStdString();
    HALFTONE_TRY(const auto loaded, io::loadModel(path + "/model-symbol.json", {{}, true}));
    HALFTONE_TRY(const auto inputs, io::readNpz(path + "/inputs.npz"));
    HALFTONE_TRY(const auto expected, io::readNpz(path + "/expected-fp32.npz"));
    Case found{loaded.model, {}, {}};
    for (const io::NamedTensor &array : inputs)
        found.feed.emplace(array.name, array.tensor);
    for (const io::NamedTensor &array : expected)
        found.expected.push_back(array.tensor);
    return found;
}

inline interpret::Feed inType(const interpret::Feed &feed, tensor::DType type)
{
    interpret::Feed result;
    for (const auto &[name, tensor] : feed) {
        const bool stays = tensor.dtype() != tensor::DType::F32 || name.find("moving") != std::string::npos;
        result[name] = stays ? tensor : converted(tensor, type);
    }
    return result;
}

inline Result<std::vector<tensor::Tensor>> run(const graph::Model &model, const interpret::Feed &feed,
                                               const kernels::BackendChain &backends)
{
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, backends));
    return interpreter.run(feed);
}

inline QStringList onnxPaths()
{
    QStringList paths;
    const QDir folder(QStringLiteral(HALFTONE_TEST_DATA "/onnx_ops"));
    for (const QString &name : folder.entryList({"*.onnx"}))
        paths.append(folder.filePath(name.chopped(5)));
    const QDir special(
        QStringLiteral(HALFTONE_TEST_DATA "/onnx_special")); // NaN, infinities, rows without a key
    for (const QString &name :
         special.entryList({"sign_float32.onnx", "celu.onnx", "*softmax_float32*.onnx", "attention_*.onnx"}))
        paths.append(special.filePath(name.chopped(5)));
    return paths;
}

inline QStringList mxnetPaths()
{
    QStringList paths;
    for (const std::string &name : foldersIn(HALFTONE_TEST_DATA "/ops")) {
        const QString path = QStringLiteral(HALFTONE_TEST_DATA "/ops/") + QString::fromStdString(name);
        if (QFile::exists(path + "/expected-fp32.npz"))
            paths.append(path);
    }
    return paths;
}

} // namespace halftone::test
