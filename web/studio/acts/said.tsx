/** The sentence on an act. Always in the document, so that a screen reader says it. */
import type { ReactNode } from 'react';
import type { Act } from '../../shared/use-act.js';

export function Said({ act }: { readonly act: Act }): ReactNode {
  return (
    <p role="status" className={act.isRefused ? 'error' : 'hint'}>
      {act.said}
    </p>
  );
}
