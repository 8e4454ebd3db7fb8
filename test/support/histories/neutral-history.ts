/**
 * Histories as the repository may keep them: as JSON without facts about the machine or the user that recorded them.
 */
import { homedir, hostname } from 'node:os';
import { inflateSync } from 'node:zlib';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect } from 'vitest';

/** The default identity of a client: its process and machine. */
const PROCESS = /"identity": "\d+@[^"]*"/g;
const STACK = /"stackTrace": "(?:[^"\\]|\\.)*"/g;

/** Stacks of failed activities name files of this machine, identities its name; no decision depends on them. */
export function neutralJson(history: Parameters<typeof historyToJSON>[0]): string {
  return historyToJSON(history)
    .replaceAll(STACK, '"stackTrace": ""')
    .replaceAll(PROCESS, '"identity": "colloquy-test"');
}

function inflated(data: Buffer): Buffer {
  try {
    return inflateSync(data);
  } catch {
    return data;
  }
}

/** Throws when a history names the machine or the user that recorded it. */
export function expectNeutral(json: string): void {
  const values = (field: string): readonly string[] =>
    [...json.matchAll(new RegExp(`"${field}": "([^"]*)"`, 'g'))].map(([, value]) => value ?? '');
  for (const identity of values('identity'))
    expect(identity).toMatch(/^(|colloquy-test|history-service|temporal-scheduler-.*)$/);
  // Encoded text is not checked: a short name stands in random letters sooner or later.
  const readable = json.replaceAll(/"data": "([^"]*)"/g, (_field, data: string) =>
    inflated(Buffer.from(data, 'base64')).toString(),
  );
  for (const own of [process.cwd(), homedir()]) expect(readable).not.toContain(own);
  expect(readable.split(/[^\w.-]+/)).not.toContain(hostname());
}
