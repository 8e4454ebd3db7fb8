/** Documents in a real Postgres: the contract of every store. */
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { openPostgresStores } from '../../src/store/postgres/event-log.js';
import { describeDocuments } from '../support/conformance/documents/documents.js';

const url = inject('postgresUrl');

describeDocuments('documents in postgres', () => {
  const schema = `log_${randomUUID().slice(0, 8)}`;
  return async () => await openPostgresStores({ url, schema, maxConnections: 4 });
});
