"""The files that ``evaltui init`` writes: a study that runs as it stands, with a sentence for each key."""

from __future__ import annotations

import json
from typing import Final

STUDY: Final = """\
# A study file. It runs on the built-in simulator as it stands: evaltui run study.toml
# To measure a model of your own, replace the endpoint and the model names, then: evaltui check study.toml

[study]
name = "first-study"          # a study of the same name and pins that is not finished is continued
repeats = 10                  # how often each arm runs over all items; 8 to 12 make a band that can be quoted
# warmup = 1                  # runs of each arm before the first repeat: recorded, and left out of every number
baseline = "baseline"         # the arm that every other arm is compared with
order_seed = 7                # one random order of the items, the same in every run and arm
schedule = "interleaved"      # arms take turns item by item and so see the same weather; or "sequential"
concurrency = 8               # calls in flight, a fixed number that is recorded
# max_cost = 5.0              # the study stops cleanly before it spends more
max_errors = 0.2              # the study pauses when more than this share of the last 50 calls failed
missing = { default = "exclude", parse_failure = "fail" }   # what a cell without a score counts as
missing_limit = 0.02          # runs that lost more than this share of their items are marked
disclosure = ""               # who built the system, the data set and the scorer; opens every report

[pins]                        # free-form: whatever else was held fixed
hardware = "simulated"        # GPU type, parallelism, tool permissions, a corpus

[dataset]
path = "items.jsonl"          # JSONL, JSON or CSV, relative to this file
id = "id"                     # items without an id get one made from their content
gold = "answer"               # the field with the right answer
category = "topic"            # the field to break scores down by
# cluster = "passage"         # the field that groups items which share a text
# encoding = "cp1252"         # only for files that are not UTF-8
# delimiter = ";"             # only for CSV files without commas

[endpoints.main]
kind = "simulator"            # a model with known noise, inside the engine
timeout_s = 10                # the deadline of one whole call
retries = 3                   # additional attempts for one answer, each recorded
price = { input = 0.5, output = 1.5 }   # per million tokens, so that the study is priced before it starts

[endpoints.main.simulator]
seed = 1                      # the same seed gives the same answers
latency_s = 0.2               # the median time of an answer
effects = { candidate = 0.0 } # the true difference of an arm; 0.02 is two points
faults = { timeout = 0.003, rate_limit = 0.01, unparsable = 0.005 }   # the probability of each, per call

# A real endpoint instead (vLLM, llama.cpp, Ollama or a hosted one):
# [endpoints.main]
# kind = "openai"
# base_url = "http://127.0.0.1:8000/v1"
# api_key_env = "OPENAI_API_KEY"   # the NAME of the environment variable; the key is never written in a file

[arms.baseline]
endpoint = "main"             # one of the endpoints above
model = "simulated-1"         # better a dated snapshot than an alias that may change
prompt = "prompts/baseline.txt"   # {{field}} stands for a field of the item
# system = "prompts/system.txt"
temperature = 0.7             # leave nothing to the server's defaults: they change
top_p = 1.0                   # no cut of unlikely words
max_tokens = 200              # an answer that reaches this is counted as truncated, not as wrong
seed = "none"                 # "none", a number, "per-repeat" or "per-item"; a hint to the server, never a promise
# extra_body = { response_format = { type = "json_object" } }   # sent with every call

[arms.candidate]
extends = "baseline"          # what is not said here is taken from there
prompt = "prompts/candidate.txt"   # the only difference here

[scorers.number]
kind = "numeric"              # exact, contains, regex, choice, numeric, json, json_schema, python or command
tolerance = 0.0               # with several scorers, one of them says primary = true
"""

ITEMS: Final = (
    ("shopping-1", "Mia buys 3 pens at 4 dollars each and pays with 20 dollars. How much comes back?", "8"),
    ("shopping-2", "A bag of rice costs 7 dollars. How much do 6 bags cost?", "42"),
    ("shopping-3", "Tom has 50 dollars and buys two books at 13 dollars each. How much is left?", "24"),
    ("distance-1", "A train runs 3 hours at 80 km an hour. How many km is that?", "240"),
    ("distance-2", "Lea walks 5 km an hour for 2 hours, then another 3 km. How many km in all?", "13"),
    ("distance-3", "A ferry crosses a 4 km strait 6 times a day. How many km is that?", "24"),
    ("ages-1", "Ravi is 12. His sister is 5 years older. How old will she be in 4 years?", "21"),
    ("ages-2", "Nora is 30 and her son is 6. How old was she when he was born?", "24"),
    ("percent-1", "A lamp costs 80 dollars and is 25 % off. What does it cost now?", "60"),
    ("percent-2", "Of 200 seats 15 % are empty. How many seats are taken?", "170"),
    ("sharing-1", "45 cards are shared equally among 9 children. How many does each get?", "5"),
    ("sharing-2", "4 friends share 3 pizzas of 8 slices each. How many slices does each get?", "6"),
)

BASELINE: Final = "{{question}}\nEnd with the number alone.\n"
CANDIDATE: Final = "Think step by step.\n\n{{question}}\n\nWrite the number alone on the last line.\n"


def starter_files() -> dict[str, str]:
    """The files to start from, as text by name relative to one folder; the study file comes first."""
    rows = (
        {"id": id, "question": question, "answer": answer, "topic": id.partition("-")[0]}
        for id, question, answer in ITEMS
    )
    return {
        "study.toml": STUDY,
        "items.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "prompts/baseline.txt": BASELINE,
        "prompts/candidate.txt": CANDIDATE,
    }
