/** An answer to a waiting call, from its sending to its verdict. */
import { useState } from 'react';
import {
  ApiError,
  type BrowserConversation,
  type PendingView,
  type Problem,
  type Resolution,
  type Verdict,
} from '../../browser/index.js';
import { newId } from '../../browser/net/waiting.js';
import type { Sentence } from '../words/verdicts.js';
import { type PartWords, wordsOf } from '../words/words.js';

export interface AnswerProps {
  readonly call: PendingView;
  readonly conversation: Pick<BrowserConversation, 'resolve'>;
  /** Called with the verdict of each request. */
  readonly onVerdict?: ((verdict: Verdict) => void) | undefined;
}

export interface UsedAnswer {
  /**
   * An answer is on its way, or counts: another one is not sent. A `queued` one may be sent again, since a worker may
   * refuse it later.
   */
  readonly isBusy: boolean;
  readonly verdict: Verdict | undefined;
  readonly sentence: Sentence | undefined;
  readonly send: (resolution: Resolution) => void;
}

interface Sent {
  /** The state of the call that the answer was for. */
  readonly of: string;
  readonly resolution: Resolution;
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly verdict?: Verdict;
  readonly problem?: Problem;
  /** Another answer to the call was queued before it. */
  readonly isBehind?: true;
}

const DONE: readonly Verdict['verdict'][] = ['accepted', 'accepted_late', 'duplicate'];

/**
 * For parts of your own: sends answers for the arguments that are shown, one at a time. Failures become sentences; the
 * same answer after a request without a verdict, or one that is `queued`, is the same request, so it counts once.
 */
export function useAnswer(
  { call, conversation, onVerdict }: AnswerProps,
  words: PartWords = wordsOf(undefined),
): UsedAnswer {
  const { toolCallId, kind, openedAt, argsDigest, ask, reverted } = call;
  // A call that was taken back, or asks anew, waits for another answer.
  const of = [toolCallId, kind, openedAt, argsDigest, ask, reverted?.requestId].join(' ');
  const [last, setLast] = useState<Sent>();
  const sent = last?.of === of ? judged(last, call) : undefined;
  const { verdict, problem } = sent ?? {};
  const isOnItsWay = sent !== undefined && verdict === undefined && problem === undefined;
  const isBusy = isOnItsWay || (verdict !== undefined && DONE.includes(verdict.verdict));
  const send = async (resolution: Resolution): Promise<void> => {
    if (isBusy) return;
    // The answer of a lost request may count already: its repeat is the same request.
    const isOpen = problem !== undefined || verdict?.verdict === 'queued';
    const isRepeat = isOpen && isSame(sent?.resolution, resolution);
    const requestId = (isRepeat ? sent?.requestId : undefined) ?? newId();
    const isBehind = isRepeat ? sent?.isBehind : verdict?.verdict === 'queued';
    const one = { of, resolution, requestId, ...(isBehind === true ? { isBehind } : {}) };
    setLast({ ...one, at: Date.now() });
    try {
      const given = await conversation.resolve(toolCallId, resolution, { argsDigest, requestId });
      setLast({ ...one, at: Date.now(), verdict: given });
      onVerdict?.(given);
    } catch (error) {
      setLast({ ...one, at: Date.now(), problem: problemOf(error) });
    }
  };
  return {
    isBusy,
    verdict,
    sentence: sent === undefined ? revertedSentence(call, words) : sentenceOf(sent, words),
    send: (resolution) => void send(resolution),
  };
}

function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return { status: 0, code: 'failed', detail: String(error) };
}

function isSame(one: Resolution | undefined, other: Resolution): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** With the verdict of the worker that judged a queued answer, where that refused it. */
function judged(sent: Sent, { refused = [] }: PendingView): Sent {
  if (sent.verdict?.verdict !== 'queued') return sent;
  const later = refused.find(({ requestId }) => requestId === sent.requestId);
  return later === undefined ? sent : { ...sent, verdict: later.verdict };
}

function sentenceOf(sent: Sent, words: PartWords): Sentence {
  const { resolution, at, verdict, problem, isBehind } = sent;
  if (verdict !== undefined) {
    const said = words.verdict(verdict, resolution.type, at);
    const isSecond = isBehind === true && verdict.verdict === 'queued';
    return isSecond ? { ...said, text: `${said.text.replace(/\.$/, '')}. ${words.behind}` } : said;
  }
  return problem === undefined ? { text: words.sending, tone: 'kept' } : words.problem(problem);
}

function revertedSentence({ reverted }: PendingView, words: PartWords): Sentence | undefined {
  if (reverted === undefined) return undefined;
  const problems = reverted.problems.map(({ path, message }) => `${path} ${message}`.trim());
  return { text: `${words.reverted} ${problems.join('; ')}`, tone: 'bad' };
}
