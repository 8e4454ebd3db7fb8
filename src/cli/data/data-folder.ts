/** The folder of all data: made where it is missing, and checked before anything else is opened. */
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { ConfigError } from '../process/config-error.js';
import { FLAGS } from '../process/variables.js';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'it may not be written by this user',
  EPERM: 'it may not be written by this user',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its file system is full',
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  ENAMETOOLONG: 'its name is too long',
};

interface DataFolder {
  readonly dataDir: string;
  /** Absent: in the folder. */
  readonly eventLog?: string;
}

/** @throws {ConfigError} naming the variable when the folder cannot be made, or the event log in it not written */
export async function makeDataFolder({ dataDir, eventLog }: DataFolder): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    // With a database elsewhere nothing has to be written.
    if (eventLog === undefined || !/^postgres(ql)?:/.test(eventLog))
      await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const { [code]: reason = message } = REASONS;
    throw new ConfigError(
      `COLLOQUY_DATA${FLAGS['COLLOQUY_DATA'] ?? ''} must be a folder that can be made and written: ${dataDir} cannot, because ${reason}`,
    );
  }
}
