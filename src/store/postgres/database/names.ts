/** Names in SQL, addresses in messages, and the codes of errors of Postgres. */
/** Quoted, so that any name is taken literally. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The address without its password and parameters: it goes into logs and errors. */
export function safeUrl(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
  } catch {
    return 'postgres';
  }
}

/** SQLSTATE; absent for errors of the network and of the driver. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
