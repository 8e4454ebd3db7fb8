/** Places of a client for requests, by the kind of request. */
import {
  type Admission,
  type Admitted,
  type EnterOptions,
} from '../../../src/client/pacing/admission.js';

export const RESOLUTION = { kind: 'resolution', waitMs: 2_500 } as const;
export const MESSAGE = { kind: 'message', waitMs: 2_500, busyMs: 2_500 } as const;
/** Its sender does not repeat it. */
export const EVENT = { kind: 'message', waitMs: 2_500 } as const;
/** For less time than a conversation that does not answer holds up others. */
export const SHORT = { kind: 'beginning', waitMs: 500, busyMs: 500 } as const;
export const BEGINNING = { kind: 'beginning', waitMs: 2_500, busyMs: 2_500 } as const;

export function keyOf(nth: number | string, tenant = 'acme') {
  return { tenant, conversationId: `c-${nth}` };
}

export async function entered(
  admission: Admission,
  key: ReturnType<typeof keyOf>,
  options: EnterOptions = RESOLUTION,
): Promise<Admitted> {
  const place = await admission.enter(key, options);
  if (!place.entered) throw new Error('no place is free');
  return place;
}

/** Takes every place of resolutions, or of messages, each for a conversation of its own. */
export async function fill(
  admission: Admission,
  options: EnterOptions = RESOLUTION,
  tenant?: string,
): Promise<readonly Admitted[]> {
  const taken: Admitted[] = [];
  const count = options.kind === 'resolution' ? admission.places : admission.messagePlaces;
  for (let nth = 0; nth < count; nth += 1)
    taken.push(await entered(admission, keyOf(`taken-${nth}`, tenant), options));
  return taken;
}

/** Names of requests in the order in which they get places. */
export function orderOf(admission: Admission) {
  const order: string[] = [];
  const enter = (name: string, tenant: string, options: EnterOptions = MESSAGE): void => {
    void admission.enter(keyOf(name, tenant), options).then((place) => {
      if (!place.entered) return;
      order.push(name);
      place.leave({ answered: true });
    });
  };
  return { order, enter };
}
