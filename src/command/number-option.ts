import { InvalidArgumentError } from 'commander';

/** Reads an option that is a number from `least` to `most`, for commander. */
export function numberFrom(least: number, most: number, kind: 'whole' | 'any' = 'any') {
  return (value: string): number => {
    const number = value.trim() === '' ? Number.NaN : Number(value);
    const isOfKind = kind === 'any' || Number.isInteger(number);
    if (!(isOfKind && number >= least && number <= most))
      throw new InvalidArgumentError(
        `It must be a ${kind === 'any' ? '' : 'whole '}number from ${least} to ${most}.`,
      );
    return number;
  };
}
