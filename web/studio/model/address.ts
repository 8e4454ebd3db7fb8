/** The address of a conversation in the page. Pure. */
import { PLACES } from '../../shared/places.js';

export function addressOf(id: string): string {
  const { path } = PLACES.find(({ name }) => name === 'conversations') ?? PLACES[0];
  return `${path}/${encodeURIComponent(id)}`;
}
