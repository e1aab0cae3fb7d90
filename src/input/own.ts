/** A member that an object has itself. Every object inherits others, as `constructor`, and a client's text can be any name. */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
