"""How much of the activations is computed again, as a cell or a setting says it.

In: what is printed as the value of such a setting, in whatever language. Out: `none`, `selective`
or `full`; `on` where it is only said that something is; None where nobody can tell. The ways to
compute in layers (`uniform`, `block`) and a part of the layers (`every 2nd layer`) say not how
much, and are none of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from assay.ingest.vocabulary.languages import SIMPLE

HowMuch = Literal["none", "selective", "full", "on"]

_WORDS: Mapping[HowMuch, str] = {
    "none": (
        "none nothing no n false off disabled unset not-set without w/o unused not-used not-enabled"
        " not-given not-passed omitted never inactive"
        " 无 否 不 关 关闭 禁用 不开启 未开启 不启用 未启用 不使用 未使用 没有 不开 未开"
        " 不重计算 无重计算"
        " なし なしで 無し 無 オフ 無効 いいえ しない 使用しない 使わない 行わない"
        " 없음 없이 안-함 안함 끔 꺼짐 미사용 미적용 비활성 비활성화 사용-안-함 사용-안함 아니오"
        " keine keiner keines nein aus ohne deaktiviert abgeschaltet"
        " aucun aucune non sans désactivé désactivée ninguno ninguna sin desactivado desactivada"
        " nenhum nenhuma não sem desativado desativada desligado desligada"
        " nessuno nessuna senza disattivato disattivata нет без выкл выключено выключен отключено"
        " отключён отключен отключена не-используется ✗ ✘ ❌"
    ),
    "selective": (
        "selective selectively sel core_attn core-attn sac sac-op op-sac op-level-sac per-op-sac"
        " per-operator-sac per-op op-level selective-op 选择 选择性 选择式 选择性地"
        " 選択 選択的 選択的な セレクティブ 선택 선택적 선택적으로 셀렉티브"
        " selektiv selektive selektiver selektives sélectif sélective sélectivement"
        " selectivo selectiva seletivo seletiva selettivo selettiva"
        " выборочно выборочный выборочная выборочное селективно селективный селективная"
        " селективное"
    ),
    "full": (
        "full fully complete all all-layers every-layer each-layer full-layer full-layers"
        " everything whole-layer whole-layers entire-layer entire-layers every-block each-block"
        " all-blocks whole-block"
        " 全 全部 全量 完全 完整 全层 全部层 所有层 每层 完全的"
        " フル 全層 全レイヤー 全レイヤ すべて 全て 完全な"
        " 전체 완전 풀 모두 전부 모든-레이어 전체-레이어 전-레이어"
        " voll volle voller vollständig vollständige vollständiger komplett komplette"
        " alle-schichten"
        " complet complète intégral intégrale toutes-les-couches completo completa"
        " todas-las-capas todas-as-camadas integral полностью полный полная полное все-слои"
    ),
    "on": (
        "on yes y true with enabled used active always 是 开 开启 启用 使用 有 打开 已开启 已启用"
        " あり 有り オン 有効 はい する 使用する 예 있음 켜짐 켬 사용 활성 활성화 적용"
        " ja ein an mit aktiviert eingeschaltet oui avec activé activée sí si con activado activada"
        " sim com ativado ativada ligado ligada sì attivato attivata да вкл включено включён"
        " включен ✓ ✔ ✅"
    ),
}
"""Words of each answer, in English, Chinese, Japanese, Korean, German, French, Spanish, Portuguese,
Italian and Russian, with strokes for blanks."""

_MEANT: Mapping[str, HowMuch] = {
    word.translate(SIMPLE): much for much, words in _WORDS.items() for word in words.split()
}

_IT = re.compile(
    r"(?<![a-z])(?:(?:activation|gradient|act|grad)(?:[ _-]|\. ?))?"
    r"(?:re-?comput(?:e|ation|ing)(?:[ _-]activations?)?|ckpt|ac"
    r"|remat(?:eriali[sz]ation)?|check-?point(?:ing|s)?)(?![a-z])"
    r"|(?:激活值?|梯度)?(?:重计算|重算|检查点)|(?:活性化の?)?(?:再計算|再计算|チェックポイン(?:ト(?:ング)?|ティング))"
    r"|(?:활성화 ?)?(?:재계산|체크 ?포인팅)|(?:aktivierungs)?neuberechnung|recalcul|rec[áa]lculo"
    r"|recomputación|recomputação|ricalcolo|пересчёт|пересчет|перевычисление",
    re.IGNORECASE,
)
"""The thing itself, beside the word for how much."""

_REMARK = re.compile(
    r"(?P<word>[^()（）,;:/]{1,40}?)\s*(?:[(（](?P<inner>[^()（）]{1,60})[)）]|[,;:/](?P<rest>[^()（）]{1,60}))"
)

OF_A_PART = re.compile(
    r"[0-9]|block|every|each|half|some|layer|only|part|except|层|層|レイヤ|레이어|schicht|couche|capa"
    r"|camada|сло",
    re.IGNORECASE,
)
"""Words of a remark by which not all layers may be meant."""

_A_PART = (
    r"(?:core[ _-]?attn|core attention|attention core|(?:self-?)?attention|attn|softmax"
    r"|(?:moe|expert|dense|shared)?[ _-]?mlps?|ffn|experts?|routers?|moe(?:[ _-]act)?"
    r"|(?:rms|layer)?[ -]?norms?"
    r"|layernorm|activation functions?|swiglu|gelu|silu|mla[ _]up[ _]proj|up[ -]proj(?:ection)?s?"
    r"|qkv|rope)"
)

_PARTS = re.compile(
    rf"(?:(?:only|just) )?(?:the )?{_A_PART}"
    rf"(?:(?:, ?| ?\+ ?| ?& ?| ?/ ?|,? and )(?:the )?{_A_PART}){{0,7}}"
    r"(?:[ -](?:layers?|blocks?|parts?|modules?)(?=[ -]only))?(?:[ -]only)?"
)
"""Parts of a layer that are computed again, and so not all of it: `core attention and norms`."""

_OF_ATTENTION = re.compile(
    r"(?<!core )(?<!core_)(?<!core-)\b(?:self-?)?(?:attention|attn)\b(?! core)"
)

_OF_MLP = re.compile(r"\b(?:mlps?|ffn)\b")

_SAVED: Mapping[str, HowMuch] = {
    "nothing_saveable": "full", "everything_saveable": "none", "dots_saveable": "selective",
    "checkpoint_dots": "selective", "dots_with_no_batch_dims_saveable": "selective",
    "checkpoint_dots_with_no_batch_dims": "selective",
}  # fmt: skip
"""Policies of `jax.checkpoint`, called by what they keep: the rest is computed again."""

_AROUND = " \t*_`'\"“”「」.。"


@lru_cache(maxsize=4096)
def how_much_again(text: str) -> HowMuch | None:
    """How much is computed again, by the word that says so.

    >>> how_much_again("选择性"), how_much_again("vollständig"), how_much_again("なし")
    ('selective', 'full', 'none')
    >>> how_much_again("Selective (attention)"), how_much_again("full, uniform")
    ('selective', 'full')
    >>> how_much_again("full, 1 layer"), how_much_again("every 2nd layer"), how_much_again("block")
    (None, None, None)
    >>> how_much_again("no recompute"), how_much_again("✓"), how_much_again("-")
    ('none', 'on', None)
    >>> how_much_again("the whole layer"), how_much_again("router and expert MLP")
    ('full', 'selective')
    >>> how_much_again("per-op SAC"), how_much_again("SAC (op)"), how_much_again("SAC, every 2nd")
    ('selective', 'selective', None)
    >>> how_much_again("experts only"), how_much_again("only attention")
    ('selective', 'selective')
    >>> how_much_again("attention and MLP"), how_much_again("nothing_saveable")
    (None, 'full')
    """
    bare = _bare(text).removeprefix("(").removesuffix(")") if text[:1] == "(" else _bare(text)
    if found := _said(bare) or kept_by_policy(bare) or _of_parts(bare):
        return found
    remark = _REMARK.fullmatch(bare)
    found = _said(remark["word"]) if remark else None
    if remark is None or found is None:
        return None
    beside = remark["inner"] or remark["rest"]
    also = _said(beside)
    if found == "on":  # `on (selective)`
        return also if also in ("selective", "full", "on") else None
    if found == "none":
        return found if remark["inner"] and also in (None, found) else None
    of_all = also == found or (also in (None, "on") and not OF_A_PART.search(beside))
    return found if of_all else None


def switch(text: str) -> str | None:
    """Whether a word switches a thing on or off, as `True` or `False`; None for any other word.

    >>> switch("enabled"), switch("Off"), switch("未启用"), switch("✓"), switch("selective")
    ('True', 'False', 'False', 'True', None)
    """
    word = _MEANT.get(_bare(text).replace(" ", "-"))
    return {"on": "True", "none": "False"}.get(word or "")


def kept_by_policy(text: str) -> HowMuch | None:
    """How much is computed again under a policy of JAX, by its name alone.

    >>> kept_by_policy("jax.checkpoint_policies.dots_saveable"), kept_by_policy("everything")
    ('selective', None)
    """
    return _SAVED.get(text.strip(_AROUND).rpartition(".")[2])


def _of_parts(text: str) -> HowMuch | None:
    """`selective` where parts of a layer are named; attention and the MLP may be all of it."""
    if _PARTS.fullmatch(text) is None or (_OF_ATTENTION.search(text) and _OF_MLP.search(text)):
        return None
    return "selective"


@lru_cache(maxsize=4096)
def how_much_named(text: str) -> HowMuch | None:
    """The same of a text that has to name the thing itself, and says nothing else: a label.

    >>> how_much_named("no recompute"), how_much_named("ckpt off"), how_much_named("全重计算")
    ('none', 'none', 'full')
    >>> how_much_named("checkpointing=full"), how_much_named("act_ckpt = selective")
    ('full', 'selective')
    >>> how_much_named("checkpoint='never'"), how_much_named("checkpoint='last.pt'")
    ('none', None)
    >>> how_much_named("layers checkpointed"), how_much_named("12 layers checkpointed")
    ('full', None)
    >>> how_much_named("full"), how_much_named("no checkpoints"), how_much_named("full AC, FP8")
    (None, None, None)
    >>> how_much_named("recompute activations (selective)"), how_much_named("重计算（选择性）")
    ('selective', 'selective')
    """
    if mode := _MODE.fullmatch(text):
        return "on" if mode[1].casefold() == "always" else "none"
    bare = _bare(text)
    found = _IT.search(bare)
    if _LAYERS_AGAIN.fullmatch(bare):
        return "full"
    if found is None or _OF_WEIGHTS.fullmatch(found[0]):
        return None
    return _said(bare)


_MODE = re.compile(
    r"[\s*_`(]*checkpoint ?= ?[\"'`“‘]?(always|never)[\"'`”’]?[\s*_`)]*", re.IGNORECASE
)
"""The argument by which torchgpipe and fairscale are told it: `checkpoint='always'`."""

_DONE_AGAIN = r"(?:check-?pointed|re-?computed|re-?materiali[sz]ed)"

_ALL_LAYERS = r"(?:(?:all|every|each|the|single|whole) ){0,3}(?:(?:encoder|decoder|transformer) )?"

_LAYERS_AGAIN = re.compile(
    rf"{_ALL_LAYERS}(?:layers?|blocks?) {_DONE_AGAIN}|{_DONE_AGAIN} {_ALL_LAYERS}(?:layers|blocks)"
)
"""Layers that are computed again, not some of them: `layers checkpointed`."""


_RUN_SO = re.compile(
    r"(?:\s*で)?(?:の)?(?:学習|計測|測定)(?:し(?:た|ました|ています))?(?:結果(?:です)?)?"
    r"|\s*(?:으?로 )?(?:학습|측정|훈련|실행)(?:했|하였|한)(?:습니다|다| 결과(?:입니다)?)?"
    r"|(?:进行)?(?:训练|测试|运行)(?:的|得到)?(?:结果)?"
)
"""Words behind how something ran."""

_ENDED_KO = r"(?:습니다|다)?(?: 결과(?:입니다)?)?"

_ENDED_JA = r"(?:し(?:た|て(?:います|いる)?|ました))?(?:結果(?:です)?)?"

_SWITCHED = (
    (re.compile(rf"[을를]? (?:켰|켠|(?:사용|적용|활성화)(?:했|한)){_ENDED_KO}"), " 사용"),
    (
        re.compile(rf"[을를]? (?:껐|끈|끄고|(?:사용하|쓰)지 않(?:았|고|은)){_ENDED_KO}"),
        " 미사용",
    ),
    (re.compile(rf"を(?:オンに|有効(?:化|に)?|使用|利用|適用){_ENDED_JA}"), " 有効"),
    (
        re.compile(
            rf"を(?:オフに|無効(?:化|に)?){_ENDED_JA}"
            r"|を(?:使用し|利用し|使わ)(?:て)?(?:いない|いません|ない)"
        ),
        " 無効",
    ),
)
"""Verbs that switch it on or off, behind it."""


def how_much_told(text: str) -> HowMuch | None:
    """The same of a sentence that says nothing else, in Korean, Japanese or Chinese.

    >>> how_much_told("재계산 없이 학습했습니다."), how_much_told("활성화 재계산을 켰습니다.")
    ('none', 'on')
    >>> how_much_told("再計算を有効にした結果です。"), how_much_told("不使用重计算训练")
    ('on', 'none')
    >>> how_much_told("재계산 배치 4")
    """
    bare = text.strip(f"{_AROUND}.;,、。")
    for verb, word in _SWITCHED:
        bare = verb.sub(word, bare)
    last = list(_RUN_SO.finditer(bare))
    if last and last[-1].end() == len(bare):
        bare = bare[: last[-1].start()]
    return how_much_named(bare)


_OF_WEIGHTS = re.compile(r"check-?points?")
"""Words that may be of weights that are saved: `no checkpoints`."""


def speaks_of_it(text: str) -> bool:
    """Whether a text names recomputation, and does not just speak of weights that are saved.

    >>> speaks_of_it("Activation checkpointing policy"), speaks_of_it("Checkpoints and their size")
    (True, False)
    """
    return any(not _OF_WEIGHTS.fullmatch(found[0]) for found in _IT.finditer(_bare(text)))


def is_it(text: str) -> bool:
    """Whether a text names recomputation and says nothing more: one of several things that are on.

    >>> is_it("Activation checkpointing"), is_it("Checkpoints"), is_it("recompute, 4 layers")
    (True, False, False)
    """
    found = _IT.fullmatch(_bare(text))
    return found is not None and _OF_WEIGHTS.fullmatch(found[0]) is None


def _bare(text: str) -> str:
    return " ".join(text.translate(SIMPLE).strip(_AROUND).casefold().split())


def _said(text: str) -> HowMuch | None:
    """The answer of a word, with or without the thing itself before or behind it."""
    word = _bare(text).removeprefix("the ")
    if found := _MEANT.get(word.replace(" ", "-")):
        return found
    rest = _IT.sub(" ", word, count=1).strip(" ._-:：=の()（）")
    return _MEANT.get(rest.replace(" ", "-")) if rest and rest != word else None
