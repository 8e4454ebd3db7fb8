/** Tokens for one conversation: made by a caller with more rights, used by a page. */
import { describe, expect, it } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { CALL, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const tokens = tokenSigner(['a secret of tokens with 32 characters']);
const BOT: Identity = { ...TESTING, actor: { id: 'bot' }, verified: true };
const MINT = '/v1/conversations/c-1/tokens';

async function minting(identity: Partial<Identity> = {}) {
  const app = await startHttpApp(
    { update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 9 }) },
    {
      identify: (request) =>
        request.get('authorization') === 'Bearer bot' ? { ...BOT, ...identity } : undefined,
      tokens,
    },
  );
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  app.reader.add('c-2', sampleLog('c-2').slice(0, 5));
  const mint = (body: object) => app.post(MINT, body, { authorization: 'Bearer bot' });
  const as = async (token: string, path: string, body?: object) =>
    body === undefined
      ? await app.request(path, { headers: { authorization: `Bearer ${token}` } })
      : await app.post(path, body, { authorization: `Bearer ${token}` });
  return { app, mint, as };
}

async function tokenOf(response: Response): Promise<string> {
  expect(response.status).toBe(201);
  return ((await response.json()) as { token: string }).token;
}

describe('a token for a conversation', promise('G349'), () => {
  it('reads that conversation, and nothing else; by default it changes nothing', async () => {
    const { mint, as, app } = await minting();
    const token = await tokenOf(await mint({}));
    expect((await as(token, '/v1/conversations/c-1')).status).toBe(200);
    expect((await as(token, `/v1/turns/${TURN}`)).status).toBe(200);
    for (const path of ['', '/events', '/pending', '/blobs/x-1', '/triggers', '/rules'])
      expect((await as(token, `/v1/conversations/c-2${path}`)).status).toBe(404);
    for (const path of ['/v1/conversations', '/v1/agents'])
      expect((await as(token, path)).status).toBe(403);
    const answer = { type: 'answer', value: 'x' };
    const place = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;
    expect((await as(token, place, answer)).status).toBe(403);
    expect(app.calls).toEqual([]);
    const whoami = await as(token, '/v1/session');
    expect(await whoami.json()).toMatchObject({ conversation: 'c-1', rights: ['read'] });
  });

  it('answers for the user that the caller names, who is verified as the caller is', async () => {
    const { mint, as, app } = await minting();
    const actor = { id: 'ann', roles: ['customer'] };
    const token = await tokenOf(await mint({ actor, rights: ['read', 'answer'] }));
    const place = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;
    const answered = await as(token, place, { type: 'answer', value: 'x' });
    expect(answered.status).toBe(200);
    const stamped = { ...actor, verified: true, channel: 'api' };
    expect(app.calls.at(-1)?.input).toMatchObject({ actor: stamped });
    const other = { resolution: { type: 'answer', value: 'x' }, actor: { id: 'bob' } };
    expect((await as(token, place, other)).status).toBe(422);
  });

  it('has no right that the caller lacks, none over the service, and no longer life', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { mint, as } = await minting({ rights: ['read', 'admin', 'act-as'], expiresAt });
    expect((await mint({ rights: ['answer'] })).status).toBe(403);
    for (const right of ['admin', 'act-as', 'delete', 'codec', 'nothing'])
      expect((await mint({ rights: [right] })).status).toBe(422);
    for (const expiresIn of ['5 hours', 0, -1, 'soon'])
      expect((await mint({ expiresIn })).status).toBe(422);
    const minted = await mint({ expiresIn: '2 hours' });
    expect(await minted.clone().json()).toMatchObject({ expiresAt: expiresAt.toISOString() });
    // A token makes none that lives longer, or reaches further.
    const token = await tokenOf(minted);
    expect((await as(token, '/v1/conversations/c-2/tokens', {})).status).toBe(404);
    const next = await as(token, MINT, { expiresIn: '4 hours' });
    expect(await next.json()).toMatchObject({ expiresAt: expiresAt.toISOString() });
  });

  it('needs the right act-as to name a user', async () => {
    const { mint } = await minting({ rights: ['read'] });
    const refused = await mint({ actor: { id: 'ann' } });
    expect(await refused.json()).toMatchObject({ errors: [{ path: '/actor' }] });
  });

  it('of a newer version keeps the rights that this one knows', () => {
    const rights = ['read', 'of-later'] as never;
    const token = tokens.sign({ ...BOT, rights, expiresAt: new Date(Date.now() + 60_000) });
    expect(tokens.verify(token)?.rights).toEqual(['read']);
  });

  it('is valid while one of the secrets is that of its signature', () => {
    const ended = new Date(Date.now() + 60_000);
    const token = tokens.sign({ ...BOT, expiresAt: ended });
    const [old, next] = [
      'a secret of tokens with 32 characters',
      'another secret of 32 characters!!',
    ];
    expect(tokenSigner([next, old]).verify(token)).toMatchObject({ actor: { id: 'bot' } });
    expect(tokenSigner([next]).verify(token)).toBeUndefined();
    const [body = '', mac = ''] = token.slice(4).split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const more = Buffer.from(JSON.stringify({ ...claims, id: 'root' })).toString('base64url');
    expect(tokens.verify(`clt_${more}.${mac}`)).toBeUndefined();
    expect(() => tokenSigner(['short'])).toThrow('at least 32 characters');
  });
});
