/** Outcomes of the answers to an HTTP tool. Scenario S30. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { httpTool, jsonSchema, toolError } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import {
  type Answer,
  body,
  envelopeOf,
  errorOf,
  json,
  type Peer,
  runHttpTool,
  startPeer,
} from '../../../support/servers/http-peer.js';
import { until } from '../../../support/until.js';

const open = jsonSchema<Record<string, never>>({ type: 'object' });

function toolOf(peer: Pick<Peer, 'url'>, over: Readonly<Record<string, unknown>> = {}) {
  const fields = {
    name: 'x.get',
    description: 'Gets x.',
    input: open,
    allowPrivate: true,
  } as const;
  return httpTool({ ...fields, method: 'GET', url: peer.url, ...over });
}

async function resultOf(answer: Answer, over: Readonly<Record<string, unknown>> = {}) {
  await using peer = await startPeer(answer);
  const end = await runHttpTool(toolOf(peer, over));
  if (!('envelope' in end)) throw new Error('unreachable: it does not ask');
  return end;
}

const textOf = async (answer: Answer, over: Readonly<Record<string, unknown>> = {}) => {
  const { envelope } = await resultOf(answer, over);
  return envelope.ok ? { ok: envelope.result } : envelope.error.message;
};

describe('an answer', () => {
  it('of JSON is the result, or the part that the definition selects', async () => {
    const data = { data: { 'a/b': [{ id: 1 }, { id: 2 }] } };
    expect(await textOf(json(data))).toEqual({ ok: data });
    expect(await textOf(json(data), { result: '/data/a~1b/1/id' })).toEqual({ ok: 2 });
    const result = (answer: { status: number; body: unknown }) => ({ was: answer.status });
    expect(await textOf(json(data), { result })).toEqual({ ok: { was: 200 } });
    expect(await textOf(json(data), { result: '/data/none' })).toBe(
      'HTTP 200, but its body has nothing at /data/none',
    );
    expect(await textOf(body('{"a":1}', 'application/problem+json; charset=utf-8'))).toEqual({
      ok: { a: 1 },
    });
    expect(await textOf(body('{"a":1}', ''))).toEqual({ ok: { a: 1 } });
    expect(await textOf(body('', 'application/json', 204))).toEqual({ ok: null });
  });

  it('of another type is an error with its beginning, or the result where the tool expects text', async () => {
    const page = body('<h1>Please\n sign in</h1>', 'text/html');
    expect(await textOf(page)).toBe(
      'HTTP 200 OK, but its body is text/html, which is not JSON: <h1>Please sign in</h1>',
    );
    expect(await textOf(page, { response: 'auto' })).toEqual({ ok: '<h1>Please\n sign in</h1>' });
    const latin = body(Buffer.from([0x67, 0xfc, 0x6e]), 'text/plain; charset=ISO-8859-1');
    expect(await textOf(latin, { response: 'text' })).toEqual({ ok: 'gün' });
    const image = body(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]), 'image/png');
    for (const response of ['text', 'auto'])
      expect(await textOf(image, { response })).toBe(
        'HTTP 200 OK, but its body is image/png, which is not text',
      );
  });

  it('with an error status has the whole text that the definition makes of it', async () => {
    const error = ({ status, body }: { status: number; body: unknown }) =>
      toolError(`${status}! ${JSON.stringify(body)}`);
    expect(await textOf(json({ a: 1 }, 404), { error })).toBe('404! {"a":1}');
    expect(await textOf(json({ a: 1 }, 404), { error: () => 'no' })).toBe('HTTP 404 Not Found: no');
  });

  it('that claims to be JSON and is not is an error with its beginning (S30)', {
    ...promise('S30'),
  }, async () => {
    expect(await textOf(body('{"a": oops', 'application/json'))).toBe(
      'HTTP 200 OK, but its body is not JSON: {"a": oops',
    );
  });

  it('with an error status is an error for the model, with no more than the beginning (S30)', {
    ...promise('S30'),
  }, async () => {
    expect(await textOf(json({ message: 'No such order' }, 404))).toBe(
      'HTTP 404 Not Found: {"message":"No such order"}',
    );
    expect(
      await textOf(json({ error: { message: 'Bad cents' } }, 422), { error: '/error/message' }),
    ).toBe('HTTP 422 Unprocessable Entity: Bad cents');
    const error = ({ status, body: said }: { status: number; body: { why: string } }) =>
      `${status} ${said.why.trim()}`;
    expect(await textOf(json({ why: 'closed' }, 403), { error })).toBe(
      'HTTP 403 Forbidden: 403 closed',
    );
    // A mapping that finds nothing leaves the beginning of the answer.
    expect(await textOf(body('broken', 'text/plain', 400), { error })).toBe(
      'HTTP 400 Bad Request: broken',
    );
    const long = await textOf(body('x '.repeat(200_000), 'text/plain', 400));
    expect(JSON.stringify(long).length).toBeLessThan(600);
  });

  it('with a status that the definition accepts is a result', async () => {
    const over = {
      okStatuses: [200, 404],
      result: (answer: { status: number }) => ({ found: answer.status === 200 }),
    };
    expect(await textOf(json({ message: 'no' }, 404), over)).toEqual({ ok: { found: false } });
    expect(await textOf(json({}, 201), over)).toMatch(/^HTTP 201 Created/);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])(
    '%i is tried again where that does no harm, and never where it may',
    promise('G139'),
    async (status) => {
      const answer: Answer = (_request, response) => {
        response.writeHead(status, { 'retry-after': '7' }).end();
      };
      const again = await resultOf(answer);
      expect(again.retry).toMatchObject({ afterMs: 7_000 });
      expect(again.retry?.message).toMatch(new RegExp(`^HTTP ${status}`));
      expect((await resultOf(answer, { method: 'PUT' })).retry).toBeDefined();
      const once = await resultOf(answer, { method: 'POST' });
      expect(once.retry).toBeUndefined();
      expect(once.envelope).toMatchObject({ ok: false, error: { code: 'tool_error' } });
      expect((await resultOf(answer, { effects: 'once' })).retry).toBeUndefined();
    },
  );

  it.each([400, 401, 403, 404, 409, 410, 422, 501, 505])(
    '%i is not tried again',
    async (status) => {
      expect((await resultOf(json({}, status))).retry).toBeUndefined();
    },
  );

  it('may ask for a pause until a date, or for one that makes no sense', async () => {
    const after =
      (value: string): Answer =>
      (_request, response) => {
        response.writeHead(503, { 'retry-after': value }).end();
      };
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { retry } = await resultOf(after(date));
    expect(retry?.afterMs).toBeGreaterThan(50_000);
    expect(retry?.afterMs).toBeLessThanOrEqual(60_000);
    expect((await resultOf(after('soon'))).retry?.afterMs).toBeUndefined();
    expect((await resultOf(after('99999999'))).retry?.afterMs).toBe(24 * 60 * 60 * 1000);
  });
});

describe('an answer without end', () => {
  it('is not read past its bound, with or without a stated length', {
    ...promise('G162'),
  }, async () => {
    const over = { maxResponseBytes: 10_000 };
    const message = 'HTTP 200 OK, but its body has more than 10000 bytes';
    expect(await textOf(body(`"${'x'.repeat(10_000)}"`, 'application/json'), over)).toBe(message);
    await using peer = await startPeer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 0x20)));
      };
      response.on('drain', write);
      write();
    });
    expect(await errorOf(toolOf(peer, over))).toBe(message);
    await until('the connection is closed', () => peer.sockets.open === 0);
  });

  it('that comes compressed is measured as it unfolds', promise('G162'), async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20));
    expect(bomb.length).toBeLessThan(100_000);
    const answer: Answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
    };
    expect(await textOf(answer)).toBe('HTTP 200 OK, but its body has more than 1048576 bytes');
  });

  it('that is compressed wrongly is an error', async () => {
    const answer: Answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end('no gzip');
    };
    expect(await textOf(answer)).toMatch(/compressed wrongly/);
  });

  it('that comes too slowly ends with the run, and its connection with it (S30)', {
    ...promise('G162', 'S30'),
  }, async () => {
    await using peer = await startPeer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"a":');
    });
    expect(await envelopeOf(toolOf(peer), { timeoutMs: 100 })).toEqual({
      ok: false,
      error: { code: 'timeout', message: 'Tool timed out after 100ms' },
    });
    await until('the connection is closed', () => peer.sockets.open === 0);
  });

  it('is given up when the turn is cancelled', async () => {
    await using peer = await startPeer(() => undefined);
    const stop = new AbortController();
    const run = runHttpTool(toolOf(peer), { signal: stop.signal });
    await until('the request has arrived', () => peer.requests.length === 1);
    stop.abort(new Error('stopped'));
    await expect(run).rejects.toThrow('stopped');
    await until('the connection is closed', () => peer.sockets.open === 0);
  });
});

describe('a service that is not there', () => {
  it('refuses the connection: the request was not sent, and is tried again where that does no harm', async () => {
    const gone = await startPeer(json(null));
    await gone[Symbol.asyncDispose]();
    const message = `127.0.0.1:${gone.port}: the connection was refused; the request was not sent`;
    const end = await runHttpTool(toolOf(gone));
    expect('retry' in end ? end.retry.message : undefined).toBe(message);
    expect(await errorOf(toolOf(gone, { method: 'POST' }))).toBe(message);
  });

  it('cuts the connection: its effect is unknown, and a POST is not sent twice', {
    ...promise('G139'),
  }, async () => {
    const answer: Answer = (_request, response) => {
      response.destroy();
    };
    const cut = /the connection was cut; it is not known whether the request took effect$/;
    const end = await resultOf(answer);
    expect(end.retry?.message).toMatch(cut);
    await using peer = await startPeer(answer);
    expect(await errorOf(toolOf(peer, { method: 'POST' }))).toMatch(cut);
    expect(peer.requests).toHaveLength(1);
  });

  it('has a name that no resolver knows', async () => {
    const tool = toolOf({ url: 'http://nobody.invalid/' }, { effects: 'once' });
    expect(await errorOf(tool)).toMatch(
      /^nobody\.invalid: the host (?:is not known|could not be looked up); the request was not sent$/,
    );
  });
});
