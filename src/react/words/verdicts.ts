/** The verdicts of the API as sentences. Pure. */
import type { CallView, Decided, Problem, Resolution, Verdict } from '../../browser/index.js';
import { agoWords } from './times.js';

export interface Sentence {
  readonly text: string;
  /** `good`: the answer counts. `kept`: it will be judged later. `bad`: it does not count. */
  readonly tone: 'good' | 'kept' | 'bad';
}

const DONE: Readonly<Record<Resolution['type'], string>> = {
  ...{ approve: 'Approved', deny: 'Denied', answer: 'Answered', decline: 'Declined' },
  ...{ result: 'Result taken', error: 'Error taken', outcome: 'Outcome taken' },
};

/** The states of calls, as ends of `Decided by Lena: …`. */
const STATES: Readonly<Record<string, string>> = {
  resolved: 'approved or answered',
  errored: 'ended with an error',
  denied: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
  running: 'approved, the tool runs',
  detached: 'runs without its turn',
  outcome_unknown: 'its outcome is unknown',
  awaiting_approval: 'waits for an approval',
  awaiting_answer: 'waits for an answer',
  awaiting_client: 'approved, waits for a page that runs it',
  awaiting_external: 'approved, waits for a backend that runs it',
};

const QUEUED: Readonly<Record<string, string>> = {
  no_worker: 'No worker is up; your answer is kept',
  workers_busy: 'The workers are busy; your answer is kept',
  workflow_failing: 'The conversation fails at present; your answer is kept',
};

/** The sentence on an answer of this type. `now` in milliseconds since 1970. */
export function verdictSentence(verdict: Verdict, type: Resolution['type'], now: number): Sentence {
  switch (verdict.verdict) {
    case 'accepted':
      return good(
        verdict.checked === false ? `${DONE[type]}; a worker still checks it` : DONE[type],
      );
    case 'accepted_late':
      return good(`${DONE[type]} after the deadline: the agent gets it as new input`);
    case 'duplicate':
      return verdictSentence(verdict.first, type, now);
    case 'queued':
      return {
        text: QUEUED[verdict.reason ?? ''] ?? 'Not judged yet; your answer is kept',
        tone: 'kept',
      };
    case 'stale':
      return bad(staleText(verdict, now));
    case 'forbidden':
      return bad(`You may not answer this call: ${verdict.reason}`);
    case 'expired':
      return bad(`Too late: the deadline passed ${agoWords(verdict.deadline, now)}`);
    case 'invalid':
      return bad(`Not taken: ${problemsText(verdict.problems)}`);
    case 'unknown':
      return bad(verdict.what === 'conversation' ? 'The conversation is gone' : 'The call is gone');
  }
}

const DECIDED: Readonly<Record<Resolution['type'], string>> = {
  ...{ approve: 'approved', deny: 'denied', answer: 'answered', decline: 'declined' },
  ...{ result: 'a result was given', error: 'an error was reported' },
  outcome: 'its outcome was reported',
};

/** Why a call waits no longer. `decided`: by whom, where the log says so; `state`: of the call, if it is known. */
export function overSentence(
  call: { readonly decided?: Decided | undefined; readonly state?: CallView['state'] | undefined },
  me: string,
  now: number,
): string {
  const { decided, state } = call;
  if (decided === undefined) return `Waits no longer${state === undefined ? '' : `: ${state}`}`;
  const { type, by, at } = decided;
  const who = by.id === me ? 'you' : (by.name ?? by.id);
  return `Decided by ${who} ${agoWords(at, now)}: ${DECIDED[type]}`;
}

/** The sentence on a request without a verdict. */
export function problemSentence({ status, code, detail }: Problem): Sentence {
  if (status === 0) return bad('The API does not answer; press again: nothing counts twice');
  return bad(`Not sent: ${detail} (${code})`);
}

function staleText(verdict: Extract<Verdict, { verdict: 'stale' }>, now: number): string {
  const { why, status, by, at, openKind } = verdict;
  if (why === 'other_kind')
    return `The call waits for something else by now: ${openKind ?? status}`;
  if (why === 'not_holder') return `${by ?? 'Another client'} holds the call`;
  const state = STATES[status] ?? status;
  if (verdict.code !== undefined) return `The call has ended: ${verdict.code}`;
  const when = at === undefined ? '' : ` ${agoWords(at, now)}`;
  return `Decided${by === undefined ? '' : ` by ${by}`}${when}: ${state}`;
}

function problemsText(
  problems: readonly { readonly path: string; readonly message: string }[],
): string {
  return problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
}

function good(text: string): Sentence {
  return { text, tone: 'good' };
}

function bad(text: string): Sentence {
  return { text, tone: 'bad' };
}
