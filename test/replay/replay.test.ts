/**
 * Recorded histories, which are kept for ever: every later version has to make the same decisions again.
 * test/workflows/history/kept-histories.test.ts continues each of them to its end.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { replay, replayed } from '../support/engine/replay.js';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import { SCENARIOS } from '../support/histories/scenarios/index.js';
import { historiesOf } from '../support/histories/scenarios/scenario.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

const HISTORIES = new URL('./histories/', import.meta.url);
const files = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));

let code = '';
const errors = new Map<string, Error | undefined>();

beforeAll(async () => {
  code = await bundleFromSource();
  const kept = files.map((file) => ({
    workflowId: file,
    history: JSON.parse(textOf(file)) as unknown,
  }));
  for await (const { workflowId, error } of replayed({ code }, kept)) errors.set(workflowId, error);
}, patient(120_000));

function textOf(file: string): string {
  return readFileSync(new URL(file, HISTORIES), 'utf8');
}

test('each run of each scenario has a kept history', () => {
  const names = [...SCENARIOS.flatMap(historiesOf), 'trigger', 'what-if'];
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
});

test.each(files)(
  'the present code decides as a recorded run did: %s',
  promise('G223', 'S45'),
  (file) => {
    expect([file, errors.get(file)]).toEqual([file, undefined]);
    expect(errors.has(file)).toBe(true);
  },
);

test('a history that the present code would not have made is refused', {
  ...promise('G223'),
}, async () => {
  const other = textOf('turns-with-tools-and-answers.json').replaceAll('"callModel"', '"askModel"');
  await expect(replay({ code }, JSON.parse(other))).rejects.toThrow(
    /nondeterminism|Nondeterminism|TMPRL1100/,
  );
});
