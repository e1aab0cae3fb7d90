import { z } from 'zod';
import { NOT_BLANK, nameText, Uuid } from '../input/name-text.js';
import { withoutCredentials } from '../network/url-credentials.js';
import { Level } from './maturity-level.js';
import { isRepositoryUrl } from './repository-url.js';

/** The limits of a submitted report. */
export const MOST = { criteria: 500, apps: 1000, rationale: 2000, description: 1000, path: 500 } as const;

const AN_ADDRESS =
  'must be the address of a repository, such as https://github.com/acme/api or git@github.com:acme/api.git';
const A_CRITERION = 'must be a criterion id: letters, digits, dots, hyphens and underscores, at most 100';

export const CriterionId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, A_CRITERION)
  .meta({ description: 'id of a criterion', examples: ['unit_tests'] });

const text = (description: string, example: string, most: number) =>
  z
    .string()
    .max(most)
    .meta({ description, examples: [example] });

const Evaluation = z
  .strictObject({
    numerator: z
      .number()
      .min(0)
      .max(1_000_000)
      .meta({ description: 'applications that pass', examples: [1] }),
    denominator: z
      .number()
      .min(1)
      .max(1_000_000)
      .meta({ description: 'applications that were evaluated', examples: [2] }),
    rationale: text(
      'what was found, or what is missing',
      'api: tests/test_api.py. web: no test was found.',
      MOST.rationale,
    ),
    level: Level.meta({
      description: 'level of the criterion; not needed for a criterion that Daybook ships',
      examples: [1],
    }).optional(),
  })
  .refine(({ numerator, denominator }) => numerator <= denominator, {
    path: ['numerator'],
    message: 'must be at most the denominator',
  });

const fewer = (most: number, what: string) =>
  [(members: object) => Object.keys(members).length <= most, `must have at most ${most} ${what}`] as const;

const EXAMPLE = {
  repoUrl: 'https://github.com/acme/api',
  apps: { api: { description: 'Python package api' }, web: { description: 'Node.js package web' } },
  report: {
    unit_tests: {
      numerator: 1,
      denominator: 2,
      rationale: 'api: tests/test_api.py. web: no test was found.',
      level: 1,
    },
  },
  commitHash: '5b9d3f0c2a1e4d6f8b7a9c0d1e2f3a4b5c6d7e8f',
  branch: 'main',
  hasLocalChanges: false,
  hasNonRemoteCommits: false,
  agentVersion: '0.2.0',
};

/** A report without the members that the server adds, given the rule for its names. */
const contentOf = (name: (most: number) => z.ZodString) => ({
  repoUrl: z
    .string()
    .min(1)
    .max(2048)
    .refine((url) => isRepositoryUrl(withoutCredentials(url)), AN_ADDRESS)
    .meta({ description: 'repository that was evaluated', examples: [EXAMPLE.repoUrl] }),
  apps: z
    .record(
      z
        .string()
        .min(1)
        .max(MOST.path)
        .regex(...NOT_BLANK),
      z.strictObject({ description: text('what it is', 'Node.js package api', MOST.description) }),
    )
    .refine(...fewer(MOST.apps, 'applications'))
    .meta({
      description: 'applications by path',
      examples: [EXAMPLE.apps],
    }),
  report: z
    .record(CriterionId, Evaluation)
    .refine(...fewer(MOST.criteria, 'criteria'))
    .meta({ description: 'evaluations by criterion', examples: [EXAMPLE.report] }),
  commitHash: z
    .string()
    .regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'must be a commit hash of 40 or 64 hexadecimal digits')
    .meta({ description: 'commit at the evaluation', examples: [EXAMPLE.commitHash] })
    .optional(),
  branch: name(500)
    .meta({ description: 'branch at the evaluation', examples: ['main'] })
    .optional(),
  hasLocalChanges: z
    .boolean()
    .meta({ description: 'whether there were uncommitted changes', examples: [false] })
    .optional(),
  hasNonRemoteCommits: z
    .boolean()
    .meta({ description: 'whether there were unpushed commits', examples: [false] })
    .optional(),
  modelUsed: z
    .strictObject({
      id: name(200).meta({
        description: 'model that evaluated the repository',
        examples: ['claude-sonnet-4-5'],
      }),
      reasoningEffort: z.enum(['low', 'medium', 'high', 'off']).meta({ examples: ['off'] }),
    })
    .meta({ description: 'absent if no model took part' })
    .optional(),
  agentVersion: name(100)
    .meta({ description: 'version of the program that made the report', examples: ['0.2.0'] })
    .optional(),
});

/** A submitted report: the server adds its id and time. */
export const Submission = z
  .strictObject(contentOf(nameText))
  .meta({ id: 'NewReadinessReport', examples: [EXAMPLE] });
export type Submission = z.infer<typeof Submission>;

export const ReportId = Uuid.meta({
  description: 'id of the report',
  examples: ['3f1c9a52-7d0e-4b86-9c41-5e2a8d7f6b03'],
});
export const RepoId = z
  .string()
  .regex(/^repo_[0-9a-f]{16}$/, 'must be a repository id: repo_ and 16 hexadecimal digits')
  .meta({ description: 'id of the repository', examples: ['repo_97f5a7d1b3c8e204'] });

/** A stored report, which must stay readable under stricter rules. `repoId` and `level` were computed when it arrived. */
export const Report = z
  .object({
    reportId: ReportId,
    createdAt: z
      .int()
      .min(0)
      .meta({ description: 'when the report arrived, in Unix milliseconds', examples: [1_780_272_904_000] }),
    repoId: RepoId,
    level: Level.nullable().meta({
      description: 'level that the repository has reached; null if no criterion has one',
      examples: [2],
    }),
    ...contentOf((most) => z.string().max(most)),
  })
  .meta({ id: 'ReadinessReport', description: 'an evaluation of a repository' });
export type Report = z.infer<typeof Report>;
