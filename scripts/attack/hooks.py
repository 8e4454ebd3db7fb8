"""Schemathesis hooks: valid requests often name things that exist, and every answer is counted by its operation.

ATTACK_SEEDS is a JSON file {"METHOD /path": [{"path": {...}, "body": ...}]}; ATTACK_ANSWERS is the file that gets
{"METHOD /path": {"counts": {"status": count}, "last": "the last refusal of a planted request"}}.
"""

import atexit
import collections
import json
import os
import random

import schemathesis

with open(os.environ["ATTACK_SEEDS"], encoding="utf-8") as file:
    SEEDS = json.load(file)
ANSWERS = collections.defaultdict(collections.Counter)
REFUSALS = {}
PLANTED = set()
# A few valid requests stay as they are made, with ids of nothing.
KEPT = 0.2
# Of the others, most have the body that succeeds, once the operation has succeeded.
OWN_BODY = 0.6
# Streams do not end by themselves; the tool reads for so long.
STREAM_SECONDS = 1.5
DICE = random.Random(1)


def is_valid(case):
    """Broken requests keep their faults: one that is mended would be taken, against what the tool expects."""
    meta = case.meta
    if meta is None:
        return True
    parts = [meta.generation.mode, *(part.mode for part in meta.components.values())]
    return all(part.is_positive for part in parts)


def may_stream(case):
    accept = next((text for name, text in (case.headers or {}).items() if name.lower() == "accept"), "")
    return case.path.endswith(("/stream", "/events")) or "event-stream" in str(accept)


@schemathesis.hook
def before_call(context, case, kwargs):
    if may_stream(case):
        kwargs["timeout"] = STREAM_SECONDS
    seeds = SEEDS.get(case.operation.label)
    if not seeds or not is_valid(case):
        return
    succeeded = any(status.startswith("2") for status in ANSWERS[case.operation.label])
    if succeeded and DICE.random() < KEPT:
        return
    seed = DICE.choice(seeds)
    PLANTED.add(case.id)
    if "path" in seed:
        case.path_parameters = {**(case.path_parameters or {}), **seed["path"]}
    # Another tenant has none of these things, and a key that was used before repeats an old answer.
    case.query = {name: value for name, value in (case.query or {}).items() if name != "tenant"}
    for name in [name for name in (case.headers or {}) if name.lower() == "idempotency-key"]:
        del case.headers[name]
    for name, text in seed.get("headers", {}).items():
        case.headers[name] = text
    if "query" in seed:
        case.query = dict(seed["query"])
    if "body" in seed and (not succeeded or DICE.random() < OWN_BODY):
        case.body = seed["body"]
        case.media_type = "application/json"


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() == case.operation.method.upper():
        ANSWERS[case.operation.label][str(response.status_code)] += 1
        if case.id in PLANTED and response.status_code >= 400:
            REFUSALS[case.operation.label] = response.text[:300]


@atexit.register
def write_answers():
    with open(os.environ["ATTACK_ANSWERS"], "w", encoding="utf-8") as file:
        answers = {
            label: {"counts": counts, "last": REFUSALS.get(label)} for label, counts in ANSWERS.items()
        }
        json.dump(answers, file)
