/** The faces of the page, and the address of each. A face is a document of its own: a link to another one leaves the page. */

export type PlaceName = 'inbox' | 'conversations' | 'chat' | 'operations';

export interface Place {
  readonly name: PlaceName;
  readonly path: string;
  readonly title: string;
}

/** In the order of their links; the first is the face of an unknown address. */
export const PLACES: readonly [Place, ...Place[]] = [
  { name: 'inbox', path: '/ui/inbox', title: 'Inbox' },
  { name: 'conversations', path: '/ui/conversations', title: 'Conversations' },
  { name: 'chat', path: '/ui/chat', title: 'Chat' },
  { name: 'operations', path: '/ui/operations', title: 'Operations' },
];

/** The address of a conversation in the page. */
export function conversationAddress(id: string): string {
  const { path } = PLACES.find(({ name }) => name === 'conversations') ?? PLACES[0];
  return `${path}/${encodeURIComponent(id)}`;
}

export interface FoundPlace {
  readonly place: Place;
  /** The segments of the address behind the path of the face, decoded, such as the id of a conversation. */
  readonly parts: readonly string[];
}

/** The face that an address names. */
export function placeOf(pathname: string): FoundPlace {
  const place =
    PLACES.find(({ path }) => pathname === path || pathname.startsWith(`${path}/`)) ?? PLACES[0];
  const parts = pathname
    .slice(place.path.length)
    .split('/')
    .filter((part) => part !== '');
  return { place, parts: parts.map(decoded) };
}

/** A part that is no whole encoding stays as it is: no conversation has its name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
