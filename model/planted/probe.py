"""Probes that are wrong on purpose: each replaces one function of the shipped one."""

from __future__ import annotations

from typing import Any

from impl import probe
from impl.probe import STATUS_LINE, Answer, Verdict
from model.planted.bugs import wrong_piece

shipped_ask, shipped_connect, shipped_judge = probe._ask, probe._connect, probe.judge
shipped_no_connection, shipped_resolve, shipped_models = probe._no_connection, probe._resolve, probe._models
shipped_send, shipped_probe = probe._Exchange.send, probe.probe


def status(line: bytes) -> int:
    """The three digits, or 0."""
    found = STATUS_LINE.fullmatch(line)
    return int(found[1]) if found else 0


# Its time and its reading


@wrong_piece("probe", probe._Exchange, "_left", "a_probe_ends_within_its_time", "urllib3/urllib3#1901")
def limits_each_read(_self: Any) -> float:
    """The limit is per read: one byte each 0.9 s never trips it."""
    return 1.5


@wrong_piece("probe", probe._Exchange, "_left", "a_probe_ends_within_its_time", "huggingface/trl#6977")
def limits_no_read(_self: Any) -> None:
    """There is a limit for the connection and none for the answer."""
    return


@wrong_piece("probe", probe._Exchange, "_more", "the_answer_is_bounded", "hiero-ledger/hiero-block-node#3168")
def reads_without_bound(self: Any) -> bool:
    """However much is sent, it is kept."""
    self._sock.settimeout(self._left())
    piece = self._sock.recv(65536)
    self._data += piece
    return bool(piece)


# Its verdict


@wrong_piece("probe", probe, "judge", "warm_means_that_it_answered_2xx", "xuleihive/turnstile#22")
def takes_all_below_500(line: bytes) -> Verdict:
    """Whatever is no server error counts as available."""
    return Verdict.WARM if 100 <= status(line) < 500 else Verdict.UNKNOWN


@wrong_piece("probe", probe, "judge", "warm_means_that_it_answered_2xx", "basecamp/kamal-proxy#228")
def takes_redirects(line: bytes) -> Verdict:
    """A redirect is as good as an answer."""
    return Verdict.WARM if 200 <= status(line) < 400 else Verdict.UNKNOWN


@wrong_piece("probe", probe, "judge", "warm_means_that_it_answered_2xx", "AtomicBot-ai/atomic-agent#140")
def finds_200_anywhere(line: bytes) -> Verdict:
    """The line has "200" in it somewhere (nx_mesh_autoscale.nx:84)."""
    return Verdict.WARM if b"200" in line else Verdict.UNKNOWN


@wrong_piece("probe", probe, "judge", "whoever_answers_2xx_is_warm", "xuleihive/turnstile#22")
def misses_204(line: bytes) -> Verdict:
    """Only 200 itself is success (nx_mesh_autoscale.nx:84)."""
    return Verdict.WARM if status(line) == 200 else Verdict.UNKNOWN


@wrong_piece("probe", probe, "judge", "a_busy_worker_is_not_a_cold_one", "caikit/caikit#635, gpustack/gpustack#3189")
def takes_overload_for_death(line: bytes) -> Verdict:
    """Who says that it is overloaded counts as dead."""
    return Verdict.COLD if status(line) in (429, 503) else shipped_judge(line)


@wrong_piece("probe", probe, "_ask", "warm_means_that_it_answered_2xx", "gpustack/gpustack#6203")
def never_reads_the_list(exchange: Any, host: str, where: str, _model: str | None) -> Answer:
    """The list is answered long before the model is loaded, and is not read."""
    return shipped_ask(exchange, host, where, None)


class Everything(list[Any]):
    """A list that has whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


@wrong_piece("probe", probe, "_models", "warm_means_that_it_answered_2xx", "timtoole02/Camelid#692")
def takes_an_empty_list_for_all(body: bytes) -> list[Any]:
    """While nothing is listed yet, everything counts as there."""
    return shipped_models(body) or Everything()


@wrong_piece("probe", probe, "_ask", "a_busy_worker_is_not_a_cold_one", "llm-d/llm-d-benchmark#1734")
def takes_silence_for_death(exchange: Any, host: str, where: str, model: str | None) -> Answer:
    """Who does not answer in time is gone."""
    answer = shipped_ask(exchange, host, where, model)
    return answer._replace(verdict=Verdict.COLD) if "in time" in answer.reason else answer


@wrong_piece("probe", probe, "_no_connection", "a_busy_worker_is_not_a_cold_one", "gonka-ai/gonka#1421")
def takes_a_full_backlog_for_nobody(endpoint: Any, error: OSError, _timeout_means: Verdict | None) -> Answer:
    """A connection that is not made in time is refused, on loopback too."""
    return shipped_no_connection(endpoint, error, Verdict.COLD)


@wrong_piece("probe", probe, "_no_connection", "where_nobody_listens_it_is_cold", "kedacore/http-add-on#1692")
def is_never_sure(endpoint: Any, error: OSError, timeout_means: Verdict | None) -> Answer:
    """A refused connection says nothing either, so that nothing is ever started."""
    return shipped_no_connection(endpoint, error, timeout_means)._replace(verdict=Verdict.UNKNOWN)


# Its calls


@wrong_piece("probe", probe, "_resolve", "each_address_is_called_once_in_turn", "wallabag/docker#407")
def calls_the_first_address_alone(name: str, port: int, seconds: float) -> list[Any]:
    """The name has an IPv6 address first, and the server listens on IPv4."""
    return shipped_resolve(name, port, seconds)[:1]


@wrong_piece("probe", probe, "_resolve", "each_address_is_called_once_in_turn", "wollomatic/socket-proxy#79")
def calls_one_family_alone(name: str, port: int, seconds: float) -> list[Any]:
    """Where there is IPv6, IPv4 is not tried."""
    found = shipped_resolve(name, port, seconds)
    return [each for each in found if ":" in each[1][0]] or found


@wrong_piece("probe", probe, "_connect", "each_address_is_called_once_in_turn", "urllib3/urllib3#2037")
def calls_again(endpoint: Any, seconds: float) -> Any:
    """What fails is tried once more, hidden from the caller."""
    try:
        return shipped_connect(endpoint, seconds)
    except OSError:
        return shipped_connect(endpoint, seconds)


@wrong_piece("probe", probe, "_connect", "no_connection_stays_open", "gruntwork-io/health-checker#5")
def leaves_what_failed_open(endpoint: Any, seconds: float) -> Any:
    """A socket that could not connect is never closed."""
    family, address = endpoint
    network: Any = vars(probe)["socket"]
    sock = network.socket(family, network.SOCK_STREAM)
    sock.settimeout(seconds)
    sock.connect(address)
    return sock


@wrong_piece("probe", probe, "_ask", "one_question_is_asked", "AtomicBot-ai/atomic-agent#140")
def asks_until_it_likes_the_answer(exchange: Any, host: str, where: str, model: str | None) -> Answer:
    """An answer that is no success is asked for again."""
    answer = shipped_ask(exchange, host, where, model)
    return answer if answer.verdict is Verdict.WARM else shipped_ask(exchange, host, where, model)


@wrong_piece("probe", probe._Exchange, "send", "one_question_is_asked", "istio-ecosystem/sail-operator#2078")
def keeps_the_connection_alive(self: Any, request: bytes) -> None:
    """The server is asked to keep every connection of every probe."""
    shipped_send(self, request.replace(b"close", b"keep-alive"))


@wrong_piece("probe", probe._Exchange, "send", "one_question_is_asked", "libsql/sqld#516, ggml-org/llama.cpp#20227")
def wakes_the_worker(self: Any, request: bytes) -> None:
    """It asks for work, which wakes a worker that sleeps and counts as use."""
    shipped_send(self, request.replace(b"/v1/models", b"/v1/completions"))


@wrong_piece("probe", probe, "_connect", "each_address_has_an_even_part_of_the_time", "fbuchner/meerkat-crm#175")
def spends_the_time_on_the_first(endpoint: Any, seconds: float) -> Any:
    """The address that nobody listens on leaves no time for the one that works."""
    return shipped_connect(endpoint, seconds + seconds)


@wrong_piece("probe", probe._Lookup, "within", "slow_names_pile_up_nothing", "gruntwork-io/health-checker#5")
def looks_up_anew(seconds: float, name: str, port: int) -> list[Any]:
    """Each probe of a slow name leaves one more lookup behind."""
    lookup = probe._Lookup(name, port)
    lookup.start()
    lookup.join(seconds)
    if lookup.is_alive():
        raise TimeoutError(f"no address within {seconds:g} s")
    if not lookup.found:
        raise lookup.error
    return lookup.found


@wrong_piece("probe", probe, "probe", "a_wrong_argument_is_refused", "celery/celery#8967")
def clamps_the_port(host: str, port: int, **more: Any) -> Answer:
    """A port that does not exist is silently another."""
    return shipped_probe(host, max(1, min(port, 65535)), **more)
