/** Titles of lists that share a panel. The arrow keys move between them. */
export function Tabs({
  names,
  at,
  choose,
}: {
  names: readonly string[];
  at: number;
  choose: (index: number) => void;
}) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + names.length) % names.length;
    choose(next);
    (event.currentTarget as HTMLElement).querySelectorAll('button')[next]?.focus();
  };
  return (
    <span class="tabs" role="tablist" onKeyDown={onKeyDown}>
      {names.map((name, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={index === at}
          tabIndex={index === at ? 0 : -1}
          onClick={() => choose(index)}
        >
          {name}
        </button>
      ))}
    </span>
  );
}
