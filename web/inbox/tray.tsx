/** The answers of the person: those that are held, and the verdicts of the others, in words. */
import type { ReactNode } from 'react';
import { useNow } from '../shared/now.js';
import { type Outbox, type OutgoingAnswer, URGENT_MS } from './model/outbox.js';
import { problemSentence, type Sentence, verdictSentence } from './model/words.js';

const SHOWN = 5;
/** A request without an answer for so long is worth a word. */
const SLOW_MS = 2_000;
const ACTS: Readonly<Record<string, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  answer: 'Answer',
  decline: 'Decline',
};

export function Tray(props: {
  readonly answers: readonly OutgoingAnswer[];
  readonly outbox: Outbox;
}): ReactNode {
  const { answers, outbox } = props;
  const open = answers.filter(({ state }) => state !== 'done');
  const done = answers.filter(({ state }) => state === 'done').slice(-SHOWN);
  return (
    <section className="tray" aria-label="Your answers" role="log" aria-relevant="additions text">
      {[...done, ...open].map((answer) => (
        <Answer key={answer.requestId} answer={answer} outbox={outbox} />
      ))}
    </section>
  );
}

function Answer({
  answer,
  outbox,
}: {
  readonly answer: OutgoingAnswer;
  readonly outbox: Outbox;
}): ReactNode {
  const { ref, state, title, resolution } = answer;
  const now = useNow();
  const { text, tone } = sentenceOf(answer, now);
  return (
    <div className={`answer ${tone}`}>
      <p>
        <b>
          {ACTS[resolution.type] ?? resolution.type}: {title}.
        </b>{' '}
        {text}
      </p>
      {state === 'held' ? (
        <>
          {/* The seconds are for the eyes: read out, they would be said over all else. */}
          <span aria-hidden="true" className="seconds">
            {Math.max(0, Math.floor((answer.sendAt - now) / 1000))} s
          </span>
          <button type="button" onClick={() => outbox.undo(ref)}>
            Undo
          </button>
          <button type="button" onClick={() => outbox.sendNow(ref)}>
            Send now
          </button>
        </>
      ) : undefined}
      {state === 'failed' ? (
        <button type="button" onClick={() => outbox.sendNow(ref)}>
          Send again
        </button>
      ) : undefined}
      {state === 'done' || state === 'failed' ? (
        <button type="button" className="plain" onClick={() => outbox.dismiss(ref)}>
          Dismiss<span className="hidden"> {title}</span>
        </button>
      ) : undefined}
    </div>
  );
}

function sentenceOf(answer: OutgoingAnswer, now: number): Sentence {
  const { state, verdict, problem, resolution, sendAt } = answer;
  if (state === 'held') return { text: 'Will be sent in a moment.', tone: 'kept' };
  if (state === 'done' && verdict !== undefined)
    return verdictSentence(verdict, resolution.type, now);
  if (state === 'failed' && problem !== undefined) return problemSentence(problem);
  if (now - sendAt > SLOW_MS)
    return {
      text: 'No answer from the API yet; it is asked again until there is one.',
      tone: 'kept',
    };
  const isUrgent = Date.parse(answer.deadline) - sendAt < URGENT_MS;
  return { text: isUrgent ? 'Sent at once: the deadline is near.' : 'Sent.', tone: 'kept' };
}
