/** The rules of a worker's `webhooks`, and of the endpoints that a configuration names. */
import { expect, it } from 'vitest';
import { configuredProblems, urlProblem } from '../../../src/webhooks/endpoints.js';
import { checkWebhooks } from '../../../src/worker/worker-webhooks.js';
import { SECRET } from '../../support/webhooks/samples.js';

const HOOK = { name: 'crm', url: 'https://example.com/hook', secret: SECRET };

it.each([undefined, false, {}, { endpoints: [] }, { allowPrivate: true }])('takes %j', (given) => {
  expect(() => {
    checkWebhooks(given);
  }).not.toThrow();
});

it.each<readonly [unknown, string]>([
  [true, 'webhooks must be false, or an object of endpoints, deliver, allowPrivate'],
  [[], 'webhooks must be false, or an object of endpoints, deliver, allowPrivate'],
  [{ endpoint: [] }, 'webhooks must be false, or an object of endpoints, deliver, allowPrivate'],
  [{ deliver: 'mine' }, 'webhooks.deliver must be a function that takes an event'],
  [{ allowPrivate: false }, 'webhooks.allowPrivate must be true, or a list of addresses'],
  [{ allowPrivate: '10.0.0.0/8' }, 'webhooks.allowPrivate must be true, or a list of addresses'],
  [
    { allowPrivate: ['::1', '10.0.0.0/99'] },
    'webhooks.allowPrivate[1] must be an address, a range',
  ],
  [{ endpoints: {} }, 'webhooks.endpoints must be a list of endpoints'],
  [{ endpoints: [HOOK, HOOK] }, 'webhooks.endpoints/1/name is the name of another endpoint'],
])('refuses %j and names the field and the rule', (given, message) => {
  expect(() => {
    checkWebhooks(given);
  }).toThrow(message);
});

it.each<readonly [object, string]>([
  [{ name: 'not an id' }, '/0/name may hold only letters'],
  [{ tenant: '' }, '/0/tenant must be '],
  [{ events: ['toString'] }, '/0/events must be a list of conversation.suspension.opened'],
  [{ events: [] }, '/0/events must be a list of '],
  [{ agents: ['not an agent'] }, '/0/agents must be a list of names of agents'],
  [{ secret: 'mine' }, '/0/secret must be "whsec_"'],
  [{ description: 'one half: \ud800' }, '/0/description must be well-formed Unicode text'],
  [{ filter: 'all' }, '/0/filter is not known here'],
])('refuses an endpoint with %j', (change, problem) => {
  const found = configuredProblems([{ ...HOOK, ...change }]);
  expect(found.map(({ path, message }) => `${path} ${message}`)).toEqual([
    expect.stringContaining(problem),
  ]);
});

it('refuses a URL that is not well-formed text', () => {
  expect(urlProblem('https://example.com/\ud800')).toMatch(/well-formed/);
});
