/** Writes the page of the Temporal UI when it is asked for: with many open calls it takes longer than a task. */
import {
  type ActivateInput,
  type Next,
  setCurrentDetails,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

/** The query with which the Temporal UI requests the details. */
const METADATA_QUERY = '__temporal_workflow_metadata';

let write: (() => string) | undefined;

/** Sets the text of the page, in place of an earlier one. */
export function provideDetails(text: () => string): void {
  write = text;
}

export class DetailsOnDemand implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const asked = input.activation.jobs?.some(
      ({ queryWorkflow }) => queryWorkflow?.queryType === METADATA_QUERY,
    );
    if (asked === true && write !== undefined) setCurrentDetails(textOf(write));
    next(input);
  }
}

/** A page that cannot be written fails neither the query nor the task that came with it. */
function textOf(page: () => string): string {
  try {
    return page();
  } catch (error) {
    return `The page cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}
