/** A path of this API as exporters write it whose endpoint ends with a slash. */
const WITH_SLASHES = /^\/+otlp\/+v1\/+(\w+)\/*(?=$|\?)/;

/** Removes double and trailing slashes from a path of OTLP. Exporters would drop their data because of them. */
export function withoutSlashes(url: string): string {
  return url.replace(WITH_SLASHES, '/otlp/v1/$1');
}
