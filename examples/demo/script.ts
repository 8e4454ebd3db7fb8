/**
 * The script of the demo's model. It is not an AI but a pure function of the conversation, so every process and every
 * repeat gets the same answer. The demo's model server runs it.
 */

/** The input of a script. */
export interface ScriptRequest {
  /** Texts of the user's messages, oldest first. */
  readonly userTexts: readonly string[];
  /** Names of the tools that the request offers, dots and all. */
  readonly toolNames: readonly string[];
  /** Results since the last user message, in order. */
  readonly results: readonly ScriptResult[];
}

/** One tool result in the form that the engine sends to a model. */
export interface ScriptResult {
  readonly name: string;
  readonly ok: boolean;
  /** Present when `ok`. */
  readonly result?: unknown;
  /** Present when not `ok`. */
  readonly error?: { readonly code: string; readonly message: string };
}

export interface ScriptCall {
  readonly name: string;
  /** A string is sent as it is, for instance to send broken JSON. */
  readonly input: unknown;
}

export interface ScriptAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptCall[];
}

const FOUR_CALLS: readonly ScriptCall[] = [
  { name: 'weather.lookup', input: { city: 'Berlin' } }, // runs in a worker
  { name: 'payments.refund', input: { paymentId: 'p_1', cents: 7_500 } }, // waits for an approval, then runs in a worker
  { name: 'customer.ask', input: { question: 'Which size should the replacement have?' } }, // a person answers
  { name: 'cart.read', input: {} }, // the front end runs it
];

/** First message: four calls of four kinds in one step. After their results: a summary. Anything else: a short reply. */
export function DEMO_SCRIPT(request: ScriptRequest): ScriptAnswer {
  const { userTexts, toolNames, results } = request;
  if (results.length > 0) return { text: summaryOf(results) };
  const calls = FOUR_CALLS.filter(({ name }) => toolNames.includes(name));
  if (userTexts.length === 1 && calls.length > 0)
    return {
      text: 'Let me look into that: I check the weather at the warehouse, prepare your refund, ask you one question and read your cart.',
      calls,
    };
  return {
    text: `You said: "${userTexts.at(-1) ?? ''}". That is not in my script, so I just repeat it.`,
  };
}

function summaryOf(results: readonly ScriptResult[]): string {
  const sentences = results.map((result) => {
    if (!result.ok)
      return `${result.name} gave no result: ${result.error?.message ?? 'unknown error'}.`;
    const describe = SENTENCES[result.name];
    return describe?.(result.result) ?? `${result.name} gave ${JSON.stringify(result.result)}.`;
  });
  return `Here is where we are. ${sentences.join(' ')}`;
}

const SENTENCES: Readonly<Record<string, (result: unknown) => string>> = {
  'weather.lookup': (result) => `It is ${valueOf(result, /temp|celsius/i)} degrees in Berlin.`,
  'payments.refund': (result) => `Your refund ${valueOf(result, /refundid|id/i)} is on its way.`,
  'customer.ask': (result) => `You answered: ${valueOf(result, /./)}.`,
  'cart.read': (result) => `Your cart holds ${itemCount(result)} items.`,
};

/** The first plain value under a matching key, because tools choose their own words. */
function valueOf(result: unknown, key: RegExp): string {
  if (typeof result !== 'object' || result === null) return plain(result);
  const entry = Object.entries(result).find(
    ([name, value]) => key.test(name) && typeof value !== 'object',
  );
  return entry === undefined ? JSON.stringify(result) : plain(entry[1]);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function itemCount(result: unknown): number {
  if (Array.isArray(result)) return result.length;
  if (typeof result !== 'object' || result === null) return 0;
  for (const value of Object.values(result)) if (Array.isArray(value)) return value.length;
  for (const value of Object.values(result)) if (typeof value === 'number') return value;
  return 0;
}
