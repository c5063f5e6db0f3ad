#!/usr/bin/env python3
"""Shortens the raw facts on MXNet's operators to what the tests compare: make_operators_probed.py RAW.json > operators_probed.json"""

import json
import sys


def word(answer):
    """"error: …" is a refusal, but one that only says that the output has another type than both is "other"."""
    if not answer.startswith("error"):
        return answer
    return "other" if "Incompatible attr" in answer else "error"


def probed(facts):
    instance = facts["instance"]
    entry = {"attributes": instance["attrs"], "inputs": instance["inputs"], "aux": instance["aux_states"],
             "outputs": instance["num_outputs"], "visible": instance["visible_outputs"]}
    if None not in (facts.get("cast_name_suffixes") or [None]):
        entry["suffixes"] = facts["cast_name_suffixes"]
    spread = facts.get("type_spread")
    if spread:
        target = spread["as_target"]
        entry["as_target"] = "error" if "error" in target else {"cast": target["cast_inputs"], "outputs": target["outputs"]}
        for key in ("neutral_target", "neutral_fp32"):
            entry[key] = [word(answer) for answer in spread[key]]
    return entry


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        raw = json.load(file)["ops"]
    lines = [json.dumps(op) + ":" + json.dumps(probed(facts), separators=(",", ":"))
             for op, facts in sorted(raw.items()) if "instance" in facts]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
