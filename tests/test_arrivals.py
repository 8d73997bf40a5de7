"""Reading traces: exact times, and one clear error for each way a row can be wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from impl.jobs import CHAT, IMAGE
from model.simulate.arrivals import LONGEST_LINE, MOST_TOKENS, TraceError, read
from model.simulate.ticks import SECOND
from model.simulate.workload import MOST_DAYS, RENDER_EVERY, RENDER_STEPS, load

ROOT = Path(__file__).parents[1]
CONVERSATIONS = ROOT.parent / "shared" / "traces" / "azure-llm-2023" / "conv.csv"

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
ROW = "2023-11-16 18:15:46.6805900,374,44\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.csv"


def times(trace: Path, *stamps: str) -> list[int]:
    """The ticks of these time stamps, as read from a trace."""
    trace.write_text(HEADER + "".join(f"{stamp},1,1\n" for stamp in stamps))
    return [row.at for row in read(str(trace))]


def test_rows_keep_their_order_their_line_and_their_tokens(trace: Path) -> None:
    trace.write_text(HEADER + ROW + "2023-11-16 18:15:50.9951690,396,109\n")
    first, second = read(str(trace))
    assert (first.generated, first.line) == (44, 2)
    assert (second.generated, second.line) == (109, 3)
    assert second.at - first.at == 4_314_579_000


def test_a_tick_is_a_nanosecond_and_no_decimal_is_rounded(trace: Path) -> None:
    stamps = ["00", "00.000000001", "00.1", "00.10", "00.123456789", "00.999999999", "01.0"]
    ticks = times(trace, *(f"2023-11-16 18:15:{stamp}" for stamp in stamps))
    assert [at - ticks[0] for at in ticks] == [0, 1, 10**8, 10**8, 123_456_789, 999_999_999, SECOND]


def test_the_calendar_is_the_real_one(trace: Path) -> None:
    stamps = ["0001-01-01 00:00:00", "1970-01-01 00:00:00", "2024-02-29 23:59:59", "2024-03-01 00:00:00"]
    ticks = times(trace, *stamps)
    for stamp, at in zip(stamps, ticks, strict=True):
        elapsed = datetime.fromisoformat(stamp) - datetime.fromisoformat(stamps[0])
        assert at - ticks[0] == (elapsed.days * 86_400 + elapsed.seconds) * SECOND


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROW,
        HEADER + ROW.rstrip("\n"),
        "\N{BYTE ORDER MARK}" + HEADER + ROW,
        (HEADER + ROW).replace("\n", "\r\n"),
        "GeneratedTokens,Model,TIMESTAMP,ContextTokens\n44,Größe,2023-11-16 18:15:46.6805900,374\n",
        HEADER + '"2023-11-16 18:15:46.6805900","374","0044"\n',
    ],
    ids=["plain", "no last newline", "BOM", "CRLF", "more columns in another order", "quoted"],
)
def test_these_are_all_the_same_trace(trace: Path, text: str) -> None:
    trace.write_bytes(text.encode())
    [row] = read(str(trace))
    assert (row.generated, row.line) == (44, 2)
    assert row.at % SECOND == 680_590_000


def row(time: str = "2023-11-16 18:15:46", context: str = "1", generated: str = "1") -> bytes:
    return f"{HEADER}{ROW}{time},{context},{generated}\n".encode()


MALFORMED = {
    "empty": (b"", 1, "empty"),
    "BOM alone": (b"\xef\xbb\xbf", 1, "empty"),
    "blank header": (b"\n" + HEADER.encode(), 1, "empty"),
    "header alone": (HEADER.encode(), 2, "no row"),
    "missing column": (b"TIMESTAMP,ContextTokens\n", 1, "GeneratedTokens 0 times"),
    "duplicate column": (HEADER.strip().encode() + b",TIMESTAMP\n" + ROW.encode(), 1, "TIMESTAMP 2 times"),
    "no header": (ROW.encode(), 1, "TIMESTAMP 0 times"),
    "header twice": ((HEADER + HEADER + ROW).encode(), 2, "ContextTokens is 'ContextTokens'"),
    "blank line": ((HEADER + ROW + "\n" + ROW).encode(), 3, "blank line"),
    "blank last line": ((HEADER + ROW + "\n").encode(), 3, "blank line"),
    "too few columns": ((HEADER + ROW + "2023-11-16 18:15:46,1\n").encode(), 3, "2 columns"),
    "too many columns": ((HEADER + ROW + ROW.strip() + ",1\n").encode(), 3, "4 columns"),
    "NUL": ((HEADER + ROW).encode() + b"\0\n", 3, "NUL"),
    "not UTF-8": ((HEADER + ROW).encode() + b"2023-11-16 18:15:46,\xff,1\n", 3, "byte 0xff"),
    "UTF-16": ((HEADER + ROW).encode("utf-16"), 1, "NUL"),
    "open quote": ((HEADER + ROW).encode() + b'"2023-11-16 18:15:46,1,1\n', 3, "CSV"),
    "old Mac line ends": ((HEADER + ROW).replace("\n", "\r").encode(), 1, "CSV"),
    "endless line": (HEADER.encode() + b"1" * (LONGEST_LINE + 1), 2, "bytes"),
    "negative tokens": (row(generated="-1"), 3, "GeneratedTokens is '-1'"),
    "signed tokens": (row(generated="+1"), 3, "GeneratedTokens is '+1'"),
    "fractional tokens": (row(generated="1.5"), 3, "GeneratedTokens is '1.5'"),
    "whole float": (row(generated="44.0"), 3, "GeneratedTokens is '44.0'"),
    "exponent": (row(generated="1e3"), 3, "GeneratedTokens is '1e3'"),
    "NaN tokens": (row(generated="nan"), 3, "GeneratedTokens is 'nan'"),
    "no tokens": (row(generated=""), 3, "GeneratedTokens is ''"),
    "spaced tokens": (row(generated=" 1"), 3, "GeneratedTokens is ' 1'"),
    "underscore": (row(generated="1_0"), 3, "GeneratedTokens is '1_0'"),
    "other digits": (row(generated="\N{ARABIC-INDIC DIGIT FOUR}"), 3, "GeneratedTokens is"),
    "superscript": (row(generated="\N{SUPERSCRIPT TWO}"), 3, "GeneratedTokens is"),
    "too many tokens": (row(generated=str(MOST_TOKENS + 1)), 3, "GeneratedTokens is '10000001'"),
    "huge tokens": (row(generated="9" * 5000), 3, "GeneratedTokens is '9999"),
    "negative context": (row(context="-1"), 3, "ContextTokens is '-1'"),
    "fractional context": (row(context="0.5"), 3, "ContextTokens is '0.5'"),
    "out of order": (row("2023-11-16 18:15:46.6805899"), 3, "comes after 2023-11-16 18:15:46.6805900"),
}
BAD_TIMES = [
    *("", "yesterday", "NaN", "1700158546", "2023-11-16", "18:15:46", "2023-11-16T18:15:46", "2023-11-16 18:15:46Z"),
    *("2023-11-16 18:15:46.", "2023-11-16 18:15:46.1234567890", "2023-11-16 18:15:46.-1", "2023-11-16  18:15:46"),
    *("2023-13-16 18:15:46", "2023-02-29 18:15:46", "0000-01-01 00:00:00", "2023-11-16 24:00:00"),
    *("2023-11-16 18:60:00", "2023-11-16 18:15:60", "23-11-16 18:15:46", "2023-11-16 18:15", " 2023-11-16 18:15:46"),
    *("2023-11-16 18:15:46+00:00", "２０２３-11-16 18:15:46", "-2023-11-16 18:15:46"),
]


@pytest.mark.parametrize(("content", "line", "wrong"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_trace_is_one_error_with_file_and_line(trace: Path, content: bytes, line: int, wrong: str) -> None:
    trace.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        read(str(trace))
    message = str(caught.value)
    assert message.startswith(f"{trace}:{line}: ")
    assert wrong in message
    assert ", expected " in message
    assert "; " in message.partition(", expected ")[2]
    assert "\n" not in message
    assert len(message) < 300 + len(str(trace))


@pytest.mark.parametrize("time", BAD_TIMES)
def test_a_time_of_any_other_form_is_refused(trace: Path, time: str) -> None:
    trace.write_text(f"{HEADER}{time},1,1\n", encoding="utf-8")
    with pytest.raises(TraceError, match=r"2: TIMESTAMP is .*, expected a time as"):
        read(str(trace))


@pytest.mark.parametrize("name", ["missing.csv", ".", "trace.csv/below", ""])
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text(HEADER + ROW)
    with pytest.raises(TraceError, match=r"expected a readable CSV file; check the path"):
        read(name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(trace: Path) -> None:
    trace.write_text(HEADER + ROW)
    trace.chmod(0)
    with pytest.raises(TraceError, match="expected a readable CSV file; check the path"):
        read(str(trace))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_an_endless_file_is_refused_at_once() -> None:
    with pytest.raises(TraceError, match=r"^/dev/zero:1: "):
        read("/dev/zero")


COMMAND = {
    "empty": b"",
    "not UTF-8": (HEADER + ROW).encode() + b"\xff\n",
    "out of order": MALFORMED["out of order"][0],
    "negative tokens": MALFORMED["negative tokens"][0],
    "missing": None,
}


@pytest.mark.parametrize("option", ["--chat", "--image"])
@pytest.mark.parametrize("content", COMMAND.values(), ids=COMMAND)
def test_the_command_says_so_in_one_line_and_exits_with_2(trace: Path, content: bytes | None, option: str) -> None:
    if content is not None:
        trace.write_bytes(content)
    line = [sys.executable, "-m", "model", "simulate", option, str(trace), "--json"]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert not ended.stdout
    assert ended.stderr.startswith(f"{trace}:")
    assert ended.stderr.count("\n") == 1


def test_jobs_of_both_files_share_one_clock_and_chats_come_first(tmp_path: Path) -> None:
    chat, image = tmp_path / "chat.csv", tmp_path / "image.csv"
    chat.write_text(f"{HEADER}2025-01-01 00:00:05,9,7\n2025-01-01 00:00:06,9,0\n")
    image.write_text(f"{HEADER}2025-01-01 00:00:03,9,20\n2025-01-01 00:00:05,9,0\n")
    workload = load(str(chat), str(image), 0)
    assert [(job.request_id, job.priority, job.work, job.modality, job.arrived) for job in workload.jobs] == [
        ("image-1", IMAGE, 20, "image", 0),
        ("chat-1", CHAT, 7, "chat", 2 * SECOND),
        ("image-2", IMAGE, 1, "image", 2 * SECOND),
        ("chat-2", CHAT, 1, "chat", 3 * SECOND),
    ]
    assert workload.span == 3 * SECOND


def test_random_renders_come_as_often_as_they_should_and_depend_on_the_seed_alone(trace: Path) -> None:
    trace.write_text(f"{HEADER}2025-01-01 00:00:00,1,1\n2025-01-02 00:00:00,1,1\n")
    renders = load(str(trace), None, 3).renders
    assert renders == load(str(trace), None, 3).renders
    assert renders != load(str(trace), None, 4).renders
    assert {(job.work, job.modality, job.priority) for job in renders} == {(RENDER_STEPS, "image", IMAGE)}
    instants = [job.arrived for job in renders]
    assert instants == sorted(instants)
    assert 0 < instants[0] <= instants[-1] <= 86_400 * SECOND
    assert len(renders) == pytest.approx(86_400 / RENDER_EVERY, rel=0.05)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_trace_of_years_is_refused_where_it_leaves_the_span(tmp_path: Path, swapped: bool) -> None:
    near, far = tmp_path / "near.csv", tmp_path / "far.csv"
    near.write_text(f"{HEADER}2025-01-01 00:00:00,1,1\n")
    far.write_text(f"{HEADER}2025-02-01 00:00:00,1,1\n2025-02-01 00:00:00.000000001,1,1\n")
    paths = (str(far), str(near)) if swapped else (str(near), str(far))
    with pytest.raises(TraceError, match=f"{far}:3: more than {MOST_DAYS} days after the first row of all"):
        load(*paths, 0)


@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the public conversation trace is not beside the checkout")
def test_the_public_conversation_trace_is_read_whole() -> None:
    rows = read(str(CONVERSATIONS))
    assert len(rows) == 19_366
    assert sum(row.generated for row in rows) == 4_088_665
    assert rows[-1].at - rows[0].at == 3_501_721_937_000
