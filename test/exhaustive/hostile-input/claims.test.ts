/** Every way to claim, renew, lose or ignore a claim, in every state of its offer. */

import {
  ANSWER_MS,
  APPROVE,
  actor,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import { claimToolCall, leaseLost } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { claimTimer } from '../../support/schedules/core-claims.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { TAB as ANN, GRACE_MS, clocks as TIMEOUTS } from '../../support/schedules/core-offers.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const wait = (m: MachineUnderTest) => m.state.calls['c']?.suspension;
/** The id of the known claim, or of one that never existed. */
const claimId = (m: MachineUnderTest): string => wait(m)?.claim?.claimId ?? 'claim_of_nobody';
const seqOf = (m: MachineUnderTest): number => wait(m)?.claim?.seq ?? m.state.lastSeq;

type Fields = (m: MachineUnderTest) => Record<string, unknown>;
const claiming = (fields: Fields): TableInput => ({
  enter: (m) =>
    claimToolCall(m.machine, { toolCallId: 'c', requestId: 'new', actor: ANN, ...fields(m) })
      .verdict,
  refused: 'stale',
});
const answering = (fields: Fields): TableInput => ({
  enter: (m) => m.resolve('c', result(7), { requestId: 'new', actor: ANN, ...fields(m) }).verdict,
  refused: 'stale',
});
const losing = (fields: Fields): TableInput => ({
  enter: (m) => {
    const input = { toolCallId: 'c', claimId: claimId(m), seq: seqOf(m), ...fields(m) };
    const reply = leaseLost(m.machine, input);
    return 'verdict' in reply ? reply.verdict : 'lost';
  },
  refused: 'stale',
});

const INPUTS = {
  claim: claiming(() => ({})),
  claimAgain: claiming(() => ({ requestId: 'first' })),
  claimByOther: claiming(() => ({ actor: actor('bob') })),
  claimByOutsider: claiming(() => ({ actor: actor('eve') })),
  renew: claiming((m) => ({ claimId: claimId(m) })),
  renewByOther: claiming((m) => ({ claimId: claimId(m), actor: actor('bob') })),
  renewUnderOtherId: claiming(() => ({ claimId: 'claim_1_x' })),
  tooShort: claiming((m) => ({ claimId: claimId(m), leaseMs: 1 })),
  endless: claiming((m) => ({ claimId: claimId(m), leaseMs: Number.POSITIVE_INFINITY })),
  answerOfHolder: answering((m) => ({ claimId: claimId(m) })),
  answerOfOtherTab: answering(() => ({})),
  answerOfOther: answering((m) => ({ actor: actor('bob'), claimId: claimId(m) })),
  lost: losing(() => ({})),
  lostOfOlder: losing((m) => ({ seq: seqOf(m) - 1 })),
  lostOfOther: losing(() => ({ claimId: 'claim_1_x' })),
  lostOfGarbage: losing(() => ({ toolCallId: {}, seq: 'now' })),
  grace: happening((m) => {
    m.machine.fired(claimTimer('c', wait(m)?.claimBy ?? m.clock.iso()));
  }),
  oldGrace: happening((m) => {
    m.machine.fired(claimTimer('c', '2020-01-01T00:00:00.000Z'));
  }),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const client = (over: Parameters<typeof plannedCall>[1] = {}) =>
  plannedCall('c', {
    executor: 'client',
    answerAudience: { users: ['ann', 'bob'] },
    timeouts: TIMEOUTS,
    ...over,
  });
/** A second call keeps the step open. */
const offered = (call = client()): MachineUnderTest =>
  aMachineWith(modelCalls([call, plannedCall('other')]));
const held = (m = offered()): MachineUnderTest => {
  claimToolCall(m.machine, { toolCallId: 'c', requestId: 'first', actor: ANN });
  return m;
};
const after = (m: MachineUnderTest, change: (m: MachineUnderTest) => void): MachineUnderTest => {
  change(m);
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
const OPEN: Cells = {
  claim: 'accepted: claimed',
  claimAgain: 'accepted: claimed',
  claimByOther: 'accepted: claimed',
  claimByOutsider: 'forbidden',
  renew: 'accepted: claimed',
  renewByOther: 'accepted: claimed',
  renewUnderOtherId: 'accepted: claimed',
  tooShort: 'invalid',
  endless: 'invalid',
  answerOfHolder: 'accepted: resolution tool_result',
  answerOfOtherTab: 'accepted: resolution tool_result',
  answerOfOther: 'accepted: resolution tool_result',
  grace: '-: expired tool_result',
};
const HELD: Cells = {
  claimAgain: 'duplicate',
  claimByOutsider: 'forbidden',
  renew: 'accepted: claimed',
  tooShort: 'invalid',
  endless: 'invalid',
  answerOfHolder: 'accepted: resolution tool_result',
  lost: 'lost: lease_lost',
};
const EXPIRED: Cells = {
  claim: 'expired',
  claimAgain: 'expired',
  claimByOther: 'expired',
  claimByOutsider: 'expired',
  renew: 'expired',
  renewByOther: 'expired',
  renewUnderOtherId: 'expired',
  tooShort: 'expired',
  endless: 'expired',
  answerOfHolder: 'expired',
  answerOfOtherTab: 'expired',
  answerOfOther: 'expired',
};

stateTable<Input>('an offer that', promise('G129'), INPUTS, {
  'is open': { build: () => offered(), cells: { ...OPEN } },
  'has a grace as long as its wait': {
    build: () => offered(client({ timeouts: { ...TIMEOUTS, claimMs: ANSWER_MS } })),
    cells: { ...OPEN },
  },
  'is behind its approval': {
    build: () => offered(gatedCall('c', { executor: 'client', timeouts: TIMEOUTS })),
    cells: {},
  },
  'follows an approval': {
    build: () =>
      after(offered(gatedCall('c', { executor: 'client', timeouts: TIMEOUTS })), (m) => {
        m.resolve('c', APPROVE);
      }),
    cells: { ...OPEN, claimByOutsider: 'accepted: claimed' },
  },
  'was claimed by no client in time, and its timer has not fired': {
    build: () => after(offered(), (m) => m.clock.advance(GRACE_MS + MINUTE_MS)),
    cells: { ...EXPIRED, claimByOutsider: 'forbidden', grace: '-: expired tool_result' },
  },
  'was claimed by no client': { build: () => offered().advance(GRACE_MS), cells: { ...EXPIRED } },
  'was claimed by no client, and takes late results': {
    build: () => offered(client({ lateResult: 'inbox' })).advance(GRACE_MS),
    cells: {
      ...EXPIRED,
      answerOfHolder: 'accepted_late: resolution inbox_event',
      answerOfOtherTab: 'accepted_late: resolution inbox_event',
      answerOfOther: 'accepted_late: resolution inbox_event',
    },
  },
  'is held': { build: () => held(), cells: { ...HELD } },
  'is held longer than its lease, of which only the watch knows': {
    build: () => after(held(), (m) => m.clock.advance(6 * MINUTE_MS)),
    cells: { ...HELD },
  },
  'is held beyond its deadline': {
    build: () => after(held(), (m) => m.clock.advance(ANSWER_MS + MINUTE_MS)),
    cells: {
      ...HELD,
      renew: 'expired',
      tooShort: 'expired',
      endless: 'expired',
      answerOfHolder: 'expired',
    },
  },
  'was lost by its holder': {
    build: () =>
      after(held(), (m) => {
        leaseLost(m.machine, { toolCallId: 'c', claimId: claimId(m), seq: seqOf(m) });
      }),
    cells: {
      claim: 'accepted: claimed',
      claimAgain: 'accepted: claimed',
      claimByOther: 'accepted: claimed',
      claimByOutsider: 'forbidden',
      renew: 'accepted: claimed',
      renewByOther: 'accepted: claimed',
      renewUnderOtherId: 'accepted: claimed',
      tooShort: 'invalid',
      endless: 'invalid',
      answerOfHolder: 'accepted: resolution tool_result',
      answerOfOtherTab: 'accepted: resolution tool_result',
      answerOfOther: 'accepted: resolution tool_result',
    },
  },
  'was answered by its holder': {
    build: () =>
      after(held(), (m) => {
        m.resolve('c', result(1), { actor: ANN, claimId: claimId(m) });
      }),
    cells: { claimAgain: 'duplicate' },
  },
  'is a question to a person': {
    build: () =>
      offered(plannedCall('c', { executor: 'human', answerAudience: { users: ['ann', 'bob'] } })),
    cells: { claimByOutsider: 'forbidden' },
  },
});
