/** Spaces in a real Postgres: the contract of every store. */
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { openPostgresStores } from '../../src/store/postgres/event-log.js';
import { describeReadMarks } from '../support/conformance/spaces/marks.js';
import { describeSpaces } from '../support/conformance/spaces/spaces.js';
import { describeWakes } from '../support/conformance/spaces/wakes.js';
import { describeSpaceWriters } from '../support/conformance/spaces/writers.js';

const url = inject('postgresUrl');
const opened = () => {
  const schema = `log_${randomUUID().slice(0, 8)}`;
  return async () => await openPostgresStores({ url, schema, maxConnections: 4 });
};
const make = async () => await opened()();

describeSpaces('postgres spaces', make);
describeReadMarks('read marks in postgres', make);
describeWakes('agents to wake in postgres', make);
describeSpaceWriters('writers of a space in postgres', opened);
