/**
 * What the requests of one activity to a model take, however they end. Kept in heartbeats, so that the next attempt goes on from
 * what a lost worker had spent; in the details of failures; and in the outcome.
 *
 * I1 The provider's own figures count where it has said them; else the tokens of the prompt and of what has streamed, as the
 *    engine counts, marked as `estimated`.
 * I2 A request that the provider did not take - nobody answered, or it was refused before a word - counts nothing.
 * I3 A request that goes on at the provider counts once: with the attempt that has its answer, or that gives it up.
 * I4 Only the same request resumes it. What nobody resumes is ended at the provider, once its call is over.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { addUsage, NO_USAGE, spentIn } from '../../core/state/usage.js';
import type { Logger } from '../../define/tool/context.js';
import { withCost } from '../../model/shared/cost.js';
import { toModelFailure } from '../../model/shared/failure.js';
import {
  detailsIn,
  type ModelCallDetails,
  type ModelSpend,
  type OpenRequest,
} from '../../protocol/conversation/attempts.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import type { Model, ModelCaller, ModelResponse } from '../../protocol/model/model.js';
import { canonicalJson, fingerprint } from '../../protocol/values/json.js';
import { TRANSCRIPT_MISS } from '../../protocol/workflow/activities.js';
import { framesOf, withDetails } from '../shared/failure.js';
import { Attempts } from './attempts.js';
import { type AskedRequest, RequestMeter } from './request-meter.js';

/** All requests of one activity, and what the attempts before it took. */
export class Spending {
  readonly #context = Context.current();
  readonly #model: Model;
  readonly #logger: Logger;
  readonly #caller: ModelCaller;
  readonly #attempts: Attempts;
  #before: ModelSpend | undefined;
  #own: Usage | undefined;
  #meter: RequestMeter | undefined;
  /** By the request before, in this attempt. */
  #left: OpenRequest | undefined;
  /** By an attempt before, and not resumed yet. */
  #leftBefore: OpenRequest | undefined;

  /**
   * @param about `caller`: for whom the model is asked.
   * @param before What another activity left behind for the same call; heartbeats of this one know of it.
   */
  constructor(
    model: Model,
    about: { readonly logger: Logger; readonly caller: Omit<ModelCaller, 'attempt'> },
    before: ModelCallDetails = {},
  ) {
    this.#model = model;
    this.#logger = about.logger;
    this.#caller = about.caller;
    this.#attempts = new Attempts(model.name, before);
    const told = detailsIn(this.#context.info.heartbeatDetails);
    const { spent, open } = told.spent === undefined && told.open === undefined ? before : told;
    this.#before = spent;
    this.#leftBefore = open;
  }

  /** Which attempt this is, and those that came to nothing. */
  get attempts(): Attempts {
    return this.#attempts;
  }

  /** For whom the model is asked. */
  get caller(): ModelCaller {
    return { ...this.#caller, attempt: this.#attempts.number };
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
    { promptTokens, messages }: AskedRequest,
    run: (meter: RequestMeter) => Promise<ModelResponse>,
  ): Promise<ModelResponse> {
    const onOpen = (): void => {
      // At once: until it is told, a lost worker loses the id.
      this.#context.heartbeat(this.details());
    };
    let print: string | undefined;
    // Reads all of it: only where something goes on.
    const asked = (): string => (print ??= fingerprint(canonicalJson(messages)));
    // Another request takes its place.
    this.#endLeft();
    const meter = new RequestMeter({ promptTokens, asked, left: this.#leftOf(asked), onOpen });
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
    const own = meter === undefined ? this.#left : this.#openOf(meter, usage);
    const before = this.#leftBefore;
    const open = own ?? before;
    // One is told: the other counts.
    const spent = this.#spent(
      own === undefined ? usage : undefined,
      own === undefined ? undefined : before,
    );
    return {
      ...(spent === undefined ? {} : { spent }),
      ...(open === undefined ? {} : { open }),
      ...this.#attempts.details(),
    };
  }

  /**
   * The failure with what was taken until now, for the workflow; and the same as the last heartbeat, which is sent before a
   * failure is, for the next attempt. Where there is none, what goes on at the provider is ended there.
   */
  failed(failure: Error): Error {
    if (this.#isFinal(failure)) this.giveUp();
    else if (this.#left !== undefined) this.#endLeftBefore();
    const details = this.details();
    if (Object.keys(details).length > 0) this.#context.heartbeat(details);
    return withDetails(failure, { ...details, attempts: this.#attempts.number });
  }

  /** Nobody wants what is left any more: what goes on at the provider is ended there. Nobody waits for that. */
  giveUp(): void {
    this.#endLeft();
    this.#endLeftBefore();
  }

  #endLeft(): void {
    const left = this.#left;
    this.#left = undefined;
    if (left === undefined) return;
    this.#close(left.usage);
    this.#end(left);
  }

  #endLeftBefore(): void {
    const left = this.#leftBefore;
    this.#leftBefore = undefined;
    if (left === undefined) return;
    this.#before = spentIn({ ...this.#spentBefore(), open: left });
    this.#end(left);
  }

  #end({ id }: OpenRequest): void {
    this.#model.cancel?.(id, this.caller).catch((error: unknown) => {
      this.#logger.warn('a response goes on at the provider', { at: framesOf(error) });
    });
  }

  /** Nobody asks again. What lacked messages is asked by another activity, which is told what is open. */
  #isFinal(failure: Error): boolean {
    if (!(failure instanceof ApplicationFailure) || failure.type === TRANSCRIPT_MISS) return false;
    return this.#attempts.isFinal(failure);
  }

  /** What an attempt before has left of the same request; another one waits for its own. */
  #leftOf(asked: () => string): OpenRequest | undefined {
    const left = this.#leftBefore;
    const request = left?.request;
    if (request !== undefined && request !== asked()) return undefined;
    this.#leftBefore = undefined;
    return left;
  }

  #openOf(meter: RequestMeter, usage: Usage = NO_USAGE): OpenRequest | undefined {
    const { open } = meter;
    if (open === undefined) return undefined;
    const { name, prices } = this.#model;
    const { number: attempt } = this.#attempts;
    return { ...open, model: name, attempt, usage: withCost(usage, prices) };
  }

  #spentBefore(): ModelCallDetails {
    return this.#before === undefined ? {} : { spent: this.#before };
  }

  /** `more`: of the request that runs. `lost`: by an attempt before, where it is not told. */
  #spent(more: Usage | undefined, lost: OpenRequest | undefined): ModelSpend | undefined {
    const own = more === undefined ? this.#own : addUsage(this.#own ?? NO_USAGE, more);
    const before = spentIn({
      ...this.#spentBefore(),
      ...(lost === undefined ? {} : { open: lost }),
    });
    if (own === undefined) return before;
    const { name, prices } = this.#model;
    const priced = withCost(own, prices);
    const usage = before === undefined ? priced : addUsage(before.usage, priced);
    return { model: name, attempt: this.#attempts.number, usage };
  }

  #close(usage: Usage | undefined): void {
    this.#meter = undefined;
    if (usage !== undefined) this.#own = addUsage(this.#own ?? NO_USAGE, usage);
  }
}
