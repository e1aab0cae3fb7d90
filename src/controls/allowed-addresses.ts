import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

const RANGE = /^([^/%]+)(?:\/(\d{1,3}))?$/;

interface Range {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly prefix: number;
}

function rangeOf(text: string): Range | undefined {
  const [, address = '', digits] = RANGE.exec(text) ?? [];
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  const prefix = Number(digits ?? most);
  return version === 0 || prefix > most
    ? undefined
    : { address, family: version === 4 ? 'ipv4' : 'ipv6', prefix };
}

/** An address or a range of addresses: `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`. */
export const AddressRange = z
  .string()
  .refine(
    (text) => rangeOf(text) !== undefined,
    'must be an IPv4 or IPv6 address, or a range such as 10.0.0.0/8',
  );

/** The addresses that an organization's requests may come from. */
export class AllowedAddresses {
  private readonly ranges = new BlockList();
  private readonly isAny: boolean;

  /** An empty list allows every address. */
  constructor(texts: readonly string[]) {
    this.isAny = texts.length === 0;
    for (const text of texts) {
      const range = rangeOf(text);
      if (range !== undefined) this.ranges.addSubnet(range.address, range.prefix, range.family);
    }
  }

  /** Whether a request may come from an address. An IPv4 address written as an IPv6 one counts as the IPv4 address. */
  has(address: string): boolean {
    if (this.isAny) return true;
    // The part after % is a network interface of this machine.
    const [plain = ''] = address.split('%');
    const version = isIP(plain);
    return version !== 0 && this.ranges.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  }
}
