/**
 * Measures the usage of one request to a model, from when it is sent: by the provider's own figures, else by an
 * estimate (`spending.ts`).
 */
import { Context } from '@temporalio/activity';
import { addUsage } from '../../core/state/usage.js';
import { roughTokens } from '../../model/shared/count-tokens.js';
import type { OpenRequest } from '../../protocol/conversation/attempts.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import type { ModelCallOptions, ModelReport, ModelResponse } from '../../protocol/model/model.js';
import { isCancelRequested } from '../shared/failure.js';

/**
 * Failures of an answer that had begun. After other failures there was no answer: without any output they cost nothing.
 */
const BROKEN_OFF: readonly string[] = [
  'model_stream_broken',
  'model_content_filtered',
] satisfies readonly FailureCode[];

export interface AskedRequest {
  /** Tokens of the prompt, as the engine counts them. */
  readonly promptTokens: number;
  /** Distinguish the request from others of the same call, which have the same instructions and tools. */
  readonly messages: readonly Message[];
}

/** One request, from when it is sent. */
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
   * @param given `promptTokens`: as the engine counts them. `asked`: fingerprint of the request. `left`: the open
   * request of an earlier attempt, to be resumed. `onOpen`: called once the id is known under which the request keeps
   * running.
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

  /** True when the request keeps running at the provider, and the next attempt should receive its answer. */
  get continues(): boolean {
    return this.#openId !== undefined && !isCancelRequested(this.#context);
  }

  /** The id under which the request keeps running, and its fingerprint; undefined when it has ended. */
  get open(): Required<Pick<OpenRequest, 'id' | 'request'>> | undefined {
    return this.#openId === undefined ? undefined : { id: this.#openId, request: this.#asked() };
  }

  /** The options for the adapter; `onEvent` receives the streamed pieces as well. */
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

  /**
   * Usage so far; undefined for none. `code`: the code of its failure; absent when the request keeps running or was
   * stopped.
   */
  usage(code?: string): Usage | undefined {
    const own = this.#own(code);
    if (this.#left === undefined) return own;
    const { usage } = this.#left;
    if (own === undefined) return usage;
    if (!this.#isResumed) return addUsage(usage, own);
    // A resumed answer is read from its beginning, and may not have come as far again.
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
