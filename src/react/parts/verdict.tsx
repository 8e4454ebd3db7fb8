/** The verdict on an answer, in words: a live region that is there before its text. */
import type { Sentence } from '../words/verdicts.js';
import { type Rendered, rendered } from './rendered.js';

export function VerdictLine({ sentence }: { readonly sentence: Sentence | undefined }): Rendered {
  return rendered(
    <p className={`colloquy-verdict ${sentence?.tone ?? ''}`.trim()} role="status">
      {sentence?.text}
    </p>,
  );
}
