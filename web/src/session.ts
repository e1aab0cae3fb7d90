import type { Answers } from './answers.js';

/** Whom the browser is signed in as, and which days have numbers. */
export type Session = Answers['getCaller']['data'];

export function may(session: Session, action: Session['actions'][number]): boolean {
  return session.actions.includes(action);
}
