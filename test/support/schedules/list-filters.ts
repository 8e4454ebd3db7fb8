/** Every way to list the conversations of a tenant, for tests of how the store finds them. */
import type { ListOptions } from '../../../src/store/ports/lists.js';
import type { WorklistRequest } from '../../../src/store/ports/worklist.js';

const TENANT = { tenant: 'default' };
const PENDING = [
  { pendingTool: 'pay' },
  { pendingKind: 'approval' },
  { deadlineBefore: '2030-01-02T00:10:00.000Z' },
  { pendingFor: { id: 'ann', roles: ['lead'], verified: true } },
  { pendingTool: 'pay', deadlineBefore: '2030-01-02T00:10:00.000Z' },
] as const;

const PLAIN: readonly Omit<ListOptions, 'tenant'>[] = [
  {},
  { agent: 'a7' },
  { status: 'awaiting_input' },
  { status: 'active' },
  { agent: 'a7', status: 'closed' },
];

export const LIST_FILTERS: readonly ListOptions[] = [
  ...PLAIN.flatMap((filter) => [
    { ...TENANT, ...filter },
    { ...TENANT, ...filter, cursor: '10000' },
  ]),
  ...PENDING.flatMap((filter) => [
    { ...TENANT, ...filter },
    { ...TENANT, ...filter, cursor: `d${Date.parse('2030-01-02T00:05:00.000Z')}.10000` },
  ]),
];

/** Every way to read the worklist of a tenant. */
export const WORKLIST_FILTERS: readonly WorklistRequest[] = [
  {},
  { tool: 'pay' },
  { kind: 'approval' },
  { agent: 'a7' },
  { risk: 'high' } as const,
  { deadlineBefore: '2030-01-02T00:10:00.000Z' },
  { mayAnswer: { id: 'ann', roles: ['lead'], verified: true } },
].flatMap((filter) => [
  { ...TENANT, ...filter } as WorklistRequest,
  {
    ...TENANT,
    ...filter,
    cursor: `d${Date.parse('2030-01-02T00:05:00.000Z')}.10000.Yw`,
  } as WorklistRequest,
]);
