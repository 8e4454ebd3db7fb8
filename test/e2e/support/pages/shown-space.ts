/** The page of the example `space-page` over spaces in memory, in which a test stores what it likes. */
import { once } from 'node:events';
import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { onTestFinished } from 'vitest';
import { pageRouter } from '../../../../examples/space-page/site.js';
import { agentMemberId } from '../../../../src/protocol/spaces/spaces.js';
import type { ShowCall, SpaceCaller } from '../../../../src/spaces/service.js';
import { spacesApp } from '../../../support/spaces/spaces-app.js';

export interface ShownSpace {
  /** Address of its page, for Ann. */
  readonly address: string;
  /** Writes a text as Eve, under any name. */
  text(text: string, name: string): Promise<void>;
  /** Shows a call of an agent, of any tool. */
  call(call: Omit<ShowCall, 'requestId'>): Promise<void>;
}

const AGENT = { conversationId: 'bot', agent: 'support' };

export async function startShownSpace(): Promise<ShownSpace> {
  const api = await spacesApp();
  const [ann, eve] = [api.as('ann'), api.as('eve')];
  const { id } = await ann.created({ name: 'Desk' });
  const path = `/v1/spaces/${id}`;
  await ann.posted(`${path}/members`, { member: { kind: 'agent', ...AGENT } });
  const bot: SpaceCaller = {
    tenant: 'default',
    member: { kind: 'agent', id: agentMemberId(AGENT) },
  };
  const site = express().use(await pageRouter(), asAnn(api.server.url));
  const server = site.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  let calls = 0;
  return {
    address: `http://127.0.0.1:${port}/?space=${id}`,
    text: async (text, name) => {
      // A member has the name with which it joins.
      await ann.posted(`${path}/members`, { member: { kind: 'person', id: 'eve', name } });
      await eve.posted(`${path}/messages`, { text }, 201);
      await eve.request(`${path}/members/person/eve`, { method: 'DELETE' });
    },
    call: async (call) => {
      calls += 1;
      await api.spaces.show(bot, id, { ...call, requestId: `call-${calls}` });
    },
  };
}

/** Passes requests of the page on to the API as those of Ann. */
function asAnn(url: string): RequestHandler {
  return (request, response) => {
    const { method, headers } = request;
    const passed = send(`${url}${request.url}`, {
      method,
      headers: { ...headers, authorization: 'Bearer ann' },
    });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  };
}
