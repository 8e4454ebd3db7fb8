/** Reads of the API of the stack. */
import type { Stack } from './stack.js';

export type Api = Pick<Stack, 'apiUrl' | 'apiHeaders'>;

/** The body of an answer; undefined while the API is unreachable, or refuses: it may be restarting. */
export async function readApi<Body>(
  { apiUrl, apiHeaders }: Api,
  path: string,
  signal: AbortSignal,
): Promise<Body | undefined> {
  try {
    const response = await fetch(`${apiUrl}${path}`, { signal, headers: apiHeaders });
    return response.ok ? ((await response.json()) as Body) : undefined;
  } catch {
    return undefined;
  }
}
