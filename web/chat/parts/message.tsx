/** One message: of a person, of the agent with its calls, or an event of another system. */
import type {
  AssistantMessageView,
  EventView,
  MessageView,
  UserMessageView,
} from 'colloquy/browser';
import { Values } from 'colloquy/react';
import { memo, type ReactNode, useDeferredValue } from 'react';
import { Boundary } from '../../shared/boundary.js';
import { type Attachment, attachmentWords } from '../model/files.js';
import { messageWords, writerWords } from '../model/words.js';
import { CallCard, type CallProps } from './call-card.js';
import { Folded } from './folded.js';
import { Markdown } from './markdown.js';

export interface MessageProps extends CallProps {
  readonly message: MessageView;
  readonly isNewest: boolean;
}

/** Messages that did not change are not rendered again. */
export const Message = memo(function Message(props: MessageProps): ReactNode {
  const { message } = props;
  switch (message.role) {
    case 'user':
      return <OfUser {...props} message={message} />;
    case 'assistant':
      return <OfAgent {...props} message={message} />;
    case 'event':
      return <OfSystem message={message} />;
  }
});

function OfUser(props: CallProps & { readonly message: UserMessageView }): ReactNode {
  const { session, conversation, message } = props;
  const { text, parts, state, problem, requestId, from } = message;
  const { id } = session.caller.actor;
  const who = from === undefined || from.id === id ? 'You' : (from.name ?? from.id);
  const words = messageWords(message);
  const files = parts.filter((part): part is Attachment => part.type !== 'text');
  const again = (): void => {
    const attachments = files.length === 0 ? {} : { attachments: files };
    // The view shows why it failed again.
    void conversation.send(text, { requestId, ...attachments }).catch(() => undefined);
  };
  return (
    <article className={`message of-user ${state}`} aria-label={`Message of ${who}`}>
      <p className="who-says">
        <b>{who}</b> {words === '' ? undefined : <span className="hint state">{words}</span>}
      </p>
      <Folded text={text} show={(shown) => <p className="text">{shown}</p>} />
      {files.map((part, index) => (
        <p key={index} className="hint">
          {attachmentWords(part)}
        </p>
      ))}
      {state === 'failed' ? (
        <div className="actions">
          <span className="error">{problem?.detail}</span>
          <button type="button" onClick={again}>
            Send again
          </button>
          <button type="button" onClick={() => conversation.discard(requestId)}>
            Discard
          </button>
        </div>
      ) : undefined}
    </article>
  );
}

function OfAgent(
  props: CallProps & { readonly message: AssistantMessageView; readonly isNewest: boolean },
): ReactNode {
  const { message, isNewest, session, conversation, agent, nested } = props;
  const { reasoning, calls, isStreaming } = message;
  // A reader who types is not held up by text that comes in.
  const text = useDeferredValue(message.text);
  const words = writerWords(message);
  return (
    <article
      className="message of-agent"
      aria-label={`Message of ${agent}`}
      aria-busy={isStreaming}
    >
      <p className="who-says">
        <b>{agent}</b> {isStreaming ? <span className="hint">writes …</span> : undefined}
        {words === '' ? undefined : <span className="hint state">{words}</span>}
      </p>
      {reasoning === '' ? undefined : (
        <details>
          <summary>Reasoning</summary>
          <p className="text">{reasoning}</p>
        </details>
      )}
      {text === '' ? undefined : (
        <Folded
          text={text}
          isWhole={isStreaming || isNewest}
          show={(shown) => <Markdown text={shown} />}
        />
      )}
      {calls.map((call) => (
        <Boundary key={call.key} name="This call" of={call}>
          <CallCard {...{ session, conversation, agent, nested, call }} />
        </Boundary>
      ))}
    </article>
  );
}

function OfSystem({ message }: { readonly message: EventView }): ReactNode {
  const { kind, payload, from } = message;
  return (
    <article className="message of-system" aria-label={`Event ${kind}`}>
      <details>
        <summary>
          {kind} of {from.name ?? from.id}
        </summary>
        <Values value={payload} />
      </details>
    </article>
  );
}
