/** A value as JSON, with a button that copies it. */
import type { ReactNode } from 'react';
import { CopyButton } from '../../shared/copy.js';

export function CopiedJson({
  value,
  label,
}: {
  readonly value: unknown;
  readonly label: string;
}): ReactNode {
  const text = JSON.stringify(value, null, 2);
  return (
    <>
      <div className="actions">
        <CopyButton text={text}>Copy {label}</CopyButton>
      </div>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </>
  );
}
