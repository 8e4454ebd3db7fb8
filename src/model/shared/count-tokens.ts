/**
 * How many tokens a text has. Provider usage is the truth, and corrects what is counted here; this is for what no provider has
 * seen yet. OpenAI's newest encoding stands for all. Runs in the worker: the tables take some 75 MB of memory and a good part
 * of a second to load, so they are loaded when a count is needed that is better than rough.
 */

/** Counts the tokens of one text. */
export type CountText = (text: string) => number;

export interface TokenCounting {
  /** At once, by size alone: right within a third for prose, and at most 2.5 times too low for what tokenizers hate most. */
  readonly rough: CountText;
  /** By the tokenizer; of long texts by samples, within a few per cent. Takes a millisecond for a page. */
  readonly exact: () => Promise<CountText>;
}

/** A run without a break takes time with its square, so none is longer. Costs a token too many here and there. */
const SLICE_CHARS = 256;
/** Up to here each character is counted. */
const MAX_COUNTED_CHARS = 16 * 1024;
/** Of a longer text so many slices are counted, evenly spread. */
const SAMPLES = 32;
const NO_SPECIAL = { disallowedSpecial: new Set<string>() };

let loading: Promise<CountText> | undefined;

export const tokenCounting: TokenCounting = {
  rough: (text) => roughTokens(Buffer.byteLength(text)),
  exact: () => {
    loading ??= load();
    return loading;
  },
};

/** The same of so many bytes of text. */
export function roughTokens(bytes: number): number {
  return Math.floor((bytes * 3) / 10) + 1;
}

async function load(): Promise<CountText> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // What looks like a control token is text here.
  const counted: CountText = (text) => countTokens(text, NO_SPECIAL);
  return (text) =>
    text.length <= MAX_COUNTED_CHARS ? whole(text, counted) : sampled(text, counted);
}

function whole(text: string, counted: CountText): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += SLICE_CHARS)
    tokens += counted(text.slice(at, at + SLICE_CHARS));
  return tokens;
}

function sampled(text: string, counted: CountText): number {
  const pause = Math.floor((text.length - SLICE_CHARS) / (SAMPLES - 1));
  let tokens = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1)
    tokens += counted(text.slice(sample * pause, sample * pause + SLICE_CHARS));
  return Math.ceil((tokens / (SAMPLES * SLICE_CHARS)) * text.length);
}
