/** A stack with a server of its own, which can be killed and restarted on its file, and a client. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { CompressionCodec, ConversationClient } from 'colloquy/client';
import { type Stack, startStack } from 'colloquy/dev';
import { createStoreReader, openEventLog } from 'colloquy/log';
import { startDevServer } from '../../test/support/servers/dev-server.js';

export interface Endurance {
  readonly stack: Stack;
  readonly temporal: Client;
  readonly client: ConversationClient;
  /** Lines that the slow tool has written. */
  readonly ledger: string;
  /**
   * Kills the server with SIGKILL and starts a new one on the same file and port. Returns the downtime in milliseconds.
   */
  restartServer(): Promise<number>;
  stop(): Promise<void>;
}

export async function startEndurance(): Promise<Endurance> {
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-endurance-'));
  const ledger = join(dataDir, 'ledger.jsonl');
  let server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const stack = await startStack({
    agentsModule: fileURLToPath(new URL('./agents.js', import.meta.url)),
    dataDir,
    apiPort: 0,
    temporalAddress: server.address,
    env: { BENCH_LEDGER: ledger },
    onLine: (line, from) => {
      if (/"level":(40|50|60)|ERROR|WARN/.test(line)) console.error(`${from}: ${line}`);
    },
  });
  const connection = await Connection.connect({ address: server.address });
  const dataConverter = { payloadCodecs: [new CompressionCodec()] };
  const temporal = new Client({ connection, dataConverter });
  const opened = await openEventLog(join(dataDir, 'log.db'));
  const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
  const agents = await opened.log.agents();
  return {
    stack,
    temporal,
    client: new ConversationClient({ temporal, agents, reader, actor: { id: 'bench' } }),
    ledger,
    restartServer: async () => {
      const { dbFile, port } = server;
      const downFrom = performance.now();
      await server.kill();
      server = await startDevServer({ dbFile, port });
      return performance.now() - downFrom;
    },
    stop: async () => {
      await opened.close();
      await connection.close();
      await stack.stop();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
