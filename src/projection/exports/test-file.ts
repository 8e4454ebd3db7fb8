/** Writes a test from a log: a file for vitest that plays the conversation again with `testConversation`. Pure. */
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { Json } from '../../protocol/values/json.js';
import { type RecordedInput, type Recording, recordingOf } from './recording.js';

export interface TestFileOptions {
  /** Module that the test imports the agent from. @defaultValue './agents.js' */
  readonly from?: string;
  /** Name under which that module exports it. @defaultValue the agent's name in camel case */
  readonly exportedAs?: string;
}

/**
 * The text of a test file. As it stands it passes against the definitions by which the conversation ran; no tool runs,
 * and the recorded results take the places of theirs. The test fails where another call waits, has another result, or a
 * turn ends with another text.
 * @param events the whole log, from its first event
 * @throws {NotExportable} for a log that a test cannot play again, naming the event
 */
export function testFileOf(
  events: readonly CanonicalEvent[],
  options: TestFileOptions = {},
): string {
  const recording = recordingOf(events);
  const { from = './agents.js', exportedAs = camelCase(recording.agent) } = options;
  const title = `the conversation of ${recording.startAt} goes as it went`;
  return [
    "import { script, testConversation } from 'colloquy/testing';",
    "import { expect, test } from 'vitest';",
    `import { ${exportedAs} } from ${literal(from)};`,
    '',
    `test(${literal(title)}, async () => {`,
    ...bodyOf(recording, exportedAs).map((line) => (line === '' ? '' : `  ${line}`)),
    '});',
    '',
  ].join('\n');
}

function bodyOf(recording: Recording, agent: string): readonly string[] {
  const { answers, inputs, results, calls, turns, waiting, startAt } = recording;
  return [
    '// The answers of the model, in their order, and the results of tools by call.',
    `const model = script(`,
    ...answers.map((answer) => `  ${literal(answer)},`),
    ');',
    `const recorded = ${literal(results)};`,
    `const startAt = new Date(${literal(startAt)});`,
    `const t = testConversation(${agent}, { model, recorded, startAt });`,
    'const waiting = () => t.pending.map((call) => `${call.toolCallId} ${call.kind}`).sort();',
    '',
    ...inputs.flatMap(inputLines),
    `expect(waiting()).toEqual(${literal(waiting)});`,
    'const calls = t.calls().map(({ toolCallId: id, status, result }) => ({ id, status, result }));',
    'expect(calls).toEqual([',
    ...calls.map((call) => `  ${literal(call)},`),
    ']);',
    "const turns = t.eventsOf('turn_ended').map(({ status, text }) => ({ status, text }));",
    'expect(turns).toEqual([',
    ...turns.map((turn) => `  ${literal(turn)},`),
    ']);',
  ];
}

function inputLines({ waiting, does }: RecordedInput): readonly string[] {
  return [`expect(waiting()).toEqual(${literal(waiting)});`, inputLine(does)];
}

function inputLine(does: RecordedInput['does']): string {
  switch (does.type) {
    case 'send':
      return `await t.send(${literal(does.text)}, ${literal(does.options)});`;
    case 'resolve': {
      const given = [does.callId, ...does.by].map(literal).join(', ');
      return `expect((await t.resolve(${given})).verdict).toBe('accepted');`;
    }
    case 'event':
      return `await t.sendEvent(${literal(does.event)});`;
    case 'advance':
      return `await t.advance(${does.milliseconds});`;
    case 'cancel':
      return 'await t.cancel();';
    case 'close':
      return 't.close();';
  }
}

/** A literal of JavaScript. */
function literal(value: Json | readonly string[]): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function camelCase(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')
    .replace(/^\d/, (digit) => `agent${digit}`);
  return plain === '' ? 'agent' : plain;
}
