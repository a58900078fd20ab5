"""The dense decoder families we take: which tensors a configuration of each promises, with their shapes.

Shapes are written in letters: ``v`` vocabulary, ``h`` hidden, ``i`` inner, ``q`` all query heads, ``k`` all key heads,
``d`` one head, ``p`` positions, and the fused sizes ``3h``, ``2i`` and ``qkv``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Layout = Mapping[str, str]

_ATTENTION = {
    "self_attn.q_proj.weight": "q h",
    "self_attn.k_proj.weight": "k h",
    "self_attn.v_proj.weight": "k h",
    "self_attn.o_proj.weight": "h q",
}
_QKV_BIAS = {"self_attn.q_proj.bias": "q", "self_attn.k_proj.bias": "k", "self_attn.v_proj.bias": "k"}
_ATTENTION_BIAS = {**_QKV_BIAS, "self_attn.o_proj.bias": "h"}
_GATED = {"mlp.gate_proj.weight": "i h", "mlp.up_proj.weight": "i h", "mlp.down_proj.weight": "h i"}
_GATED_BIAS = {"mlp.gate_proj.bias": "i", "mlp.up_proj.bias": "i", "mlp.down_proj.bias": "h"}
_NORMS = {"input_layernorm.weight": "h", "post_attention_layernorm.weight": "h"}
_NORM_BIASES = {"input_layernorm.bias": "h", "post_attention_layernorm.bias": "h"}
_FEEDFORWARD_NORMS = {"pre_feedforward_layernorm.weight": "h", "post_feedforward_layernorm.weight": "h"}
_HEAD_NORMS = {"self_attn.q_norm.weight": "d", "self_attn.k_norm.weight": "d"}
_LLAMA = {**_ATTENTION, **_GATED, **_NORMS}
_BUFFERS = r"(.*\.)?rotary_emb\.inv_freq|.*\.(attn|attention)\.(bias|masked_bias)"


@dataclass(frozen=True)
class Family:
    """``flags`` adds tensors to each layer where the configuration sets that flag (missing flag: ``defaults``).

    ``tied`` is what a missing ``tie_word_embeddings`` means. ``buffers`` are tensors of old exports that loaders skip.
    ``bare`` says that the names may also stand without their first part.
    """

    model_type: str
    layer: Layout
    flags: Mapping[str, Layout] = field(default_factory=dict)
    embedding: str = "model.embed_tokens.weight"
    top: Layout = field(default_factory=lambda: {"model.norm.weight": "h"})
    layers: str = "model.layers."
    heads: tuple[str, ...] = ("lm_head.weight",)
    head_bias: str | None = None
    tied: bool = False
    defaults: Mapping[str, int | bool] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    buffers: re.Pattern[str] = re.compile(_BUFFERS)
    bare: bool = False


_BIASES = {"attention_bias": _ATTENTION_BIAS, "mlp_bias": _GATED_BIAS}
_ATTENTION_FLAG = {"attention_bias": _ATTENTION_BIAS}
_OLMO2 = {
    **_ATTENTION,
    **_GATED,
    "self_attn.q_norm.weight": "q",
    "self_attn.k_norm.weight": "k",
    "post_attention_layernorm.weight": "h",
    "post_feedforward_layernorm.weight": "h",
}
_NORM_WITH_BIAS = {"model.norm.weight": "h", "model.norm.bias": "h"}
_GPT2 = {
    "ln_1.weight": "h",
    "ln_1.bias": "h",
    "attn.c_attn.weight": "h 3h",
    "attn.c_attn.bias": "3h",
    "attn.c_proj.weight": "h h",
    "attn.c_proj.bias": "h",
    "ln_2.weight": "h",
    "ln_2.bias": "h",
    "mlp.c_fc.weight": "h i",
    "mlp.c_fc.bias": "i",
    "mlp.c_proj.weight": "i h",
    "mlp.c_proj.bias": "h",
}
_NEOX = {
    **_NORMS,
    **_NORM_BIASES,
    "attention.query_key_value.weight": "3h h",
    "attention.dense.weight": "h h",
    "mlp.dense_h_to_4h.weight": "i h",
    "mlp.dense_h_to_4h.bias": "i",
    "mlp.dense_4h_to_h.weight": "h i",
    "mlp.dense_4h_to_h.bias": "h",
}
_PHI = {
    **{name: shape for name, shape in _ATTENTION.items() if "o_proj" not in name},
    **_QKV_BIAS,
    "self_attn.dense.weight": "h q",
    "self_attn.dense.bias": "h",
    "mlp.fc1.weight": "i h",
    "mlp.fc1.bias": "i",
    "mlp.fc2.weight": "h i",
    "mlp.fc2.bias": "h",
    "input_layernorm.weight": "h",
    "input_layernorm.bias": "h",
}
_PHI3 = {
    **_NORMS,
    "self_attn.qkv_proj.weight": "qkv h",
    "self_attn.o_proj.weight": "h q",
    "mlp.gate_up_proj.weight": "2i h",
    "mlp.down_proj.weight": "h i",
}
_STARCODER2 = {
    **_ATTENTION,
    **_NORMS,
    **_NORM_BIASES,
    "mlp.c_fc.weight": "i h",
    "mlp.c_proj.weight": "h i",
}

FAMILIES: Mapping[str, Family] = {
    "LlamaForCausalLM": Family("llama", _LLAMA, _BIASES),
    "MistralForCausalLM": Family("mistral", _LLAMA, defaults={"num_key_value_heads": 8}),
    "Qwen2ForCausalLM": Family("qwen2", {**_LLAMA, **_QKV_BIAS}, defaults={"num_key_value_heads": 32}),
    "Qwen3ForCausalLM": Family(
        "qwen3", {**_LLAMA, **_HEAD_NORMS}, _ATTENTION_FLAG, defaults={"num_key_value_heads": 32, "head_dim": 128}
    ),
    "GemmaForCausalLM": Family(
        "gemma", _LLAMA, _ATTENTION_FLAG, tied=True, defaults={"num_key_value_heads": 16, "head_dim": 256}
    ),
    "Gemma2ForCausalLM": Family(
        "gemma2",
        {**_LLAMA, **_FEEDFORWARD_NORMS},
        _ATTENTION_FLAG,
        tied=True,
        defaults={"num_key_value_heads": 4, "head_dim": 256},
    ),
    "Gemma3ForCausalLM": Family(
        "gemma3_text",
        {**_LLAMA, **_FEEDFORWARD_NORMS, **_HEAD_NORMS},
        _ATTENTION_FLAG,
        tied=True,
        defaults={"num_key_value_heads": 4, "head_dim": 256},
    ),
    "SmolLM3ForCausalLM": Family("smollm3", _LLAMA, _BIASES, tied=True, defaults={"num_key_value_heads": 4}),
    "GraniteForCausalLM": Family("granite", _LLAMA, _BIASES),
    "OlmoForCausalLM": Family("olmo", {**_ATTENTION, **_GATED}, _ATTENTION_FLAG, top={}),
    "Olmo2ForCausalLM": Family("olmo2", _OLMO2, _ATTENTION_FLAG),
    "Olmo3ForCausalLM": Family("olmo3", _OLMO2, _ATTENTION_FLAG),
    "Phi3ForCausalLM": Family("phi3", _PHI3),
    "PhiForCausalLM": Family(
        "phi",
        _PHI,
        {
            "qk_layernorm": {
                "self_attn.q_layernorm.weight": "d",
                "self_attn.q_layernorm.bias": "d",
                "self_attn.k_layernorm.weight": "d",
                "self_attn.k_layernorm.bias": "d",
            }
        },
        top={"model.final_layernorm.weight": "h", "model.final_layernorm.bias": "h"},
        head_bias="lm_head.bias",
    ),
    "StableLmForCausalLM": Family(
        "stablelm",
        {**_LLAMA, **_NORM_BIASES},
        {"use_qkv_bias": _QKV_BIAS},
        top=_NORM_WITH_BIAS,
        defaults={"num_key_value_heads": 32},
    ),
    "Starcoder2ForCausalLM": Family(
        "starcoder2",
        _STARCODER2,
        {"use_bias": {**_ATTENTION_BIAS, "mlp.c_fc.bias": "i", "mlp.c_proj.bias": "h"}},
        top=_NORM_WITH_BIAS,
        tied=True,
        defaults={"num_key_value_heads": 2, "use_bias": True},
    ),
    "GPTNeoXForCausalLM": Family(
        "gpt_neox",
        _NEOX,
        {"attention_bias": {"attention.query_key_value.bias": "3h", "attention.dense.bias": "h"}},
        embedding="gpt_neox.embed_in.weight",
        top={"gpt_neox.final_layer_norm.weight": "h", "gpt_neox.final_layer_norm.bias": "h"},
        layers="gpt_neox.layers.",
        heads=("embed_out.weight", "lm_head.weight"),
        defaults={"attention_bias": True},
    ),
    "GPT2LMHeadModel": Family(
        "gpt2",
        _GPT2,
        embedding="transformer.wte.weight",
        top={"transformer.wpe.weight": "p h", "transformer.ln_f.weight": "h", "transformer.ln_f.bias": "h"},
        layers="transformer.h.",
        tied=True,
        keys={
            "hidden_size": "n_embd",
            "num_hidden_layers": "n_layer",
            "num_attention_heads": "n_head",
            "intermediate_size": "n_inner",
            "max_position_embeddings": "n_positions",
        },
        bare=True,
    ),
}
