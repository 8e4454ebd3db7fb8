/** The fields of a form by the JSON Schema of an answer. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly input: 'date' | 'number' | 'text';
  readonly required: boolean;
}

interface AnswerSchema {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
}

export function fieldsOf(schema: AnswerSchema): readonly Field[] {
  return Object.entries(schema.properties).map(([name, { type, format, description }]) => ({
    name,
    label: description ?? name,
    input: format === 'date' ? 'date' : type === 'integer' ? 'number' : 'text',
    required: schema.required?.includes(name) === true,
  }));
}
