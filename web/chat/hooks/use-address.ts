/** The agent and the conversation that the address names: a bookmark, a reload and the way back keep them. */
import { useEffect, useState } from 'react';
import { placeOf } from '../../shared/places.js';

export interface Address {
  readonly agent?: string;
  /** Absent: a new conversation. */
  readonly id?: string;
}

export interface UsedAddress {
  readonly address: Address;
  readonly go: (address: Address) => void;
  /** Gives the new conversation its address, in place of that without one. */
  readonly name: (address: Address) => void;
}

export function pathOf({ agent, id }: Address): string {
  return ['/ui/chat', agent, id]
    .filter((part) => part !== undefined)
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join('/');
}

function present(): Address {
  const [agent, id] = placeOf(location.pathname).parts;
  return { ...(agent === undefined ? {} : { agent }), ...(id === undefined ? {} : { id }) };
}

export function useAddress(): UsedAddress {
  const [address, setAddress] = useState(present);
  useEffect(() => {
    const read = (): void => setAddress(present());
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
  return {
    address,
    go: (next) => {
      history.pushState(null, '', pathOf(next));
      setAddress(next);
    },
    name: (next) => {
      history.replaceState(null, '', pathOf(next));
      setAddress(next);
    },
  };
}
