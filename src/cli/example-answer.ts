/** Commands to copy: an answer that fits a waiting call, quoted for a shell. */
import { isRecord } from '../protocol/json.js';
import type { PendingCall } from '../protocol/suspensions.js';

const MAX_DEPTH = 8;

/** The body of a request that the call would take, as JSON: the bare resolution, unless it must say which question it answers. */
export function exampleAnswer(call: ExampleCall & Pick<PendingCall, 'ask' | 'argsDigest'>): string {
  const resolution = exampleResolution(call);
  const { ask, argsDigest } = call;
  if (ask === undefined || argsDigest === undefined) return resolution;
  return `{"resolution":${resolution},"argsDigest":${JSON.stringify(argsDigest)}}`;
}

type ExampleCall = Pick<PendingCall, 'kind' | 'answerSchema'>;

/** A resolution that the call would take, as JSON; made from the shape of its answer where it has one. */
export function exampleResolution(call: ExampleCall): string {
  switch (call.kind) {
    case 'approval':
      return '{"type":"approve"}';
    case 'elicitation':
      return JSON.stringify({ type: 'answer', value: valueFor(call.answerSchema, 'an answer') });
    case 'outcome':
      return '{"type":"outcome","value":{}}';
    case 'client_execution':
    case 'external_execution':
      return JSON.stringify({ type: 'result', value: valueFor(call.answerSchema, {}) });
  }
}

/** One word for a POSIX shell, whatever is in it. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The simplest value of a JSON Schema's common forms: a start to edit, not a promise for every rule that it may have. */
function valueFor(schema: unknown, otherwise: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return otherwise;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const choices = schema['enum'] ?? schema['examples'];
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return valueFor(branches[0], otherwise, depth + 1);
  const type = Array.isArray(schema['type']) ? (schema['type'][0] as unknown) : schema['type'];
  switch (type) {
    case 'object':
      return objectFor(schema, depth);
    case 'array':
      return Array.from({ length: numberOf(schema['minItems']) }, () =>
        valueFor(schema['items'], null, depth + 1),
      );
    case 'string':
      return 'an answer'.padEnd(numberOf(schema['minLength']), '.');
    case 'integer':
    case 'number':
      return Math.max(numberOf(schema['minimum']), numberOf(schema['exclusiveMinimum'], -1) + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return otherwise;
  }
}

/** With the fields that must be there. */
function objectFor(schema: Readonly<Record<string, unknown>>, depth: number): object {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = required.filter((name) => typeof name === 'string');
  return Object.fromEntries(
    names.map((name) => [name, valueFor(properties[name], null, depth + 1)]),
  );
}

function numberOf(value: unknown, otherwise = 0): number {
  return typeof value === 'number' ? value : otherwise;
}
