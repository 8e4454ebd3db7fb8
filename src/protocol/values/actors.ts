/** Who asks, answers or decides. Only references and claims: a token or secret never reaches history. */

import { MAX_ACTOR_CHARS } from '../limits/limits.js';
import { isRecord } from './json.js';
import { cutText, wellFormed } from './well-formed.js';

/** How an input came in. `temporal` is a signal or update sent by hand. */
export type Channel = 'api' | 'client' | 'temporal' | 'system';

export interface Actor {
  /** Id of the person or service in the caller's own system. */
  readonly id: string;
  readonly roles?: readonly string[];
  readonly name?: string;
}

export interface StampedActor extends Actor {
  /** False when nobody checked the id: a signal sent by hand may claim anything. */
  readonly verified: boolean;
  readonly channel: Channel;
}

/** As much of an actor as audiences judge by. `verified`: somebody checked who he is. */
export type JudgedActor = Pick<StampedActor, 'id' | 'roles' | 'verified'>;

/** Expiry and policies act as the system, which is no user: a tool that needs one must refuse it. */
export const SYSTEM_ACTOR: StampedActor = { id: 'system', verified: true, channel: 'system' };

const CHANNELS: readonly string[] = ['api', 'client', 'temporal', 'system'];

/**
 * Reads an actor as it came over the wire. Anything that is not one becomes the unverified actor of its channel:
 * a missing actor must not lose an answer.
 */
export function actorFrom(value: unknown): StampedActor {
  if (!isRecord(value) || typeof value['id'] !== 'string' || value['id'] === '')
    return { id: 'anonymous', verified: false, channel: 'temporal' };
  const { id, name, roles, channel } = value;
  const stamped = typeof channel === 'string' && CHANNELS.includes(channel) && channel !== 'system';
  return {
    id: cutText(id, MAX_ACTOR_CHARS),
    ...(typeof name === 'string' ? { name: cutText(name, MAX_ACTOR_CHARS) } : {}),
    ...(Array.isArray(roles)
      ? {
          roles: roles
            .filter((role): role is string => typeof role === 'string')
            .slice(0, 50)
            .map((role) => wellFormed(role)),
        }
      : {}),
    channel: stamped ? (channel as Channel) : 'temporal',
    verified: stamped && channel !== 'temporal' && value['verified'] === true,
  };
}
