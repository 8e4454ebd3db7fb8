/** A button that copies a text. Browsers give no clipboard to a page that comes by plain HTTP: the text is marked by hand. */
import { type ReactNode, useState } from 'react';

/** @param props.label Names the button where its words do not say which text it copies. */
export function CopyButton(props: {
  readonly text: string;
  readonly label?: string;
  readonly children: ReactNode;
}): ReactNode {
  const { text, label, children } = props;
  const [said, say] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Not copied: select it by hand');
    }
  };
  return (
    <>
      <button type="button" aria-label={label} onClick={() => void copy()}>
        {children}
      </button>{' '}
      <span role="status" className="hint">
        {said}
      </span>
    </>
  );
}
