/** Each refusal of each operation happens: the table of refusals has no code that a request cannot get. */
import { readFileSync } from 'node:fs';
import pLimit from 'p-limit';
import { expect, it } from 'vitest';
import { refusalsOf } from '../../../src/http/openapi/refusals.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { WRONG_INSTALLATIONS } from '../../support/refusals/installations.js';
import { BAD_REQUESTS } from '../../support/refusals/requests.js';
import { refusalsIn } from '../../support/refusals/world.js';

/** Messages are refused for want of a place only while others are answered: this file has a worker that is too slow. */
const BUSY = {
  file: '../operated/busy.test.ts',
  title: 'messages that %s are taken, or refused with a time to return',
};

/** Refusals that no request can get here, with the test that has them. */
const ELSEWHERE: Readonly<Record<string, { readonly file: string; readonly title: string }>> = {
  'createConversation workers_busy': BUSY,
  'sendMessage workers_busy': BUSY,
};

/** Most of the time is that of waits for workers, which overlap. */
const AT_ONCE = 8;
const TIMEOUT_MS = 120_000;

it('every refusal that is described happens, and no other', {
  ...promise('G340'),
  timeout: patient(TIMEOUT_MS),
}, async () => {
  const atOnce = pLimit(AT_ONCE);
  const worlds = [...BAD_REQUESTS, ...WRONG_INSTALLATIONS];
  // Answers that are not described fail the request.
  const refused = await Promise.all(worlds.map((world) => atOnce(() => refusalsIn(world))));
  const met = new Set(refused.flatMap((pairs) => [...pairs]));
  const described = OPERATIONS.flatMap((operation) =>
    [...refusalsOf(operation).values()].flat().map((code) => `${operation.id} ${code}`),
  );
  expect(described.filter((pair) => !met.has(pair) && !(pair in ELSEWHERE))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((pair) => met.has(pair))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((pair) => !described.includes(pair))).toEqual([]);
  for (const { file, title } of Object.values(ELSEWHERE))
    expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toContain(title);
});
