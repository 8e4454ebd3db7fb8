/** One act at a time: whether it is on its way, and what became of it, in words. */
import { useState } from 'react';
import { whyOf } from './why.js';

export interface Act {
  readonly isBusy: boolean;
  /** Empty while there is nothing to say. */
  readonly said: string;
  readonly isRefused: boolean;
  /** `act` resolves to the sentence that is shown. A refusal is shown in the words of the API. */
  readonly run: (act: () => Promise<string>) => void;
}

export function useAct(): Act {
  const [state, setState] = useState({ isBusy: false, said: '', isRefused: false });
  const run = (act: () => Promise<string>): void => {
    setState({ isBusy: true, said: 'On its way …', isRefused: false });
    act().then(
      (said) => setState({ isBusy: false, said, isRefused: false }),
      (error: unknown) => setState({ isBusy: false, said: whyOf(error), isRefused: true }),
    );
  };
  return { ...state, run };
}
