/**
 * Counts the tokens of texts that no provider has counted yet; provider usage later corrects these counts. OpenAI's
 * newest encoding represents all models. Runs in the worker: the tables take about 75 MB of memory and a good part of a
 * second to load, so they are loaded when a count better than rough is needed.
 */

/** Counts the tokens of one text. */
export type CountText = (text: string) => number;

export interface TokenCounting {
  /**
   * Immediate, by size alone: right within a third for prose, and at most 2.5 times too low for the worst texts of
   * tokenizers.
   */
  readonly rough: CountText;
  /** By the tokenizer; long texts by samples, within a few per cent. Takes a millisecond per page. */
  readonly exact: () => Promise<CountText>;
}

/**
 * The tokenizer takes time square to a run without a break, so none is longer. Costs a token too many here and there.
 */
const SLICE_CHARS = 256;
/** Up to this length each character is counted. */
const MAX_COUNTED_CHARS = 16 * 1024;
/** Number of slices of a longer text that are counted, evenly spread. */
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

/** The rough count for this many bytes of text. */
export function roughTokens(bytes: number): number {
  return Math.floor((bytes * 3) / 10) + 1;
}

async function load(): Promise<CountText> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Control tokens are treated as text here.
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

/** Input tokens of OpenAI's models per request: their context windows less the longest answer. Data. */

/** The first match of the model's name counts. */
const INPUT_TOKENS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^(chatgpt-4o|gpt-5(\.\d)?-chat)/, 111_000],
  [/^gpt-5\.[4-9](?!-(mini|nano|cyber))/, 922_000],
  [/^gpt-5-pro/, 128_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_014_000],
  [/^gpt-4o-(mini-)?(realtime|transcribe)/, 14_000],
  [/^gpt-4(o|\.5)/, 111_000],
  [/^gpt-4-(turbo|\d{4}-.*preview)/, 123_000],
  [/^gpt-4-32k/, 24_000],
  [/^gpt-4/, 6_000],
  [/^gpt-3\.5-turbo-instruct/, 3_000],
  [/^gpt-3\.5/, 12_000],
  [/^o1-(mini|preview)/, 62_000],
  [/^(o1|o3|o4)/, 100_000],
];

/** Input tokens that one request may have; undefined for an unknown model. */
export function inputTokensOf(model: string): number | undefined {
  return INPUT_TOKENS.find(([name]) => name.test(model))?.[1];
}
