#!/usr/bin/env python3
"""Compares our walks over pages with botocore's, for every paginator of the models: what is asked for page by page, and what
comes together.

    pages.py PROGRAM [--seed N] [--cases N]

PROGRAM is the test program that holds PagesBeside. Cases vary in the number of pages, empty and absent lists, absent, empty and
repeated tokens, and in what the service says of more results."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import botocore.exceptions
import botocore.loaders
import botocore.model
import botocore.paginate

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def as_list(value):
    return value if isinstance(value, list) else [value]


def put(into, path, value):
    *parents, last = path.split(".")
    for part in parents:
        into = into.setdefault(part, {})
    into[last] = value


class Case:
    def __init__(self, chance, service, operation, paginator):
        self.chance, self.service, self.operation, self.paginator = chance, service, operation, paginator
        self.tokens = as_list(paginator["output_token"])
        self.parameters = {"Given": "x"} if chance.random() < 0.3 else {}
        count = chance.randint(1, 5)
        self.answers = [self.page(i, last=i + 1 == count) for i in range(count)]

    def page(self, index, last):
        chance, answer = self.chance, {}
        for key in as_list(self.paginator["result_key"]):
            if chance.random() < 0.9:
                put(answer, key, [self.item(key, index, i) for i in range(chance.choice([0, 1, 1, 2, 3]))])
        for key in self.paginator.get("non_aggregate_keys", []):
            if chance.random() < 0.8:
                put(answer, key, f"{key} {index}")
        more = self.paginator.get("more_results")
        if more and chance.random() < 0.95:
            put(answer, more, not last)
        if not last or chance.random() < 0.1 and not more:
            for i, token in enumerate(self.tokens):
                self.put_token(answer, token, chance.choice([f"t{i}-{index}"] * 12 + ["", "same"]))
        return answer

    def item(self, key, index, i):
        return {"Key": f"{key}-{index}-{i}"} if key == "Contents" else f"{key}-{index}-{i}"

    def put_token(self, answer, token, value):
        first = token.split(" ")[0]
        if "||" not in token or self.chance.random() < 0.5:
            put(answer, first, value)

    def by_botocore(self, model):
        asked = []

        def call(**arguments):
            asked.append(arguments)
            if len(asked) > len(self.answers):
                raise IndexError
            return json.loads(json.dumps(self.answers[len(asked) - 1]))

        try:
            paginator = botocore.paginate.Paginator(call, self.paginator, model)
            whole = paginator.paginate(**self.parameters).build_full_result()
        except botocore.exceptions.PaginationError:
            return {"asked": asked, "error": "repeated_page_token"}
        except IndexError:
            return {"asked": asked, "error": "internal"}
        return {"asked": asked, "all": whole}


def plain(outcome, case):
    """Lists that never came are empty; an answer of nothing but defaults is the same as none."""
    whole = outcome.get("all")
    if whole is not None:
        for key in as_list(case.paginator["result_key"]):
            here = whole
            for part in key.split("."):
                here = here.get(part) if isinstance(here, dict) else None
            if here is None:
                put(whole, key, [])
        outcome = {**outcome, "all": {k: v for k, v in whole.items() if v is not None}}
    return outcome


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--cases", type=int, default=40, help="of each paginator")
    given = arguments.parse_args()
    loader = botocore.loaders.Loader()
    cases = []
    for file in sorted(MODELS.glob("*.json")):
        pagination = json.loads(file.read_text()).get("pagination", {})
        if not pagination:
            continue
        service = botocore.model.ServiceModel(loader.load_service_model(file.stem, "service-2"), file.stem)
        full = loader.load_service_model(file.stem, "paginators-1")["pagination"]
        for operation in pagination:
            chance = random.Random(f"{given.seed} {file.stem} {operation}")
            cases += [(Case(chance, file.stem, operation, full[operation]), service.operation_model(operation)) for _ in range(given.cases)]
    with tempfile.TemporaryDirectory() as folder:
        here, there = pathlib.Path(folder) / "in", pathlib.Path(folder) / "out"
        here.write_text("".join(json.dumps({"service": c.service, "operation": c.operation, "parameters": c.parameters, "answers": c.answers}) + "\n" for c, _ in cases))
        done = subprocess.run([given.program, "--gtest_filter=PagesBeside.*", "--gtest_brief=1"], capture_output=True, text=True,
                              env={**os.environ, "INSTANTSTART_PAGES_IN": str(here), "INSTANTSTART_PAGES_OUT": str(there)})
        lines = there.read_text().splitlines() if there.exists() else []
        if done.returncode or len(lines) != len(cases):
            sys.exit(f"{done.stdout}{done.stderr}\nthe program wrote {len(lines)} of {len(cases)} outcomes")
    failed = 0
    for (case, model), line in zip(cases, lines):
        ours, theirs = plain(json.loads(line), case), plain(case.by_botocore(model), case)
        if ours == theirs or cycle_only_we_see(ours, case):
            continue
        failed += 1
        if failed <= 5:
            print(f"FAIL {case.service} {case.operation} (seed {given.seed})\n  answers {json.dumps(case.answers)}\n  ours    {json.dumps(ours)}\n  theirs  {json.dumps(theirs)}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def cycle_only_we_see(ours, case):
    """botocore compares a token with the one before; a longer cycle we refuse, where botocore would go round for ever."""
    if ours.get("error") != "repeated_page_token":
        return False
    tokens = [tuple(json.dumps(a.get(t.split(" ")[0])) for t in case.tokens) for a in case.answers[:len(ours["asked"])]]
    return tokens[-1] in tokens[:-2]


if __name__ == "__main__":
    main()
