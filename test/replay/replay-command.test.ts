/** `colloquy replay` of recorded histories: whether they replay, and else where they fail. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { historyIn, replayText } from '../../src/cli/operate/replay-command.js';
import { CompressionCodec } from '../../src/client/payloads/payload-codec.js';
import { replayRun } from '../../src/worker/repair/index.js';
import { bundleFromSource, CONVERTER } from '../support/engine/workflow-bundle.js';
import { patient } from '../support/patience.js';
import { temporaryFolder } from '../support/temporary.js';
import '../support/engine/quiet.js';
import '../support/typescript-hooks.mjs';

const KEPT = fileURLToPath(
  new URL('./histories/turns-with-tools-and-answers.json', import.meta.url),
);

let workflowBundle = { code: '' };
beforeAll(async () => {
  workflowBundle = { code: await bundleFromSource() };
}, patient(60_000));

const replayed = async (events: Parameters<typeof replayRun>[0]) =>
  await replayRun(events, {
    workflowBundle,
    payloadConverterPath: CONVERTER,
    codecs: [new CompressionCodec()],
  });

it('a history that this code would have made replays', async () => {
  const events = historyIn(KEPT);
  const run = await replayed(events);
  expect(run).toEqual({ status: 'replays', events: events.length });
  expect(replayText({ name: KEPT, ...run })).toBe(`replays  ${KEPT}  ${events.length} events`);
});

it('any other fails, at the first task that decided otherwise', async () => {
  const events = historyIn(KEPT);
  const models = events.filter(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel',
  );
  const second = models[1];
  const task = Number(second?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId);
  const changed = events.map((event) =>
    event === second
      ? (JSON.parse(JSON.stringify(event).replace('"callModel"', '"askModel"')) as typeof event)
      : event,
  );
  const run = await replayed(changed);
  expect(run).toMatchObject({ status: 'fails', at: task, events: events.length });
  expect(replayText({ name: 'run-1', ...run })).toMatch(
    new RegExp(`^FAILS    run-1  at event ${task} of ${events.length}, behind \\d+ .*TMPRL1100`),
  );
});

it.each([
  ['{', /cannot be read as JSON/],
  ['{"events": []}', /is no history/],
  ['[]', /is no history/],
])('a file that holds no history is named: %s', (text, message) => {
  const file = join(temporaryFolder(), 'run.json');
  writeFileSync(file, text);
  expect(() => historyIn(file)).toThrow(message);
});
