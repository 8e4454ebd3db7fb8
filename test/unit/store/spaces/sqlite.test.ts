/** Spaces in sqlite: the contract of every store. */
import { join } from 'node:path';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { describeReadMarks } from '../../../support/conformance/spaces/marks.js';
import { describeSpaces } from '../../../support/conformance/spaces/spaces.js';
import { describeWakes } from '../../../support/conformance/spaces/wakes.js';
import { describeSpaceWriters } from '../../../support/conformance/spaces/writers.js';
import { temporaryFolder } from '../../../support/temporary.js';

const make = async () => await openSqliteStores({ file: ':memory:' });

describeSpaces('sqlite spaces', make);
describeReadMarks('read marks in sqlite', make);
describeWakes('agents to wake in sqlite', make);
describeSpaceWriters('writers of a space in sqlite', () => {
  const file = join(temporaryFolder(), 'log.db');
  return async () => await openSqliteStores({ file });
});
