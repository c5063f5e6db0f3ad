#include "core/base/mapped_file.h"
#include "core/io/foreign_formats.h"
#include "core/io/model_io.h"
#include "core/io/sniff.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> samples()
{
    std::vector<fs::path> files;
    for (const auto &entry : fs::directory_iterator(HALFTONE_TEST_DATA "/foreign"))
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// "pytorch" of pytorch-2.pth.
std::string formatNameOf(const fs::path &file)
{
    const std::string stem = file.stem().string();
    return stem.substr(0, stem.find('-'));
}

const io::ForeignFormat *formatIn(const fs::path &file)
{
    const auto mapped = MappedFile::open(file.string());
    return mapped.ok() ? io::foreignFormatOf(mapped.value()->bytes()) : nullptr;
}

} // namespace

class TestForeignFormats : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachSampleIsRecognised()
    {
        std::set<std::string_view> seen;
        for (const fs::path &file : samples()) {
            const io::ForeignFormat *const found = formatIn(file);
            QVERIFY2(found != nullptr, file.c_str());
            QCOMPARE(std::string(found->name), formatNameOf(file));
            seen.insert(found->name);
        }
        QCOMPARE(seen.size(), io::foreignFormats().size()); // a file each
    }

    void loadingNamesTheFormatAndTheWayToOnnx()
    {
        for (const fs::path &file : samples()) {
            const auto loaded = io::loadModel(file.string());
            QVERIFY2(!loaded.ok(), file.c_str());
            const io::ForeignFormat &format = *formatIn(file);
            QCOMPARE(loaded.error().message(),
                     file.string() + ": " + std::string(format.title) + ", expected "
                         + std::string(format.way));
        }
    }

    void aCutFileIsNotTakenForAModel()
    {
        for (const fs::path &file : samples()) {
            const auto mapped = MappedFile::open(file.string());
            QVERIFY(mapped.ok());
            const auto bytes = mapped.value()->bytes();
            for (std::size_t size = 0; size < bytes.size(); ++size)
                io::foreignFormatOf(bytes.first(size)); // neither falls nor reads past the end
        }
    }

    void modelsThatAreReadAreNotForeign()
    {
        const fs::path sample(HALFTONE_SOURCE_DIR "/resources/sample");
        for (const char *name : {"digits.onnx", "digits-symbol.json", "digits-0000.params"})
            QVERIFY2(formatIn(sample / name) == nullptr, name);
        for (const auto &entry : fs::recursive_directory_iterator(HALFTONE_TEST_DATA "/onnx")) {
            if (entry.path().extension() == ".onnx")
                QVERIFY2(formatIn(entry.path()) == nullptr, entry.path().c_str());
        }
    }

    void foldersAreNamedByWhatTheyHold()
    {
        const QTemporaryDir held;
        const fs::path folder(held.path().toStdString());
        fs::create_directory(folder / "saved");
        std::ofstream(folder / "saved/saved_model.pb") << "x";
        fs::create_directories(folder / "net.mlpackage/Data/com.apple.CoreML");
        std::ofstream(folder / "net.mlpackage/Manifest.json") << "{}";
        QVERIFY(io::loadModel((folder / "saved").string())
                    .error()
                    .message()
                    .ends_with("a TensorFlow SavedModel, expected an ONNX model: python -m tf2onnx.convert "
                               "--saved-model FOLDER --output MODEL.onnx"));
        QCOMPARE(io::foreignFormatOfFolder((folder / "net.mlpackage").string())->name, "coreml");
        QVERIFY(io::foreignFormatOfFolder(folder.string()) == nullptr);
    }
};

QTEST_APPLESS_MAIN(TestForeignFormats)
#include "tst_foreign_formats.moc"
