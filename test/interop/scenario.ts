/** What every agent is made to do: two prompts of one session, and what the model answers to each. */

/** Something that the model answers: a tool that it calls, or words. */
export type Step =
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  | { readonly kind: 'edit'; readonly path: string; readonly from: string; readonly to: string }
  | { readonly kind: 'shell'; readonly command: string; readonly exitCode: number }
  | { readonly kind: 'say'; readonly text: string };

export type ToolStep = Exclude<Step, { kind: 'say' }>;

/** What the model answers to a request: `busy` is a refusal with status 503, after which the agent asks again. */
export type Answered = readonly Step[] | 'busy';

export interface Turn {
  readonly prompt: string;
  /** One after the other; what is in one answer comes at once. */
  readonly answers: readonly Answered[];
}

/** A file that the repository has when the session begins. */
export const NOTES = { path: 'notes.txt', content: 'one\ntwo\nthree\n' };

export const SCENARIO: readonly Turn[] = [
  {
    prompt: 'Add a greeting and commit it',
    answers: [
      [
        { kind: 'say', text: 'I look at what is there.' },
        { kind: 'read', path: NOTES.path },
        { kind: 'shell', command: 'git status --short', exitCode: 0 },
      ],
      [{ kind: 'create', path: 'greet.py', content: 'print("hello")\n' }],
      [{ kind: 'edit', path: NOTES.path, from: 'two', to: 'zwei' }],
      [{ kind: 'shell', command: 'exit 3', exitCode: 3 }],
      [{ kind: 'shell', command: 'git add -A && git commit -m "Add a greeting"', exitCode: 0 }],
      [{ kind: 'say', text: 'The greeting is committed.' }],
    ],
  },
  {
    prompt: 'Show the log',
    answers: [
      'busy',
      [{ kind: 'shell', command: 'git log --oneline', exitCode: 0 }],
      [{ kind: 'say', text: 'There are two commits.' }],
    ],
  },
];

/** All that the model answers, in order. */
export const STEPS: readonly Step[] = SCENARIO.flatMap(({ answers }) =>
  answers.flatMap((answer) => (answer === 'busy' ? [] : answer)),
);

/** What people, the model and files say here: Daybook keeps none of it. */
export const WORDS: readonly string[] = [
  ...SCENARIO.map(({ prompt }) => prompt),
  ...STEPS.flatMap((step) => {
    const { content, to, command, text } = { content: '', to: '', command: '', text: '', ...step };
    return [content.trim(), to, command, text].filter((words) => words !== '');
  }),
];
