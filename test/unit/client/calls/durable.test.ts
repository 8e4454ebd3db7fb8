/** An answer whose verdict takes long is durable as a signal within three seconds, and its verdict is waited for. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { Verdict } from '../../../../src/protocol/calls/resolutions.js';
import {
  type FakeCall,
  fakeTemporal,
  grpcError,
  noAnswer,
  refusal,
} from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { CALL, SUPPORT } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const ACCEPTED = { verdict: 'accepted', toolCallId: CALL, seq: 6 } as const;
const STALE = { verdict: 'stale', why: 'already_resolved', status: 'resolved' } as const;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

/** A client for which answers take long: one was given up after three seconds, so the next waits for longer. */
async function slowClient(script: { readonly signal: () => unknown }) {
  let update: (call: FakeCall) => unknown = () => ACCEPTED;
  const { client: temporal, calls } = fakeTemporal({
    update: (call) => update(call),
    describe: () => ({ status: { name: 'RUNNING' } }),
    ...script,
  });
  const client = new ConversationClient({ temporal, agents: [SUPPORT] });
  const answer = () => client.resolve(REF, { type: 'answer', value: 'yes' }, { requestId: 'r-1' });
  await answer();
  update = () => new Promise(() => undefined);
  const missed = answer();
  await vi.advanceTimersByTimeAsync(4_000);
  await missed;
  const before = calls.length;
  return {
    answer,
    kinds: () => calls.slice(before).map(({ kind }) => kind),
    /** The next update fails after so many milliseconds. */
    failAfter: (ms: number, error: Error) => {
      update = async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        throw error;
      };
    },
    /** The reply to the next update, after so many milliseconds. */
    replyAfter: (ms: number, verdict: Verdict) => {
      update = async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        if (verdict.verdict !== 'accepted') throw refusal('verdict', verdict);
        return verdict;
      };
    },
  };
}

it('the signal is left within three seconds, and the verdict of the update is returned', {
  ...promise('G400'),
}, async () => {
  const { answer, kinds, replyAfter } = await slowClient({ signal: () => undefined });
  // The workflow takes the signal first.
  replyAfter(4_000, { verdict: 'duplicate', first: ACCEPTED });
  const outcome = answer();
  await vi.advanceTimersByTimeAsync(2_700);
  expect(kinds()).toEqual(['update']);
  await vi.advanceTimersByTimeAsync(300);
  expect(kinds()).toEqual(['update', 'signal']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await outcome).toMatchObject(ACCEPTED);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kinds()).toEqual(['update', 'signal']);
});

it.each<[string, Verdict, Verdict]>([
  [
    'taken, as the answer before it was taken back',
    { verdict: 'duplicate', first: ACCEPTED },
    ACCEPTED,
  ],
  ['refused as well', STALE, STALE],
])(
  'an update that is refused beside the signal is asked again behind it: %s',
  {
    ...promise('G400'),
  },
  async (_title, judged, verdict) => {
    const { answer, kinds, replyAfter } = await slowClient({ signal: () => undefined });
    replyAfter(4_000, STALE);
    const outcome = answer();
    await vi.advanceTimersByTimeAsync(3_500);
    expect(kinds()).toEqual(['update', 'signal']);
    replyAfter(100, judged);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(kinds()).toEqual(['update', 'signal', 'update']);
    expect(await outcome).toMatchObject(verdict);
  },
);

it('without a verdict behind the signal the answer is queued', promise('G400'), async () => {
  const { answer, kinds, replyAfter } = await slowClient({ signal: () => undefined });
  replyAfter(4_000, STALE);
  const outcome = answer();
  await vi.advanceTimersByTimeAsync(3_500);
  replyAfter(600_000, STALE);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await outcome).toMatchObject({ verdict: 'queued' });
  expect(kinds().slice(0, 3)).toEqual(['update', 'signal', 'update']);
});

it('the answer is queued where the update fails beside the signal', promise('G400'), async () => {
  const { answer, kinds, failAfter } = await slowClient({ signal: () => undefined });
  failAfter(3_500, grpcError(13, 'connection lost'));
  const outcome = answer();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await outcome).toMatchObject({ verdict: 'queued' });
  expect(kinds().slice(0, 2)).toEqual(['update', 'signal']);
});

it('a verdict within three seconds leaves no signal', promise('G400'), async () => {
  const { answer, kinds, replyAfter } = await slowClient({ signal: () => undefined });
  replyAfter(2_700, { verdict: 'duplicate', first: ACCEPTED });
  const outcome = answer();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await outcome).toMatchObject({ verdict: 'duplicate', first: ACCEPTED });
  expect(kinds()).toEqual(['update']);
});

it(
  'a signal that could not be left is left again when no verdict came',
  promise('G400'),
  async () => {
    let failures = 1;
    const { answer, kinds } = await slowClient({
      signal: () => {
        failures -= 1;
        if (failures === 0) throw noAnswer();
      },
    });
    failures = 1;
    const outcome = answer();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await outcome).toMatchObject({ verdict: 'queued' });
    expect(kinds().filter((kind) => kind === 'signal')).toHaveLength(2);
  },
);
