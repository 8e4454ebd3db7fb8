/** The verdict on an answer, in words: a live region that is there before its text. */
import type { ReactNode } from 'react';
import type { Sentence } from '../words/verdicts.js';

export function VerdictLine({ sentence }: { readonly sentence: Sentence | undefined }): ReactNode {
  return (
    <p className={`colloquy-verdict ${sentence?.tone ?? ''}`.trim()} role="status">
      {sentence?.text}
    </p>
  );
}
