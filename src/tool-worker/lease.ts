/**
 * The lease of one claim: renewed until it is ended, and given up when another worker may have the call. Its end is
 * counted from before each request is sent, by the clock of this process: so it is never later than the API's.
 */
import { isAborted, pause } from '../net/retries.js';
import type { ToolOffer } from '../protocol/calls/claims.js';
import { MIN_LEASE_MS } from '../protocol/limits/limits.js';
import type { Json } from '../protocol/values/json.js';
import { type Api, NoVerdict, type Said } from './api.js';

/** Milliseconds between two tries of a renewal that was not answered, at least. */
const MIN_RETRY_MS = 100;

/** `over`: the API says that this claim is not, or no longer, the one of the call. `unsure`: the lease has run out unheard. */
export type LeaseLoss = 'over' | 'unsure';

export class Lease {
  readonly claimId: string;
  readonly #api: Api;
  readonly #offer: ToolOffer;
  readonly #leaseMs: number;
  readonly #ended = new AbortController();
  readonly #onLoss: (loss: LeaseLoss, why: string) => void;
  #untilMs: number;
  #lapse: ReturnType<typeof setTimeout> | undefined;

  constructor(
    parts: { readonly api: Api; readonly offer: ToolOffer; readonly leaseMs: number },
    claim: { readonly claimId: string; readonly sentAtMs: number },
    onLoss: (loss: LeaseLoss, why: string) => void,
  ) {
    this.#api = parts.api;
    this.#offer = parts.offer;
    this.#leaseMs = parts.leaseMs;
    this.claimId = claim.claimId;
    this.#onLoss = onLoss;
    this.#untilMs = claim.sentAtMs + parts.leaseMs;
    this.#watch();
    void this.#renew();
  }

  /** True if subscribers got it. Never rejects. */
  async progress(payload: Json): Promise<boolean> {
    if (this.#ended.signal.aborted) return false;
    const { claimId } = this;
    const body = { payload, claimId };
    const said = await this.#say((signal) => this.#api.progress(this.#offer, body, signal));
    return said?.verdict === 'accepted';
  }

  /** Renews no more. */
  end(): void {
    clearTimeout(this.#lapse);
    this.#ended.abort();
  }

  /** Ends the claim within a second, so that other workers are offered the call. Never rejects. */
  async release(): Promise<void> {
    this.end();
    const body = { claimId: this.claimId, renewOnly: true, lease: MIN_LEASE_MS };
    // Without it the claim ends with its lease.
    await this.#api
      .claim(this.#offer, body, AbortSignal.timeout(this.#leaseMs))
      .catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const { signal } = this.#ended;
    const body = { claimId: this.claimId, renewOnly: true, lease: this.#leaseMs };
    let waitMs = this.#leaseMs / 3;
    while (!isAborted(signal)) {
      await pause(waitMs, signal);
      if (isAborted(signal)) return;
      const said = await this.#say((limit) => this.#api.claim(this.#offer, body, limit));
      waitMs = said === undefined ? Math.max(MIN_RETRY_MS, this.#leaseMs / 20) : this.#leaseMs / 3;
    }
  }

  /** Undefined without a verdict. Moves the end of the lease, or gives it up. */
  async #say(send: (signal: AbortSignal) => Promise<Said>): Promise<Said | undefined> {
    const sentAtMs = performance.now();
    const { signal } = this.#ended;
    try {
      const said = await send(signal);
      if (said.verdict === 'accepted' || said.verdict === 'duplicate') {
        this.#untilMs = Math.max(this.#untilMs, sentAtMs + this.#leaseMs);
        this.#watch();
      } else if (said.verdict !== 'invalid') this.#lose('over', textOf(said));
      return said;
    } catch (error) {
      if (error instanceof NoVerdict && (error.status === 404 || error.status === 410))
        this.#lose('over', error.message);
      return undefined;
    }
  }

  #watch(): void {
    clearTimeout(this.#lapse);
    if (this.#ended.signal.aborted) return;
    this.#lapse = setTimeout(
      () => this.#lose('unsure', 'The lease has ended: the API could not be asked to renew it'),
      this.#untilMs - performance.now(),
    );
  }

  #lose(loss: LeaseLoss, why: string): void {
    if (this.#ended.signal.aborted) return;
    this.end();
    this.#onLoss(loss, why);
  }
}

function textOf({ verdict, why }: Said): string {
  return `The claim is lost: ${verdict}${why === undefined ? '' : ` (${why})`}`;
}
