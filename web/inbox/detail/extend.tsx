/** Moves the deadline of a call. */
import type { BrowserConversation } from 'colloquy/browser';
import type { Sentence } from 'colloquy/react';
import { type ReactNode, useRef, useState } from 'react';
import { newId } from '../../shared/new-id.js';
import { whyOf } from '../../shared/why.js';
import { extendSentence } from '../model/words.js';

const STEPS: readonly (readonly [string, string])[] = [
  ['15 minutes', '+15 min'],
  ['1 hour', '+1 h'],
  ['1 day', '+1 d'],
];

export function Extend(props: {
  readonly conversation: BrowserConversation;
  readonly toolCallId: string;
}): ReactNode {
  const { conversation, toolCallId } = props;
  const [sentence, setSentence] = useState<Sentence>();
  const [isBusy, setBusy] = useState(false);
  // A step keeps its id until there is a verdict, so a second press after a lost answer is one extension.
  const requestIds = useRef(new Map<string, string>());
  const extend = async (by: string): Promise<void> => {
    setBusy(true);
    setSentence({ text: 'On its way …', tone: 'kept' });
    const requestId = requestIds.current.get(by) ?? newId();
    requestIds.current.set(by, requestId);
    try {
      const verdict = await conversation.extend(toolCallId, { by, requestId });
      requestIds.current.delete(by);
      setSentence(extendSentence(verdict, Date.now()));
    } catch (error) {
      setSentence({ text: `Not extended: ${whyOf(error)}`, tone: 'bad' });
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="extend" aria-label="Deadline">
      <span>Deadline</span>
      {STEPS.map(([by, text]) => (
        <button key={by} type="button" disabled={isBusy} onClick={() => void extend(by)}>
          {text}
        </button>
      ))}
      <span role="status">{sentence?.text}</span>
    </section>
  );
}
