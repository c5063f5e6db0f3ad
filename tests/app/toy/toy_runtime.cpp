#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

/// A runtime in one file, with the places of ONNX Runtime's table of functions that Halftone calls. It reads no model: it gives its input as its
/// output "last", and tells of the rows below whatever the model is. What the model's file contains decides what else it does:
///   toy_refuses   it refuses the model in ONNX Runtime's words
///   toy_crashes   a run ends the process
///   toy_hangs     a run never ends
/// TOY_VERSION of the environment is its version; else it is 1.22.0.
namespace {

struct Status
{
    std::string words;
};

struct Options
{
    std::string record;
};

struct Session
{
    std::string model;
    std::string record; ///< prefix of the file's name; empty: none
    int runs = 0;
};

struct Tensor
{
    std::vector<std::int64_t> dims;
    int type = 0;
    std::vector<char> bytes;
};

/// What a run tells of, in microseconds. The first run takes 1000 times as long.
struct Row
{
    const char *name;
    const char *op;
    const char *types;
    int microseconds;
};
constexpr std::array kRows{
    Row{"InsertedPrecisionFreeCast_x", "Cast", R"({"float16":[2,3]})", 3},
    Row{"first_token_4", "Relu", R"({"float":[2,3]})", 10},
    Row{"InsertedPrecisionFreeCast_third_value_nchwc", "Sigmoid", R"({"float":[2,3]})", 20},
    Row{"toy_work", "Shuffle", R"({"float":[2,3]})", 5},
    Row{"reorder", "ReorderOutput", R"({"float":[2,3]})", 2},
};

Status *none()
{
    return nullptr;
}

template <class T>
Status *give(T **place, T *made)
{
    *place = made;
    return none();
}

char *copyOf(const std::string &text)
{
    char *const copy = new char[text.size() + 1];
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

template <class T>
void release(T *object)
{
    delete object;
}

Status *createSession(const void *, const char *path, const Options *options, Session **session)
{
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    if (text.str().find("toy_refuses") != std::string::npos)
        return new Status{
            "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Frobnicate(1)\n"
            "node with name 'toy_refuses'"};
    return give(session, new Session{text.str(), options->record});
}

Status *run(Session *session, const void *, const char *const *, const Tensor *const *inputs,
            std::size_t count, const char *const *, std::size_t, Tensor **outputs)
{
    if (session->model.find("toy_crashes") != std::string::npos) {
        std::fputs("something first\nthe toy falls over\n", stderr);
        std::abort();
    }
    while (session->model.find("toy_hangs") != std::string::npos)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    ++session->runs;
    return count == 1 ? give(outputs, new Tensor(*inputs[0])) : new Status{"one input"};
}

Status *endRecord(Session *session, void *, char **path)
{
    const std::string name = session->record + "_toy.json";
    std::ofstream file(name);
    file << R"([{"cat":"Session","name":"session_initialization","ts":0,"dur":9,"args":{}})";
    int time = 10;
    for (int k = 0; k < session->runs; ++k) {
        for (const Row &row : kRows) {
            const int took = (k == 0 ? 1000 : 1) * row.microseconds;
            file << ",\n"
                 << R"({"cat":"Node","name":")" << row.name << R"(_kernel_time","ts":)" << time
                 << R"(,"dur":)" << took << R"(,"args":{"op_name":")" << row.op
                 << R"(","provider":"CPUExecutionProvider","input_type_shape":[)" << row.types << "]}}";
            time += took;
        }
        file << R"(,{"cat":"Session","name":"model_run","ts":10,"dur":)" << time << R"(,"args":{}})";
    }
    file << "]\n";
    return give(path, copyOf(name));
}

Status *createTensor(const void *, void *data, std::size_t size, const std::int64_t *dims, std::size_t rank,
                     int type, Tensor **tensor)
{
    const char *const bytes = static_cast<const char *>(data);
    return give(tensor, new Tensor{{dims, dims + rank}, type, {bytes, bytes + size}});
}

Status *dimensions(const Tensor *tensor, std::int64_t *dims, std::size_t rank)
{
    std::copy_n(tensor->dims.begin(), rank, dims);
    return none();
}

template <class Function>
const void *address(Function *function)
{
    return reinterpret_cast<const void *>(function);
}

constexpr std::size_t kPlaces = 217;

/// By place: what halftone-runtime calls, and nothing else.
std::array<const void *, kPlaces> table()
{
    static char placeholder = 0; ///< of objects that the toy has no use for
    std::array<const void *, kPlaces> places{};
    places[2] = address(+[](const Status *status) { return status->words.c_str(); });
    places[3] = address(+[](int, const char *, void **made) { return give<void>(made, &placeholder); });
    places[7] = address(createSession);
    places[9] = address(run);
    places[10] = address(+[](Options **options) { return give(options, new Options); });
    places[14] = address(+[](Options *options, const char *prefix) {
        options->record = prefix;
        return none();
    });
    places[24] = places[25] = address(+[](Options *, int) { return none(); });
    places[31] = address(+[](const Session *, std::size_t *count) {
        *count = 1;
        return none();
    });
    places[37] = address(
        +[](const Session *, std::size_t, void *, char **name) { return give(name, copyOf("last")); });
    places[49] = address(createTensor);
    places[51] = address(+[](Tensor *tensor, void **data) { return give<void>(data, tensor->bytes.data()); });
    places[60] = address(+[](const Tensor *tensor, int *type) {
        *type = tensor->type;
        return none();
    });
    places[61] = address(+[](const Tensor *tensor, std::size_t *rank) {
        *rank = tensor->dims.size();
        return none();
    });
    places[62] = address(dimensions);
    places[65]
        = address(+[](const Tensor *tensor, Tensor **facts) { return give(facts, new Tensor(*tensor)); });
    places[69] = address(+[](int, int, void **made) { return give<void>(made, &placeholder); });
    places[76] = address(+[](void *, void *memory) {
        delete[] static_cast<char *>(memory);
        return none();
    });
    places[78] = address(+[](void **made) { return give<void>(made, &placeholder); });
    places[93] = address(release<Status>);
    places[95] = address(release<Session>);
    places[96] = places[99] = address(release<Tensor>);
    places[100] = address(release<Options>);
    places[110] = address(endRecord);
    places[125] = address(+[](char ***names, int *count) {
        *count = 1;
        return give(
            names, new char *[] { copyOf("CPUExecutionProvider") });
    });
    places[126] = address(+[](char **names, int) {
        delete[] names[0];
        delete[] names;
        return none();
    });
    return places;
}

struct Base
{
    const void *const *(*api)(std::uint32_t version);
    const char *(*version)();
};

} // namespace

extern "C" const Base *OrtGetApiBase();
extern "C" const Base *OrtGetApiBase()
{
    static const std::array<const void *, kPlaces> kTable = table();
    static const Base kBase{[](std::uint32_t) { return kTable.data(); },
                            []() -> const char * {
                                const char *const given = std::getenv("TOY_VERSION");
                                return given != nullptr ? given : "1.22.0";
                            }};
    return &kBase;
}
