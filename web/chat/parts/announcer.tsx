/**
 * The sentences for screen readers: one for new calls that wait for the person, and one for each complete answer. The
 * messages themselves are no live region: streamed pieces would be read one by one.
 */
import type { AssistantMessageView, ConversationView, NestedPendingView } from 'colloquy/browser';
import { type ReactNode, useState } from 'react';
import { markdownOf, plainText } from '../model/markdown.js';
import { answerSentence, newCallSentence } from '../model/words.js';

interface Announced {
  readonly view: ConversationView;
  readonly nested: readonly NestedPendingView[];
}

interface Seen {
  readonly calls: ReadonlySet<string>;
  /** The key of the newest complete answer. */
  readonly answer: string | undefined;
}

export function Announcer(props: Announced): ReactNode {
  const { view, nested } = props;
  const [of, setOf] = useState<Announced>();
  const [seen, setSeen] = useState<Seen>();
  const [call, setCall] = useState('');
  const [answer, setAnswer] = useState('');
  if ((of?.view !== view || of.nested !== nested) && view.connection.state === 'live') {
    setOf(props);
    const waiting = [...view.pending, ...nested].filter(({ state }) => state === 'waiting_for_you');
    const newest = newestAnswer(view);
    setSeen({ calls: new Set(waiting.map(({ ref }) => ref)), answer: newest?.key });
    const fresh = seen === undefined ? [] : waiting.filter(({ ref }) => !seen.calls.has(ref));
    const [first] = fresh;
    if (first !== undefined) setCall(newCallSentence(first, fresh.length - 1));
    if (seen !== undefined && newest !== undefined && newest.key !== seen.answer)
      setAnswer(answerSentence(plainText(markdownOf(newest.text))));
  }
  return (
    <>
      <p className="hidden news" role="status">
        {call}
      </p>
      <p className="hidden answer-news" role="status">
        {answer}
      </p>
    </>
  );
}

function newestAnswer({ messages }: ConversationView): AssistantMessageView | undefined {
  return messages.findLast(
    (message): message is AssistantMessageView =>
      message.role === 'assistant' && !message.isStreaming && message.text !== '',
  );
}
