/** Takes out of log fields what no reader can use: the tokens of Temporal's tasks, and bytes. */
import { isRecord } from '../protocol/values/json.js';

const TOKEN_FIELD = /task_?token$/i;
/** Temporal's native part writes a token so in its messages. */
const TOKEN_IN_TEXT = /\bTaskToken\([^)]*\)/g;
const MAX_DEPTH = 6;

/** The same fields without tokens and bytes, at any depth. Errors stay errors. */
export function withoutOpaque(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return cleaned(fields, 0);
}

/** The text without the tokens in it. */
export function withoutTokens(text: string): string {
  return text.replaceAll(TOKEN_IN_TEXT, 'TaskToken(…)');
}

function cleaned(
  fields: Readonly<Record<string, unknown>>,
  depth: number,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      TOKEN_FIELD.test(name) || isBytes(value) ? [] : [[name, cleanedValue(value, depth)]],
    ),
  );
}

function cleanedValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutTokens(value);
  if (value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return typeof value === 'object' && value !== null ? '…' : value;
  if (Array.isArray(value))
    return value
      .filter((item) => !isBytes(item))
      .map((item: unknown) => cleanedValue(item, depth + 1));
  return isRecord(value) ? cleaned(value, depth + 1) : value;
}

/** Also bytes as `Buffer` writes them into JSON. */
function isBytes(value: unknown): boolean {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true;
  return isRecord(value) && value['type'] === 'Buffer' && Array.isArray(value['data']);
}
