/** Text that compresses like prose, the same for the same seed. */

const WORDS =
  'order invoice customer delivery address parcel refund payment amount date number status item stock price total open paid late because after before without against shipped returned damaged missing confirmed waiting answer question please thank carrier harbour warehouse Tuesday morning twelve forty seven hundred blue small heavy second third'.split(
    ' ',
  );

/** Text of about so many bytes. */
export function wordsOf(seed: string, bytes: number): string {
  let state = 2_166_136_261;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16_777_619);
  let text = '';
  while (text.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    const value = state >>> 8;
    text += value % 7 === 0 ? `${value} ` : `${WORDS[value % WORDS.length] ?? ''} `;
  }
  return text.slice(0, Math.max(0, Math.floor(bytes)));
}
