/** What one request to a model takes, from its sending on: by the provider's own figures, else by an estimate (`spending.ts`). */
import { Context } from '@temporalio/activity';
import { addUsage } from '../../core/state/usage.js';
import { roughTokens } from '../../model/shared/count-tokens.js';
import type { OpenRequest } from '../../protocol/conversation/attempts.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import type { ModelCallOptions, ModelReport, ModelResponse } from '../../protocol/model/model.js';
import { isCancelRequested } from '../shared/failure.js';

/** Failures of an answer that had begun. Others say that there was none: without a word of it they cost nothing. */
const BROKEN_OFF: readonly string[] = [
  'model_stream_broken',
  'model_content_filtered',
] satisfies readonly FailureCode[];

export interface AskedRequest {
  /** As the engine counts them. */
  readonly promptTokens: number;
  /** Tell it from other requests of the same call, which are made with the same instructions and tools. */
  readonly messages: readonly Message[];
}

/** One request, from its sending on. */
export class RequestMeter {
  readonly #promptTokens: number;
  readonly #asked: () => string;
  readonly #left: OpenRequest | undefined;
  readonly #context = Context.current();
  #isAccepted = false;
  #isResumed = false;
  #openId: string | undefined;
  #streamedBytes = 0;
  #said: Usage | undefined;

  readonly #onOpen: () => void;

  /**
   * @param given `promptTokens`: as the engine counts them. `asked`: fingerprint of the request. `left`: by an attempt before, to be
   * resumed. `onOpen`: told once it is known under which id the request goes on.
   */
  constructor(given: {
    readonly promptTokens: number;
    readonly asked: () => string;
    readonly left: OpenRequest | undefined;
    readonly onOpen: () => void;
  }) {
    this.#promptTokens = given.promptTokens;
    this.#asked = given.asked;
    this.#left = given.left;
    this.#openId = given.left?.id;
    this.#onOpen = given.onOpen;
  }

  /** It goes on at the provider, and the next attempt shall have its answer. */
  get goesOn(): boolean {
    return this.#openId !== undefined && !isCancelRequested(this.#context);
  }

  /** Under which id it goes on, and which request it is; undefined: it does not. */
  get open(): Required<Pick<OpenRequest, 'id' | 'request'>> | undefined {
    return this.#openId === undefined ? undefined : { id: this.#openId, request: this.#asked() };
  }

  /** What the adapter is given of it; `onEvent` is told of the pieces, too. */
  options(
    onEvent?: ModelCallOptions['onEvent'],
  ): Pick<ModelCallOptions, 'onEvent' | 'onReport' | 'resume'> {
    return {
      onEvent: (event) => {
        this.#isAccepted = true;
        if ('text' in event) this.#streamedBytes += Buffer.byteLength(event.text ?? '');
        onEvent?.(event);
      },
      onReport: (report) => {
        this.#take(report);
      },
      ...(this.#left === undefined ? {} : { resume: this.#left.id }),
    };
  }

  answered({ usage }: ModelResponse): void {
    this.#said = usage;
  }

  /** What it took until now; undefined: nothing. `code`: what it has failed with. Absent: it goes on, or was stopped. */
  usage(code?: string): Usage | undefined {
    const own = this.#own(code);
    if (this.#left === undefined) return own;
    const { usage } = this.#left;
    if (own === undefined) return usage;
    if (!this.#isResumed) return addUsage(usage, own);
    // It is read from its beginning, and may not have come as far again.
    return own.estimated === true && own.outputTokens < usage.outputTokens ? usage : own;
  }

  #take(report: ModelReport): void {
    if (report.type === 'closed') {
      this.#openId = undefined;
      return;
    }
    this.#isAccepted = true;
    if (report.type === 'usage') this.#said = report.usage;
    if (report.type !== 'open') return;
    const isNew = report.id !== this.#openId;
    this.#openId = report.id;
    this.#isResumed = report.id === this.#left?.id;
    if (isNew) this.#onOpen();
  }

  #own(code: string | undefined): Usage | undefined {
    if (this.#said !== undefined) return this.#said;
    const streamed = this.#streamedBytes;
    const isRefused = code !== undefined && streamed === 0 && !BROKEN_OFF.includes(code);
    if (!this.#isAccepted || isRefused) return undefined;
    const outputTokens = streamed === 0 ? 0 : roughTokens(streamed);
    return { inputTokens: this.#promptTokens, outputTokens, estimated: true };
  }
}
