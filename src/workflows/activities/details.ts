/**
 * Writes the current details of the Temporal UI on demand. Only a query reads them, and a conversation with many open
 * calls would spend more time on the page than on its task.
 */
import {
  type ActivateInput,
  type Next,
  setCurrentDetails,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

/** The query with which the Temporal UI requests the details. */
const METADATA_QUERY = '__temporal_workflow_metadata';

let write: (() => string) | undefined;

/** Sets the text of the page. A workflow has one page; a second call replaces the first. */
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
