"""Latency on the GPU beside PyTorch's, in one run: python3 bench.py [--repeats N]

ResNet-50, MobileNet v2 and BERT-base's encoder (128 tokens) with random weights, batch 1, 8 and 32, in float32, float16 and bfloat16:
`halftone-cli profile` against PyTorch eager (channels last, as a CUDA graph), torch.compile and TensorRT, where they are there. The
limit is the roofline of an H100 in float16. A time of ours is the kernels' in the stream, copies of inputs and outputs left out, as
PyTorch's is: both replay one graph between two events.
"""
import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--repeats", type=int, default=50)
repeats = parser.parse_args().repeats
here = Path(__file__).parent
LIMITS = {"resnet50": (15, 66, 265), "mobilenetv2": (2, 5, 20), "bert": (51, 181, 725)}
BATCHES = (1, 8, 32)


def ours(name, batch, dtype):
    """(µs, µs of a whole run by the clock, kernels planned and counted, µs at the roofline), or why there is none."""
    shape = f"data={batch},128,768" if name == "bert" else f"data={batch},3,224,224"
    command = [os.environ["HALFTONE_CLI"], "profile", str(here / "networks" / f"{name}-symbol.json"), "--random-params", "1", "--shape", shape,
               "--backend", "cuda", "--repeats", str(repeats), "--json"]
    if dtype == "int8":
        command += ["--quantized"]
    elif dtype != "float32":
        command += ["--target", dtype, "--cast-params"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()[-200:]
    found = json.loads(done.stdout)
    device = [layer for layer in found["layers"] if not layer["kernel"].startswith("copy to")]
    launches = found.get("launches", {"planned": len(device), "measured": None})
    if "device_ms" not in found:
        return "a part of it has no kernel on the device"
    return (1000 * found["device_ms"], 1000 * found["median_ms"], launches["planned"], launches["measured"],
            sum(layer.get("limit_us", 0) for layer in device))


def torch_networks():
    import torch
    from torch import nn

    def conv(i, o, k, s=1, g=1, act=nn.ReLU):
        return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o), *([act()] if act else []))

    class Sum(nn.Module):
        def __init__(self, body, skip, act):
            super().__init__()
            self.body, self.skip, self.act = body, skip, act

        def forward(self, x):
            return self.act(self.body(x) + self.skip(x))

    def resnet():
        parts, i = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for stage, (blocks, w) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
            for b in range(blocks):
                s = 2 if stage and b == 0 else 1
                body = nn.Sequential(conv(i, w, 1), conv(w, w, 3, s), conv(w, 4 * w, 1, act=None))
                parts.append(Sum(body, conv(i, 4 * w, 1, s, act=None) if b == 0 else nn.Identity(), nn.ReLU()))
                i = 4 * w
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

    def mobilenet():
        parts, i = [conv(3, 32, 3, 2, act=nn.ReLU6)], 32
        for t, o, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for k in range(n):
                step = s if k == 0 else 1
                body = nn.Sequential(*([conv(i, t * i, 1, act=nn.ReLU6)] if t > 1 else []), conv(t * i, t * i, 3, step, t * i, nn.ReLU6),
                                     conv(t * i, o, 1, act=None))
                parts.append(Sum(body, nn.Identity(), nn.Identity()) if step == 1 and i == o else body)
                i = o
        return nn.Sequential(*parts, conv(320, 1280, 1, act=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))

    def bert():
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        return nn.Sequential(nn.LayerNorm(768), nn.TransformerEncoder(layer, 12))

    return torch, {"resnet50": resnet, "mobilenetv2": mobilenet, "bert": bert}


def graph_time(torch, model, x):
    """Median µs of a run that was captured as a CUDA graph."""
    with torch.inference_mode():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
        times = []
        for _ in range(repeats):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(1000 * begin.elapsed_time(end))
    return statistics.median(times)


def peers(torch, make, name, batch, dtype):
    model = make().eval().cuda().to(getattr(torch, dtype))
    shape = (batch, 128, 768) if name == "bert" else (batch, 3, 224, 224)
    x = torch.randn(shape, device="cuda", dtype=getattr(torch, dtype))
    if name != "bert":
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    found = {}
    for peer, prepare in (("eager", lambda m: m), ("compile", torch.compile), ("tensorrt", with_tensorrt(torch, x))):
        try:
            found[peer] = graph_time(torch, prepare(model), x)
        except Exception as error:  # a peer that is not there, or does not take the network, is told and left out
            print(f"  {peer}: {str(error).splitlines()[0][:120] if str(error) else type(error).__name__}")
    return found


def with_tensorrt(torch, x):
    def prepare(model):
        import torch_tensorrt

        return torch_tensorrt.compile(model, inputs=[x], enabled_precisions={x.dtype})

    return prepare


def main():
    try:
        torch, networks = torch_networks()
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    except ImportError as error:
        print(f"PyTorch is not there ({error}): ours alone")
        torch, networks = None, dict.fromkeys(LIMITS)
    worst = 0.0
    for name, make in networks.items():
        for dtype in ("float32", "float16", "bfloat16", "int8"):
            for batch, limit in zip(BATCHES, LIMITS[name]):
                result = ours(name, batch, dtype)
                if isinstance(result, str):
                    print(f"{name} {dtype} x{batch}: {result}")
                    worst = float("inf")
                    continue
                time, whole, planned, measured, roofline = result
                found = peers(torch, make, name, batch, dtype) if torch and dtype != "int8" else {}
                best = min(found.values(), default=float("nan"))
                row = "  ".join(f"{peer} {value:.0f}" for peer, value in found.items())
                print(f"{name} {dtype} x{batch}: {time:.0f} µs ({whole:.0f} with copies, by the clock), {planned} kernels planned, "
                      f"{measured} counted; roofline {roofline:.0f} µs, limit in float16 {limit}; {row}; ratio to the best {time / best:.2f}", flush=True)
                if dtype in ("float16", "bfloat16") and found:
                    worst = max(worst, time / best)
    print(f"worst ratio in 16 bits: {worst:.2f}, wanted 1.00")
    raise SystemExit(0 if worst <= 1.0 else 1)


main()
