/** The single setting with which tests on a busy machine, and their clients, wait longer. */
import type { Client } from '@temporalio/client';
import { afterEach, expect, it, vi } from 'vitest';

/** The setting is read when the module is loaded. */
async function patienceAt(load: string) {
  vi.resetModules();
  vi.stubEnv('COLLOQUY_TEST_LOAD', load);
  return await import('../support/patience.js');
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

function fakeClient(): { readonly client: Client; readonly left: number[] } {
  const left: number[] = [];
  const withDeadline = async (deadline: number, call: () => Promise<unknown>) => {
    left.push(Math.round((deadline - Date.now()) / 1_000));
    return await call();
  };
  return { client: { withDeadline, options: { namespace: 'x' } } as unknown as Client, left };
}

it('without load a call has three times the default limit with a worker, and the default without one', async () => {
  const { PATIENCE, patientClient } = await patienceAt('');
  const { client, left } = fakeClient();
  let isServed = true;
  const patient = patientClient(client, () => isServed);
  expect(PATIENCE).toBe(1);
  await patient.withDeadline(Date.now() + 3_000, async () => 'done');
  isServed = false;
  await patient.withDeadline(Date.now() + 3_000, async () => 'done');
  expect(left).toEqual([9, 3]);
});

it('beside busy loops a call has twelve times the default limit with a worker, and the default without one', async () => {
  const { PATIENCE, patientClient } = await patienceAt('4');
  const { client, left } = fakeClient();
  let isServed = true;
  const patient = patientClient(client, () => isServed);
  expect(PATIENCE).toBe(4);
  expect(patient.options.namespace).toBe('x');
  expect(await patient.withDeadline(Date.now() + 3_000, async () => 'done')).toBe('done');
  isServed = false;
  await patient.withDeadline(Date.now() + 3_000, async () => 'done');
  expect(left).toEqual([36, 3]);
});

it('beside busy loops conversation clients and API processes wait longer, and tests have more time', async () => {
  const { PATIENT_API, patient, patientOptions } = await patienceAt('4');
  let isServed = true;
  const options: { readonly patience?: number } = patientOptions({}, () => isServed);
  expect(options.patience).toBe(12);
  isServed = false;
  expect(options.patience).toBe(4);
  expect(PATIENT_API).toEqual({ COLLOQUY_PATIENCE: '4' });
  expect(patient(1_000)).toBe(4_000);
});
