/**
 * Models that a script cannot play: held until the test releases them, and answers that no honest provider gives.
 */
import { calls, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import type {
  Model,
  ModelCallOptions,
  ModelPrices,
  ModelRequest,
  ModelResponse,
  RequestedCall,
} from '../../../src/protocol/model/model.js';

/**
 * Streams the same text and then waits, at every call while `held`; a stop ends the call, a release passes it to
 * `inner`.
 */
export class HeldModel implements Model {
  readonly name = 'held';
  readonly prices?: ModelPrices;
  held = false;
  started = 0;
  aborted = 0;
  readonly #inner: Model;
  readonly #text: string;
  #waiting: (() => void)[] = [];

  constructor(inner: Model, text = '') {
    this.#inner = inner;
    if (inner.prices !== undefined) this.prices = inner.prices;
    this.#text = text;
  }

  release(): void {
    this.held = false;
    for (const go of this.#waiting) go();
    this.#waiting = [];
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    this.started += 1;
    if (this.held) {
      if (this.#text !== '') options.onEvent({ type: 'text', text: this.#text });
      await this.#released(options);
    }
    return this.#inner.generate(request, options);
  }

  #released({ signal }: ModelCallOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        this.aborted += 1;
        reject(new DOMException('The model call was aborted', 'AbortError'));
      });
    });
  }
}

/** Asks for these calls in its first answer, letter by letter as given, and says "done" in the second. */
export function asksRaw(calls: readonly RequestedCall[]): Model {
  let asked = false;
  return {
    name: 'raw',
    generate: () => {
      const first = !asked;
      asked = true;
      return Promise.resolve({
        parts: first ? [] : [{ type: 'text', text: 'done' }],
        calls: first ? calls : [],
        finishReason: first ? 'tool_calls' : 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
        model: 'raw',
      });
    },
  };
}

/** Messages are numbers: every odd one asks for a refund, which needs an approval; every even one is answered. */
export const refundsOnOdd: Model = scriptedBy(({ messages }): ScriptedAnswer => {
  const last = messages.at(-1);
  if (last?.role !== 'user') return says('done');
  const number = Number(textOf(last.parts));
  return number % 2 === 1
    ? calls(
        'payments.refund',
        { paymentId: `p${number}`, cents: number },
        { id: `refund_${number}` },
      )
    : says(`answer ${number}`);
});
