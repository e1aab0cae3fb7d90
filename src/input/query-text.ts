/** The parameters of a query. A list is its parameter several times. */
export type QueryParameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A query string of the parameters that have a value. */
export function queryText(parameters: QueryParameters): string {
  const given = Object.entries(parameters).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  );
  return new URLSearchParams(given).toString();
}
