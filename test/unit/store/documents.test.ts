/** Documents in sqlite: the contract of every store. */
import { join } from 'node:path';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { describeDocuments } from '../../support/conformance/documents/documents.js';
import { temporaryFolder } from '../../support/temporary.js';

describeDocuments('documents in sqlite', () => {
  const file = join(temporaryFolder(), 'log.db');
  return async () => await openSqliteStores({ file });
});
