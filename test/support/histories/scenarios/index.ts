/** All conversations that are recorded as histories. */
import { SCENARIOS_OF_FORKS } from './forks.js';
import { SCENARIOS_OF_INPUTS } from './inputs.js';
import { SCENARIOS_OF_OUTAGES } from './outages.js';
import { SCENARIOS_OF_OWN_ENGINES } from './own-engines.js';
import { SCENARIOS_OF_ROLL_OVERS } from './roll-overs.js';
import type { Scenario } from './scenario.js';
import { SCENARIOS_OF_SUB_AGENTS } from './sub-agents.js';
import { SCENARIOS_OF_TIMERS } from './timers.js';
import { SCENARIOS_OF_TOOLS } from './tools.js';
import { SCENARIOS_OF_TURNS } from './turns.js';
import { SCENARIOS_OF_WAITS } from './waits.js';

export const SCENARIOS: readonly Scenario[] = [
  ...SCENARIOS_OF_TURNS,
  ...SCENARIOS_OF_TOOLS,
  ...SCENARIOS_OF_WAITS,
  ...SCENARIOS_OF_INPUTS,
  ...SCENARIOS_OF_TIMERS,
  ...SCENARIOS_OF_OUTAGES,
  ...SCENARIOS_OF_ROLL_OVERS,
  ...SCENARIOS_OF_OWN_ENGINES,
  ...SCENARIOS_OF_SUB_AGENTS,
  ...SCENARIOS_OF_FORKS,
];
