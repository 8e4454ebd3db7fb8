/** A person of the web page, whose requests the test answers. */
import { vi } from 'vitest';
import { Session } from '../../../web/session/session.js';

/** Signed in as Ann, who may answer calls unless other rights are given, until the test ends. */
export function sessionOver(
  fetch: typeof globalThis.fetch,
  rights: Session['caller']['rights'] = ['read', 'answer'],
): Session {
  vi.stubGlobal('fetch', fetch);
  return new Session('token', {
    ...{ actor: { id: 'ann' }, verified: true },
    ...{ tenants: ['default'], rights },
  });
}
