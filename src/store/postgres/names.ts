/** Names in SQL, and addresses in messages. */

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
