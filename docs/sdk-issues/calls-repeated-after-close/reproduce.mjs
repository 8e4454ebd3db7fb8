// A call that the client is about to repeat when its connection is closed throws from a timer and ends the process.
// It needs no server:
//     node reproduce.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

process.on('uncaughtException', (error) => {
  console.log(`uncaught, where no caller can catch it: ${error.message}`);
  process.exit(1);
});
// Nothing listens there, so each try is refused at once and repeated after some 100 ms.
const connection = Connection.lazy({ address: '127.0.0.1:1' });
connection.workflowService.describeNamespace({ namespace: 'default' }).catch(() => undefined);
await sleep(150);
await connection.close();
await sleep(1_000);
console.log('the call ended with its connection');
