"""Makes examples/sample.csv: a made-up evening of chat, from a seed and integers alone.

`python -m model.simulate.sample > examples/sample.csv` writes it anew.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

SEED = 1
PARTS = ((200, 1_500, 250), (90, 2, 40), (1, 90_000, 1), (209, 1_000, 500))
"""Each part is so many requests, milliseconds between two of them and tokens to generate, the latter two on average:
a calm start, a burst that overfills the queue, a silence, a busy end."""


def text(seed: int = SEED) -> str:
    """The whole file. One request in five comes at the instant of the one before it; a few generate nothing."""
    random = Random(seed)
    begin = datetime(2025, 1, 1, 9)
    at = 0  # tenths of a microsecond, as the public traces have them
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    for requests, gap, tokens in PARTS:
        for _ in range(requests):
            if random.randrange(5):
                at += random.randrange(2 * gap * 10_000)
            generated = random.randrange(1, 2 * tokens) if random.randrange(40) else 0
            second, tenths = divmod(at, 10**7)
            time = begin + timedelta(seconds=second)
            lines.append(f"{time:%Y-%m-%d %H:%M:%S}.{tenths:07},{random.randrange(1, 4000)},{generated}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
