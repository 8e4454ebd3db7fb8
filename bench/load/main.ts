/** The load generator: a separate process that drives both sides alternately, at the requests of its parent. */
import { Client, Connection } from '@temporalio/client';
import { CompressionCodec, ConversationClient } from 'colloquy/client';
import { createStoreReader, openEventLog } from 'colloquy/log';
import { measureTenants } from '../crowd/tenants.js';
import type { LoadConfig, LoadReply, LoadRequest } from '../shared/cells.js';
import { type GrowthParts, measureGrowth } from './grow.js';
import { HttpResolver } from './http-client.js';
import { measureInline, measurePair, measureParts, measureShape } from './measure.js';
import { measureResolutions, park, type ResolutionParts } from './resolve.js';
import { engineSide, floorSide } from './sides.js';
import { Crowd } from './wait.js';
import { Watchers } from './watcher.js';

const config = JSON.parse(process.argv[2] ?? '{}') as LoadConfig;
const connection = await Connection.connect({ address: config.address });
// The codecs of the API process.
const dataConverter = { payloadCodecs: [new CompressionCodec()] };
const temporal = new Client({ connection, dataConverter });
const opened = await openEventLog(config.logFile);
const watchers = new Watchers(config);
const agents = await opened.log.agents();
const sides = {
  engine: engineSide({ temporal, opened, agents, watchers }),
  floor: floorSide(temporal),
};
const pids: Record<string, number> = { ...config.pids, load: process.pid };

const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
const resolutionParts: ResolutionParts = {
  temporal,
  client: new ConversationClient({ temporal, agents, reader, actor: { id: 'bench' } }),
  http: new HttpResolver(config),
  pids,
};

const { logFile } = config;
const growthParts: GrowthParts = { ...resolutionParts, opened, logFile };
const crowd = new Crowd(growthParts);

const watchedAt = (turnId: string): number | undefined => watchers.endOf(turnId);

type Result = Extract<LoadReply, { type: 'result' }>['result'];

async function measure(message: LoadRequest): Promise<Result> {
  switch (message.type) {
    case 'shape':
      return await measureShape(
        temporal,
        () =>
          message.side === 'engine'
            ? sides.engine(message.workload)
            : sides.floor(message.workload),
        message,
      );
    case 'resolution':
      return await measureResolutions(message.request, resolutionParts);
    case 'park':
      return { parked: await park(message.count, resolutionParts) };
    case 'growth':
      return await measureGrowth(message.request, growthParts);
    case 'park-approvals':
      return await crowd.park(message.count);
    case 'stillness':
      return await crowd.stillness(pids);
    case 'burst':
      return await crowd.burst(message.atOnce, pids);
    case 'tenants':
      return await measureTenants(message.request, resolutionParts.client);
    case 'pid':
      pids[message.name] = message.pid;
      return null;
    case 'inline': {
      const { engine } = sides;
      const result = await measureInline(message.request, { engine, pids, watchedAt });
      watchers.check();
      return result;
    }
    case 'parts': {
      const { engine } = sides;
      return await measureParts(message.request, { engine, pids, watchedAt });
    }
    case 'pair': {
      const result = await measurePair(message.request, { sides, pids, watchedAt });
      watchers.check();
      return result;
    }
  }
}

async function answer(message: LoadRequest): Promise<LoadReply> {
  try {
    return { type: 'result', result: await measure(message) };
  } catch (error) {
    return {
      type: 'failed',
      message: error instanceof Error ? (error.stack ?? '') : String(error),
    };
  } finally {
    watchers.close();
  }
}

function send(reply: LoadReply): void {
  process.send?.(reply);
}

process.on('message', (message) => {
  void answer(message as LoadRequest).then(send);
});
process.once('disconnect', () => {
  watchers.close();
  resolutionParts.http.close();
  void opened.close().then(() => connection.close());
});
send({ type: 'ready' });
