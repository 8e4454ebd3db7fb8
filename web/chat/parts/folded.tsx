/** A text that is folded while it is long, until a reader opens it. */
import { type ReactNode, useState } from 'react';
import { foldedText } from '../model/folds.js';

export function Folded(props: {
  readonly text: string;
  /** The newest answer is shown whole. */
  readonly isWhole?: boolean;
  readonly show: (text: string) => ReactNode;
}): ReactNode {
  const { text, isWhole = false, show } = props;
  const [isOpen, setOpen] = useState(false);
  const beginning = isWhole ? undefined : foldedText(text);
  if (beginning === undefined) return show(text);
  return (
    <>
      {show(isOpen ? text : beginning)}
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Show the beginning only' : `Show all ${text.length} characters`}
      </button>
    </>
  );
}
