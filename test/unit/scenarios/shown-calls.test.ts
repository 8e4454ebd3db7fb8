/** How each call of a step is shown while it goes through its states: running, waiting, or over. */

import { describe, expect, it } from 'vitest';
import { snapshotOf, toolCallView } from '../../../src/core/view/snapshot.js';
import { toolLost, toolPrepared } from '../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import { cancelTurn } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';

const IDS = ['server', 'gated', 'human', 'client', 'external', 'detached', 'once'];

/** `running`, or the kind of its wait, and its status; undefined for a call that is over. */
function shown(m: MachineUnderTest): Record<string, string> {
  const { inFlightTools, pending } = snapshotOf(m.state);
  const running = inFlightTools.map(({ toolCallId }) => [toolCallId, 'running']);
  const waiting = pending.map(({ toolCallId, kind }) => [toolCallId, kind]);
  const all = [...running, ...waiting];
  const places = Object.fromEntries(all) as Record<string, string>;
  expect(Object.keys(places)).toHaveLength(all.length);
  return Object.fromEntries(
    IDS.map((id) => [
      id,
      [places[id], toolCallView(m.state, id)?.status]
        .filter((word) => word !== undefined)
        .join(', '),
    ]),
  );
}

describe('every call of a step', () => {
  it('is shown as running, as pending, or as over, and never as two of these', {
    ...promise('A27', 'A30', 'A31', 'A33', 'H41', 'C29'),
  }, () => {
    const m = aMachineWith(
      modelCalls([
        plannedCall('server'),
        gatedCall('gated', { executor: 'client' }),
        plannedCall('human', { executor: 'human' }),
        plannedCall('client', { executor: 'client', preflight: true }),
        plannedCall('external', { executor: 'external' }),
        plannedCall('detached', { executor: 'external', mode: 'detach' }),
        plannedCall('once', { effects: 'once', onOutcomeUnknown: 'hold' }),
      ]),
    );
    expect(shown(m)).toEqual({
      server: 'running, running',
      gated: 'approval, awaiting_approval',
      human: 'elicitation, awaiting_answer',
      client: 'running, running',
      external: 'external_execution, awaiting_external',
      detached: 'external_execution, detached',
      once: 'running, running',
    });
    expect(snapshotOf(m.state).status).toBe('awaiting_input');

    m.tool('server').resolve('gated', APPROVE);
    toolPrepared(m.machine, 'client', { ok: true, payload: 1, argsDigest: 'sha256:p' });
    toolLost(m.machine, 'once', { timedOut: false, message: 'lost' });
    m.resolve('human', answer('yes'));
    expect(shown(m)).toEqual({
      server: 'resolved',
      gated: 'client_execution, awaiting_client',
      human: 'resolved',
      client: 'client_execution, awaiting_client',
      external: 'external_execution, awaiting_external',
      detached: 'external_execution, detached',
      once: 'outcome, outcome_unknown',
    });

    m.resolve('client', result(1));
    m.resolve('once', { type: 'outcome', error: 'it failed' });
    m.advance(ANSWER_MS);
    expect(shown(m)).toEqual({
      server: 'resolved',
      gated: 'expired',
      human: 'resolved',
      client: 'resolved',
      external: 'expired',
      detached: 'expired',
      once: 'errored',
    });
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('that was denied or stopped says so', () => {
    const m = aMachineWith(modelCalls([gatedCall('gated'), plannedCall('server')]));
    m.resolve('gated', DENY);
    cancelTurn(m.machine, {});
    expect(shown(m)).toMatchObject({ gated: 'denied', server: 'cancelled' });
    expect(snapshotOf(m.state).status).toBe('idle');
  });
});
