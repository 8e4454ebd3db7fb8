/** One call: who asks for it and why, its arguments, and what the person may do. */
import type { PendingView, Resolution } from 'colloquy/browser';
import type { WorklistItem } from 'colloquy/browser/worklist';
import { useConversation, usePending } from 'colloquy/react';
import type { ReactNode } from 'react';
import type { Session } from '../../session/session.js';
import { useNow } from '../../shared/now.js';
import type { Draft } from '../hooks/drafts.js';
import { Deadline } from '../list/deadline.js';
import type { OutgoingAnswer } from '../model/outbox.js';
import type { Row } from '../model/rows.js';
import { agoWords } from '../model/times.js';
import { AnswerForm } from './answer-form.js';
import { Before } from './before.js';
import { Decision } from './decision.js';
import { Extend } from './extend.js';
import { Values } from './values.js';

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
}

export function Detail(props: DetailProps): ReactNode {
  const { session, row } = props;
  const { item, isOver } = row;
  const used = useConversation(session.client, item.conversationId);
  const call = usePending(used).find(({ toolCallId }) => toolCallId === item.toolCallId);
  const logged = used.view.messages
    .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    .find(({ toolCallId }) => toolCallId === item.toolCallId);
  const mayExtend = session.caller.rights.includes('extend') && !isOver;
  return (
    <article className="detail" aria-labelledby="call">
      <Head item={item} isOver={isOver} />
      {isOver ? (
        <p className="over-note">
          This call waits no longer{logged === undefined ? '' : `: ${logged.state}`}.
        </p>
      ) : undefined}
      <section aria-label="Arguments">
        <h3>{item.kind === 'elicitation' ? 'Question' : 'Arguments'}</h3>
        {call === undefined ? <Preview item={item} /> : <Values value={call.prompt} />}
      </section>
      <Before view={used.view} toolCallId={item.toolCallId} />
      <Act {...props} call={call} />
      {mayExtend ? (
        <Extend conversation={used.conversation} toolCallId={item.toolCallId} />
      ) : undefined}
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
        Tool {tool} of agent {agent}, in conversation {conversationId}.
        {requesters.length === 0 ? '' : ` ${requesters.join(', ')} asked.`} Waits since{' '}
        <Since at={openedAt} />. Who may answer: {audience}
        {item.mayAnswer ? '' : ` (you may not: ${why})`}.
      </p>
      {isOver ? undefined : <Deadline {...item} />}
    </header>
  );
}

function Since({ at }: { readonly at: string }): ReactNode {
  return <time dateTime={at}>{agoWords(at, useNow())}</time>;
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

function Act(props: DetailProps & { readonly call: PendingView | undefined }): ReactNode {
  const { session, row, answer, call, draft, onDraft, isDenying, onDenying, onAnswer } = props;
  const { kind, mayAnswer, argsDigest } = row.item;
  if (row.isOver || !mayAnswer) return undefined;
  if (!session.caller.rights.includes('answer'))
    return <p className="hint">Your token may read calls, and not answer them.</p>;
  const isBusy = answer?.state === 'held' || answer?.state === 'sending';
  const send = (resolution: Resolution): void =>
    onAnswer(resolution, call?.argsDigest ?? argsDigest);
  const shared = { draft, onDraft, isBusy, onAnswer: send };
  if (kind === 'approval')
    return <Decision {...shared} isDenying={isDenying} onDenying={onDenying} />;
  if (kind === 'elicitation')
    return call?.form === undefined ? undefined : (
      <AnswerForm {...shared} form={call.form} verdict={answer?.verdict} />
    );
  return (
    <p className="hint">
      {kind === 'outcome'
        ? 'The outcome of the run is unknown. Report it with: npx colloquy answer'
        : 'A page or a backend that has the tool gives the result of this call.'}
    </p>
  );
}
