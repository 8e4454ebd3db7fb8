/**
 * Converts values to NOTIFY payloads and back: under 8,000 bytes each (Postgres' limit), so longer ones travel in
 * parts.
 */
import { isRecord } from '../../../protocol/values/json.js';

/** Leaves space for the envelope of a part. */
const MAX_PART_CHARS = 7_000;
/** Maximum of values of which some parts never arrived, because their sender died or its connection broke. */
const MAX_UNFINISHED = 100;
/** A value that would need more parts than this is not sent: no live message is that large. */
const MAX_PARTS = 600;

/**
 * The payloads of one value; none when it is too large. `n` distinguishes them from all others of the sender: Postgres
 * delivers equal payloads of one transaction once.
 */
export function payloadsOf(from: string, n: number, value: unknown): readonly string[] {
  // Base64, so that characters are bytes, and parts may be cut anywhere.
  const text = Buffer.from(JSON.stringify(value)).toString('base64');
  const count = Math.ceil(text.length / MAX_PART_CHARS);
  if (count > MAX_PARTS) return [];
  return Array.from({ length: count }, (_, part) =>
    JSON.stringify({
      from,
      n,
      part,
      count,
      text: text.slice(part * MAX_PART_CHARS, (part + 1) * MAX_PART_CHARS),
    }),
  );
}

/** Joins parts to values. One for each connection; a sender's parts arrive in order. */
export class Assembly {
  readonly #unfinished = new Map<string, string[]>();

  /** The sender and the value, once its last part has arrived. A payload of another origin is ignored. */
  take(payload: string): { readonly from: string; readonly value: unknown } | undefined {
    const part = parsed(payload);
    if (part === undefined) return undefined;
    const { from, n, count, text } = part;
    if (count === 1) return valueOf(from, text);
    const key = `${from}:${n}`;
    const parts = [...(this.#unfinished.get(key) ?? []), text];
    this.#unfinished.delete(key);
    if (parts.length === count) return valueOf(from, parts.join(''));
    if (part.part !== parts.length - 1) return undefined;
    this.#unfinished.set(key, parts);
    const [oldest] = this.#unfinished.keys();
    if (this.#unfinished.size > MAX_UNFINISHED && oldest !== undefined)
      this.#unfinished.delete(oldest);
    return undefined;
  }
}

interface Part {
  readonly from: string;
  readonly n: number;
  readonly part: number;
  readonly count: number;
  readonly text: string;
}

function parsed(payload: string): Part | undefined {
  const value = jsonOf(payload);
  if (!isRecord(value)) return undefined;
  const { from, n, part, count, text } = value;
  const isWhole =
    typeof from === 'string' &&
    typeof n === 'number' &&
    typeof part === 'number' &&
    typeof count === 'number' &&
    typeof text === 'string';
  return isWhole ? { from, n, part, count, text } : undefined;
}

function valueOf(from: string, text: string): { from: string; value: unknown } | undefined {
  const value = jsonOf(Buffer.from(text, 'base64').toString());
  return value === undefined ? undefined : { from, value };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
