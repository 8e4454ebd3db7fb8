/** The answers of the person: those that are held, and the verdicts of the others, in words. */
import type { Sentence } from 'colloquy/react';
import { type ReactNode, useMemo } from 'react';
import { useNow } from '../shared/now.js';
import type { Outbox, OutgoingAnswer } from './model/outbox.js';
import { answerSentence, groupSentence } from './model/words.js';

const SHOWN = 5;
const ACTS: Readonly<Record<string, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  answer: 'Answer',
  decline: 'Decline',
};

type Group = readonly OutgoingAnswer[];

export function Tray(props: {
  readonly answers: readonly OutgoingAnswer[];
  readonly outbox: Outbox;
}): ReactNode {
  const { answers, outbox } = props;
  const groups = useMemo(() => groupsOf(answers), [answers]);
  const isDone = (group: Group): boolean => group.every(({ state }) => state === 'done');
  const open = groups.filter((group) => !isDone(group));
  const done = groups.filter(isDone).slice(-SHOWN);
  return (
    <section className="tray" aria-label="Your answers" role="log" aria-relevant="additions text">
      {[...done, ...open].map((group) => (
        <Answers key={group[0]?.group} group={group} outbox={outbox} />
      ))}
    </section>
  );
}

function groupsOf(answers: readonly OutgoingAnswer[]): readonly Group[] {
  return [...Map.groupBy(answers, ({ group }) => group).values()];
}

function Answers({ group, outbox }: { readonly group: Group; readonly outbox: Outbox }): ReactNode {
  const now = useNow();
  const [first] = group;
  if (first === undefined) return undefined;
  const act = ACTS[first.resolution.type] ?? first.resolution.type;
  const isOne = group.length === 1;
  const { text, tone } = isOne ? answerSentence(first, now) : groupSentence(group, now);
  const title = isOne ? first.title : `${group.length} calls`;
  return (
    <div className={`answer ${tone}`}>
      <p>
        <b>
          {act}: {title}.
        </b>{' '}
        {text}
      </p>
      {isOne ? undefined : <Verdicts group={group} now={now} />}
      <Buttons {...{ group, outbox, title, now }} />
    </div>
  );
}

/** One sentence for each call of a decision. */
function Verdicts({ group, now }: { readonly group: Group; readonly now: number }): ReactNode {
  const told = group.map((answer) => ({ answer, ...answerSentence(answer, now) }));
  // Those that do not count come first: a person has to read them.
  const rank = ({ tone }: Sentence): number => ['bad', 'kept', 'good'].indexOf(tone);
  return (
    <details className="verdicts">
      <summary>One by one</summary>
      <ul>
        {told
          .toSorted((a, b) => rank(a) - rank(b))
          .map(({ answer, text, tone }) => (
            <li key={answer.requestId} className={tone}>
              {answer.title}: {text}
            </li>
          ))}
      </ul>
    </details>
  );
}

function Buttons(props: {
  readonly group: Group;
  readonly outbox: Outbox;
  readonly title: string;
  readonly now: number;
}): ReactNode {
  const { group, outbox, title, now } = props;
  const id = group[0]?.group ?? '';
  const held = group.find(({ state }) => state === 'held');
  const failed = group.filter(({ state }) => state === 'failed');
  const isOpen = group.some(({ state }) => state === 'held' || state === 'sending');
  return (
    <>
      {held === undefined ? undefined : (
        <>
          {/* The seconds are for the eyes: read out, they would be said over all else. */}
          <span aria-hidden="true" className="seconds">
            {Math.max(0, Math.floor((held.sendAt - now) / 1000))} s
          </span>
          <button type="button" onClick={() => outbox.undo(id)}>
            Undo
          </button>
          <button type="button" onClick={() => outbox.sendGroup(id)}>
            Send now
          </button>
        </>
      )}
      {failed.length === 0 ? undefined : (
        <button type="button" onClick={() => outbox.sendNow(new Set(failed.map(({ ref }) => ref)))}>
          Send again
        </button>
      )}
      {isOpen ? undefined : (
        <button type="button" className="plain" onClick={() => outbox.dismiss(id)}>
          Dismiss<span className="hidden"> {title}</span>
        </button>
      )}
    </>
  );
}
