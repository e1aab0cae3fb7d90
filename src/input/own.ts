/** An object's own member. Every object also inherits members, such as `constructor`, and a client's text can be any name. */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
