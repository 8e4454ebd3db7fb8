/** Recorded histories, which are kept for ever: every later version has to make the same decisions again. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { replay } from '../support/engine/replay.js';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

const HISTORIES = new URL('./histories/', import.meta.url);
const files = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));

let code = '';

beforeAll(async () => {
  code = await bundleFromSource();
}, patient(60_000));

function textOf(file: string): string {
  return readFileSync(new URL(file, HISTORIES), 'utf8');
}

test('histories of every kind are kept', () => {
  expect(files.map((file) => file.replace('.json', ''))).toEqual(
    expect.arrayContaining([
      ...['cancelled-in-the-temporal-ui', 'closed', 'reopened', 'hostile-signals'],
      ...['long-messages-compressed-run-2', 'finished-steps-stored-while-their-turn-runs-run-2'],
      ...['parked-on-a-browser-call', 'parked-on-a-question', 'parked-on-an-approval'],
      'parked-on-the-second-phase-of-a-gated-browser-call',
      ...['parked-on-another-backend', 'parked-on-an-unknown-outcome'],
      'parked-on-the-approval-of-a-shaped-browser-call',
      ...['answered-after-the-deadline-and-after-the-turn', 'a-message-that-was-not-kept-waiting'],
      ...['rolled-over-with-calls-open-run-1', 'rolled-over-with-calls-open-run-2'],
      ...['stopped-while-the-model-spoke', 'turns-with-tools-and-answers'],
    ]),
  );
});

test.each(files)(
  'a recorded conversation continues with the present code: %s',
  promise('G223', 'S45'),
  async (file) => {
    await replay({ code }, JSON.parse(textOf(file)));
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
