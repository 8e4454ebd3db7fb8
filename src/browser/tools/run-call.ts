/** Runs one client call: claims it, renews the claim while its function works, and sends what came of it. */
import { BackOff, isAborted, type Pauses, pause } from '../../net/retries.js';
import type { ClaimVerdict } from '../../protocol/calls/claims.js';
import type { Resolution, Verdict } from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { Json } from '../../protocol/values/json.js';
import { valuePath } from '../forms/value-path.js';
import { ApiError } from '../net/problem.js';
import type { ClientTool } from './types.js';

/** The requests that a run makes. Each is repeated with the same id until it has an answer, or is given up. */
export interface CallPort {
  readonly conversationId: string;
  /** Between requests that were given up. */
  readonly pauses: Pauses;
  readonly claim: (
    toolCallId: string,
    options: { readonly lease: number; readonly claimId?: string; readonly renewOnly?: true },
  ) => Promise<ClaimVerdict>;
  readonly resolve: (
    toolCallId: string,
    resolution: Resolution,
    options: {
      readonly claimId: string;
      readonly requestId: string;
      readonly argsDigest?: string | undefined;
    },
  ) => Promise<Verdict>;
  readonly progress: (toolCallId: string, claimId: string, payload: Json) => Promise<unknown>;
}

export interface Run {
  readonly call: PendingCall;
  readonly tool: ClientTool;
  readonly leaseMs: number;
  /** Aborts when the call is over; the run aborts it when its claim is lost. */
  readonly over: AbortController;
  readonly onClaimed: (claimId: string) => void;
}

/** `left`: nothing more to do here. `again`: to be looked at after the time given; another page may have the call until then. */
export type RunEnd =
  | { readonly state: 'left' }
  | { readonly state: 'again'; readonly until: number };

const LEFT: RunEnd = { state: 'left' };
/** Milliseconds until a call is looked at again that could not be claimed or answered. */
export const AGAIN_MS = 5_000;

/** Never throws. */
export async function runCall(port: CallPort, run: Run): Promise<RunEnd> {
  const { call, leaseMs, over, onClaimed } = run;
  // Before the request, so that the lease never ends later here than at the API.
  const askedAt = Date.now();
  let verdict: ClaimVerdict;
  try {
    verdict = await port.claim(call.toolCallId, { lease: leaseMs });
  } catch (error) {
    return isPassing(error) ? later() : LEFT;
  }
  const claim = verdict.verdict === 'duplicate' ? verdict.first : verdict;
  if (claim.verdict === 'stale' && claim.why === 'held')
    return { state: 'again', until: Date.parse(claim.until) };
  if (claim.verdict !== 'accepted' || over.signal.aborted) return LEFT;
  const { claimId } = claim;
  onClaimed(claimId);
  const done = new AbortController();
  void renew(port, run, { claimId, askedAt, done: done.signal });
  try {
    const resolution = await resolutionOf(port, run, claimId);
    return resolution === undefined
      ? later(leaseMs)
      : await answer(port, run, { claimId, resolution });
  } finally {
    done.abort();
  }
}

/**
 * Renews until it is done. The function is stopped when the API says that the claim is lost, and when the lease has run
 * out: by a timer, because a request may be under way for longer.
 */
async function renew(
  port: CallPort,
  { call, leaseMs, over }: Run,
  claim: { readonly claimId: string; readonly askedAt: number; readonly done: AbortSignal },
): Promise<void> {
  const { claimId, done } = claim;
  const ended = AbortSignal.any([done, over.signal]);
  const lose = (): void => over.abort(new Error('the claim of the call is lost'));
  let lapse: ReturnType<typeof setTimeout> | undefined;
  const holdFrom = (ms: number): void => {
    clearTimeout(lapse);
    if (!ended.aborted) lapse = setTimeout(lose, Math.max(0, ms + leaseMs - Date.now()));
  };
  ended.addEventListener('abort', () => clearTimeout(lapse));
  holdFrom(claim.askedAt);
  while (!isAborted(ended)) {
    await pause(leaseMs / 3, ended);
    if (isAborted(ended)) return;
    try {
      const askedAt = Date.now();
      const options = { lease: leaseMs, claimId, renewOnly: true } as const;
      const { verdict } = await port.claim(call.toolCallId, options);
      if (isAborted(ended)) return;
      if (verdict === 'accepted' || verdict === 'duplicate') holdFrom(askedAt);
      else lose();
    } catch (error) {
      if (!isAborted(ended) && !isPassing(error)) lose();
    }
  }
}

/** What came of the function; undefined when the call was over first. */
async function resolutionOf(
  port: CallPort,
  { call, tool, over }: Run,
  claimId: string,
): Promise<Resolution | undefined> {
  const { toolCallId, name, prompt, reverted } = call;
  // The same function would give the same result again, without end.
  if (reverted !== undefined)
    return errorOf(`The result of the page was refused: ${inWords(reverted.problems)}`);
  const context = {
    ...{ conversationId: port.conversationId, toolCallId, name, signal: over.signal },
    progress: async (payload: Json): Promise<void> => {
      if (!over.signal.aborted)
        await port.progress(toolCallId, claimId, payload).catch(() => undefined);
    },
  };
  const aborted = new Promise<undefined>((resolve) => {
    over.signal.addEventListener('abort', () => resolve(undefined));
  });
  const ran = (async (): Promise<Resolution> => {
    try {
      const value: unknown = await tool(prompt as never, context);
      const text = JSON.stringify(value ?? null) as string | undefined;
      return { type: 'result', value: JSON.parse(text ?? 'null') as Json };
    } catch (error) {
      return errorOf(error instanceof Error ? error.message : String(error));
    }
  })();
  return Promise.race([ran, aborted]);
}

/** Sends the resolution for as long as the call is held here. */
async function answer(
  port: CallPort,
  { call, over, leaseMs }: Pick<Run, 'call' | 'over' | 'leaseMs'>,
  { claimId, resolution }: { readonly claimId: string; readonly resolution: Resolution },
): Promise<RunEnd> {
  const { toolCallId, argsDigest } = call;
  const requestId = `${resolution.type}-${claimId}`;
  const backOff = new BackOff(port.pauses);
  while (!over.signal.aborted) {
    let refused: string;
    try {
      const verdict = await port.resolve(toolCallId, resolution, {
        claimId,
        requestId,
        argsDigest,
      });
      if (verdict.verdict === 'stale' && verdict.why === 'not_holder') return later();
      if (verdict.verdict !== 'invalid') return LEFT;
      if (verdict.problems.some(({ path }) => path === '/argsDigest')) return later();
      refused = inWords(verdict.problems);
    } catch (error) {
      if (isPassing(error)) {
        await pause(backOff.next(retryAfterOf(error)), over.signal);
        continue;
      }
      refused = error instanceof Error ? error.message : String(error);
    }
    if (resolution.type === 'error') return LEFT;
    const error = errorOf(`The result of the page was refused: ${refused}`);
    return answer(port, { call, over, leaseMs }, { claimId, resolution: error });
  }
  return later(leaseMs);
}

/** Characters of a message that the API takes. */
const MAX_MESSAGE_CHARS = 1_000;

function errorOf(message: string): Resolution {
  return {
    type: 'error',
    message: message.slice(0, MAX_MESSAGE_CHARS) || 'failed without a message',
  };
}

function inWords(problems: readonly { readonly path: string; readonly message: string }[]): string {
  return problems.map(({ path, message }) => `${valuePath(path) || 'it'} ${message}`).join('; ');
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && error.isPassing;
}

function retryAfterOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}

function later(ms = AGAIN_MS): RunEnd {
  return { state: 'again', until: Date.now() + ms };
}
