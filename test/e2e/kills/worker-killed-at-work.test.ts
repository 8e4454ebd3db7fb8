/**
 * Acceptance scenarios S11 and S12: one SIGKILL hits a worker in the middle of a repeatable tool, of a tool that must
 * not be repeated, and of a streamed model answer. Each case has a conversation of its own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import type { EventStream, Frame } from '../support/api.js';
import { askAbout } from '../support/killed-talks.js';
import type { Scenario } from '../support/scenario-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const LOST_SAYS =
  'The worker running tool "slow.pay" was lost. It is unknown whether the tool took effect; it was not run again. Do not assume either.';

let world: World;
let copying: Talk;
let paying: Talk;
let streaming: Talk;
let watched: EventStream;
let endAsking: () => Promise<void>;
/** The pid before the kill. */
let firstPid: number;

/** Requests one tool, then repeats its result word for word. */
const repeatsResult =
  (name: string): Scenario =>
  ({ results }) =>
    results.length === 0
      ? { calls: [{ name, input: { label: name } }] }
      : { text: `heard: ${JSON.stringify(results[0])}` };

/** The first attempt is slow, has another text, and never ends; both attempts request a tool. */
const stutters: Scenario = ({ results }, ask) => {
  if (results.length > 0) return { text: 'all done' };
  const calls = [{ name: 'slow.copy', input: { label: 'after-stream' } }];
  return ask === 1
    ? { text: 'one two three four five six seven eight nine ten', calls, chunkDelayMs: 1_500 }
    : { text: 'eins zwei drei', calls, chunkDelayMs: 20 };
};

beforeAll(async () => {
  world = await startWorld();
  world.model.answer('copy it', repeatsResult('slow.copy'));
  world.model.answer('pay it', repeatsResult('slow.pay'));
  world.model.answer('talk slowly', stutters);
  copying = world.talk('s11-copy');
  paying = world.talk('s11-pay');
  streaming = world.talk('s12');
  endAsking = askAbout(world, ['s11-copy', 's11-pay', 's12']);
  await copying.begin('clerk', 'copy it');
  await paying.begin('clerk', 'pay it');
  await until('both tools run', () => world.lines('runs.jsonl'), {
    holds: (runs) => runs.length === 2,
  });
  await streaming.begin('clerk', 'talk slowly');
  watched = await streaming.stream();
  await until('some text is streamed', () => textOf(watched.frames, 1));
  await until('a heartbeat reports it', () => heartbeatOf(streaming), {
    holds: (details) => /"outputTokens":[1-9]/.test(details),
  });

  firstPid = world.stack.worker().pid;
  await world.stack.worker().kill();
  for (const label of ['slow.copy', 'slow.pay', 'after-stream']) await world.release(label);
  await world.stack.startWorker();
});
afterAll(async () => {
  watched.close();
  await endAsking();
  await world.stop();
});

describe('a worker that is killed inside a tool that may be repeated', () => {
  it('leaves a call that runs again with the same idempotency key, and the model is not called again', {
    ...promise('G6', 'S11', 'A32', 'A47'),
  }, async () => {
    expect(await copying.ended()).toMatchObject({
      status: 'completed',
      text: 'heard: {"name":"slow.copy","ok":true,"result":"slow.copy done in attempt 2"}',
    });
    const [first, second, ...others] = await runsOf('slow.copy');
    expect(first).toMatchObject({ attempt: 1, pid: firstPid });
    expect(second).toMatchObject({ attempt: 2, pid: world.stack.worker().pid });
    expect(second?.['idempotencyKey']).toBe(first?.['idempotencyKey']);
    expect(first?.['idempotencyKey']).toContain('default/s11-copy/');
    expect(others).toEqual([]);
    // Once for the call, once with its result.
    expect(world.model.asked('copy it')).toBe(2);
  });
});

describe('a worker that is killed inside a tool that must not be repeated', () => {
  it('leaves a call that does not run again: the model reads that its outcome is unknown', {
    ...promise('G7'),
  }, async () => {
    const { status, text } = await paying.ended();
    expect(status).toBe('completed');
    expect(JSON.parse(text.replace('heard: ', ''))).toEqual({
      name: 'slow.pay',
      ok: false,
      error: { code: 'outcome_unknown', message: LOST_SAYS },
    });
    expect(await runsOf('slow.pay')).toMatchObject([{ attempt: 1, pid: firstPid }]);
    expect(world.model.asked('pay it')).toBe(2);
  });
});

describe('a worker that is killed while the model streams', () => {
  it('leaves a model call that is repeated, and no tool runs twice', {
    ...promise('G10', 'S12'),
  }, async () => {
    expect(await streaming.ended()).toMatchObject({ status: 'completed', text: 'all done' });
    expect(await runsOf('after-stream')).toMatchObject([{ attempt: 1 }]);
    // The killed attempt, the successful one, and the call with the tool's result.
    expect(world.model.asked('talk slowly')).toBe(3);
    expect((await streaming.eventsOf('model_call')).map(({ step, attempt }) => [step, attempt]))
      // The second step was not interrupted.
      .toEqual([
        [1, 2],
        [2, 1],
      ]);
    expect((await streaming.eventsOf('tool_call')).length).toBe(1);
  });

  it('counts the usage of both attempts, that of the lost one as an estimate from its last heartbeat', {
    ...promise('G11', '2.A.7'),
  }, async () => {
    const { usage } = await streaming.ended();
    const [first, second] = await streaming.eventsOf('model_call');
    const { earlierUsage } = first ?? {};
    expect(earlierUsage).toMatchObject({ estimated: true });
    const { inputTokens = 0, outputTokens = 0 } = earlierUsage ?? {};
    // The prompt has a system text, two tools and a message.
    expect(inputTokens).toBeGreaterThan(20);
    expect(outputTokens).toBeGreaterThan(0);
    // Text and calls together have some sixty letters.
    expect(outputTokens).toBeLessThan(40);
    expect(first?.usage).not.toHaveProperty('estimated');
    expect(second).not.toHaveProperty('earlierUsage');
    // The first attempt has no report of its own, because its worker was killed.
    expect(first?.failedAttempts).toMatchObject([{ attempt: 1, code: 'no_worker' }]);
    expect(second).not.toHaveProperty('failedAttempts');
    expect(usage).toEqual({
      inputTokens: inputTokens + (first?.usage.inputTokens ?? 0) + (second?.usage.inputTokens ?? 0),
      outputTokens:
        outputTokens + (first?.usage.outputTokens ?? 0) + (second?.usage.outputTokens ?? 0),
      estimated: true,
    });
  });

  it('shows watchers the text of the new attempt under a higher number, and records only that one', {
    ...promise('G10', 'N29'),
  }, async () => {
    await until('the stream has the end', () => watched.frames.map(({ event }) => event), {
      holds: (events) => events.includes('turn_ended'),
      timeoutMs: 60_000,
    });
    expect('one two three four five six seven eight nine ten').toContain(
      textOf(watched.frames, 1).trim(),
    );
    expect(textOf(watched.frames, 2)).toBe('eins zwei drei');
    const attempts = textFrames(watched.frames).map(({ data }) => data['attempt']);
    expect(attempts).toEqual(attempts.toSorted());
    const ids = new Set(textFrames(watched.frames).map(({ data }) => data['messageId']));
    expect(ids.size).toBe(1);
    const [message] = await streaming.eventsOf('assistant_message');
    expect(message?.messageId).toBe([...ids][0]);
    expect(message?.parts[0]).toEqual({ type: 'text', text: 'eins zwei drei' });
  });
});

async function runsOf(label: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await world.lines('runs.jsonl')).filter((run) => run['label'] === label);
}

/** The heartbeat details of the running model call, from the server. */
async function heartbeatOf({ workflowId }: Talk): Promise<string> {
  const { raw } = await world.temporal.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? [])
    .flatMap(({ heartbeatDetails }) => heartbeatDetails?.payloads ?? [])
    .map(({ data }) => Buffer.from(data ?? []).toString())
    .join(' ');
}

/** Text frames of the first step. */
function textFrames(frames: readonly Frame[]): readonly Frame[] {
  return frames.filter(({ event, data }) => event === 'live.text_delta' && data['step'] === 1);
}

function textOf(frames: readonly Frame[], attempt: number): string {
  return textFrames(frames)
    .filter(({ data }) => data['attempt'] === attempt)
    .map(({ data }) => String(data['text']))
    .join('');
}
