"""The checkpoint's tokenizer, read from ``tokenizer.json`` alone, with a clock that stands still.

``AutoTokenizer`` follows the class named in the configuration, which may build another tokenizer than the file says;
intake judged the file, so the file decides. Templates ask the library for the time through a function of its module;
it is given a fixed one there, because a callable among the template's own arguments is turned into text.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from sandboxes.model.rendering import CLOCK


class _FixedClock(dt.datetime):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]  # any datetime will do
        return CLOCK if tz is None else CLOCK.astimezone(tz)


def load_tokenizer(folder: Path) -> Any:
    chat_template_utils.datetime = _FixedClock
    return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
