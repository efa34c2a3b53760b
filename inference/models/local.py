"""A model in this process, run by transformers and held to its schema by Outlines' logits processor.

Requests are answered one after another. The keys and values of the last prompt are kept, so what a prompt has in
common with the one before is not computed again: the same saving as a server's prefix cache, for one sequence.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from inference.models.certainty import ALTERNATIVES, Token, decisions
from inference.models.contract import Message, OnReply, Reply, Request
from inference.models.generation import Completion, answering, lengths, strict_schema, wire
from inference.models.hardware import worker_threads
from inference.models.quiet import quiet_loading
from workspace import UserError

if TYPE_CHECKING:
    import torch


class TransformersModel:
    """The weights in a folder (safetensors, tokenizer, chat template), on the GPU if torch has one, or the CPU.

    `context` may lower what the weights allow. `sampling` takes temperature, top_p and top_k; without it the
    likeliest token is taken each time.

    Raises UserError: the folder holds no such model.
    """

    def __init__(
        self,
        weights: Path,
        *,
        name: str = "",
        context: int | None = None,
        capable: bool = True,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        import outlines
        import torch
        from outlines.backends.llguidance import LLGuidanceBackend
        from transformers import DynamicCache

        self._tokenizer, self._model = _loaded(weights)
        if not self._tokenizer.chat_template:
            raise UserError(f"The model in {weights} has no chat template. Choose an instruction-tuned model.")
        self._model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        torch.set_num_threads(worker_threads())
        longest = int(self._model.config.max_position_embeddings)
        self._name = name or weights.name
        self._context = min(context or longest, longest)
        self._capable = capable
        self._sampling = dict(sampling or {})
        if not self._sampling:
            # What the weights advise for sampling would be warned of where nothing is sampled.
            advice = self._model.generation_config
            advice.temperature = advice.top_p = advice.top_k = None
        # llguidance compiles a schema in milliseconds; Outlines' own backend takes seconds for bounded strings.
        self._constraints: Any = LLGuidanceBackend(outlines.from_transformers(self._model, self._tokenizer))
        self._cache_type: Any = DynamicCache
        self._read: list[int] = []
        self._cache: Any = self._new_cache()

    @property
    def name(self) -> str:
        return self._name

    @property
    def context(self) -> int:
        return self._context

    @property
    def capable(self) -> bool:
        return self._capable

    def count(self, messages: Sequence[Message]) -> int:
        return len(self._tokens(messages))

    def generate(self, requests: Sequence[Request], on_reply: OnReply | None = None) -> list[Reply]:
        lengths(requests, self.count, self._context)
        replies = []
        for index, request in enumerate(requests):
            replies.append(self._answer(request))
            if on_reply is not None:
                on_reply(index, replies[-1])
        return replies

    def close(self) -> None:
        self._model = self._tokenizer = self._constraints = self._cache = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, request: Request) -> Reply:
        steps = answering(request, self.count, self.count, self._context)
        messages = next(steps)
        while True:
            try:
                messages = steps.send(self._complete(request, messages))
            except StopIteration as end:
                reply: Reply = end.value
                return reply

    def _complete(self, request: Request, messages: Sequence[Message]) -> Completion:
        import torch

        prompt = self._tokens(messages)
        cache, cached = self._resumed(prompt)
        # Compact JSON: a small model otherwise fills its answer with white space.
        schema = {**strict_schema(request.schema), "x-guidance": {"whitespace_flexible": False}}
        processor = self._constraints.get_json_schema_logits_processor(json.dumps(schema))
        odds = _Odds(self._tokenizer) if decisions(request) else None
        ids = torch.tensor([prompt], device=self._model.device)
        with warnings.catch_warnings(), torch.inference_mode():
            # The processor warns of an answer that the limit cut off; validation says so too, and better.
            warnings.filterwarnings("ignore", message="Error in LLMatcher")
            sequence: torch.Tensor = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                past_key_values=cache,
                max_new_tokens=request.max_tokens,
                do_sample=self._sampling.get("temperature", 0) > 0,
                logits_processor=[processor, *([odds] if odds else [])],
                pad_token_id=self._tokenizer.eos_token_id,
                **self._sampling,
            )
        tokens = sequence[0].tolist()
        # The last token was chosen but never read, so it has no keys and values.
        self._read, self._cache = tokens[:-1], cache
        output = tokens[len(prompt) :]
        ended = bool(output) and output[-1] in self._stops()
        return Completion(
            text=self._tokenizer.decode(output, skip_special_tokens=True),
            prompt_tokens=len(prompt),
            cached_tokens=cached,
            output_tokens=len(output),
            finish="stop" if ended else "length",
            tokens=odds.of(output) if odds else (),
        )

    def _resumed(self, prompt: list[int]) -> tuple[Any, int]:
        """The cache with what `prompt` shares with the last sequence, and how many tokens that is.

        It leaves this object until the generation succeeds: one that is broken off leaves a cache half filled.
        """
        cache, self._cache = self._cache, self._new_cache()
        read, self._read = self._read, []
        shared = 0
        # The last token of the prompt must be read for there to be a next one.
        for ours, theirs in zip(prompt[:-1], read, strict=False):
            if ours != theirs:
                break
            shared += 1
        if not shared:
            return self._cache, 0
        if shared < len(read):
            cache.crop(shared - len(read))
        return cache, shared

    def _new_cache(self) -> Any:
        return self._cache_type(config=self._model.config)

    def _tokens(self, messages: Sequence[Message]) -> list[int]:
        encoded = self._tokenizer.apply_chat_template(
            wire(messages), add_generation_prompt=True, enable_thinking=False, return_dict=True
        )
        return list(encoded["input_ids"])

    def _stops(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return {*(ends if isinstance(ends, list) else [ends]), self._tokenizer.eos_token_id}


class _Odds:
    """Watches a generation: how likely each token was, once what the schema forbids was ruled out.

    A few probabilities a step are kept, not those of the whole vocabulary, which would fill the memory.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._steps: list[dict[int, float]] = []

    def __call__(self, ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        best = scores[0].float().log_softmax(-1).topk(min(ALTERNATIVES, scores.shape[-1]))
        self._steps.append(dict(zip(best.indices.tolist(), best.values.tolist(), strict=True)))
        return scores

    def of(self, output: Sequence[int]) -> tuple[Token, ...]:
        """The tokens of the output; one drawn from beyond the likeliest is taken to be as likely as their last."""
        return tuple(
            Token(
                self._tokenizer.decode([token]),
                likeliest.get(token, min(likeliest.values())),
                {self._tokenizer.decode([other]): logprob for other, logprob in likeliest.items()},
            )
            for token, likeliest in zip(output, self._steps, strict=False)
        )


def _loaded(weights: Path) -> tuple[Any, Any]:
    """Tokenizer and model of a folder.

    Raises UserError: transformers finds none there.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with quiet_loading():
        try:
            tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(weights, local_files_only=True, dtype="auto")
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"{weights} holds no model that transformers can load: {reason}") from error
    return tokenizer, model
