/** Secrets of a worker never leave it, through any quoting peer or failure (S47). */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { payloadsIn } from '../../support/engine/history.js';
import { promise } from '../../support/promise.js';
import { PLANTED } from '../../support/samples/planted.js';
import { plantSecrets } from '../../support/started-engines/planted-secrets.js';

test('keys, headers, tokens and services of a worker are in no history, event, snapshot, blob, summary, memo, log or model request, although every peer fails and quotes them', {
  ...promise('G137', 'S47'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-secrets-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const more = { eventLog: join(folder, 'log.db') };
  const played = await plantSecrets({ name: 'planted-secrets', more });
  const { engine, talk, results, logged, provider, peer, mcp } = played;
  const { requests } = provider;
  expect(results).toMatchObject([
    { status: 'failed', error: { code: 'model_unauthorized' } },
    { status: 'completed', text: 'That is all.' },
    { status: 'failed', error: { code: 'model_bad_request' } },
  ]);
  // The secrets were used: each peer received its own.
  expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${PLANTED.model}`]),
  );
  expect(peer.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array.from({ length: 3 }, () => `Bearer ${PLANTED.tool}`),
  );
  expect(mcp.seen.at(-1)?.authorization).toBe(`Bearer ${PLANTED.mcp}`);

  const workflowId = engine.workflowId(talk);
  const events = await engine.history.events(workflowId);
  const { raw } = await engine.handle(talk).describe();
  const decoded = payloadsIn([events, raw]).map(({ data }) => Buffer.from(data ?? []).toString());
  const log = await engine.log(talk);
  const places: Readonly<Record<string, string>> = {
    'texts of the history': JSON.stringify(events),
    'payloads of history, memo and description': decoded.join('\n'),
    description: JSON.stringify(raw),
    log: JSON.stringify(log),
    'snapshot of the workflow': JSON.stringify(await engine.snapshot(talk)),
    'snapshot of the store': JSON.stringify(await talk.snapshot()),
    'page in the Temporal UI': JSON.stringify(
      await engine.query(talk.id, '__temporal_workflow_metadata'),
    ),
    'lines of the worker': logged.join('\n'),
    // Rows and blobs, including the requests and answers of the audit.
    store: readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(folder, name), 'latin1'))
      .join('\n'),
    'what the model was given': JSON.stringify(requests.map(({ body }) => body)),
  };
  for (const [place, text] of Object.entries(places))
    for (const [kind, planted] of Object.entries(PLANTED))
      for (const form of [planted, Buffer.from(planted).toString('base64').slice(0, -4)])
        expect([place, kind, text.includes(form)]).toEqual([place, kind, false]);

  // Each failure is reported, with a marker in place of the quoted secret.
  expect(places['payloads of history, memo and description']).toContain('[redacted]');
  expect(log.filter(({ type }) => type === 'model_call')).toMatchObject([
    { finishReason: 'failed', failedAttempts: [{ httpStatus: 401 }] },
    {
      attempt: 4,
      failedAttempts: [
        { code: 'model_unavailable', httpStatus: 500 },
        { code: 'model_stream_broken' },
        { attempt: 3 },
      ],
    },
    {},
    { finishReason: 'failed', failedAttempts: [{ code: 'model_bad_request', httpStatus: 400 }] },
  ]);
  expect(logged.filter((line) => line.includes('"blob":'))).not.toHaveLength(0);
  const ended = log.flatMap((event) =>
    event.type === 'tool_result' ? [`${event.toolCallId} ${String(event.result.envelope.ok)}`] : [],
  );
  expect(ended.toSorted()).toEqual([
    ...['call_1 false', 'call_2 true', 'call_3 false', 'call_4 false', 'call_5 true'],
  ]);
});
