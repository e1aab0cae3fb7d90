/** What a value can be, as JSON schema has it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What the value of a member can be, compiled from its schema to be asked of bytes. */
export class Member {
  readonly hasNull: boolean;
  readonly hasBoolean: boolean;
  private readonly text: Schema | undefined;
  private readonly values: readonly Buffer[] | undefined;
  private readonly pattern: RegExp | undefined;
  private readonly integer: Schema | undefined;

  constructor(schema: Schema) {
    const kinds = schema.anyOf ?? [schema];
    const of = (type: string) => kinds.find((kind) => [kind.type].flat().includes(type));
    this.hasNull = of('null') !== undefined;
    this.hasBoolean = of('boolean') !== undefined;
    this.integer = of('integer');
    this.text = of('string');
    const { pattern, enum: values } = this.text ?? {};
    this.pattern = pattern === undefined ? undefined : new RegExp(pattern, 'u');
    this.values = values?.map((value) => Buffer.from(value));
  }

  /** Whether the value can be this integer. */
  hasInteger(value: number): boolean {
    const { minimum = -Infinity, maximum = Infinity } = this.integer ?? {};
    return this.integer !== undefined && value >= minimum && value <= maximum;
  }

  /**
   * Whether the value can surely be the text that these bytes write, between quotes. No text has more characters than bytes;
   * one that has fewer can be refused here.
   */
  hasText(bytes: Buffer, start: number, end: number, isEscaped: boolean): boolean {
    if (this.text === undefined) return false;
    const { minLength = 0, maxLength = Infinity } = this.text;
    const length = end - start;
    if (length < minLength || length > maxLength) return false;
    if (this.values === undefined && this.pattern === undefined) return true;
    if (isEscaped) return false;
    if (this.values !== undefined) return this.values.some((value) => isAt(value, bytes, start, end));
    return this.pattern?.test(bytes.toString('utf8', start, end)) === true;
  }
}

/** Whether a text is what stands at a place of some bytes. */
export function isAt(text: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== text.length) return false;
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text[index]) return false;
  return true;
}
