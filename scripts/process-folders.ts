/**
 * The folders of `test/` whose tests start processes, browsers or other runtimes. The tests of all other folders run in
 * the process of Vitest; `test/architecture/projects.test.ts` checks that.
 */
export const processFolders = [
  'administration',
  'bench',
  'browser',
  'bundlers',
  'conformance',
  'console',
  'contract',
  'copy',
  'create',
  'declaration',
  'deploy',
  'docs',
  'examples',
  'filesystem',
  'framing',
  'import',
  'observability',
  'postgresql',
  'redis',
  'relying-parties',
  'runtimes',
  'scripts',
  'server',
  'sqlite',
  'stored',
  'user-databases',
] as const
