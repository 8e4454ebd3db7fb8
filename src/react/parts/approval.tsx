/**
 * The decision on a call that waits for an approval. Enter presses none of its buttons, and Escape only closes the field
 * of the reason, which keeps its text.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Json } from '../../browser/index.js';
import { type OwnWords, type PartWords, wordsOf } from '../words/words.js';
import { type AnswerProps, type UsedAnswer, useAnswer } from './answer.js';
import { EditForm } from './edit-form.js';
import { isSendKey, notByEnter } from './keys.js';
import { type Rendered, rendered } from './rendered.js';
import { Values } from './values.js';
import { VerdictLine } from './verdict.js';

export interface ApprovalProps extends AnswerProps {
  /** The arguments, where the prompt of the call is something else. @defaultValue the prompt */
  readonly input?: Json | undefined;
  /** JSON Schema of the input, for the form of an edit: `useInputSchema` reads it. */
  readonly inputSchema?: unknown;
  readonly words?: OwnWords | undefined;
  /** Shown in place of the arguments. */
  readonly children?: unknown;
}

export function Approval(props: ApprovalProps): Rendered {
  const { call, inputSchema, children } = props;
  const words = wordsOf(props.words);
  const answer = useAnswer(props, words);
  const [open, setOpen] = useState<'edit' | 'deny'>();
  const [reason, setReason] = useState('');
  const { title, name } = call;
  const input = props.input ?? call.prompt;
  return rendered(
    <section className="colloquy-approval" aria-label={`${words.approval}: ${title ?? name}`}>
      <p className="colloquy-title">{title ?? name}</p>
      {call.reason === undefined ? undefined : <p className="colloquy-reason">{call.reason}</p>}
      {(children as ReactNode) ?? <Values value={call.prompt} words={words} />}
      <Buttons {...{ words, answer, open }} onOpen={setOpen} />
      {open === 'deny' ? (
        <Denial
          {...{ words, answer, reason }}
          onReason={setReason}
          onBack={() => setOpen(undefined)}
        />
      ) : undefined}
      {open === 'edit' ? (
        <EditForm
          {...{ input, words, verdict: answer.verdict, isBusy: answer.isBusy }}
          schema={inputSchema}
          onApprove={(edited) => answer.send({ type: 'approve', input: edited })}
        />
      ) : undefined}
      <VerdictLine sentence={answer.sentence} />
    </section>,
  );
}

function Buttons(props: {
  readonly words: PartWords;
  readonly answer: UsedAnswer;
  readonly open: 'edit' | 'deny' | undefined;
  readonly onOpen: (open: 'edit' | 'deny' | undefined) => void;
}): ReactNode {
  const { words, answer, open, onOpen } = props;
  const { isBusy, send } = answer;
  const toggle = (part: 'edit' | 'deny') => () => onOpen(open === part ? undefined : part);
  return (
    <div className="colloquy-actions">
      <button
        type="button"
        className="colloquy-approve"
        disabled={isBusy || open === 'edit'}
        onKeyDown={notByEnter}
        onClick={() => send({ type: 'approve' })}
      >
        {words.approve}
      </button>
      <button
        type="button"
        className="colloquy-edit"
        disabled={isBusy}
        aria-expanded={open === 'edit'}
        onClick={toggle('edit')}
      >
        {words.edit}
      </button>
      <button
        type="button"
        className="colloquy-deny"
        disabled={isBusy}
        aria-expanded={open === 'deny'}
        onKeyDown={notByEnter}
        onClick={toggle('deny')}
      >
        {words.denyWithReason}
      </button>
    </div>
  );
}

function Denial(props: {
  readonly words: PartWords;
  readonly answer: UsedAnswer;
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onBack: () => void;
}): ReactNode {
  const { words, answer, reason, onReason, onBack } = props;
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const deny = (): void => {
    const text = reason.trim();
    answer.send(text === '' ? { type: 'deny' } : { type: 'deny', reason: text });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isSendKey(event)) deny();
    if (event.key === 'Escape' && !event.nativeEvent.isComposing) onBack();
  };
  return (
    <div className="colloquy-field" onKeyDown={onKeyDown}>
      <label htmlFor={id}>{words.reason}</label>
      <textarea
        id={id}
        ref={field}
        rows={3}
        maxLength={MAX_REASON_CHARS}
        value={reason}
        onChange={(event) => onReason(event.target.value)}
      />
      <div className="colloquy-actions">
        <button
          type="button"
          className="colloquy-deny"
          disabled={answer.isBusy}
          onKeyDown={notByEnter}
          onClick={deny}
        >
          {words.deny}
        </button>
        <button type="button" onClick={onBack}>
          {words.back}
        </button>
        <span className="colloquy-help">{words.sendKey}</span>
      </div>
    </div>
  );
}

/** The API refuses longer reasons. */
const MAX_REASON_CHARS = 2_000;
