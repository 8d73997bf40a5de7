"""Policy files: what they may say, what they owe, and what becomes of one that is wrong, hostile or hopeless."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from impl.checks import I64_MAX, I64_MIN
from impl.jobs import Job
from model.__main__ import main
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.policy.file import RESPECT, Policy, PolicyError, load
from model.symbolic.findings import Finding, Judgement, exit_code
from model.symbolic.judge import judge
from model.symbolic.promises import ENDS, Judge
from model.symbolic.urgency import judge_urgency
from tests.sources import made

POLICIES = Path(__file__).resolve().parent.parent / "examples" / "policies"
BY = Judge(shipped=False)
DECIDE = "def decide(warm, demand, idle_sec, ttl_sec):\n    "
SAME = "return (1 if warm == 0 else 2) if demand else 3 if warm == 1 and idle_sec >= ttl_sec else 0\n"


def written(folder: Path, source: str) -> Path:
    path = folder / "policy.py"
    path.write_text(source)
    return path


def urgency(source: str) -> Judgement:
    text = source if "def " in source else f"def urgency(job):\n    return {source}\n"
    return judge_urgency(made(text, "urgency"), BY)


def verdicts(judgement: Judgement) -> dict[str, set[str]]:
    names = dict.fromkeys(finding.about for finding in judgement.findings)
    return {name: {each.verdict for each in judgement.findings if each.about == name} for name in names}


def found(judgement: Judgement, name: str) -> Finding:
    return next(finding for finding in judgement.findings if finding.about == name)


# Loading


def test_a_policy_may_define_either_function_or_both(tmp_path: Path) -> None:
    both = load(written(tmp_path, f"def urgency(job):\n    return 1\n{DECIDE}return 0\nWAIVES = ('rest_at_zero',)\n"))
    assert both.urgency is not None
    assert both.decide is not None
    assert both.waives == {"rest_at_zero"}
    assert load(written(tmp_path, "urgency = lambda job: job.priority\n")).decide is None
    assert load(written(tmp_path, f"{DECIDE}return 0\n")).urgency is None


UNUSABLE = [
    ("def urgency(job:\n", "does not parse: line 1"),
    ("x = 1\0\n", "does not parse"),
    ("x = 1\n", "defines neither urgency(job) nor decide(warm, demand, idle_sec, ttl_sec)"),
    ("urgency = 3\n", "urgency is 3, expected urgency(job)"),
    ("def urgency():\n    return 1\n", "the signature is urgency(), expected urgency(job)"),
    ("def urgency(job, more):\n    return 1\n", "the signature is urgency(job, more)"),
    ("def urgency(*jobs):\n    return 1\n", "the signature is urgency(*jobs)"),
    ("def urgency(*, job):\n    return 1\n", "expected urgency(job)"),
    ("def urgency(job=None):\n    return 1\n", "the signature is urgency(job=None)"),
    ("urgency = dict\n", "urgency"),
    ("def decide(warm, demand, idle_sec):\n    return 1\n", "the signature is decide(warm, demand, idle_sec)"),
    ("def decide(warm, demand, idle_sec, ttl_sec, history):\n    return 1\n", "defaults for any further parameter"),
    ("def decide(demand, warm, idle_sec, ttl_sec):\n    return 1\n", "decide has other parameters than expected"),
    (f"{DECIDE}return 0\nWAIVES = 'rest_at_zero'\n", "WAIVES is 'rest_at_zero', expected a tuple of names"),
    (f"{DECIDE}return 0\nWAIVES = (3,)\n", "WAIVES is (3,), expected a tuple of names"),
    (f"{DECIDE}return 0\nWAIVES = ('rest',)\n", "WAIVES names rest; the properties are "),
    (f"{DECIDE}return 0\nWAIVES = ('no_work_is_lost',)\n", "WAIVES names no_work_is_lost"),
    (f"{DECIDE}return 0\nWAIVES = ('equals_the_specification',)\n", "WAIVES names equals_the_specification"),
    ("def urgency(job):\n    return 1\nWAIVES = ('rest_at_zero',)\n", "WAIVES names rest_at_zero"),
]


@pytest.mark.parametrize(("source", "why"), UNUSABLE, ids=lambda each: str(each)[:50])
def test_an_unusable_file_is_a_usage_error_in_one_line(
    source: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, source)
    assert main(["table", "--policy", str(path)]) == USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"table: {path}: ")
    assert why in captured.err
    assert captured.err.count("\n") == 1


def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    for path in (tmp_path / "none.py", tmp_path, tmp_path / "latin.py", tmp_path / "nul\0.py"):
        with pytest.raises(PolicyError, match="cannot be read") as caught:
            load(path)
        assert caught.value.code == USAGE


@pytest.mark.parametrize(
    "source",
    [
        "1 / 0\n",
        "import no_such_module\n",
        "raise SystemExit(0)\n",
        "raise BaseException('x')\n",
        "def urgency(job: Absent): ...\n",
    ],
)
def test_a_file_that_raises_when_it_is_loaded_is_undetermined(source: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"it raises .* when it is loaded") as caught:
        load(written(tmp_path, source))
    assert caught.value.code == UNDETERMINED


def test_a_file_that_does_not_end_when_it_is_loaded_is_undetermined(tmp_path: Path) -> None:
    for source in ("while True:\n    pass\n", "import time\ntime.sleep(60)\n"):
        with pytest.raises(PolicyError, match="does not end when it is loaded") as caught:
            load(written(tmp_path, source), seconds=0.2)
        assert caught.value.code == UNDETERMINED


def test_what_a_policy_prints_does_not_mix_with_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "print('hello')\nurgency = lambda job: job.priority\n")
    assert main(["table", "--policy", str(path), "--json"]) == HOLDS
    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] == "holds"
    assert captured.err == "hello\n"


def test_a_policy_may_define_dataclasses(tmp_path: Path) -> None:
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    n: int\n"
    assert load(written(tmp_path, f"{source}{DECIDE}return 0\n")).decide is not None


# Urgencies

RESPECTFUL = [
    "job.priority",
    "(job.priority, -job.work)",
    "(job.priority,)",
    "(3 * job.priority + 1, 7 - job.arrived, job.work)",
    "(job.priority, 0 if job.deadline is None else -job.deadline, -job.arrived)",
    "(job.priority, 0) if job.deadline is None else (job.priority, 1, -job.deadline)",
    "job.priority * 2**64 - job.arrived",
    "2 * job.priority + job.work % 2",
    "(job.priority, 1 if job.modality == 'chat' else 0)",
    "max(2 * job.priority, 20) if job.priority >= 10 else 2 * job.priority - (job.work > 7)",
    "(job.priority // 2, job.priority % 2)",
]
DISRESPECTFUL = [
    "-job.priority",
    "0",
    "10 * job.priority - job.arrived",
    "job.priority // 2",
    "job.work",
    "min(job.priority, 10)",
    "(job.work, job.priority)",
    "(-job.priority, job.priority)",
    "10 if job.modality == 'chat' else 1",
    "job.priority if job.deadline is None else job.priority + 1",
    "job.priority * 2**63 - job.arrived",
    "job.priority * job.priority",
    "job.priority if job.priority < 10**15 else 10**15",
]


@pytest.mark.parametrize("source", RESPECTFUL)
def test_an_urgency_that_respects_the_priority_is_proved(source: str) -> None:
    judgement = urgency(source)
    assert verdicts(judgement) == {ENDS: {"proved"}, RESPECT: {"proved"}}
    assert exit_code(judgement.findings) == HOLDS


@pytest.mark.parametrize("source", DISRESPECTFUL)
def test_an_urgency_that_does_not_is_refuted_by_two_jobs(source: str) -> None:
    judgement = urgency(source)
    assert verdicts(judgement)[ENDS] == {"proved"}
    assert verdicts(judgement)[RESPECT] == {"refuted"}
    assert exit_code(judgement.findings) == VIOLATED
    less, more = jobs(found(judgement, RESPECT))
    assert less.priority < more.priority
    function: Any = eval(f"lambda job: {source}")
    assert not function(less) < function(more)


def jobs(finding: Finding) -> list[Job]:
    """The two jobs of a counterexample, as it says them."""
    parts = [part.split(" returns ")[0] for part in finding.detail.split("; ")]
    return [eval(part.removeprefix("urgency"), {"Job": Job}) for part in parts]


def test_the_witness_has_the_numbers_of_both_jobs() -> None:
    finding = found(urgency("-job.priority"), RESPECT)
    assert finding.witness is not None
    assert finding.witness["job.priority"] < finding.witness["other.priority"]
    assert finding.witness["job.work"] >= 1
    assert finding.detail.startswith("urgency(Job(request_id='job', priority=")


def test_urgencies_are_judged_within_i64() -> None:
    for least, name in ((I64_MIN, "priority"), (1, "work"), (I64_MIN, "arrived")):
        source = f"def urgency(job):\n    assert {least} <= job.{name} <= {I64_MAX}\n    return job.priority\n"
        assert verdicts(urgency(source)) == {ENDS: {"proved"}, RESPECT: {"proved"}}
        closer = source.replace(f"assert {least} <=", f"assert {least} <")
        assert verdicts(urgency(closer))[ENDS] == {"undetermined"}


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("True", "returns True"),
        ("()", "returns ()"),
        ("[job.priority]", "returns ["),
        ("(job.priority, None)", "None)"),
        ("job.priority if job.work > 7 else (job.priority,)", "returns ("),
        ("(job.priority, -job.deadline)", "raises TypeError"),
    ],
)
def test_an_urgency_of_another_kind_is_undetermined(source: str, detail: str) -> None:
    judgement = urgency(source)
    assert verdicts(judgement)[ENDS] == {"undetermined"}
    assert detail in found(judgement, ENDS).detail
    assert exit_code(judgement.findings) in (UNDETERMINED, VIOLATED)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("(job.priority, -job.work / 2)", "float"),
        ("job.request_id", "no number"),
        ("job.priority if job.request_id == 1 else 0", "of any kind"),
        ("job.priority + len(job.modality)", "of any kind"),
        ("{10: 1}[job.priority]", "as a key"),
        ("hash(job)", "hash(job)"),
    ],
)
def test_an_urgency_that_cannot_be_followed_is_undetermined(source: str, why: str) -> None:
    judgement = urgency(source)
    assert verdicts(judgement) == {ENDS: {"undetermined"}, RESPECT: {"undetermined"}}
    assert why in judgement.why
    assert exit_code(judgement.findings) == UNDETERMINED


def test_the_table_of_an_urgency_is_in_words() -> None:
    judgement = urgency("(job.priority, 0 if job.deadline is None else -job.deadline)")
    assert [f"{rule.condition} -> {rule.then}" for rule in judgement.rules] == [
        "job.deadline is None -> (job.priority, 0)",
        "not job.deadline is None -> (job.priority, -job.deadline)",
    ]
    assert judgement.rules[0].sample["deadline"] is None


# Waivers


@pytest.mark.parametrize("name", ["chat_never_waits_behind_an_image", "the_urgency_respects_the_priority", RESPECT])
def test_a_waived_urgency_is_still_judged_and_shown_first(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"WAIVES = ('{name}',)\ndef urgency(job):\n    return 10 * job.priority - job.arrived\n")
    (judgement,) = judge(load(path))
    assert (judgement.findings[0].about, judgement.findings[0].verdict) == (RESPECT, "refuted")
    assert judgement.findings[0].waived
    assert exit_code(judgement.findings) == HOLDS


def test_a_waiver_of_something_else_does_not_help(tmp_path: Path) -> None:
    path = written(tmp_path, "WAIVES = ('no_work_is_lost',)\ndef urgency(job):\n    return -job.priority\n")
    assert exit_code(judge(load(path))[0].findings) == VIOLATED


def test_waivers_are_printed_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--policy", str(POLICIES / "longer_ttl.py")]) == HOLDS
    printed = capsys.readouterr().out
    assert printed.startswith("WAIVED: reap_once_idle_for_the_ttl\n")
    assert "further parameters have their defaults: demand_history=(4, 7, 2)" in printed
    assert "idle_sec >= ttl_sec*3 -> REAP" in printed
    first = next(line for line in printed.splitlines() if "refuted" in line or "proved" in line)
    assert first.startswith("  refuted      reap_once_idle_for_the_ttl [waived]: ")
    assert "refuted      equals_the_specification [only reported]" in printed
    assert printed.splitlines()[-1].startswith("holds: 9 of 9 properties proved")


# Whole policies


def test_a_policy_owes_the_properties_and_not_equality(tmp_path: Path) -> None:
    (judgement,) = judge(load(written(tmp_path, DECIDE + SAME)))
    assert {finding.verdict for finding in judgement.findings} == {"proved"}
    assert [finding.about for finding in judgement.findings if not finding.owed] == ["equals_the_specification"] * 2


def test_both_functions_of_a_policy_are_judged(tmp_path: Path) -> None:
    policy = load(written(tmp_path, f"{DECIDE}{SAME}def urgency(job):\n    return -job.priority\n"))
    decided, urged = judge(policy, solvers=("z3",), seeds=2)
    assert exit_code(decided.findings) == HOLDS
    assert exit_code(urged.findings) == VIOLATED
    assert {finding.solver for finding in decided.findings} == {"z3"}


EXITS = [
    (f"{DECIDE}return 3\n", VIOLATED),
    (f"{DECIDE}raise ValueError('no')\n", UNDETERMINED),
    (f"{DECIDE}return None\n", UNDETERMINED),
    (f"{DECIDE}return 'HOLD'\n", UNDETERMINED),
    (f"{DECIDE}return 0.5 * idle_sec\n", UNDETERMINED),
    (f"{DECIDE}while True:\n        pass\n", UNDETERMINED),
    (f"{DECIDE}while idle_sec > 0:\n        idle_sec -= 1\n    return 0\n", UNDETERMINED),
    (f"{DECIDE}raise SystemExit(0)\n", UNDETERMINED),
    (f"class It:\n    def __call__{DECIDE[10:].replace('(', '(self, ')}    return 0\ndecide = It()\n", UNDETERMINED),
    ("async def decide(warm, demand, idle_sec, ttl_sec):\n    return 0\n", UNDETERMINED),
    ("def urgency(job):\n    return -job.priority\n", VIOLATED),
]  # fmt: skip


@pytest.mark.parametrize(("source", "code"), EXITS, ids=lambda each: str(each)[:70])
def test_the_exit_code_tells_what_became_of_it(
    source: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, source)
    assert main(["table", "--policy", str(path)]) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("violated" if code == VIOLATED else "undetermined")


def test_the_bundled_policies_are_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--policy", str(POLICIES / "shortest_first.py")]) == HOLDS
    assert main(["table", "--policy", str(POLICIES / "reap_too_late.py")]) == VIOLATED
    printed = capsys.readouterr().out
    assert "always -> (job.priority, -job.work)" in printed
    refuted = [line for line in printed.splitlines() if line.startswith("  refuted") and "[" not in line]
    assert [line.split()[1] for line in refuted] == ["reap_once_idle_for_the_ttl:"]


def test_policies_do_not_stay_among_the_modules_by_a_common_name(tmp_path: Path) -> None:
    load(written(tmp_path, f"{DECIDE}return 0\n"))
    assert "policy" not in sys.modules


def test_a_policy_without_a_function_of_a_kind_leaves_the_shipped_one_alone() -> None:
    assert judge(Policy("nothing")) == []
