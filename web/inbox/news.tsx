/** Says one sentence of each new call to a screen reader. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import { type ReactNode, useState } from 'react';
import { newsSentence } from './model/words.js';

export function News(props: {
  readonly items: readonly WorklistItem[];
  readonly isRead: boolean;
}): ReactNode {
  const { items, isRead } = props;
  const [known, setKnown] = useState<ReadonlySet<string>>();
  const [text, setText] = useState('');
  const [of, setOf] = useState<readonly WorklistItem[]>();
  if (isRead && of !== items) {
    setOf(items);
    setKnown(new Set(items.map(({ ref }) => ref)));
    const fresh = known === undefined ? [] : items.filter(({ ref }) => !known.has(ref));
    const [first] = fresh;
    if (first !== undefined) setText(newsSentence(first, fresh.length - 1));
  }
  return (
    <p className="hidden news" role="status" aria-live="polite">
      {text}
    </p>
  );
}
