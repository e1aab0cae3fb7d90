import type { Answers } from './answers.js';

/** The signed-in caller, and the days that have numbers. */
export type Session = Answers['getCaller']['data'];

export function may(session: Session, action: Session['actions'][number]): boolean {
  return session.actions.includes(action);
}
