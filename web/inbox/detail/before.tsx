/** The messages before a call: who asked, and what the model said. */
import type { ConversationView, MessageView } from 'colloquy/browser';
import type { ReactNode } from 'react';

export function Before(props: {
  readonly view: ConversationView;
  readonly toolCallId: string;
}): ReactNode {
  const said = messagesBefore(props.view.messages, props.toolCallId);
  if (said.length === 0) return undefined;
  return (
    <section aria-label="Before it asked">
      <h3>Before it asked</h3>
      {said.map((message) => (
        <p key={message.key} className={`said ${message.role}`}>
          <b>{speakerOf(message)}</b> <span className="text">{textOf(message)}</span>
        </p>
      ))}
    </section>
  );
}

/** The text of the message that made the call, and those of the newest message that it answers. */
function messagesBefore(
  messages: readonly MessageView[],
  toolCallId: string,
): readonly MessageView[] {
  const at = messages.findIndex(
    (message) =>
      message.role === 'assistant' && message.calls.some((call) => call.toolCallId === toolCallId),
  );
  if (at < 0) return [];
  const asked = messages.slice(0, at).findLast(({ role }) => role !== 'assistant');
  const own = messages[at];
  return [asked, own].filter(
    (message) => message !== undefined && textOf(message) !== '',
  ) as readonly MessageView[];
}

function textOf(message: MessageView): string {
  return message.role === 'event' ? JSON.stringify(message.payload ?? message.kind) : message.text;
}

function speakerOf(message: MessageView): string {
  if (message.role === 'assistant') return 'Model:';
  const from = message.from?.name ?? message.from?.id;
  return message.role === 'event' ? `Event ${message.kind}:` : `${from ?? 'User'}:`;
}
