#include "app/runtime/serve.h"

#include "core/base/guarded.h"
#include "core/runtimes/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

namespace halftone::served {
namespace {

using runtimes::Message;
using runtimes::numberOf;
using runtimes::textOf;
using Bodies = std::vector<std::span<const std::byte>>;

/// What one request is answered with.
struct Answer
{
    OrderedJson head = OrderedJson::object();
    Bodies body{};
    std::string text{}; ///< what `body` may lie in
};

/// The folder of the model that was opened, which goes with the parent; this process removes it where the parent could not.
class ModelFolder
{
public:
    void set(const std::string &model)
    {
        const std::scoped_lock lock(m_mutex);
        m_folder = std::filesystem::path(model).parent_path();
    }
    void remove()
    {
        const std::scoped_lock lock(m_mutex);
        std::error_code none;
        if (m_folder.filename().string().starts_with("halftone-runtime-"))
            std::filesystem::remove_all(m_folder, none);
    }

private:
    std::mutex m_mutex;
    std::filesystem::path m_folder;
};

ModelFolder &modelFolder()
{
    static ModelFolder folder;
    return folder;
}

Result<void> readAll(int channel, std::span<std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t got = ::recv(channel, bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return cancelled();
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

Result<void> writeAll(int channel, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t sent = ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return cancelled();
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return {};
}

tensor::DType typeIn(const OrderedJson &head, const char *key)
{
    return tensor::dtypeNamed(textOf(head, key)).value_or(tensor::DType::Unknown);
}

/// Values that lie in the message, which outlives them.
Result<std::vector<Value>> inputsOf(const Message &message)
{
    std::vector<Value> inputs;
    std::span<const std::byte> left = message.body;
    const auto rows = message.head.find("inputs");
    if (rows == message.head.end() || !rows->is_array())
        return inputs;
    for (const OrderedJson &row : *rows) {
        Value input;
        input.name = textOf(row, "name");
        input.type = typeIn(row, "dtype");
        for (const OrderedJson &extent : row.at("dims"))
            input.dims.push_back(extent.get<std::int64_t>());
        const auto size = static_cast<std::size_t>(numberOf(row, "bytes"));
        if (size > left.size())
            return badInput("message", "a body that is too short");
        input.bytes = left.first(size);
        left = left.subspan(size);
        inputs.push_back(std::move(input));
    }
    return inputs;
}

Result<Answer> opened(Engine &engine, const Message &message)
{
    OpenRequest request;
    request.model = textOf(message.head, "model");
    modelFolder().set(request.model);
    request.threads = static_cast<int>(numberOf(message.head, "threads"));
    request.provider = textOf(message.head, "provider");
    request.precision = typeIn(message.head, "precision");
    HALFTONE_CHECK(engine.open(request));
    return Answer{{{"version", engine.version()}}};
}

Result<Answer> ran(Engine &engine, const Message &message)
{
    HALFTONE_TRY(const std::vector<Value> inputs, inputsOf(message));
    HALFTONE_TRY(const Run run, engine.run(inputs));
    Answer answer{{{"ms", run.milliseconds}, {"outputs", OrderedJson::array()}}};
    for (const Value &value : run.outputs) {
        answer.head["outputs"].push_back(
            {{"dtype", tensor::nameOf(value.type)}, {"dims", value.dims}, {"bytes", value.bytes.size()}});
        answer.body.push_back(value.bytes);
    }
    return answer;
}

Result<Answer> recorded(Engine &engine, const Message &message)
{
    HALFTONE_TRY(const std::vector<Value> inputs, inputsOf(message));
    Answer answer;
    HALFTONE_TRY(answer.text,
                 engine.record(inputs, static_cast<std::size_t>(numberOf(message.head, "runs"))));
    return answer;
}

Result<Answer> answerTo(Engine &engine, const Message &message)
{
    const std::string what = textOf(message.head, "do");
    if (what == "open")
        return opened(engine, message);
    if (what == "run")
        return ran(engine, message);
    if (what == "time")
        return recorded(engine, message);
    HALFTONE_TRY(const std::vector<std::string> names, engine.providers());
    return Answer{{{"names", names}, {"version", engine.version()}}};
}

bool send(Answer answer, int channel)
{
    if (!answer.text.empty())
        answer.body.push_back(std::as_bytes(std::span(answer.text)));
    const auto write = [channel](std::span<const std::byte> bytes) { return writeAll(channel, bytes); };
    return runtimes::writeMessage(answer.head, answer.body, write).ok();
}

Answer answerOf(const Error &error)
{
    return Answer{{{"error", error.found + (error.expected.empty() ? "" : ", expected " + error.expected)}}};
}

Result<Message> request(int channel)
{
    return runtimes::readMessage([channel](std::span<std::byte> bytes) { return readAll(channel, bytes); });
}

} // namespace

void serve(Engine &engine, int channel)
{
    for (auto message = request(channel); message.ok(); message = request(channel)) {
        auto answer = guarded([&] { return answerTo(engine, message.value()); });
        if (!send(answer.ok() ? std::move(answer).value() : answerOf(answer.error()), channel))
            break;
    }
    modelFolder().remove();
}

void refuse(const Error &error, int channel)
{
    if (request(channel).ok())
        send(answerOf(error), channel);
}

void endWithParent(int channel)
{
    std::thread([channel] {
        pollfd polled{channel, POLLRDHUP, 0};
        while (::poll(&polled, 1, -1) < 0 && errno == EINTR) { }
        modelFolder().remove();
        ::_exit(0);
    }).detach();
}

} // namespace halftone::served
