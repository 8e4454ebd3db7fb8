/** Audiences of definitions: every fault by its field. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/index.js';
import { toolFaults } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';
const faults = (audience: unknown): Record<string, string> =>
  toolFaults({ ...base, executor: 'human', audience });

describe('an audience', () => {
  it.each([
    ['a list', ['ben'], 'audience', /must be an object/],
    ['nobody', null, 'audience', /must be an object/],
    ['nothing', {}, 'audience', /must have one of users/],
    ['an empty list', { users: [] }, 'audience.users', /must not be empty/],
    ['one name for a list', { roles: 'lead' }, 'audience.roles', /must be a list/],
    ['a number', { users: [7] }, 'audience.users', /texts of 1 to 200/],
    ['an empty name', { exclude: [''] }, 'audience.exclude', /texts of 1 to 200/],
    ['an endless name', { users: ['x'.repeat(201)] }, 'audience.users', /texts of 1 to 200/],
    ['too many', { users: Array<string>(101).fill('u') }, 'audience.users', /at most 100/],
    ['a weak demand', { requireVerified: false }, 'audience.requireVerified', /true or left out/],
    ['a wish of later', { also: [{ users: ['u'] }] }, 'audience.also', /unknown field/],
    ['two approvers', { quorum: 2 }, 'audience.quorum', /unknown field/],
    ['a second list', { escalation: {} }, 'audience.escalation', /unknown field/],
    ['all excluded', { users: ['a'], exclude: ['b', 'a'] }, 'audience', /admits no actor/],
  ])('of %s is a fault', (_title, audience, field, rule) => {
    expect(faults(audience)[field]).toMatch(rule);
  });

  it('has all its faults named at once, also within an approval', () => {
    const audience = { users: [], roles: [1], quorum: 2 };
    const approval = { ask: { reason: 'money', audience } };
    expect(Object.keys(toolFaults({ ...base, approval, run }))).toEqual([
      'approval.ask.audience.quorum',
      'approval.ask.audience.users',
      'approval.ask.audience.roles',
    ]);
  });

  it('is for tools that may wait for a person: an internal tool has one for its approval only', () => {
    expect(toolFaults({ ...base, executor: 'internal', audience: { users: ['u'] } })).toEqual({
      audience: 'does not apply to internal tools',
    });
  });

  it('is kept by the tool as it was when it was defined', () => {
    const users = ['ben'];
    const tool = defineTool({ ...base, executor: 'human', audience: { users } });
    users.push('eve');
    expect(tool.audience).toEqual({ users: ['ben'] });
  });
});
