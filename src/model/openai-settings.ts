/** What of a request to OpenAI does not come from the conversation. */

/** Which tool the model has to call: whichever it likes or none, one at least, none, or this one. */
export type ToolChoice = 'auto' | 'required' | 'none' | { readonly name: string };

/** How a model that thinks does so. @see OpenAI API reference, `reasoning` */
export interface ReasoningSettings {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Asks for summaries of its thoughts, which are shown while they stream. Responses only. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
}

export interface RequestSettings {
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly reasoning?: ReasoningSettings | undefined;
  /** Responses only. */
  readonly background?: boolean | undefined;
}
