/** Kept histories contain no credential: every payload is decoded and searched here (S47). */
import { readdirSync, readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { promise } from '../support/promise.js';
import { PLANTED } from '../support/samples/planted.js';

const HISTORIES = new URL('./histories/', import.meta.url);
const files = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));

/** Patterns of keys and tokens, and of the fields that carry them. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|svcacct)?[-_]?[A-Za-z0-9]{16,}/,
  /\bBearer\s+[A-Za-z0-9._~+/-]{8,}/i,
  /\bBasic\s+[A-Za-z0-9+/]{12,}={0,2}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\b(?:gh[pousr]|xox[abprs])[_-][A-Za-z0-9-]{10,}/,
  /"(?:authorization|api[-_]?key|x-api-key|cookie|password|client_secret|access_token)"\s*:/i,
  /:\/\/[^/\s"@]+:[^/\s"@]+@/,
  // The secrets that `planted-secrets.ts` gives to a worker, and that all of its peers quote.
  /planted-(?:model|tool|mcp|service)-[0-9a-f]{4,}/,
];

interface RawPayload {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

function foundIn(text: string): readonly string[] {
  return SECRETS.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
}

/** A history with every payload as text; compressed payloads contain further payloads. */
function writtenOut(history: string): string {
  return JSON.stringify(JSON.parse(history), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('data' in value)) return value;
    const { data, metadata } = value as RawPayload;
    if (typeof data !== 'string') return value;
    const bytes = Buffer.from(data, 'base64');
    const encoding = Buffer.from(metadata?.['encoding'] ?? '', 'base64').toString();
    return encoding === 'binary/zlib' ? inflateSync(bytes).toString() : bytes.toString();
  });
}

test('the search finds planted secrets', () => {
  const planted = { data: Buffer.from('{"h":"Bearer abcdefgh1234"}').toString('base64') };
  expect(foundIn(writtenOut(JSON.stringify({ a: [planted] })))).not.toEqual([]);
  for (const text of [
    ...['sk-proj-abcdefgh12345678', 'sk_live_abcdefgh12345678', 'http://a:bcd@proxy'],
    ...Object.values(PLANTED),
  ])
    expect([text, foundIn(text).length]).toEqual([text, 1]);
});

test.each(files)('no credential is in the history %s', promise('G137', 'S47'), (file) => {
  const history = readFileSync(new URL(file, HISTORIES), 'utf8');
  const text = writtenOut(history);
  expect(text).toContain('conversation');
  expect(foundIn(history)).toEqual([]);
  expect(foundIn(text)).toEqual([]);
});
