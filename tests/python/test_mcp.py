"""`halftone-cli mcp` with the client of the package mcp."""
import asyncio
import json

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from conftest import ALL_FLOAT16, CLI, DIGITS, MODEL, SAMPLE, call_cli, steady


def with_client(folder, use):
    """Runs `use` with a session whose server has the sample's folder and `folder`."""

    async def run():
        parameters = StdioServerParameters(command=CLI, args=["mcp", str(SAMPLE), str(folder)])
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            return await use(session)

    return asyncio.run(run())


def test_the_tools_and_their_schemas(tmp_path):
    async def use(session):
        return await session.list_tools()

    tools = {tool.name: tool.model_dump(by_alias=True) for tool in with_client(tmp_path, use).tools}
    assert tools.keys() == {"info", "convert", "compare", "profile", "verify", "tune", "quantize"}
    assert tools["convert"]["inputSchema"]["required"] == ["model", "out"]


def test_every_tool(bfloat16, tmp_path):
    digits = {"model": "digits.onnx", "inputs": "digits-test.npz"}
    calls = {
        "info": {"model": "digits.onnx"},
        "convert": {"model": "digits.onnx", "target": "float16", "out": str(tmp_path / "half")},
        "compare": {**digits, "policy": str(ALL_FLOAT16)},
        "profile": {"model": "digits.onnx", "shape": ["data=1,1,8,8"], "repeats": 3},
        "verify": {"model": "digits.onnx"},
        "tune": {**digits, "target": bfloat16, "examples": 32, "limit": "sqnr=30", "time": "5s", "points": 2, "out": str(tmp_path / "front.json")},
        "quantize": {**digits, "form": "qdq", "out": str(tmp_path / "int8")},
    }

    async def use(session):
        return {name: await session.call_tool(name, arguments) for name, arguments in calls.items()}

    results = {name: result.model_dump(by_alias=True) for name, result in with_client(tmp_path, use).items()}
    for name, result in results.items():
        assert not result["isError"], (name, result["content"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert results["info"]["structuredContent"] == call_cli("info", MODEL)
    compared = results["compare"]["structuredContent"]
    assert steady(compared) == steady(call_cli("compare", MODEL, "--inputs", DIGITS, "--policy", ALL_FLOAT16))
    assert (tmp_path / "half.onnx").exists() and (tmp_path / "int8.onnx").exists()


def test_errors_are_results(tmp_path):
    async def use(session):
        return [await session.call_tool("convert", {"model": "digits.onnx", "fp32_op": ["Sofmax"], "out": str(tmp_path / "m")}),
                await session.call_tool("info", {"model": "/etc/passwd"})]

    misspelt, outside = (result.model_dump(by_alias=True) for result in with_client(tmp_path, use))
    assert misspelt["isError"] and "Softmax" in misspelt["content"][0]["text"]
    assert outside["isError"] and str(SAMPLE) in outside["content"][0]["text"]


def test_progress(tmp_path):
    seen = []

    async def use(session):
        async def report(progress, total, message):
            seen.append((progress, total, message))

        return await session.call_tool("compare", {"model": "digits.onnx", "inputs": "digits-test.npz", "target": "float16"},
                                       progress_callback=report)

    with_client(tmp_path, use)
    assert seen and all(0 < progress <= total == 1 for progress, total, _ in seen)
    assert [progress for progress, _, _ in seen] == sorted(progress for progress, _, _ in seen)
