/** The field of a message. A message answers no call that waits: those have buttons and forms of their own. */
import type { BrowserConversation, ConversationView } from 'colloquy/browser';
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { useAct } from '../../shared/use-act.js';
import { type Drafts, type OnBusy, useDraft } from '../hooks/drafts.js';
import { filesOf } from '../hooks/files.js';
import type { Attachment, ChosenFile } from '../model/files.js';

const CHOICES: readonly (readonly [OnBusy, string])[] = [
  ['queue', 'waits for the running turn to end'],
  ['steer', 'joins the running turn'],
  ['interrupt', 'stops the running turn'],
];

export interface ComposerProps {
  readonly conversation: BrowserConversation;
  readonly view: ConversationView;
  readonly agent: string;
  readonly drafts: Drafts;
  readonly onSent: () => void;
}

export function Composer(props: ComposerProps): ReactNode {
  const { conversation, view, agent, drafts, onSent } = props;
  const id = useId();
  const used = useDraft(drafts, conversation.id);
  const { change } = used;
  const { text, onBusy, files } = used.draft;
  const { add, remove } = filesOf(conversation, used);
  const isRunning = view.turn !== undefined;
  const isUploading = files.some(({ state }) => state === 'uploading');
  const attachments = files.flatMap(({ attachment }) => attachment ?? []);
  const isEmpty = text.trim() === '' && attachments.length === 0;
  const maySend = !isUploading && !isEmpty && view.status !== 'closed';
  const send = (): void => {
    if (!maySend) return;
    change(() => ({ text: '', files: [] }));
    onSent();
    // The view shows a message that failed, with its reason.
    void conversation
      .send(text, { ...withFiles(attachments), ...(isRunning ? { onBusy } : {}) })
      .catch(() => undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // The Enter that ends the text of an input method sends nothing.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form className="composer" onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={id}>Message to {agent}</label>
      <textarea
        id={id}
        rows={3}
        value={text}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => change(() => ({ text: target.value }))}
        onKeyDown={onKeyDown}
      />
      <p id={`${id}-hint`} className="hint">
        {view.status === 'closed'
          ? 'The conversation is closed.'
          : 'Enter sends, Shift+Enter begins a line. A message answers no call that waits.'}
      </p>
      <Files files={files} onRemove={remove} />
      <div className="actions">
        <button type="button" className="good" disabled={!maySend} onClick={send}>
          Send
        </button>
        <FileInput onFiles={add} />
        {isRunning ? (
          <Busy value={onBusy} onChange={(value) => change(() => ({ onBusy: value }))} />
        ) : undefined}
        <Stop key={view.turn?.turnId} {...{ conversation }} turnId={view.turn?.turnId} />
      </div>
    </form>
  );
}

function withFiles(attachments: readonly Attachment[]) {
  return attachments.length === 0 ? {} : { attachments };
}

function FileInput({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <label className="file">
      Files{' '}
      <input
        ref={input}
        type="file"
        multiple
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          // The same file may be chosen again.
          event.target.value = '';
        }}
      />
    </label>
  );
}

function Files(props: {
  readonly files: readonly ChosenFile[];
  readonly onRemove: (key: string) => void;
}): ReactNode {
  const { files, onRemove } = props;
  if (files.length === 0) return undefined;
  return (
    <ul className="files" aria-label="Files of the message">
      {files.map(({ key, name, state, problem }) => (
        <li key={key}>
          {name} <span className="hint">{state === 'uploading' ? 'is uploaded …' : problem}</span>
          <button type="button" aria-label={`Remove ${name}`} onClick={() => onRemove(key)}>
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}

function Busy(props: {
  readonly value: OnBusy;
  readonly onChange: (value: OnBusy) => void;
}): ReactNode {
  return (
    <label>
      The message{' '}
      <select
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as OnBusy)}
      >
        {CHOICES.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Stop(props: {
  readonly conversation: BrowserConversation;
  readonly turnId: string | undefined;
}): ReactNode {
  const { conversation, turnId } = props;
  const { isBusy, said, isRefused, run } = useAct();
  const stop = (shown: string): void =>
    run(async () => {
      const stopped = await conversation.cancel({ turnId: shown });
      if (stopped.status === 'queued') return 'No worker is up; the turn is stopped later.';
      return stopped.cancelled ? 'The turn is being stopped.' : 'The turn has ended already.';
    });
  if (turnId === undefined) return undefined;
  return (
    <>
      <button type="button" className="bad" disabled={isBusy} onClick={() => stop(turnId)}>
        Stop
      </button>
      <span className={isRefused ? 'error' : 'hint'} role="status">
        {said}
      </span>
    </>
  );
}
