/** Agents as clients find them: known, unknown, and known but not served. */
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/index.js';
import { findAgent, findServedAgent } from '../../../../src/client/messages/agents.js';
import { fakeTemporal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';

const settings = { maxSteps: 5, onBusy: 'queue', idleCloseMs: 1, coreRevision: 1 } as const;
const served = { name: 'helper', model: 'm', settings, tools: [] };
const gone = { ...served, name: 'clerk', notServedSince: '2030-01-01T00:00:00.000Z' };
const source = [served, gone];

describe('an agent that no worker serves any more', () => {
  it('is refused by name, with the time since when', promise('G221'), async () => {
    await expect(findServedAgent(source, { tenant: 't', name: 'clerk' })).rejects.toMatchObject({
      code: 'agent_not_served',
      httpStatus: 503,
      retryable: true,
      message: expect.stringMatching(/agent "clerk" since 2030-01-01T00:00:00.000Z/) as string,
    });
  });

  it('is still known', async () => {
    expect(await findAgent(source, { tenant: 't', name: 'clerk' })).toEqual(gone);
    expect(await findServedAgent(source, { tenant: 't', name: 'helper' })).toEqual(served);
    await expect(findServedAgent(source, { tenant: 't', name: 'nobody' })).rejects.toMatchObject({
      code: 'unknown_agent',
    });
  });
});

it('an unknown name is refused with the names of all agents, also those that are documents', async () => {
  const ofTenant = ({ tenant, name }: { tenant?: string; name?: string } = {}) => {
    const documents = tenant === undefined || name !== undefined ? [] : [gone];
    return Promise.resolve([served, ...documents]);
  };
  await expect(findAgent(ofTenant, { tenant: 't', name: 'halper' })).rejects.toMatchObject({
    code: 'unknown_agent',
    problems: [{ path: '/agent', message: 'Known agents: helper, clerk' }],
  });
});

it('a client lists the agents of its tenant, or of the tenant that is named', async () => {
  const asked: unknown[] = [];
  const client = new ConversationClient({
    ...{ temporal: fakeTemporal({}).client, taskQueue: 'q', tenant: 'acme' },
    agents: (of) => {
      asked.push(of);
      return Promise.resolve([served]);
    },
  });
  expect(await client.agents()).toEqual([served]);
  await client.agents({ tenant: 'beta' });
  expect(asked).toEqual([{ tenant: 'acme' }, { tenant: 'beta' }]);
});
