/** Where the processes that share one database file find each other's sockets. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** The shortest bound of a unix socket path: 104 bytes on macOS with its final zero, 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 103;
/** `<pid>-<8 hex>.sock`, and the longer temporary name that it is made under. */
const SOCKET_NAME_BYTES = 32;

/** `<file>.live`, or a folder in the system's temporary one when that path is too long for a socket. */
export function liveDirectoryFor(file: string): string {
  const database = canonicalPath(file);
  const beside = `${database}.live`;
  if (Buffer.byteLength(beside) + 1 + SOCKET_NAME_BYTES <= MAX_SOCKET_PATH_BYTES) return beside;
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 16);
  return join(tmpdir(), `colloquy-${digest}.live`);
}

/**
 * Creates the folder, open to this user only: what passes through it is what conversations say.
 * @throws when it cannot be created or belongs to somebody else (the temporary folder is open to all).
 */
export function makeLiveDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const userId = process.getuid?.();
  if (!found.isDirectory() || (userId !== undefined && found.uid !== userId))
    throw new Error(`${directory} belongs to somebody else`);
  if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

/** All processes must agree on the folder, by whatever links they reached the file; it may not exist yet. */
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
