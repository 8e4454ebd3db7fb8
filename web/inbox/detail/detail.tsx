/** One call: who asks for it and why, its arguments, and what the person may do. */
import type { CallView, Json, PendingView, Resolution, Verdict } from 'colloquy/browser';
import type { WorklistItem } from 'colloquy/browser/worklist';
import {
  agoWords,
  overSentence,
  useConversation,
  usePending,
  Values,
  verdictSentence,
} from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../session/session.js';
import { useRights } from '../../session/use-rights.js';
import { useNow } from '../../shared/now.js';
import { OutcomeForm } from '../../shared/outcome-form.js';
import { conversationAddress } from '../../shared/places.js';
import type { Draft } from '../hooks/drafts.js';
import { ANSWER_ID } from '../hooks/use-inbox.js';
import { Deadline } from '../list/deadline.js';
import type { OutgoingAnswer } from '../model/outbox.js';
import type { Row } from '../model/rows.js';
import { AnswerForm } from './answer-form.js';
import { Before } from './before.js';
import { Decision } from './decision.js';
import { Extend } from './extend.js';
import { Rules } from './rules.js';
import { Snooze } from './snooze.js';

export interface DetailProps {
  readonly session: Session;
  readonly row: Row;
  /** The last answer of the person. */
  readonly answer: OutgoingAnswer | undefined;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly isDenying: boolean;
  readonly onDenying: (isDenying: boolean) => void;
  /** `argsDigest`: of the arguments that are shown. */
  readonly onAnswer: (resolution: Resolution, argsDigest: string | undefined) => void;
  readonly snoozedUntil: number | undefined;
  readonly onSnooze: (until: number | undefined) => void;
}

export function Detail(props: DetailProps): ReactNode {
  const { session, row, snoozedUntil, onSnooze } = props;
  const { item, isOver } = row;
  const { toolCallId, turnId, tool, deadline } = item;
  const used = useConversation(session.client, item.conversationId);
  const call = usePending(used).find((one) => one.toolCallId === toolCallId);
  const logged = used.view.messages
    .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    .find((one) => one.toolCallId === toolCallId);
  // The form stays with what was typed when the call ends.
  const [kept, keep] = useState(call);
  if (call !== undefined && call !== kept) keep(call);
  const input = logged?.input ?? kept?.prompt;
  const mayExtend = useRights(session).includes('extend') && !isOver;
  return (
    <article className="detail" aria-labelledby="call">
      <Head item={item} isOver={isOver} />
      <Over {...{ isOver, logged }} me={session.caller.actor.id} />
      <section aria-label="Arguments">
        <h3>{item.kind === 'elicitation' ? 'Question' : 'Arguments'}</h3>
        {kept === undefined ? <Preview item={item} /> : <Values value={kept.prompt} />}
      </section>
      <Before conversation={used.conversation} view={used.view} toolCallId={toolCallId} />
      <Rules
        rules={used.view.rules}
        conversationId={item.conversationId}
        {...{ session, tool, turnId, input }}
      />
      <Reverted call={call} />
      <Refused call={call} answer={props.answer} />
      <Act {...props} call={kept} input={input} />
      {mayExtend ? <Extend conversation={used.conversation} toolCallId={toolCallId} /> : undefined}
      {isOver ? undefined : <Snooze until={snoozedUntil} {...{ deadline, onSnooze }} />}
    </article>
  );
}

function Head({ item, isOver }: Row): ReactNode {
  const { title, tool, agent, reason, requesters, conversationId, openedAt, audience, why } = item;
  return (
    <header>
      <h2 id="call">{title ?? tool}</h2>
      {reason === undefined ? undefined : <p className="reason text">{reason}</p>}
      <p className="hint">
        Tool {tool} of agent {agent}, in conversation{' '}
        <a href={conversationAddress(conversationId)}>{conversationId}</a>.
        {requesters.length === 0 ? '' : ` ${requesters.join(', ')} asked.`} Waits since{' '}
        <Since at={openedAt} />. Who may answer: {audience}
        {item.mayAnswer ? ` (${why})` : ` (you may not: ${why})`}.
        {item.claim === undefined ? undefined : (
          <>
            {' '}
            {item.claim.by} holds it since <Since at={item.claim.at} />.
          </>
        )}
      </p>
      {isOver ? undefined : <Deadline {...item} />}
    </header>
  );
}

function Since({ at }: { readonly at: string }): ReactNode {
  return <time dateTime={at}>{agoWords(at, useNow())}</time>;
}

/** Names who decided the open call. Always in the document, so that a screen reader says the change. */
function Over(props: {
  readonly isOver: boolean;
  readonly logged: CallView | undefined;
  readonly me: string;
}): ReactNode {
  const { isOver, logged, me } = props;
  const text = overSentence({ decided: logged?.decided, state: logged?.state }, me, useNow());
  return (
    <p className="over-note" role="status">
      {isOver ? `${text}.` : ''}
    </p>
  );
}

/** A worker's check has taken the last answer back. */
function Reverted({ call }: { readonly call: PendingView | undefined }): ReactNode {
  const problems = call?.reverted?.problems;
  if (problems === undefined) return undefined;
  return (
    <p className="error">
      The last answer was taken back:{' '}
      {problems.map(({ path, message }) => `${path} ${message}`).join('; ')}
    </p>
  );
}

/** The verdict of a worker that has refused the answer since it was queued. */
function refusedLater(
  call: PendingView | undefined,
  answer: OutgoingAnswer | undefined,
): Verdict | undefined {
  if (answer?.verdict?.verdict !== 'queued') return undefined;
  return call?.refused?.find(({ requestId }) => requestId === answer.requestId)?.verdict;
}

function Refused(props: Pick<ActProps, 'call' | 'answer'>): ReactNode {
  const { call, answer } = props;
  const verdict = refusedLater(call, answer);
  if (verdict === undefined || answer === undefined) return undefined;
  return (
    <p className="error" role="status">
      The answer that was kept: {verdictSentence(verdict, answer.resolution.type, Date.now()).text}
    </p>
  );
}

/** Until the whole arguments are here. */
function Preview({ item }: { readonly item: WorklistItem }): ReactNode {
  return (
    <pre tabIndex={0}>
      {item.preview}
      {item.previewCut === true ? '…' : ''}
    </pre>
  );
}

interface ActProps extends DetailProps {
  readonly call: PendingView | undefined;
  readonly input: Json | undefined;
}

function Act(props: ActProps): ReactNode {
  const { session, row, answer, call, input, draft, onDraft, isDenying, onDenying } = props;
  const { kind, mayAnswer, argsDigest, agent, tool } = row.item;
  const rights = useRights(session);
  // After the end the fields stay, with what was typed; their buttons are off.
  const isTyped = isDenying || Object.values(draft).some((part) => part !== undefined);
  if (row.isOver && !isTyped) return undefined;
  if (!mayAnswer) return undefined;
  if (!rights.includes('answer'))
    return <p className="hint">Your token may read calls, and not answer them.</p>;
  const isBusy = row.isOver || answer?.state === 'held' || answer?.state === 'sending';
  const send = (resolution: Resolution): void =>
    props.onAnswer(resolution, call?.argsDigest ?? argsDigest);
  const shared = { draft, onDraft, isBusy, onAnswer: send };
  const verdict = refusedLater(call, answer) ?? answer?.verdict;
  if (kind === 'approval')
    return (
      <Decision
        {...{ ...shared, isDenying, onDenying }}
        call={{ session, agent, tool, input, verdict }}
      />
    );
  if (kind === 'elicitation')
    return call?.form === undefined ? undefined : (
      <AnswerForm {...shared} form={call.form} verdict={verdict} />
    );
  if (kind === 'outcome') {
    const { draft: texts, onDraft: onTexts, isBusy, onAnswer } = shared;
    return <OutcomeForm id={ANSWER_ID} {...{ texts, onTexts, isBusy, onAnswer }} />;
  }
  return (
    <p className="hint">A page or a backend that has the tool gives the result of this call.</p>
  );
}
