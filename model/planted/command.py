"""Commands that are wrong on purpose: each replaces one function of the shipped ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from impl import arguments, command, probe
from impl.arguments import I64_MAX
from impl.autoscale import Action
from impl.probe import Answer, Verdict
from model.planted.bugs import wrong_piece

shipped_main, shipped_number, shipped_tick = command.main, arguments.number, command.run_tick
shipped_gate, shipped_answer, shipped_split = command.run_gate, command._answer, arguments.split
shipped_probe = probe.probe

NEVER = "no_mistake_reads_as_an_action"


@wrong_piece("command", command, "main", NEVER, "vllm-project/aibrix#2592")
def says_serve_to_a_mistake(argv: Sequence[str]) -> int:
    """A usage error is exit code 2, which is SERVE (nx_mesh_autoscale.nx:194)."""
    code = shipped_main(argv)
    return 2 if code == 64 else code


@wrong_piece("command", command, "main", NEVER, "cloudspannerecosystem/autoscaler#355")
def says_hold_to_a_mistake(argv: Sequence[str]) -> int:
    """Whatever goes wrong is 0."""
    code = shipped_main(argv)
    return 0 if code == 64 else code


@wrong_piece("command", command, "main", NEVER, "ollama/ollama#4159")
def runs_the_gate_when_called_bare(argv: Sequence[str]) -> int:
    """No command is the gate (nx_mesh_autoscale.nx:223)."""
    return shipped_main(argv or ["gate"])


@wrong_piece("command", arguments, "number", NEVER, "ollama/ollama#10422")
def reads_minus_five_as_five(name: str, text: str, least: int, most: int) -> int:
    """What is no digit is skipped (nx_mesh_autoscale.nx:49)."""
    return shipped_number(name, text.lstrip("-"), least, most)


@wrong_piece("command", arguments, "number", NEVER, "cyberlife-coder/VelesDB#1598")
def reads_text_as_zero(name: str, text: str, least: int, most: int) -> int:
    """Text is silently 0 (nx_mesh_autoscale.nx:49)."""
    return shipped_number(name, text if text.isdigit() else "0", least, most)


@wrong_piece("command", arguments, "number", NEVER, "celery/celery#8967")
def clamps_what_is_too_large(name: str, text: str, least: int, most: int) -> int:
    """A number beyond the largest is the largest."""
    if text.isascii() and text.isdigit() and len(text) < 99:
        return max(least, min(int(text), most))
    return shipped_number(name, text, least, most)


@wrong_piece("command", arguments, "number", NEVER, "cyberlife-coder/VelesDB#1598, BerriAI/litellm#14817")
def reads_as_python_does(name: str, text: str, least: int, most: int) -> int:
    """Blanks, signs, underscores and the digits of every script are read as well."""
    with suppress(ValueError):
        if least <= int(text) <= most:
            return int(text)
    return shipped_number(name, text, least, most)


@wrong_piece("command", arguments, "number", "the_printed_action_is_that_of_the_policy", "knative/serving#4485")
def takes_zero_for_unset(name: str, text: str, least: int, most: int) -> int:
    """A ttl of 0 is read as none, which is the longest."""
    read = shipped_number(name, text, least, most)
    return I64_MAX if name == "TTL_SEC" and read == 0 else read


@wrong_piece("command", command, "numbers", NEVER, "llm-d/llm-d-autoscaling#360")
def takes_what_is_missing_for_zero(words: Sequence[str], most: Mapping[str, int]) -> Any:
    """A number that is not given is 0."""
    return arguments.numbers([*words, *["0"] * (len(most) - len(words))], most)


@wrong_piece("command", command, "split", NEVER, "cyberlife-coder/VelesDB#1598")
def ignores_unknown_options(argv: Sequence[str], *options: str) -> tuple[list[str], dict[str, str]]:
    """An option that does not exist is dropped."""
    return shipped_split([word for word in argv if word != "--nope"], *options)


@wrong_piece("command", command, "exit_base", NEVER, "ollama/ollama#4124")
def lets_the_codes_meet(text: str) -> int:
    """An exit base may make an action read as a failure, and a failure as an action."""
    return arguments.number("--exit-base", text, 0, 120)


@wrong_piece("command", command, "_answer", "the_exit_code_is_the_action", "AtomicBot-ai/atomic-agent#140")
def exits_with_0_whatever_it_says(*told: Any, **more: Any) -> int:
    """The action is printed, and the exit code says that all is well."""
    return 0 * shipped_answer(*told, **more)


@wrong_piece("command", command, "_answer", "the_printed_action_is_that_of_the_policy", "celery/celery#4028")
def says_serve_for_spawn(name: str, warm: Any, moment: Any, action: Action, base: int, **more: Any) -> int:
    """The codes are told in another order than they have."""
    told = Action.SERVE if action is Action.SPAWN else action
    return shipped_answer(name, warm, moment, told, base, **more)


@wrong_piece("command", probe, "probe", "an_unknown_worker_is_left_alone", "knative/serving#8610")
def takes_the_unknown_for_cold(*of: Any, **more: Any) -> Answer:
    """A worker that cannot be asked is started (nx_mesh_autoscale.nx:109)."""
    answer = shipped_probe(*of, **more)
    return answer._replace(verdict=Verdict.COLD) if answer.verdict is Verdict.UNKNOWN else answer


@wrong_piece("command", probe, "probe", "an_unknown_worker_is_left_alone", "gpustack/gpustack#6203")
def drops_the_model(host: str, port: int, *, model: str | None = None, **more: Any) -> Answer:  # noqa: ARG001
    """The model that was asked for is lost on the way to the probe."""
    return shipped_probe(host, port, **more)


@wrong_piece("command", probe, "probe", "the_probe_is_asked_as_told", "wallabag/docker#407")
def asks_this_machine(_host: str, port: int, **more: Any) -> Answer:
    """Whatever host is named, localhost is asked."""
    return shipped_probe("127.0.0.1", port, **more)


@wrong_piece("command", command.COMMANDS, "tick", NEVER, "cyberlife-coder/VelesDB#1598")
def ignores_octets(argv: Sequence[str]) -> int:
    """One to three octets are silently ignored (nx_mesh_autoscale.nx:214)."""
    octets = len([word for word in argv if word.isdigit()]) - 3
    return shipped_tick(argv[:3] if 0 < octets < 4 else argv)


@wrong_piece("command", command, "savings_permil", "the_printed_saving_is_that_of_the_policy", "r-simmer/simmer#187")
def measures_backwards(warm_sec: int, window_sec: int) -> int:
    """Beginning and end of the window are exchanged."""
    return 1000 - (warm_sec * 1000 // window_sec if window_sec else 1000)


@wrong_piece("command", command.COMMANDS, "gate", "a_gate_is_green_when_all_rows_hold", "basecamp/kamal-proxy#228")
def masks_a_red_gate(argv: Sequence[str]) -> int:
    """A failure is answered with success."""
    return 0 * shipped_gate(argv)
