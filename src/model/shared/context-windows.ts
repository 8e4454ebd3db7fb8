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
