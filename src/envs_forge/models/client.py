"""The client of one model at one endpoint, for any number of threads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from envs_forge.errors import ForgeError, UserError
from envs_forge.models import retrying
from envs_forge.models.abandonable import Abandonable
from envs_forge.models.answer import Answer, Request
from envs_forge.models.faults import ContextExceededError, EndpointError, PromptRefusedError, cancelled
from envs_forge.models.key import api_key, base_url
from envs_forge.models.reading import malformed, read_answer
from envs_forge.models.settings import EndpointSettings, Sampling
from envs_forge.models.streamed import is_stream, whole
from envs_forge.models.throttle import Throttle
from envs_forge.models.wire import parsed

_NEW_LIMIT = "max_completion_tokens"
_SEEDS = 2**31
_PROXIES = "ALL_PROXY, HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
_MODEL_FLAGS = {"--base-url": "-m", "--generator-url": "--generator-model", "--judge-url": "--judge-model"}


@dataclass
class _Tries:
    """What the tries at one request came to so far."""

    began: float = field(default_factory=time.monotonic)
    spoilt: list[str] = field(default_factory=list)
    unknown: int = 0

    def note(self, error: BaseException) -> None:
        if isinstance(error, EndpointError):
            self.spoilt.append(error.code)
            self.unknown += error.paid


class ModelClient:
    """Asks one model. Everything that a request can meet is an `Answer` or a typed fault.

    Args:
        model: The model's name at the endpoint.
        endpoint: Where, and how patient we are.
        sampling: How answers are drawn.
        flag: What a user gives the address by, for messages.

    Raises:
        UserError: Address, key, or a proxy or certificates that the environment names cannot be used.
    """

    def __init__(self, model: str, endpoint: EndpointSettings, sampling: Sampling, *, flag: str = "--base-url") -> None:
        self.model = model
        self.endpoint = endpoint
        self.sampling = sampling
        self.url = base_url(endpoint.base_url, flag=flag)
        self._flags = f"{_MODEL_FLAGS.get(flag, 'the model')} and {flag}"
        self._client = _connect(self.url, endpoint)
        self._throttle = Throttle(endpoint.in_flight, endpoint.tokens_per_minute)
        self._waiting = Abandonable(cancelled)
        self._limit_field = "max_tokens"

    def cancel(self) -> None:
        """End every request under way, and every later one, at once. Callable from any thread."""
        self._waiting.cancel()
        self._throttle.wake()

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def ask(
        self,
        request: Request,
        *,
        max_tokens: int | None = None,
        retries: int | None = None,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Answer:
        """Ask once, and again where a transient fault spoilt it.

        Args:
            request: What is asked.
            max_tokens: Most tokens of the answer; default the sampling's.
            retries: Further tries; default the endpoint's.
            guard: Entered before each try is sent and left with its fault, if any; what it raises on entering ends
                the request.

        Raises:
            EndpointError: The endpoint failed for good, or more often than we try. It says what may have been paid.
            ContextExceededError: The request is too long for the model.
            InfrastructureError: `cancel` was called.
        """
        import tenacity

        tries = _Tries()
        more = self.endpoint.retries if retries is None else retries
        retry = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: retrying.worth_it(error, self.endpoint)),
            stop=tenacity.stop_after_attempt(more + 1),
            wait=self._wait,
            sleep=self._waiting.sleep,
            reraise=True,
        )
        body = self._body(request, max_tokens or self.sampling.max_tokens)
        try:
            answer = retry(self._try, body, tries, guard)
        except (EndpointError, ContextExceededError) as error:
            error.unknown_calls = tries.unknown
            retrying.name_the_wait(error, self.endpoint)
            raise
        lost = time.monotonic() - tries.began - answer.duration_s
        return answer.model_copy(update={"lost_s": lost, "spoilt": tuple(tries.spoilt), "unknown_calls": tries.unknown})

    def _wait(self, state: Any) -> float:
        """Pause after a spoilt try."""
        return retrying.pause(state.outcome.exception(), state.attempt_number, self.endpoint)

    def _gives_up(self) -> bool:
        """Whether a waiting request ends: cancelled, or made to wait by another's answer for longer than we wait."""
        return self._waiting.over or self._throttle.paused_s > self.endpoint.retry_after_cap_s

    def _unsent(self) -> ForgeError:
        """Why a request gave up before it was sent."""
        if self._waiting.over:
            return cancelled()
        wait = self._throttle.paused_s
        return EndpointError("not asked again", kind="rate-limit", transient=True, retry_after_s=wait)

    def _try(self, body: Mapping[str, Any], tries: _Tries, guard: Callable[[], AbstractContextManager[None]]) -> Answer:
        worst = len(json.dumps(body["messages"], ensure_ascii=False).encode("utf-8", "replace")) // 3
        worst += int(body["max_tokens"])
        with self._throttle.slot(worst, self._gives_up) as spent:
            if spent is None:
                raise self._unsent()
            began = time.monotonic()
            try:
                with guard():
                    answer = self._answer(body)
            except ForgeError as error:
                tries.note(error)
                if isinstance(error, EndpointError) and error.retry_after_s:
                    # Whether or not this request goes on: nobody else asks meanwhile.
                    self._throttle.pause(error.retry_after_s)
                if not (isinstance(error, EndpointError) and error.paid):
                    spent.tokens = 0
                raise
            if answer.usage.prompt_tokens is not None and answer.usage.completion_tokens is not None:
                spent.tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        return answer.model_copy(update={"duration_s": time.monotonic() - began})

    def _answer(self, body: Mapping[str, Any]) -> Answer:
        try:
            return read_answer(self._send(body))
        except PromptRefusedError as refusal:
            return refusal.answer

    def _send(self, body: Mapping[str, Any]) -> object:
        """The response's JSON; once more with the other name of the limit where the endpoint insists on it."""
        # Meanwhile another thread may learn the other name; what counts is the one that this request went with.
        limit = self._limit_field
        try:
            return self._post(body, limit)
        except EndpointError as error:
            if error.kind != "rejected" or _NEW_LIMIT not in error.message or limit == _NEW_LIMIT:
                raise
            self._limit_field = _NEW_LIMIT
            return self._post(body, _NEW_LIMIT)

    def _post(self, body: Mapping[str, Any], limit: str) -> object:
        import httpx2
        import openai

        from envs_forge.models.translation import broken, translated

        fields = {limit if name == "max_tokens" else name: value for name, value in body.items()}

        def post() -> str:
            # As the response came, not as the client's models: those take anything for a number.
            response = self._client.chat.completions.with_raw_response.create(**fields).http_response
            response.read()
            return str(response.text).removeprefix("\ufeff")

        try:
            text = self._waiting.call(post, self.endpoint.timeout_s)
        except TimeoutError:
            seconds = f"{self.endpoint.timeout_s:g} s"
            raise EndpointError(
                f"no whole answer within {seconds}", kind="timeout", transient=True, paid=True
            ) from None
        except openai.APIError as error:
            raise translated(error, key_variable=self.endpoint.key_variable, flags=self._flags) from error
        except httpx2.HTTPError as error:
            # The openai client leaves the reading of a stream to us, and with it what can befall it.
            raise broken(error) from error
        if is_stream(text):
            return whole(text)
        try:
            return parsed(text)
        except ValueError:
            raise malformed("with something that is no JSON") from None

    def _body(self, request: Request, max_tokens: int) -> dict[str, Any]:
        sampling = self.sampling
        extra = dict(sampling.extra)
        body: dict[str, Any] = {"model": self.model, "messages": list(request.messages), "max_tokens": max_tokens}
        if request.tools:
            body["tools"] = list(request.tools)
        temperature = sampling.temperature if request.temperature is None else request.temperature
        if temperature is not None:
            body["temperature"] = temperature
        if sampling.top_p is not None:
            body["top_p"] = sampling.top_p
        if request.seed is not None and sampling.send_seed:
            body["seed"] = request.seed % _SEEDS
        if sampling.logprobs:
            body["logprobs"] = True
        if self.endpoint.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if extra:
            body["extra_body"] = extra
        return body


def _connect(url: str, endpoint: EndpointSettings) -> Any:
    """The openai client, without its own retries, and with nothing but the key from the environment.

    Raises:
        UserError: With these settings and this environment there can be none.
    """
    import httpx2
    import openai

    key, tls = api_key(endpoint.key_variable), _tls()
    try:
        httpx2.URL(url)
    except httpx2.InvalidURL:
        raise UserError(f"{url!r} is no http address", fix="give another one") from None
    hooks = {"response": [_as_utf8]}
    try:
        transport = openai.DefaultHttpxClient(verify=tls, timeout=endpoint.timeout_s, event_hooks=hooks)
    except ImportError:
        raise UserError("a SOCKS proxy needs the package socksio", fix=f"install it, or look at {_PROXIES}") from None
    except (ValueError, httpx2.InvalidURL):  # their words may hold the proxy's password
        raise UserError("the environment names a proxy that cannot be used", fix=f"look at {_PROXIES}") from None
    return openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=endpoint.timeout_s, http_client=transport)


def _as_utf8(response: Any) -> None:
    """JSON and event streams are UTF-8; a header that says otherwise may name a codec that does not give text."""
    response.encoding = "utf-8"


@cache
def _tls() -> Any:
    """Certificates to trust; loading them takes a quarter of a second, so all clients share them."""
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError:
        raise UserError("the certificates cannot be read", fix="look at SSL_CERT_FILE and SSL_CERT_DIR") from None
