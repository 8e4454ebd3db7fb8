/** The log of a conversation, and the cursor on it, which is the address of the page. */
import { type LogPlace, type LogView, logOf } from 'colloquy/browser/studio';
import { useEffect, useEffectEvent, useMemo, useState, useSyncExternalStore } from 'react';
import type { Session } from '../../session/session.js';
import { indexOf, type Move, moved } from '../model/cursor.js';

/** Milliseconds between two events while the log plays. */
const PLAY_MS = 400;

export interface UsedLog {
  readonly view: LogView;
  /** Index of the event at the cursor; -1 while nothing is read. */
  readonly index: number;
  readonly place: LogPlace;
  /** The conversation at the end of the log. */
  readonly now: LogPlace;
  /** Whether the cursor follows the end of the log. */
  readonly isLatest: boolean;
  readonly isPlaying: boolean;
  readonly go: (move: Move) => void;
  /** To an event; `undefined`: to the end, and along with it. */
  readonly goTo: (seq: number | undefined) => void;
  /** Plays on from the cursor; from the end, the log begins again. */
  readonly play: (isPlaying: boolean) => void;
}

export function useLog(session: Session, id: string): UsedLog {
  const log = useMemo(() => logOf(session.client, id), [session, id]);
  useEffect(() => {
    log.open();
    return () => log.stop();
  }, [log]);
  const view = useSyncExternalStore(log.subscribe, log.getSnapshot);
  const [seq, setSeq] = useState(seqInAddress);
  const [isPlaying, setPlaying] = useState(false);
  const { replay } = view;
  const { events } = replay;
  const index = indexOf(events, seq);
  const goTo = (next: number | undefined): void => {
    setSeq(next);
    const query = next === undefined ? '' : `?at=${next}`;
    history.replaceState(null, '', `${location.pathname}${query}`);
  };
  const go = (move: Move): void => {
    const next = moved(events, index, move);
    // The end goes on with the log.
    goTo(next >= events.length - 1 ? undefined : events[next]?.seq);
  };
  const isAtEnd = index >= events.length - 1;
  const play = (begins: boolean): void => {
    setPlaying(begins && events.length > 1);
    if (begins && isAtEnd) goTo(events[0]?.seq);
  };
  const step = useEffectEvent(() => (isAtEnd ? setPlaying(false) : go('next')));
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => step(), PLAY_MS);
    return () => clearTimeout(timer);
    // Further events of the log are no reason to wait anew.
  }, [isPlaying, index, isAtEnd]);
  const place = useMemo(() => replay.at(index), [replay, index]);
  const now = useMemo(() => replay.at(events.length - 1), [replay, events]);
  return { view, index, place, now, isLatest: seq === undefined, isPlaying, go, goTo, play };
}

function seqInAddress(): number | undefined {
  const text = new URLSearchParams(location.search).get('at') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
