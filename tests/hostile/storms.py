"""What comes at random: kills, races, cuts, flipped bits, signals, too little memory. The seed decides all but the moment."""

import concurrent.futures
import hashlib
import os
import pathlib
import random
import shutil
import signal
import tempfile
import time

import calls
import models


class Setting:
    def __init__(self, cli, work, is_long, seed):
        self.cli = cli
        self.work = work
        self.is_long = is_long
        self.seed = seed
        self.shared = os.environ.get("HALFTONE_SHARED") if is_long else None

    def random(self, name):
        return random.Random(f"{self.seed} {name}")

    def count(self, in_ci, by_hand):
        return by_hand if self.is_long else in_ci

    def folder(self):
        return tempfile.TemporaryDirectory(dir=self.work)


def digest(*paths):
    """Of files; None where one is missing."""
    total = hashlib.sha256()
    for path in paths:
        if not pathlib.Path(path).exists():
            return None
        total.update(pathlib.Path(path).read_bytes())
    return total.hexdigest()


def temporaries(folder):
    return [name for name in os.listdir(folder) if name.startswith(".halftone") and name.endswith(".tmp")]


def convert(setting, out, dtype):
    return [setting.cli, "convert", setting.work / "large-symbol.json", "--target", dtype, "--cast-params", "--out", out]


def pair(out):
    return f"{out}-symbol.json", f"{out}-0000.params"


def both_pairs(setting, folder):
    """What the conversions to float16 and bfloat16 are, and how long one takes."""
    digests = []
    began = time.monotonic()
    for dtype in ("float16", "bfloat16"):
        out = folder / dtype
        calls.call(convert(setting, out, dtype))
        digests.append(digest(*pair(out)))
    return digests, (time.monotonic() - began) / 2


def pair_fault(setting, out, right, what):
    """A pair is one of the two, or the program itself says that it is none."""
    if digest(*pair(out)) in right:
        return None
    asked = calls.call([setting.cli, "info", pair(out)[0]])
    if asked.code in (1, 3) and asked.told():
        return None
    return f"{what}: a mixed pair is accepted: {asked}"


def kills(setting):
    chance = setting.random("kills")
    count = setting.count(12, 300)
    faults = []
    with setting.folder() as name:
        folder = pathlib.Path(name)
        right, took = both_pairs(setting, folder)
        out = folder / "out"
        calls.call(convert(setting, out, "float16"))
        for k in range(count):
            process = calls.start(convert(setting, out, ("bfloat16", "float16")[k % 2]))
            time.sleep(chance.uniform(0, 1.1 * took))
            process.kill()
            process.communicate()
            faults.append(pair_fault(setting, out, right, f"kill {k}"))
        done = calls.call(convert(setting, out, "float16"))
        if done.code != 0 or temporaries(folder):
            faults.append(f"after all kills: {done}, left {temporaries(folder)}")
    return count, [fault for fault in faults if fault]


def races(setting):
    """Two writers of one pair, or a writer and a reader."""
    count = setting.count(8, 200)
    faults = []
    with setting.folder() as name:
        folder = pathlib.Path(name)
        right, _ = both_pairs(setting, folder)
        out = folder / "out"
        calls.call(convert(setting, out, "float16"))
        for k in range(count):
            first = convert(setting, out, "bfloat16")
            second = convert(setting, out, "float16") if k % 2 == 0 else [
                setting.cli, "run", pair(out)[0], "--inputs", setting.work / "large.npz", "--examples", 1, "--batch", 1]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                ended = list(pool.map(lambda command: calls.call(command, 60), (first, second)))
            faults += [f"race {k}: {outcome}" for outcome in ended if not outcome.told()]
            faults.append(pair_fault(setting, out, right, f"race {k}"))
        if temporaries(folder):
            faults.append(f"left {temporaries(folder)}")
    return count, [fault for fault in faults if fault]


def cuts(setting):
    """Parameters that become shorter while they are mapped: the right values, or an error."""
    chance = setting.random("cuts")
    count = setting.count(12, 200)
    faults = []
    with setting.folder() as name:
        folder = pathlib.Path(name)
        symbol, params, inputs = folder / "m-symbol.json", folder / "m-0000.params", setting.work / "large.npz"
        shutil.copy(setting.work / "large-symbol.json", symbol)
        original = (setting.work / "large-0000.params").read_bytes()
        commands = {
            "convert": ["convert", symbol, "--target", "float16", "--cast-params", "--out", folder / "o"],
            "run": ["run", symbol, "--inputs", inputs, "--examples", 1, "--batch", 1, "--out", folder / "o.npz"],
        }
        written = {"convert": pair(folder / "o"), "run": (folder / "o.npz",)}
        right, took = {}, {}
        params.write_bytes(original)
        for command, call in commands.items():
            began = time.monotonic()
            calls.call([setting.cli, *call])
            right[command], took[command] = digest(*written[command]), time.monotonic() - began
        for k in range(count):
            command = ("convert", "run")[k % 2]
            for path in written[command]:
                pathlib.Path(path).unlink(missing_ok=True)
            params.write_bytes(original)
            process = calls.start([setting.cli, *commands[command]])
            began = time.monotonic()
            time.sleep(chance.uniform(0, took[command]))
            os.truncate(params, chance.randrange(len(original)))
            ended = calls.finish(process, began, 30)
            if not ended.told() or (ended.code == 0 and digest(*written[command]) != right[command]):
                faults.append(f"cut {k}, {command}: {ended}")
    return count, faults


def truncations(setting):
    """Files that end too soon."""
    chance = setting.random("truncations")
    count = setting.count(24, 200)
    faults = []
    with setting.folder() as name:
        folder = pathlib.Path(name)
        names = ["tiny-symbol.json", "tiny-0000.params", "tiny.npz"]
        for k in range(count):
            for file in names:
                shutil.copy(setting.work / file, folder / file)
            victim = folder / names[k % 3]
            os.truncate(victim, chance.randrange(victim.stat().st_size))
            ended = calls.call([setting.cli, "run", folder / names[0], "--inputs", folder / names[2]])
            if not ended.told() or ended.code == 0:
                faults.append(f"truncation {k}, {victim.name} at {victim.stat().st_size}: {ended}")
    return count, faults


def flips(setting):
    """One bit: an error, or, in the inputs, whose checksum is there to be compared, the same values."""
    chance = setting.random("flips")
    count = setting.count(24, 200)
    faults = []
    with setting.folder() as name:
        folder = pathlib.Path(name)
        names = ["tiny.npz", "tiny-0000.params", "tiny-symbol.json"]
        out = folder / "o.npz"
        command = [setting.cli, "run", folder / "tiny-symbol.json", "--inputs", folder / "tiny.npz", "--out", out]
        right = None
        for k in range(-1, count):
            for file in names:
                shutil.copy(setting.work / file, folder / file)
            out.unlink(missing_ok=True)
            victim = folder / names[max(k, 0) % 3]
            if k >= 0:
                content = bytearray(victim.read_bytes())
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
                victim.write_bytes(content)
            ended = calls.call(command)
            right = digest(out) if k < 0 else right
            other = ended.code == 0 and victim.name.endswith(".npz") and digest(out) != right
            if not ended.told() or other:
                faults.append(f"flip {k}, {victim.name}: {'other values, ' if other else ''}{ended}")
    return count, faults


def long_calls(setting, folder):
    """Calls that take longer than anybody waits here, or nearly so."""
    work = setting.work
    model, data = work / "large-symbol.json", work / "large.npz"
    chain, vector = work / "chain-symbol.json", work / "vector.npz"
    return [
        ["run", model, "--inputs", data, "--backend", "reference", "--outputs", "all", "--out", folder / "o.npz"],
        ["run", model, "--inputs", data, "--batch", 1, "--backend", "reference"],
        ["compare", model, "--target", "float16", "--inputs", data, "--backend", "reference"],
        ["calibrate", model, "--inputs", data, "--backend", "reference", "--method", "entropy", "--out", folder / "t.json"],
        ["quantize", model, "--inputs", data, "--backend", "reference", "--out", folder / "q"],
        ["profile", model, "--shape", "data=8,3,64,64", "--repeats", 100000],
        ["calibrate", chain, "--inputs", vector, "--method", "mse"],
        ["run", chain, "--inputs", vector, "--outputs", "all", "--out", folder / "c.npz"],
        ["convert", chain, "--target", "float16", "--out", folder / "n"],
        ["report", chain, "--out", folder / "r.html"],
        ["layout", chain, "--json"],
        ["info", chain, "--json"],
    ]


def signals(setting):
    """The first one ends any command within a second, and none leaves anything behind."""
    chance = setting.random("signals")
    count = setting.count(24, 144)
    patience = 1.0 if setting.is_long else 2.5  # of a machine that does other things besides
    faults = []
    worst = 0
    with setting.folder() as name:
        folder = pathlib.Path(name)
        commands = long_calls(setting, folder)
        for k in range(count):
            kind = (signal.SIGINT, signal.SIGTERM)[k // len(commands) % 2]
            again = 0.05 if k // len(commands) % 3 == 2 else None
            command = [setting.cli, *commands[k % len(commands)]]
            ended = calls.interrupt(command, chance.uniform(0.02, 1), 20, kind, again)
            # Before the program has begun to listen a signal ends it as it ends any other.
            early = ended.code == -kind and not ended.hung
            worst = max(worst, ended.seconds)
            if ended.seconds > patience or not (early or ended.told()):
                faults.append(f"signal {k}, {command[1]}: {ended}")
            if temporaries(folder):
                faults.append(f"signal {k}, {command[1]}: left {temporaries(folder)}")
    print(f"     the slowest end took {worst:.2f} s")
    return count, faults


def tight_memory(setting):
    """Address spaces from what the program can hardly begin in up to what it needs."""
    work = setting.work
    model, data = work / "large-symbol.json", work / "large.npz"
    if setting.shared:
        folder = pathlib.Path(setting.shared) / "models/mobilenetv2-mxnet"
        model, data = folder / "mobilenetv2-symbol.json", work / "picture.npz"
        models.write_zeros_npz(data, "data", (1, 3, 224, 224))
    sizes = range(40, 320, setting.count(90, 5))
    one = ["--examples", 1]
    with setting.folder() as name:
        commands = [
            ["info", model],
            ["convert", model, "--target", "float16", "--cast-params", "--out", pathlib.Path(name) / "c{size}"],
            ["run", model, "--inputs", data, *one],
            ["run", work / "tiny-symbol.json", "--inputs", work / "tiny.npz", "--backend", "reference", "--batch", 1],
            ["calibrate", model, "--inputs", data, "--method", "entropy", "--batch", 1, *one],
            ["compare", model, "--target", "float16", "--inputs", data, *one],
            ["quantize", model, "--inputs", data, *one, "--out", pathlib.Path(name) / "q{size}"],
            ["profile", model, "--shape", "data=1,3,64,64", "--repeats", 1],
        ]
        tried = [(size, command) for size in sizes for command in commands
                 if calls.call([setting.cli, "--version"], address_space=size).code == 0]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            # Each size has its own output: with two calls at once, the one before may still be writing.
            ended = pool.map(lambda one: calls.call([setting.cli, *(str(word).format(size=one[0]) for word in one[1])], 60, one[0]), tried)
            faults = [f"{size} MiB, {command[0]}: {outcome}" for (size, command), outcome in zip(tried, ended)
                      if not outcome.told() or outcome.code not in (0, 3)]
    return len(tried), faults


ALL = {"kills": kills, "races": races, "cuts": cuts, "truncations": truncations, "flips": flips, "signals": signals,
       "tight memory": tight_memory}
