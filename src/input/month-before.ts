/** The same days of the month before, as `YYYY-MM-DD`. Days to the end of a month become days to the end of that month. */
export function monthBefore<Day extends string>({ from, to }: { readonly from: Day; readonly to: Day }) {
  const end = to === lastOfMonth(to, 0) ? lastOfMonth(to, -1) : monthEarlier(to);
  return { from: monthEarlier(from) as Day, to: end as Day };
}

/** The same day a month earlier; the last day of that month if it has no such day. */
function monthEarlier(day: string): string {
  const last = lastOfMonth(day, -1);
  return day.slice(8) < last.slice(8) ? last.slice(0, 8) + day.slice(8) : last;
}

/** The last day of the month, counted from an earlier or later month than that of the day. */
function lastOfMonth(day: string, months: number): string {
  const [year, month] = day.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, (month ?? 1) + months, 0)).toISOString().slice(0, 10);
}
