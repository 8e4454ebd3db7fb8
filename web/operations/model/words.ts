/** States of the installation in words. Pure. */
import type {
  SeenPart,
  SeenPass,
  SeenWorker,
  TroubleReason,
  WaitingCalls,
  WorkerState,
} from 'colloquy/browser/operations';

export const WORKER_STATES: Readonly<Record<WorkerState, string>> = {
  up: 'up',
  silent: 'gone: no sign of life',
  gone: 'gone',
  unknown: 'polls, and announces itself nowhere',
};

export const REASONS: Readonly<Record<TroubleReason, string>> = {
  failing: 'failing',
  slow: 'slow',
  unknown_outcome: 'unknown outcome',
  overdue: 'overdue',
  not_served: 'not served',
};

/** Why a part cannot be shown; undefined for one that is known. */
export function missingWords(part: SeenPart<object>): string | undefined {
  return part.status === 'known' ? undefined : `Not known now: ${part.reason}`;
}

/** `workflow, activity`; `-` for a worker that the server has not seen. */
export function pollsWords({ polls }: Pick<SeenWorker, 'polls'>): string {
  return polls.length === 0 ? '-' : polls.join(', ');
}

/** `build 1.4.2 of shop`; a long one is a digest, whose start is enough to compare. */
export function buildWords({ buildId, deployment }: SeenWorker): string {
  if (buildId === undefined) return '-';
  if (deployment !== undefined) return `${buildId} of ${deployment}`;
  return buildId.length > LONG ? `${buildId.slice(0, LONG)}…` : buildId;
}

const LONG = 20;

/** `checked 12, asked 1, found 0` and, where there are any, the findings that an operator should read. */
export function passWords(pass: SeenPass): string {
  const { checked, asked, found, gone, endedSilently, failed } = pass;
  const notable = [
    ...(gone === 0 ? [] : [`${gone} not known to Temporal`]),
    ...(endedSilently === 0 ? [] : [`${endedSilently} ended without closing`]),
    ...(failed === 0 ? [] : [`${failed} not answered`]),
  ];
  return [`${checked} compared`, `${asked} read again`, `${found} brought in`, ...notable].join(
    ', ',
  );
}

/** `35 ms`, `2.1 s` */
export function msWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** `1 call`, `3 calls` */
export function countWords(count: number, one: string, more = ''): string {
  return `${count}${more} ${count === 1 ? one : `${one}s`}`;
}

export interface Comparison {
  readonly before: number;
  /** Those that waited before, and wait now. */
  readonly still: number;
  /** Conversations whose call does not wait any more. */
  readonly ended: readonly string[];
  readonly begun: number;
}

/** The calls that waited before a kill, and those that wait after it. */
export function compared(before: WaitingCalls, after: WaitingCalls): Comparison {
  const ended = [...before.calls].filter(([ref]) => !after.calls.has(ref)).map(([, id]) => id);
  const begun = [...after.calls.keys()].filter((ref) => !before.calls.has(ref)).length;
  return {
    before: before.calls.size,
    still: before.calls.size - ended.length,
    ended: [...new Set(ended)],
    begun,
  };
}

export function comparedWords({ before, still, ended, begun }: Comparison): string {
  const rest = begun === 0 ? '' : ` ${countWords(begun, 'call')} began to wait meanwhile.`;
  if (ended.length === 0)
    return `Before: ${countWords(before, 'call')} waited. After: the same ${countWords(still, 'call')} ${still === 1 ? 'waits' : 'wait'}. Nothing was lost.${rest}`;
  return `Before: ${countWords(before, 'call')} waited. After: ${still} of them ${still === 1 ? 'waits' : 'wait'}; the others were answered or have ended meanwhile, as their conversations show.${rest}`;
}
