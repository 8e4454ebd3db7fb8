/** An API in memory for tool workers: a `fetch` that answers as a test says, and a stream that the test writes. */
import { onTestFinished } from 'vitest';
import type { ToolOffer } from '../../../src/protocol/calls/claims.js';
import type {
  ToolWorker,
  ToolWorkerFailure,
  ToolWorkerOptions,
} from '../../../src/tool-worker/index.js';
import { createToolWorker } from '../../../src/tool-worker/index.js';
import type { UntypedContracts } from '../../../src/tool-worker/types.js';
import { until } from '../../support/until.js';

export interface Asked {
  readonly kind: 'claim' | 'progress' | 'resolution' | 'stream';
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

type Answer = Response | Promise<Response>;

export function answer(body: object, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export const ACCEPTED = { verdict: 'accepted', claimId: 'claim-1', toolCallId: 'a' };
export const HELD = { verdict: 'stale', why: 'held', by: 'another' };
export const LOST = { verdict: 'stale', why: 'not_holder' };

export function offer(toolCallId: string, more: Partial<ToolOffer> = {}): ToolOffer {
  return {
    ref: `default~c1~${toolCallId}`,
    ...{ conversationId: 'c1', toolCallId, turnId: 't', agent: 'helper', tool: 'render' },
    ...{ executor: 'external', input: { scene: toolCallId }, argsDigest: 'digest', attempt: 1 },
    ...{ openedAt: '2030-01-01T00:00:00.000Z', deadline: '2030-01-02T00:00:00.000Z' },
    ...more,
  };
}

export class ScriptedApi {
  readonly asked: Asked[] = [];
  readonly failures: ToolWorkerFailure[] = [];
  claim: (asked: Asked) => Answer = () => answer(ACCEPTED);
  progress: (asked: Asked) => Answer = () => answer(ACCEPTED);
  resolution: (asked: Asked) => Answer = () => answer({ verdict: 'accepted', seq: 9 });
  /** Undefined: an event stream, which `write` writes. */
  stream: (asked: Asked) => Answer | undefined = () => undefined;
  #streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  #ids = 0;

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const last = url.pathname.split('/').at(-1) as Asked['kind'];
    const signal = init.signal ?? new AbortController().signal;
    const body = typeof init.body === 'string' ? init.body : '{}';
    const asked: Asked = {
      ...{ kind: last, url, headers: new Headers(init.headers), signal },
      body: JSON.parse(body) as Asked['body'],
    };
    this.asked.push(asked);
    const given = last === 'stream' ? this.stream(asked) : this[last](asked);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    return await Promise.race([given ?? this.#open(signal), aborted]);
  };

  of(kind: Asked['kind']): readonly Asked[] {
    return this.asked.filter((asked) => asked.kind === kind);
  }

  /** Writes text to the newest stream. */
  write(text: string): void {
    this.#streams.at(-1)?.enqueue(new TextEncoder().encode(text));
  }

  send(event: string, data: object): void {
    this.#ids += 1;
    this.write(`id: 1-${this.#ids}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Cuts the newest stream, as a process that is killed does. */
  cut(): void {
    this.#streams.at(-1)?.error(new TypeError('terminated'));
  }

  async opened(count = 1): Promise<void> {
    await until('the stream is open', () => this.#streams.length >= count);
  }

  /** Starts a worker of the tool `render`, and waits until it reads the stream. */
  async worker(
    render: ToolWorkerOptions<UntypedContracts>['tools'][string],
    options: Partial<ToolWorkerOptions<UntypedContracts>> = {},
  ): Promise<ToolWorker> {
    const worker = createToolWorker({
      ...{ url: 'http://api.example/base/', tools: { render }, fetch: this.fetch },
      onError: (failure) => this.failures.push(failure),
      ...options,
    });
    onTestFinished(() => worker.stop({ drain: false }));
    if (this.stream.length === 0 && options.signal?.aborted !== true) await this.opened();
    return worker;
  }

  #open(signal: AbortSignal): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.push(controller);
        signal.addEventListener('abort', () => {
          try {
            controller.error(signal.reason);
          } catch {
            // The stream was cut before.
          }
        });
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  }
}
