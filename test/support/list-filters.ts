/** Every way to list the conversations of a tenant, for tests of how the store finds them. */
import type { ListOptions } from '../../src/store/port.js';

const TENANT = { tenant: 'default' };
const PENDING = [
  { pendingTool: 'pay' },
  { pendingKind: 'approval' },
  { deadlineBefore: '2030-01-02T00:10:00.000Z' },
  { pendingFor: { id: 'ann', roles: ['lead'], verified: true } },
  { pendingTool: 'pay', deadlineBefore: '2030-01-02T00:10:00.000Z' },
] as const;

export const LIST_FILTERS: readonly ListOptions[] = [
  ...[{}, { agent: 'a7' }, { status: 'awaiting_input' }, { agent: 'a7', status: 'closed' }].flatMap(
    (filter) => [
      { ...TENANT, ...filter },
      { ...TENANT, ...filter, cursor: '10000' },
    ],
  ),
  ...PENDING.flatMap((filter) => [
    { ...TENANT, ...filter },
    { ...TENANT, ...filter, cursor: `d${Date.parse('2030-01-02T00:05:00.000Z')}.10000` },
  ]),
];
