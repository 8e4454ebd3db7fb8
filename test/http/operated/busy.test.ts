/** More messages than the workers answer: the API refuses those that find no place soon, with a time to return. */
import { expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };
const MESSAGES = 150;
/** Milliseconds of the worker for each: it answers some thirty in the 2.5 s for which the API waits. */
const ANSWER_MS = 80;

it.each<[string, (id: string) => readonly [path: string, body: object]]>([
  ['begin conversations', (id) => ['/v1/conversations', { id, agent: 'support', message: 'Hi' }]],
  ['continue conversations', (id) => [`/v1/conversations/${id}/messages`, { text: 'Hi' }]],
])(
  'messages that %s are taken, or refused with a time to return',
  promise('G399'),
  async (...row) => {
    const [, requestOf] = row;
    let freeAt = Date.now();
    const app = await startHttpApp({
      updateWithStart: async () => {
        freeAt = Math.max(freeAt, Date.now()) + ANSWER_MS;
        await new Promise((resolve) => setTimeout(resolve, freeAt - Date.now()));
        return REPLY;
      },
    });
    const ids = Array.from({ length: MESSAGES }, (_, nth) => `c-${nth}`);
    for (const id of ids) app.reader.add(id, sampleLog(id));
    const responses = await Promise.all(ids.map((id) => app.post(...requestOf(id))));
    const refused = responses.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(20);
    for (const response of refused) {
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await problemOf(response)).toMatchObject({ code: 'workers_busy' });
    }
    const taken = responses.filter(({ status }) => status === 202);
    expect(taken).toHaveLength(MESSAGES - refused.length);
    // No signal, which would start a run, was left for any.
    expect(app.calls.every(({ kind }) => kind === 'updateWithStart')).toBe(true);
  },
);
