/** A chat with the support agent in a page of an application: messages, approvals, questions, and the cart as a tool. */
import type { BrowserClient, PendingView } from 'colloquy/browser';
import { createHooks, type UsedConversation, useConversation, usePending } from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import type { support } from './support-agent.js';

const { useClientTools, Approval, Question } = createHooks<typeof support>();

export function SupportChat(props: {
  readonly client: BrowserClient;
  readonly order: string;
  readonly items: readonly string[];
}): ReactNode {
  const { client, order, items } = props;
  const used = useConversation(client, `order-${order}`, { agent: 'support' });
  const waiting = usePending(used).filter(({ state }) => state === 'waiting_for_you');
  useClientTools(client, {
    'cart.read': ({ currency }) => ({ items: items.map((item) => `${item} (${currency})`) }),
  });
  return (
    <section aria-label="Support">
      <Messages {...used} />
      <p role="status">
        {waiting.length === 0 ? '' : `${waiting.length} calls of the agent wait for you.`}
      </p>
      {waiting.map((call) => (
        <Waiting key={call.ref} call={call} {...used} />
      ))}
      <Composer {...used} />
    </section>
  );
}

function Waiting({
  call,
  conversation,
}: UsedConversation & { readonly call: PendingView }): ReactNode {
  if (call.kind === 'approval')
    return (
      <Approval
        {...{ call, conversation }}
        shown={{
          'payments.refund': ({ paymentId, cents }) => (
            <p>
              Refund {(cents / 100).toFixed(2)} € of {paymentId}?
            </p>
          ),
        }}
      />
    );
  return call.kind === 'elicitation' ? (
    <Question
      {...{ call, conversation }}
      shown={{ 'customer.ask': ({ question }) => <p>{question}</p> }}
      words={{ decline: 'I would rather not say' }}
    />
  ) : undefined;
}

function Messages({ view }: UsedConversation): ReactNode {
  return view.messages.map((message) =>
    message.role === 'event' ? undefined : (
      <article key={message.key} aria-label={message.role === 'user' ? 'You' : 'Agent'}>
        <p>{message.text}</p>
        {message.role === 'user' && message.state === 'queued' ? <p>Waits.</p> : undefined}
      </article>
    ),
  );
}

function Composer({ conversation, view }: UsedConversation): ReactNode {
  const [text, setText] = useState('');
  const send = (): void => {
    setText('');
    // The view shows a message that failed.
    void conversation.send(text).catch(() => undefined);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label>
        Message <input value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit">Send</button>
      {view.turn === undefined ? undefined : (
        <button type="button" onClick={() => void conversation.cancel()}>
          Stop
        </button>
      )}
    </form>
  );
}
