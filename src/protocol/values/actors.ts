/** Actors: references to people and services, and claims about them. Never a token or secret: actors are in history. */

import { MAX_ACTOR_CHARS } from '../limits/limits.js';
import { isRecord } from './json.js';
import { cutText, wellFormed } from './well-formed.js';

/** The way by which an input came in. `temporal` is a signal or update sent by hand. */
export type Channel = 'api' | 'client' | 'temporal' | 'system';

export interface Actor {
  /** Id of the person or service in the system of the application. */
  readonly id: string;
  readonly roles?: readonly string[];
  readonly name?: string;
}

export interface StampedActor extends Actor {
  /** True when the API or the client checked the id. False for a signal sent by hand, which may claim any id. */
  readonly verified: boolean;
  readonly channel: Channel;
}

/** The fields of an actor by which audiences judge. */
export type JudgedActor = Pick<StampedActor, 'id' | 'roles' | 'verified'>;

/** The actor of expiries and policies. The system is no user, so a tool that needs a user must refuse it. */
export const SYSTEM_ACTOR: StampedActor = { id: 'system', verified: true, channel: 'system' };

const CHANNELS: readonly string[] = ['api', 'client', 'temporal', 'system'];

/**
 * Reads an actor as it came over the wire; never throws. A value that is no actor becomes `anonymous`, unverified, on
 * the channel `temporal`, so that a missing actor never loses an answer. An actor that claims the channel `system`
 * becomes one of `temporal`.
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
