/**
 * Redacts secrets from text that comes from outside: some servers echo their credentials, in results and errors. Runs
 * in the worker.
 */
import { isRecord, type Json } from '../../protocol/values/json.js';

const REDACTED = '[redacted]';

export interface RedactorOptions {
  /** Shorter secrets are not redacted: they would match parts of ordinary words. @defaultValue 1 */
  readonly minChars?: number;
  /** Number of newest secrets that are kept. @defaultValue all of them */
  readonly maxSecrets?: number;
}

/** Finds secrets in plain form, URL-encoded, within JSON and HTML, and in base64. */
export class Redactor {
  readonly #minChars: number;
  readonly #maxSecrets: number;
  /** By secret, the newest last. */
  readonly #known = new Map<string, readonly string[]>();
  /** The longest first: one may be part of another. */
  #forms: readonly string[] = [];

  constructor({ minChars = 1, maxSecrets = Infinity }: RedactorOptions = {}) {
    this.#minChars = minChars;
    this.#maxSecrets = maxSecrets;
  }

  add(...secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (secret.length < this.#minChars) continue;
      this.#known.delete(secret);
      this.#known.set(secret, formsOf(secret));
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#maxSecrets) break;
      this.#known.delete(oldest);
    }
    const forms = new Set([...this.#known.values()].flat());
    this.#forms = [...forms].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#forms.reduce((clean, form) => clean.replaceAll(form, REDACTED), text);
  }

  /** The value with every secret in its texts, numbers and keys replaced. */
  json(value: Json): Json {
    if (this.#forms.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    // A secret made of digits may come back as a number.
    if (typeof value === 'number') return this.#forms.includes(String(value)) ? REDACTED : value;
    if (Array.isArray(value)) return value.map((item: Json) => this.json(item));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.text(key), this.json(item ?? null)]),
    );
  }
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Via bytes, which makes it well-formed.
  const encoded = encodeURIComponent(bytes.toString());
  // Forms and queries encode some additional characters.
  const form = new URLSearchParams([['', bytes.toString()]]).toString().slice(1);
  const base64 = bytes.toString('base64');
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    ...[encoded, encoded.replaceAll('%20', '+'), form, form.replaceAll('+', '%20')].flatMap(
      bothCases,
    ),
    ...bothCases(encodeURIComponent(base64)),
    // Some servers escape slashes, and characters that are not ASCII.
    ...[json, escapedUnicode(json)].flatMap((it) => [it, it.replaceAll('/', '\\/')]),
    ...['&#39;', '&#x27;', '&apos;'].map((quote) => inHtml(secret, quote)),
    base64,
    bytes.toString('base64url'),
  ];
}

function bothCases(encoded: string): readonly string[] {
  return [encoded, encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())];
}

function escapedUnicode(text: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function inHtml(text: string, quote: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", quote);
}
