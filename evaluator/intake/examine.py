"""Everything that is judged about an upload, in order; runs in the child only.

 1. every file: is its content what its name says?    5. tensors against config.json; values by sample
 2. small texts and JSON: strict form, no references   6. chat template: rendered and tested
 3. config.json: family and bounds                     7. tokenizer: as data, against its siblings, then run
 4. weights: headers, shards, index                    8. the control prompt

A step whose ground is missing is skipped; every finding of the others is told. The tokenizer is run, by a native
library, only where nothing has been found wrong before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer

from evaluator.errors import Finding, Refused
from evaluator.intake import (
    behaviour,
    config,
    content,
    library,
    names,
    presets,
    references,
    safetensors_header,
    strictjson,
    tensors,
    tokenizer_file,
    tokenizer_run,
    tokenizer_settings,
    weights,
)
from evaluator.intake.limits import Limits
from evaluator.intake.names import Role
from evaluator.intake.report import OpenFile, Report

Headers = Mapping[str, safetensors_header.Header]


@dataclass
class Upload:
    """``stage`` is called with a file's name and the step before anything of that file is parsed in that step."""

    files: Mapping[str, OpenFile]
    limits: Limits
    needs_chat_template: bool
    report: Report
    stage: Callable[[str, str], None]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def named(self, *roles: Role) -> list[str]:
        return sorted(name for name in self.files if names.role(name) in roles)


_LARGE = (Role.TOKENIZER, Role.VOCABULARY, Role.MERGES)


def examine(upload: Upload) -> dict[str, Any] | None:
    """The facts, or None where there are findings."""
    report = upload.report
    _contents(upload)
    _presence(upload)
    _documents(upload, [role for role in Role if role not in _LARGE])
    model = _config(upload)
    headers = _headers(upload)
    counted = _tensors(upload, model, headers)
    settings = report.attempt(tokenizer_settings.read, upload.documents.get(names.TOKENIZER_CONFIG, {}))
    source = _template_source(upload, settings)
    compiled = None
    if source is not None and settings is not None:
        upload.stage(source.where, "template")
        compiled = behaviour.template(report, source, settings)
    _documents(upload, _LARGE)
    vocabulary = _vocabulary(upload, model)
    if report.findings or model is None or counted is None or settings is None or vocabulary is None:
        return None
    runner = _runner(upload, vocabulary)
    if runner is None:
        return None
    control = report.attempt(behaviour.control, compiled, runner) if compiled else behaviour.completion(runner)
    if control is None:
        return None
    report.notes.extend(_notes(upload, model, counted, settings))
    return {
        "architecture": model.architecture,
        "parameters": counted.parameters,
        "dtype": counted.dtype,
        "vocabulary": model.vocabulary,
        "context": model.context,
        "bos": vocabulary.ids.get(settings.tokens.get("bos_token", "")),
        "eos": _ends(upload, model, vocabulary.ids.get(settings.tokens.get("eos_token", ""))),
        "template": source.digest if source else None,
        "control": control,
        "completion": behaviour.completion(runner),
    }


def _contents(upload: Upload) -> None:
    for name, file in upload.files.items():
        upload.stage(name, "content")
        upload.report.extend(content.check(file, names.role(name)))


def _presence(upload: Upload) -> None:
    adapters = sorted(name for name in upload.files if names.is_adapter(name))
    if adapters:
        upload.report.extend([_adapter(upload, adapters[0])])
        return
    for code, name, what in (("config", names.CONFIG, "model"), ("tokenizer", names.TOKENIZER, "tokenizer")):
        if name not in upload.files:
            problem = f"The folder holds no {name}, which describes the {what}."
            remedy = f"Add it; save_pretrained of the {what} writes it."
            upload.report.extend([Finding(f"{code}-missing", name, problem, remedy)])
    upload.report.extend(weights.files(upload.files))


def _adapter(upload: Upload, name: str) -> Finding:
    base = None
    if (file := upload.files.get("adapter_config.json")) is not None and file.size <= upload.limits.json_bytes:
        stated = upload.report.attempt(strictjson.parse_object, file.read(file.size), file.name) or {}
        base = stated.get("base_model_name_or_path")
    of = f" of the base model {base[:120]!a}" if isinstance(base, str) else ""
    remedy = (
        "Name the base model@revision in your declaration, merge the adapter into it (merge_and_unload) and upload the "
        "merged model without the adapter's files."
    )
    return Finding("adapter-only", name, f"This is an adapter{of}, not a whole model.", remedy)


def _cap(role: Role, limits: Limits) -> int:
    caps = {
        Role.INDEX: limits.index_bytes,
        Role.TEMPLATE: limits.template_bytes,
        Role.TEXT: limits.text_bytes,
        **dict.fromkeys(_LARGE, limits.tokenizer_bytes),
    }
    return caps.get(role, limits.json_bytes)


def _documents(upload: Upload, roles: list[Role] | tuple[Role, ...]) -> None:
    """Reads and remembers the files of these roles; parses those that are JSON."""
    for name in upload.named(*roles):
        role, file = names.role(name), upload.files[name]
        if role is None or role is Role.WEIGHTS or upload.report.blames(name):
            continue
        upload.stage(name, "reading")
        if file.size > (cap := _cap(role, upload.limits)):
            problem = f"The file has {file.size} bytes; at most {cap} are taken."
            code = "template-size" if role is Role.TEMPLATE else "too-large"
            upload.report.extend([Finding(code, name, problem, "Upload a smaller file.")])
            continue
        data = upload.report.remember(name, file.read(file.size + 1))
        upload.report.attempt(_document, upload, name, role, data)


def _document(upload: Upload, name: str, role: Role, data: bytes) -> None:
    if not role.is_json:
        upload.texts[name] = _decoded(name, data)
        return
    value = strictjson.parse_object(data, name)
    text = data.decode("utf-8")
    findings, notes = references.check(value, text, name, role)
    upload.report.extend(findings)
    upload.report.notes.extend(notes)
    upload.documents[name] = value
    if role not in _LARGE:
        upload.texts[name] = text


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"{name}: line {data.count(bytes([10]), 0, error.start) + 1}"
        raise Refused.one("not-text", place, "The text is not UTF-8.", "Save the file as UTF-8.") from None


def _config(upload: Upload) -> config.Model | None:
    if names.CONFIG not in upload.documents:
        return None
    upload.stage(names.CONFIG, "model")
    return upload.report.attempt(config.read, upload.documents[names.CONFIG], upload.texts[names.CONFIG])


def _headers(upload: Upload) -> Headers | None:
    """All headers, or None where one of them could not be read."""
    present = upload.named(Role.WEIGHTS)
    headers = {}
    for name in present:
        if upload.report.blames(name):
            continue
        upload.stage(name, "header")
        if (header := upload.report.attempt(safetensors_header.read, upload.files[name], upload.limits)) is not None:
            upload.report.remember(name, header.source)
            headers[name] = header
            upload.stage(name, "library")
            upload.report.extend(library.check(upload.files[name], header))
    if len(headers) < len(present) or not headers:
        return None
    if names.INDEX in upload.documents:
        upload.stage(names.INDEX, "index")
        upload.report.extend(upload.report.attempt(weights.index, upload.documents[names.INDEX], headers) or [])
    return headers


def _tensors(upload: Upload, model: config.Model | None, headers: Headers | None) -> tensors.Counted | None:
    if headers is None:
        return None
    upload.stage(next(iter(headers)), "tensors")
    found = upload.report.attempt(weights.merged, headers.values(), upload.limits)
    if found is None or model is None:
        return None
    counted = upload.report.attempt(tensors.compare, model, found)
    if counted is None:
        return None
    upload.report.extend(weights.sample(found, upload.files))
    if counted.stored_head is not None:
        upload.report.extend(weights.same(found, upload.files, counted.embedding, counted.stored_head))
    return counted


def _template_source(upload: Upload, settings: tokenizer_settings.Settings | None) -> behaviour.Source | None:
    """The one template and the file it stands in."""
    stands, named = upload.texts.get(names.TEMPLATE), settings.template if settings else None
    if stands is not None and named is not None and stands != named:
        problem = "chat_template.jinja and the chat_template of tokenizer_config.json differ."
        remedy = "Keep the one that the model was trained with; chat_template.jinja is the better place."
        upload.report.extend([Finding("template-conflict", names.TEMPLATE, problem, remedy)])
        return None
    if stands is not None:
        return behaviour.Source(stands, names.TEMPLATE)
    if named is not None and len(named.encode("utf-8")) > upload.limits.template_bytes:
        problem = f"The chat_template has more than {upload.limits.template_bytes} bytes."
        place = f"{names.TOKENIZER_CONFIG}: at chat_template"
        upload.report.extend([Finding("template-size", place, problem, "Upload a smaller template.")])
        return None
    if named is None and settings is not None and upload.needs_chat_template and names.TEMPLATE not in upload.files:
        upload.report.extend([presets.no_template()])
    return behaviour.Source(named, names.TOKENIZER_CONFIG) if named is not None else None


def _vocabulary(upload: Upload, model: config.Model | None) -> tokenizer_file.Vocabulary | None:
    if names.TOKENIZER not in upload.documents:
        return None
    upload.stage(names.TOKENIZER, "tokenizer")
    vocabulary = upload.report.attempt(tokenizer_file.read, upload.documents[names.TOKENIZER])
    if vocabulary is None:
        return None
    highest = max(vocabulary.ids.values())
    if model is not None and highest >= model.vocabulary:
        problem = f"The highest token id is {highest}, but the embedding has {model.vocabulary} rows, counted from 0."
        remedy = "Resize the embedding to the tokenizer, or upload the tokenizer that the model was trained with."
        upload.report.extend([Finding("tokenizer-too-large", names.TOKENIZER, problem, remedy)])
    upload.report.extend(tokenizer_settings.compare(upload.documents, upload.texts.get("merges.txt"), vocabulary))
    upload.report.notes.extend(vocabulary.notes)
    return vocabulary


def _runner(upload: Upload, vocabulary: tokenizer_file.Vocabulary) -> Tokenizer | None:
    file = upload.files[names.TOKENIZER]
    upload.stage(file.name, "loading the tokenizer")
    runner = upload.report.attempt(tokenizer_run.load, file.read(file.size))
    if runner is None:
        return None
    upload.stage(file.name, "running the tokenizer")
    notes = upload.report.attempt(tokenizer_run.check, runner, vocabulary)
    if notes is None:
        return None
    upload.report.notes.extend(notes)
    return runner


_SAMPLING = ("do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "num_beams")


def _notes(
    upload: Upload, model: config.Model, counted: tensors.Counted, settings: tokenizer_settings.Settings
) -> list[str]:
    """What the submitter should know although it is no mistake."""
    notes = []
    generation = upload.documents.get(names.GENERATION, {})
    stated = [f"{key} {generation[key]}"[:60] for key in _SAMPLING if generation.get(key) is not None]
    if stated:
        notes.append(f"{names.GENERATION}: states {', '.join(stated)}; the preset's values are used instead.")
    if model.dtype is not None and model.dtype != counted.dtype:
        notes.append(f"{names.CONFIG}: declares {model.dtype}, but most weights are stored as {counted.dtype}.")
    if counted.mixed:
        notes.append(f"The weights are stored in several types; most are {counted.dtype}.")
    if settings.longest is not None and settings.longest < model.context:
        stated_context = f"model_max_length {settings.longest} is less than the context {model.context}"
        notes.append(f"{names.TOKENIZER_CONFIG}: {stated_context} of {names.CONFIG}; the latter counts.")
    return notes


def _ends(upload: Upload, model: config.Model, of_tokenizer: int | None) -> list[int]:
    """Ids that end a turn: those of tokenizer, configuration and generation file together."""
    stated = config.token_ids(upload.documents.get(names.GENERATION, {}).get("eos_token_id"))
    ends = {*stated, *model.ends, *config.token_ids(of_tokenizer)}
    return sorted(number for number in ends if 0 <= number < model.vocabulary)
