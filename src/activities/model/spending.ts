/**
 * Counts the usage of one activity's requests to a model, however they end. Heartbeats keep the sum, so that the next
 * attempt continues from the usage of a lost worker; the details of failures and the outcome have it as well.
 *
 * I1 The provider's own figures count if it has reported them; else the tokens of the prompt and of the streamed
 *    output, as the engine counts them, marked as `estimated`.
 * I2 A request that the provider did not accept - no response, or refused before any output - counts nothing.
 * I3 A request that keeps running at the provider counts once: with the attempt that receives its answer, or that gives
 *    it up.
 * I4 Only the same request resumes it. A request that no attempt resumes is ended at the provider, once its call is
 *    over.
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
import { TRANSCRIPT_MISS } from '../../protocol/workflow/transcript-delta.js';
import { framesOf, withDetails } from '../shared/failure.js';
import { Attempts } from './attempts.js';
import { type AskedRequest, RequestMeter } from './request-meter.js';

/** All requests of one activity, and the usage of earlier attempts. */
export class Spending {
  readonly #context = Context.current();
  readonly #model: Model;
  readonly #logger: Logger;
  readonly #caller: ModelCaller;
  readonly #attempts: Attempts;
  #before: ModelSpend | undefined;
  #own: Usage | undefined;
  #meter: RequestMeter | undefined;
  /** Open request of this attempt, left by its previous request. */
  #left: OpenRequest | undefined;
  /** Open request of an earlier attempt, not resumed yet. */
  #leftBefore: OpenRequest | undefined;

  /**
   * @param about `caller`: the call that the requests belong to.
   * @param before The details that another activity left behind for the same call; heartbeats of this activity include
   * them.
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
    const reported = detailsIn(this.#context.info.heartbeatDetails);
    const { spent, open } =
      reported.spent === undefined && reported.open === undefined ? before : reported;
    this.#before = spent;
    this.#leftBefore = open;
  }

  /** The number of this attempt, and the failed ones. */
  get attempts(): Attempts {
    return this.#attempts;
  }

  /** The call that the requests belong to. */
  get caller(): ModelCaller {
    return { ...this.#caller, attempt: this.#attempts.number };
  }

  /** Usage of this attempt. */
  get own(): Usage {
    return withCost(this.#own ?? NO_USAGE, this.#model.prices);
  }

  /** Usage of earlier attempts; undefined when none is known. */
  get earlier(): Usage | undefined {
    return this.#before?.usage;
  }

  /** Usage of all attempts. */
  get total(): Usage {
    return this.earlier === undefined ? this.own : addUsage(this.earlier, this.own);
  }

  /** Runs one request at a time. @throws the error of `run` */
  async request(
    { promptTokens, messages }: AskedRequest,
    run: (meter: RequestMeter) => Promise<ModelResponse>,
  ): Promise<ModelResponse> {
    const onOpen = (): void => {
      // Sent at once: until the server has the id, a lost worker loses it.
      this.#context.heartbeat(this.details());
    };
    let print: string | undefined;
    // The fingerprint reads all messages, so it is computed only when a request keeps running.
    const asked = (): string => (print ??= fingerprint(canonicalJson(messages)));
    // This request replaces the one that was left open.
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

  /** The details for heartbeats. */
  details(): ModelCallDetails {
    const meter = this.#meter;
    const usage = meter?.usage();
    const own = meter === undefined ? this.#left : this.#openOf(meter, usage);
    const before = this.#leftBefore;
    const open = own ?? before;
    // The details hold one open request; the usage of another counts as spent.
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
   * Returns the failure with the usage so far, for the workflow. The last heartbeat, which is sent before a failure is,
   * carries the same for the next attempt. When no attempt follows, requests that keep running at the provider are
   * cancelled there.
   */
  failed(failure: Error): Error {
    if (this.#isFinal(failure)) this.giveUp();
    else if (this.#left !== undefined) this.#endLeftBefore();
    const details = this.details();
    if (Object.keys(details).length > 0) this.#context.heartbeat(details);
    return withDetails(failure, { ...details, attempts: this.#attempts.number });
  }

  /**
   * Cancels requests that keep running at the provider, because no attempt will resume them. Does not wait for the
   * provider.
   */
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
      this.#logger.warn('a response continues at the provider', { at: framesOf(error) });
    });
  }

  /**
   * True when no attempt follows. After a transcript miss another activity repeats the call, and receives the open
   * request.
   */
  #isFinal(failure: Error): boolean {
    if (!(failure instanceof ApplicationFailure) || failure.type === TRANSCRIPT_MISS) return false;
    return this.#attempts.isFinal(failure);
  }

  /** The open request of an earlier attempt, if it is the same request. A different one stays for its own. */
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

  /**
   * `more`: usage of the running request. `lost`: open request of an earlier attempt, if the details do not hold it.
   */
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
