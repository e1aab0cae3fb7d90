/** Closes a menu. The focus goes to its button, since the pressed element becomes hidden. */
export function closeMenu(menu: HTMLDetailsElement | null): void {
  if (menu === null) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
}
