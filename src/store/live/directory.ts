/** Locates the folder where the processes that share one database file find their socket. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** The smallest limit of a unix socket path in bytes: 104 on macOS with its final zero, 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 103;
/** The socket of the hub in that folder. */
export const HUB_SOCKET = 'hub.sock';
/** Maximum for `hub.sock`, and for `<pid>-<8 hex>.new`, the name under which it is created. */
const SOCKET_NAME_BYTES = 24;

/** Returns `<file>.live`, or a folder in the system's temporary one when that path is too long for a socket. */
export function liveDirectoryFor(file: string): string {
  const database = canonicalPath(file);
  const beside = `${database}.live`;
  if (Buffer.byteLength(beside) + 1 + SOCKET_NAME_BYTES <= MAX_SOCKET_PATH_BYTES) return beside;
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 16);
  return join(tmpdir(), `colloquy-${digest}.live`);
}

/**
 * Creates the folder, open to this user only, because the content of conversations passes through it.
 * @throws when the folder cannot be created, or belongs to another user (every user may write to the temporary folder).
 */
export function makeLiveDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const userId = process.getuid?.();
  if (!found.isDirectory() || (userId !== undefined && found.uid !== userId))
    throw new Error(`${directory} belongs to another user`);
  if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

/** Resolves links, so that all processes agree on the folder. The file may not exist yet. */
function canonicalPath(file: string): string {
  const absolute = resolve(file);
  try {
    return realpathSync(absolute);
  } catch {
    try {
      return join(realpathSync(dirname(absolute)), basename(absolute));
    } catch {
      return absolute;
    }
  }
}
