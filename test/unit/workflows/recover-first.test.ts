/** Which `recover` signals of an activation keep their payload. */
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecoverInput } from '../../../src/protocol/workflow/recovery.js';
import { RecoverFirst } from '../../../src/workflows/driver/recovery.js';
import { promise } from '../../support/promise.js';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];

const FIRST_SEED = [1];
const holder: typeof globalThis & {
  __TEMPORAL_ACTIVATOR__?: { randomnessSeed: readonly number[] };
} = globalThis;

function signal(signalName: string, ...input: readonly unknown[]): Job {
  return {
    signalWorkflow: {
      signalName,
      input: input.map((value) => defaultPayloadConverter.toPayload(value)),
    },
  };
}

function recover(of: Partial<RecoverInput> & { readonly entries?: readonly never[] } = {}): Job {
  const part: RecoverInput = { recoveryId: 'r1', part: 1, parts: 1, entries: [], ...of };
  return signal('recover', part);
}

/** Names of the signals that arrive, each with whether it still has a payload. */
function arriving(first: RecoverFirst, jobs: readonly Job[]): readonly string[] {
  const activation = { jobs: [...jobs] } as Activation;
  let after: readonly Job[] = [];
  first.activate({ activation, batchIndex: 0 }, (input) => {
    after = input.activation.jobs ?? [];
  });
  return after.map(({ signalWorkflow }) => {
    const hasPayload = (signalWorkflow?.input?.length ?? 0) > 0;
    return `${signalWorkflow?.signalName ?? ''}${hasPayload ? '' : ' without payload'}`;
  });
}

let first: RecoverFirst;
beforeEach(() => {
  holder.__TEMPORAL_ACTIVATOR__ = { randomnessSeed: FIRST_SEED };
  first = new RecoverFirst();
});
afterEach(() => {
  delete holder.__TEMPORAL_ACTIVATOR__;
});

function reset(): void {
  holder.__TEMPORAL_ACTIVATOR__ = { randomnessSeed: [...FIRST_SEED] };
}

describe('a recovery', promise('G21'), () => {
  it('has no effect in a run that was not reset', () => {
    expect(arriving(first, [signal('sendMessage', {}), recover()])).toEqual([
      'sendMessage',
      'recover without payload',
    ]);
  });

  it('counts in the activation after a reset, and replaces the signals before it', () => {
    reset();
    expect(arriving(first, [signal('sendMessage', {}), recover(), signal('rollOver', {})])).toEqual(
      ['recover', 'rollOver'],
    );
  });

  it('does not count in later activations', () => {
    reset();
    arriving(first, [recover()]);
    expect(arriving(first, [recover({ recoveryId: 'r2' })])).toEqual(['recover without payload']);
  });

  it('counts only if it is the newest that is complete', () => {
    reset();
    const jobs = [
      recover({ recoveryId: 'older' }),
      recover({ recoveryId: 'newer', part: 1, parts: 2 }),
      recover({ recoveryId: 'newer', part: 2, parts: 2 }),
      recover({ recoveryId: 'incomplete', part: 1, parts: 2 }),
      recover({ recoveryId: 'malformed', entries: [null as never] }),
    ];
    expect(arriving(first, jobs)).toEqual([
      'recover',
      'recover',
      'recover without payload',
      'recover without payload',
    ]);
  });
});
