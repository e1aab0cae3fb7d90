/** Usage of a session that takes days. */
export const event = (event_id: string, day: string, more: object = {}) => ({
  event_id,
  type: 'model_usage',
  timestamp: `${day}T10:00:00Z`,
  user_id: 'ada',
  user_email: 'ada@acme.example',
  session_id: 'long',
  model: 'claude-sonnet-4-5',
  input_tokens: 10,
  output_tokens: 5,
  ...more,
});

/** What is sent first. */
export const FIRST = [event('1', '2026-07-06'), event('2', '2026-07-08')];
/** After that: a reply that has grown, an event before the session's start, a new user, a line that is none, a late event. */
export const SECOND = [
  event('1', '2026-07-06', { output_tokens: 50, user_email: 'countess@acme.example' }),
  event('3', '2026-07-05'),
  event('4', '2026-07-07', { user_id: 'grace', user_email: 'grace@acme.example' }),
  { event_id: '5' },
];
