/** The messages and results before a call, with who gave each and whether it can be trusted. */
import type { BrowserConversation, ConversationView } from 'colloquy/browser';
import { type ReactNode, useMemo, useState } from 'react';
import { whyOf } from '../../shared/why.js';
import { type Said, saidBefore } from '../model/said.js';

const FIRST = 3;
const MORE = 10;
/** Longer texts are folded. */
const LONG_CHARS = 700;

export function Before(props: {
  readonly conversation: BrowserConversation;
  readonly view: ConversationView;
  readonly toolCallId: string;
}): ReactNode {
  const { conversation, view, toolCallId } = props;
  const [count, setCount] = useState(FIRST);
  const [problem, setProblem] = useState('');
  const { messages, hasOlder } = view;
  const all = useMemo(() => saidBefore(messages, toolCallId), [messages, toolCallId]);
  if (all.length === 0) return undefined;
  const shown = all.slice(-count);
  const more = async (): Promise<void> => {
    setCount(count + MORE);
    try {
      if (count + MORE > all.length && hasOlder) await conversation.loadOlder();
      setProblem('');
    } catch (error) {
      setProblem(`Older messages were not read: ${whyOf(error)}`);
    }
  };
  return (
    <section aria-label="Before it asked">
      <h3>Before it asked</h3>
      {shown.length < all.length || hasOlder ? (
        <button type="button" className="plain" onClick={() => void more()}>
          Show more
        </button>
      ) : undefined}
      <p className="error">{problem}</p>
      {shown.map((said) => (
        <Part key={`${said.key} ${said.speaker}`} said={said} />
      ))}
    </section>
  );
}

function Part({ said }: { readonly said: Said }): ReactNode {
  const { speaker, trust, mark, text } = said;
  return (
    <div className={`said ${trust}`}>
      <p>
        <b className="text">{speaker}</b> <span className="mark">{mark}</span>
      </p>
      {text.length <= LONG_CHARS ? (
        <p className="text">{text}</p>
      ) : (
        <details>
          <summary className="text">
            {text.slice(0, LONG_CHARS / 2)}… (all {text.length} characters)
          </summary>
          <pre tabIndex={0}>{text}</pre>
        </details>
      )}
    </div>
  );
}
