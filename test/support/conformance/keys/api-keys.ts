/** The contract of every adapter of the event log for API keys. */
import { afterEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../../../src/store/ports/log.js';
import type { ApiKeyRecord } from '../../../../src/store/ports/service/api-keys.js';

const RECORD: ApiKeyRecord = {
  id: 'b1',
  name: "billing \u2603 '; DROP TABLE api_keys; --",
  tenants: ['acme', 'beta'],
  roles: ['clerk'],
  rights: ['read', 'send'],
  hash: 'aa',
  createdAt: '2026-01-01T00:00:00.000Z',
};

export function describeApiKeys(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let open: EventLog | undefined;
    afterEach(async () => {
      await open?.close();
    });
    const store = async () => {
      open = await make();
      return open.apiKeys;
    };

    it('keep a record as it was given, under an id that no other gets', async () => {
      const keys = await store();
      expect(await keys.list()).toEqual([]);
      expect(await keys.add(RECORD)).toBe(true);
      expect(await keys.add({ ...RECORD, name: 'thief' })).toBe(false);
      expect(await keys.find('b1')).toEqual(RECORD);
      expect(await keys.find('nowhere')).toBeUndefined();
      await keys.add({ ...RECORD, id: 'a1' });
      expect((await keys.list()).map(({ id }) => id)).toEqual(['a1', 'b1']);
    });

    it('change one record at a time, and lose no change', async () => {
      const keys = await store();
      await keys.add({ ...RECORD, roles: [] });
      const names = Array.from({ length: 10 }, (_, nth) => `role-${nth}`);
      await Promise.all(
        names.map((role) =>
          keys.change('b1', (record) => ({ ...record, roles: [...record.roles, role] })),
        ),
      );
      expect((await keys.find('b1'))?.roles.toSorted()).toEqual(names);
      expect(await keys.change('nowhere', (record) => record)).toBeUndefined();
    });
  });
}
