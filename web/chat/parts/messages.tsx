/** The messages, oldest first. The list stays at its end while the reader is there. */
import type { ConversationView, MessageView } from 'colloquy/browser';
import { type ReactNode, useRef, useState } from 'react';
import { Boundary } from '../../shared/boundary.js';
import { whyOf } from '../../shared/why.js';
import { useEnd } from '../hooks/use-end.js';
import { endWords, nestedElsewhere, otherPending } from '../model/words.js';
import { type CallProps, NestedCall, Waiting } from './call-card.js';
import { Message } from './message.js';

export function Messages(props: CallProps & { readonly view: ConversationView }): ReactNode {
  const { view, session, conversation, agent, nested } = props;
  const { messages, lastTurn, turn } = view;
  const list = useRef<HTMLDivElement>(null);
  const { isAtEnd, goToEnd } = useEnd(list);
  const newest = messages.findLast(({ role }) => role === 'assistant');
  const end = turn === undefined && lastTurn !== undefined ? endWords(lastTurn) : undefined;
  return (
    <div ref={list} className="messages" role="region" aria-label="Messages" tabIndex={0}>
      {view.hasOlder ? <Older conversation={conversation} /> : undefined}
      {messages.map((message) => (
        <Boundary key={`${message.role} ${message.key}`} name="This message" of={message}>
          <Message
            {...{ session, conversation, agent, message }}
            nested={nestedIn(message, nested)}
            isNewest={message === newest}
          />
        </Boundary>
      ))}
      {otherPending(view).map((pending) => (
        <Boundary key={pending.ref} name="This call" of={pending}>
          <article className="call" aria-label={`Call of ${pending.name}`}>
            <Waiting {...{ session, conversation, agent, pending }} />
          </article>
        </Boundary>
      ))}
      {nestedElsewhere(view, nested).map((pending) => (
        <Boundary key={pending.ref} name="This call" of={pending}>
          <NestedCall {...{ session, pending }} />
        </Boundary>
      ))}
      {end === undefined ? undefined : <p className="error">{end}</p>}
      {isAtEnd ? undefined : (
        <div className="to-newest">
          <button type="button" onClick={goToEnd}>
            Jump to newest
          </button>
        </div>
      )}
    </div>
  );
}

const NONE: CallProps['nested'] = [];

/** Nothing for messages without such calls, which are not rendered again. */
function nestedIn(message: MessageView, nested: CallProps['nested']): CallProps['nested'] {
  const has =
    message.role === 'assistant' &&
    nested.some(({ path }) =>
      message.calls.some(({ toolCallId }) => toolCallId === path[0].toolCallId),
    );
  return has ? nested : NONE;
}

function Older({ conversation }: Pick<CallProps, 'conversation'>): ReactNode {
  const [problem, setProblem] = useState('');
  const load = (): void => {
    conversation.loadOlder().then(
      () => setProblem(''),
      (error: unknown) => setProblem(whyOf(error)),
    );
  };
  return (
    <p>
      <button type="button" onClick={load}>
        Older messages
      </button>{' '}
      <span className="error" role="status">
        {problem}
      </span>
    </p>
  );
}
