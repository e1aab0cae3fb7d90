/**
 * Room that organizations share, in bytes or characters. One may take at most half of what the others leave, so that none can leave
 * another without room; the first that it takes may be more than that, as long as there is room.
 */
export class Room {
  private readonly holders = new Map<string, number>();
  private all = 0;

  constructor(private readonly limit: number) {}

  /** How much all of them have taken. */
  get taken(): number {
    return this.all;
  }

  /** Whether an organization may not take this much more. */
  isFull(orgId: string, more = 1): boolean {
    const own = this.holders.get(orgId) ?? 0;
    const left = this.limit - (this.all - own);
    return own + more > (own === 0 ? left : left / 2);
  }

  take(orgId: string, amount: number): void {
    this.set(orgId, (this.holders.get(orgId) ?? 0) + amount);
  }

  giveBack(orgId: string, amount: number): void {
    this.set(orgId, Math.max(0, (this.holders.get(orgId) ?? 0) - amount));
  }

  private set(orgId: string, amount: number): void {
    this.all += amount - (this.holders.get(orgId) ?? 0);
    if (amount === 0) this.holders.delete(orgId);
    else this.holders.set(orgId, amount);
  }
}
