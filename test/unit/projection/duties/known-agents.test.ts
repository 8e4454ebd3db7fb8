/** The agents that clients know: those that workers have published, and documents of a tenant. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { findServedAgent } from '../../../../src/client/messages/agents.js';
import { hsafaAgentDocuments, keptAgentDocuments } from '../../../../src/compat/hsafa/index.js';
import { knownAgents } from '../../../../src/projection/duties/known-agents.js';
import { openEventLog } from '../../../../src/projection/source/open-log.js';
import type { AgentManifest } from '../../../../src/protocol/conversation/agents.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { says, script } from '../../../../src/testing/index.js';
import { servedManifests } from '../../../../src/tools/definition/served.js';
import { promise } from '../../../support/promise.js';
import { SUPPORT } from '../../../support/samples/sample-log.js';

async function opened() {
  const open = await openEventLog(':memory:');
  onTestFinished(() => open.close());
  const agents = hsafaAgentDocuments(keptAgentDocuments(open.documents!), {
    model: () => script(says('Hi')),
  });
  /** As a worker that starts with the catalog. */
  const publish = async () => {
    await open.log.publishAgents([SUPPORT, ...servedManifests([], agents.catalog)]);
  };
  return { open, agents, publish };
}

const named = (name: string, instructions = 'Help.') => ({ name, model: 'fast', instructions });

it(
  'an agent that is a document is known to clients of its tenant, and to no other tenant',
  promise('G409'),
  async () => {
    const { open, agents, publish } = await opened();
    await agents.put({ tenant: 'acme' }, named('clerk'));
    await agents.put({ tenant: 'acme' }, named('support'));
    const known = knownAgents(open);
    const names = async (...asked: Parameters<typeof known>) =>
      (await known(...asked)).map(({ name }) => name);
    expect(await names({ tenant: 'acme' }), 'no worker has served the catalog').toEqual([]);
    await publish();
    expect(await names({ tenant: 'acme' })).toEqual(['support', 'clerk']);
    expect(await names({ tenant: 'acme', name: 'clerk' })).toEqual(['support', 'clerk']);
    // The agent of the workers goes before a document of its name.
    expect(await known({ tenant: 'acme', name: 'support' })).toEqual([SUPPORT]);
    expect(await names({ tenant: 'other' })).toEqual(['support']);
    expect(await names()).toEqual(['support']);
    expect(await findServedAgent(known, { tenant: 'acme', name: 'clerk' })).toMatchObject({
      ...{ name: 'clerk', settings: { onBusy: 'queue' } },
    });
    for (const [tenant, name] of [['other', 'clerk'] as const, ['acme', 'hsafa.agents'] as const])
      await expect(findServedAgent(known, { tenant, name })).rejects.toMatchObject({
        code: 'unknown_agent',
      });
    await agents.delete({ tenant: 'acme' }, 'clerk');
    await expect(findServedAgent(known, { tenant: 'acme', name: 'clerk' })).rejects.toMatchObject({
      ...{ code: 'unknown_agent', message: expect.stringContaining('"clerk"') as string },
    });
  },
);

const SINCE = '2026-01-01T00:00:00.000Z';

/** The agents of `acme` with one document, where no worker serves these of the published agents any more. */
async function withRetired(name: string, isRetired: (agent: AgentManifest) => boolean) {
  const { open, agents, publish } = await opened();
  await agents.put({ tenant: 'acme' }, named(name));
  await publish();
  const { log, documents } = open;
  return knownAgents({
    documents: documents!,
    log: {
      agents: async () =>
        (await log.agents()).map((one) =>
          isRetired(one) ? { ...one, notServedSince: SINCE } : one,
        ),
    },
  });
}

it('is not served while workers run and none of them serves its catalog', async () => {
  const known = await withRetired('clerk', ({ isCatalog }) => isCatalog === true);
  await expect(findServedAgent(known, { tenant: 'acme', name: 'clerk' })).rejects.toMatchObject({
    ...{ code: 'agent_not_served', message: expect.stringContaining(SINCE) as string },
  });
});

it('goes before an agent in code of its name that no worker serves any more', async () => {
  const known = await withRetired('support', ({ isCatalog }) => isCatalog !== true);
  const served = async (tenant: string) =>
    await findServedAgent(known, { tenant, name: 'support' });
  expect(await served('acme')).toMatchObject({ model: 'scripted', settings: { onBusy: 'queue' } });
  expect(await known({ tenant: 'acme' })).toHaveLength(1);
  await expect(served('other')).rejects.toMatchObject({ code: 'agent_not_served' });
});

it('is the one that the store named last, while it is away', async () => {
  const { open, agents, publish } = await opened();
  await agents.put({ tenant: 'acme' }, named('clerk'));
  await publish();
  const { log, documents } = open;
  let isDown = false;
  const known = knownAgents({
    log,
    documents: new Proxy(documents!, {
      get: (store, method: 'get') => {
        if (isDown) return () => Promise.reject(new StoreUnavailable('the disk is gone'));
        return store[method].bind(store);
      },
    }),
  });
  const names = async (name: string) =>
    (await known({ tenant: 'acme', name })).map((agent) => agent.name);
  expect(await names('clerk')).toEqual(['support', 'clerk']);
  expect(await names('unknown')).toEqual(['support']);
  isDown = true;
  expect(await names('clerk')).toEqual(['support', 'clerk']);
  // Names of no agent are not remembered: a caller may make up any number of them.
  for (const name of ['other', 'unknown'])
    await expect(names(name)).rejects.toThrow('the disk is gone');
});

/** Published agents that come when the test says so. */
function slowly() {
  const waiting: ((names: readonly string[]) => void)[] = [];
  const known = knownAgents({
    log: {
      agents: () =>
        new Promise((resolve) => {
          waiting.push((names) => {
            resolve(names.map((name) => ({ ...SUPPORT, name })));
          });
        }),
    },
  });
  const names = async () => (await known()).map(({ name }) => name);
  return { waiting, names };
}

it('agents that the store names too late are those of the next message', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { waiting, names } = slowly();
  const first = names();
  waiting[0]?.(['old']);
  expect(await first).toEqual(['old']);
  const second = names();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await second).toEqual(['old']);
  waiting[1]?.(['new']);
  await vi.advanceTimersByTimeAsync(0);
  const third = names();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await third).toEqual(['new']);
});

it('an answer to an earlier question does not replace that to a later one', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { waiting, names } = slowly();
  const [first, second] = [names(), names()];
  await vi.advanceTimersByTimeAsync(1);
  const third = names();
  waiting[2]?.(['newest']);
  expect(await third).toEqual(['newest']);
  waiting[0]?.(['old']);
  waiting[1]?.(['old']);
  await Promise.all([first, second]);
  const fourth = names();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await fourth).toEqual(['newest']);
});
