/** The public suite for models, run by the runner of these tests. */
import { describe, it } from 'vitest';
import {
  describeModel as describeModelWith,
  type MadeModel,
  type ModelPlan,
} from '../../../src/testing/describe-model.js';

/** Runs the suite for one kind of model. */
export function describeModel(name: string, make: (plan: ModelPlan) => Promise<MadeModel>): void {
  describeModelWith(name, make, { describe, it });
}
