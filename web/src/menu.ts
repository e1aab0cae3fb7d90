/** Closes a menu. The focus goes to what opens it, as what was pressed in it is hidden. */
export function closeMenu(menu: HTMLDetailsElement | null): void {
  if (menu === null) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
}
