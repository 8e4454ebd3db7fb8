/**
 * What the requests of one activity to a model take, however they end. Kept in heartbeats, so that the next attempt goes on from
 * what a lost worker had spent; in the details of failures; and in the outcome.
 *
 * I1 The provider's own figures count where it has said them; else the tokens of the prompt and of what has streamed, as the
 *    engine counts, marked as `estimated`.
 * I2 A request that the provider did not take - nobody answered, or it was refused before a word - counts nothing.
 */
import { Context } from '@temporalio/activity';
import { addUsage, NO_USAGE } from '../core/view.js';
import { withCost } from '../model/cost.js';
import { roughTokens } from '../model/count-tokens.js';
import { toModelFailure } from '../model/failure.js';
import type { Usage } from '../protocol/events.js';
import type { FailureCode } from '../protocol/failures.js';
import type {
  Model,
  ModelCallOptions,
  ModelReport,
  ModelResponse,
  ModelStreamEvent,
} from '../protocol/model.js';
import { type ModelCallDetails, type ModelSpend, spendIn } from '../protocol/spending.js';
import { withDetails } from './failure.js';

/** Failures of an answer that had begun. Others say that there was none: without a word of it they cost nothing. */
const BROKEN_OFF: readonly string[] = [
  'model_stream_broken',
  'model_content_filtered',
] satisfies readonly FailureCode[];

/** One request, from its sending on. */
export class RequestMeter {
  readonly #promptTokens: number;
  #isAccepted = false;
  #streamedBytes = 0;
  #said: Usage | undefined;

  /** @param promptTokens As the engine counts them. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  take(event: ModelStreamEvent): void {
    this.#isAccepted = true;
    if ('text' in event) this.#streamedBytes += Buffer.byteLength(event.text ?? '');
  }

  report(report: ModelReport): void {
    this.#isAccepted = true;
    if (report.type === 'usage') this.#said = report.usage;
  }

  /** What the adapter is to tell; `onEvent` is told of the pieces, too. */
  listeners(onEvent?: ModelCallOptions['onEvent']): Pick<ModelCallOptions, 'onEvent' | 'onReport'> {
    return {
      onEvent: (event) => {
        this.take(event);
        onEvent?.(event);
      },
      onReport: (report) => {
        this.report(report);
      },
    };
  }

  answered({ usage }: ModelResponse): void {
    this.#said = usage;
  }

  /** What it took until now; undefined: nothing. `code`: what it has failed with. Absent: it goes on, or was stopped. */
  usage(code?: string): Usage | undefined {
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
  #open: RequestMeter | undefined;

  /** @param before What another activity took for the same call; heartbeats of this one know of it. */
  constructor(model: Model, before?: ModelSpend) {
    this.#model = model;
    this.#before = spendIn(this.#context.info.heartbeatDetails) ?? before;
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
    const meter = new RequestMeter(promptTokens);
    this.#open = meter;
    try {
      const response = await run(meter);
      meter.answered(response);
      this.#close(meter.usage());
      return response;
    } catch (error) {
      const isStopped = this.#context.cancellationSignal.aborted;
      this.#close(meter.usage(isStopped ? undefined : toModelFailure(error).code));
      throw error;
    }
  }

  /** For heartbeats. */
  details(): ModelCallDetails {
    const open = this.#open?.usage();
    const own = open === undefined ? this.#own : addUsage(this.#own ?? NO_USAGE, open);
    const before = this.#before;
    if (own === undefined) return before === undefined ? {} : { spent: before };
    const { name, prices } = this.#model;
    const priced = withCost(own, prices);
    const usage = before === undefined ? priced : addUsage(before.usage, priced);
    return { spent: { model: name, attempt: this.#context.info.attempt, usage } };
  }

  /**
   * The failure with what was taken until now, for the workflow; and the same as the last heartbeat, which is sent before a
   * failure is, for the next attempt.
   */
  failed(failure: Error): Error {
    const details = this.details();
    if (details.spent === undefined) return failure;
    this.#context.heartbeat(details);
    return withDetails(failure, details);
  }

  #close(usage: Usage | undefined): void {
    this.#open = undefined;
    if (usage !== undefined) this.#own = addUsage(this.#own ?? NO_USAGE, usage);
  }
}
