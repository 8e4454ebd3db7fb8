/**
 * What the requests of one activity to a model take, however they end. Kept in heartbeats, so that the next attempt goes on from
 * what a lost worker had spent; in the details of failures; and in the outcome.
 *
 * I1 The provider's own figures count where it has said them; else the tokens of the prompt and of what has streamed, as the
 *    engine counts, marked as `estimated`.
 * I2 A request that the provider did not take - nobody answered, or it was refused before a word - counts nothing.
 * I3 A request that goes on at the provider counts once: with the attempt that has its answer, or that gives it up.
 */
import { Context } from '@temporalio/activity';
import { addUsage, NO_USAGE } from '../core/view.js';
import type { Logger } from '../define/context.js';
import { withCost } from '../model/cost.js';
import { roughTokens } from '../model/count-tokens.js';
import { toModelFailure } from '../model/failure.js';
import type { Usage } from '../protocol/events.js';
import type { FailureCode } from '../protocol/failures.js';
import type { Model, ModelCallOptions, ModelReport, ModelResponse } from '../protocol/model.js';
import {
  detailsIn,
  type ModelCallDetails,
  type ModelSpend,
  type OpenRequest,
} from '../protocol/spending.js';
import { framesOf, isCancelRequested, withDetails } from './failure.js';

/** Failures of an answer that had begun. Others say that there was none: without a word of it they cost nothing. */
const BROKEN_OFF: readonly string[] = [
  'model_stream_broken',
  'model_content_filtered',
] satisfies readonly FailureCode[];

/** One request, from its sending on. */
export class RequestMeter {
  readonly #promptTokens: number;
  readonly #left: OpenRequest | undefined;
  readonly #context = Context.current();
  #isAccepted = false;
  #isResumed = false;
  #openId: string | undefined;
  #streamedBytes = 0;
  #said: Usage | undefined;

  readonly #onOpen: () => void;

  /**
   * @param given `promptTokens`: as the engine counts them. `left`: by an attempt before, to be resumed. `onOpen`: told once it is
   * known under which id the request goes on.
   */
  constructor(given: {
    readonly promptTokens: number;
    readonly left: OpenRequest | undefined;
    readonly onOpen: () => void;
  }) {
    this.#promptTokens = given.promptTokens;
    this.#left = given.left;
    this.#openId = given.left?.id;
    this.#onOpen = given.onOpen;
  }

  /** It goes on at the provider, and the next attempt shall have its answer. */
  get goesOn(): boolean {
    return this.#openId !== undefined && !isCancelRequested(this.#context);
  }

  get openId(): string | undefined {
    return this.#openId;
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

/** All requests of one activity, and what the attempts before it took. */
export class Spending {
  readonly #context = Context.current();
  readonly #model: Model;
  readonly #before: ModelSpend | undefined;
  #own: Usage | undefined;
  #meter: RequestMeter | undefined;
  /** By an attempt before, or by the request before. */
  #left: OpenRequest | undefined;

  /** @param before What another activity left behind for the same call; heartbeats of this one know of it. */
  constructor(model: Model, before: ModelCallDetails = {}) {
    this.#model = model;
    const told = detailsIn(this.#context.info.heartbeatDetails);
    const { spent, open } = told.spent === undefined && told.open === undefined ? before : told;
    this.#before = spent;
    this.#left = open;
  }

  /** Of this attempt. */
  get own(): Usage {
    return withCost(this.#own ?? NO_USAGE, this.#model.prices);
  }

  /** Of the attempts before; undefined: nothing is known of any. */
  get earlier(): Usage | undefined {
    return this.#before?.usage;
  }

  /** Of all attempts. */
  get total(): Usage {
    return this.earlier === undefined ? this.own : addUsage(this.earlier, this.own);
  }

  /** Runs one request at a time. @throws what `run` throws */
  async request(
    promptTokens: number,
    run: (meter: RequestMeter) => Promise<ModelResponse>,
  ): Promise<ModelResponse> {
    const onOpen = (): void => {
      // At once: until it is told, a lost worker loses the id.
      this.#context.heartbeat(this.details());
    };
    const meter = new RequestMeter({ promptTokens, left: this.#left, onOpen });
    this.#left = undefined;
    this.#meter = meter;
    try {
      const response = await run(meter);
      meter.answered(response);
      this.#close(meter.usage());
      return response;
    } catch (error) {
      const isStopped = this.#context.cancellationSignal.aborted;
      const usage = meter.usage(isStopped ? undefined : toModelFailure(error).code);
      this.#left = this.#openOf(meter, usage);
      this.#close(this.#left === undefined ? usage : undefined);
      throw error;
    }
  }

  /** For heartbeats. */
  details(): ModelCallDetails {
    const meter = this.#meter;
    const usage = meter?.usage();
    const open = meter === undefined ? this.#left : this.#openOf(meter, usage);
    const spent = this.#spent(open === undefined ? usage : undefined);
    return {
      ...(spent === undefined ? {} : { spent }),
      ...(open === undefined ? {} : { open }),
    };
  }

  /**
   * The failure with what was taken until now, for the workflow; and the same as the last heartbeat, which is sent before a
   * failure is, for the next attempt.
   */
  failed(failure: Error): Error {
    const details = this.details();
    if (details.spent === undefined && details.open === undefined) return failure;
    this.#context.heartbeat(details);
    return withDetails(failure, details);
  }

  /** Nobody wants the answer any more: what goes on at the provider is ended there. Nobody waits for that. */
  giveUp(logger: Logger): void {
    const left = this.#left;
    this.#left = undefined;
    if (left === undefined) return;
    this.#close(left.usage);
    this.#model.cancel?.(left.id).catch((error: unknown) => {
      logger.warn('a response goes on at the provider', { at: framesOf(error) });
    });
  }

  #openOf(meter: RequestMeter, usage: Usage = NO_USAGE): OpenRequest | undefined {
    const { openId: id } = meter;
    if (id === undefined) return undefined;
    const { name, prices } = this.#model;
    const { attempt } = this.#context.info;
    return { id, model: name, attempt, usage: withCost(usage, prices) };
  }

  #spent(open: Usage | undefined): ModelSpend | undefined {
    const own = open === undefined ? this.#own : addUsage(this.#own ?? NO_USAGE, open);
    const before = this.#before;
    if (own === undefined) return before;
    const { name, prices } = this.#model;
    const priced = withCost(own, prices);
    const usage = before === undefined ? priced : addUsage(before.usage, priced);
    return { model: name, attempt: this.#context.info.attempt, usage };
  }

  #close(usage: Usage | undefined): void {
    this.#meter = undefined;
    if (usage !== undefined) this.#own = addUsage(this.#own ?? NO_USAGE, usage);
  }
}
