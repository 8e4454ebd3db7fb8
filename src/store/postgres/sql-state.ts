/** What Postgres calls an error. */

/** SQLSTATE; absent for errors of the network and of the driver. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
