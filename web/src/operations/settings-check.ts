import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { findNodeAtLocation, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { send } from '../client.js';

/** A fault in a text, with its place. Lines and columns begin at 1. */
export interface Fault {
  readonly sentence: string;
  readonly line: number;
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** The API's document is loaded once, as a whole, because its schemas refer to each other. */
let validator: Promise<Validator> | undefined;

async function settingsValidator(): Promise<Validator> {
  validator ??= send('openapi.json')
    .then((response) => response.json())
    .then(({ components }) => {
      const schema: Schema = { $ref: '#/components/schemas/EnterpriseControls', components };
      return new Validator(schema, '2020-12', false);
    });
  validator.catch(() => {
    validator = undefined;
  });
  return validator;
}

function faultAt(text: string, sentence: string, from: number, length: number): Fault {
  const before = text.slice(0, from).split('\n');
  return {
    sentence,
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    from,
    to: from + length,
  };
}

/** `CloseBraceExpected` as "close brace expected". */
function words(code: string): string {
  return code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/** Words a schema's fault as the service would. */
function sentenceOf({ keyword, error }: OutputUnit): string {
  const [, given, expected] = /^Instance type "([^"]*)" is invalid\. Expected "(.*)"\.$/.exec(error) ?? [];
  if (given !== undefined) return `must be ${expected?.replaceAll('", "', ' or ')}, not ${given}`;
  if (keyword === 'additionalProperties' || keyword === 'false') return 'is not a known member';
  return error.replace(/\.$/, '').replace(/^./, (letter) => letter.toLowerCase());
}

/** The path of a JSON pointer in the form that validators give. */
function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** The place of a member, or of the nearest parent that exists. Names of objects can look like numbers. */
function placeOf(text: string, path: readonly (string | number)[]): { offset: number; length: number } {
  const tree = parseTree(text);
  for (let depth = path.length; tree !== undefined && depth > 0; depth -= 1) {
    const some = path.slice(0, depth);
    const node = findNodeAtLocation(tree, some) ?? findNodeAtLocation(tree, some.map(String));
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return { offset: 0, length: 0 };
}

/** The settings in a text, or its faults: as JSON, or by the schema that the service itself publishes. */
export async function checkSettings(
  text: string,
): Promise<{ settings: object; faults: [] } | { faults: readonly Fault[] }> {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const [first] = errors;
  if (first !== undefined) {
    const said = `This is not JSON: ${words(printParseErrorCode(first.error))}.`;
    return { faults: [faultAt(text, said, first.offset, first.length)] };
  }
  const settings: unknown = JSON.parse(text);
  const { errors: found } = (await settingsValidator()).validate(settings);
  // The parents of a wrong member fail too, but add nothing.
  const own = found.filter(
    ({ instanceLocation: place }) =>
      !found.some(({ instanceLocation: other }) => other !== place && other.startsWith(`${place}/`)),
  );
  const byPlace = new Map(own.reverse().map((error) => [error.instanceLocation, error]));
  const faults = [...byPlace.values()].map((error) => {
    const path = pathOf(error.instanceLocation);
    const { offset, length } = placeOf(text, path);
    return faultAt(text, `${path.join('.') || 'The settings'} ${sentenceOf(error)}.`, offset, length);
  });
  if (faults.length > 0) return { faults: faults.sort((one, other) => one.from - other.from) };
  return { settings: settings as object, faults: [] };
}

/** The same for a refusal by the service: the place of the member that its sentence names. */
export function faultOf(text: string, sentence: string): Fault {
  const member = /member settings\.(\S+?)[,.]? /.exec(sentence)?.[1] ?? '';
  const path = member.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const { offset, length } = placeOf(text, path);
  return faultAt(text, sentence, offset, length);
}
