/** A value as JSON, with a button that copies it. */
import { type ReactNode, useState } from 'react';

export function CopiedJson({
  value,
  label,
}: {
  readonly value: unknown;
  readonly label: string;
}): ReactNode {
  const text = JSON.stringify(value, null, 2);
  const [said, say] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('The browser does not allow it: mark the text.'),
    );
  };
  return (
    <>
      <div className="actions">
        <button type="button" onClick={copy}>
          Copy {label}
        </button>
        <span role="status" className="hint">
          {said}
        </span>
      </div>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </>
  );
}
