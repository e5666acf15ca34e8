// `npm test`. On the machine of a contributor: all checks, and the tests that run in the process of Vitest, which need
// nothing but `npm ci`. With CI=true also what starts servers, browsers, other runtimes and programs: the other tests,
// a dry run of the release, which installs and starts the packages, and the proofs, which kill and overload servers.
// They need more programs, and more than twice the time.
import { runChecks } from './run-checks.js'

const node = (script, ...parameters) => ['node', `scripts/${script}.js`, ...parameters]
const npm = (script) => ['npm', 'run', '--silent', script]
const vitest = (...projects) => ['vitest', 'run', ...projects.map((project) => `--project=${project}`)]

const everywhere = [
  { name: 'build', command: npm('build'), after: [] },
  { name: 'types', command: npm('typecheck'), after: [], inBackground: true },
  { name: 'lint', command: npm('lint'), after: [], inBackground: true },
  { name: 'unit tests', command: vitest('unit'), after: [] },
]

const onlyInCI = [
  // A dry run.
  { name: 'release', command: npm('release'), after: ['build'], inBackground: true },
  { name: 'debian programs', command: node('debian-programs'), after: [] },
  { name: 'runtimes', command: node('runtimes'), after: [] },
  { name: 'examples', command: node('installed-packages', 'examples'), after: [] },
  { name: 'peers', command: node('installed-packages', 'bench/peers'), after: [] },
  { name: 'relying parties', command: node('installed-packages', 'test/relying-parties'), after: [] },
  { name: 'bundlers', command: node('installed-packages', 'test/bundlers'), after: [] },
  {
    name: 'other tests',
    command: vitest('process', 'proofs'),
    // They use the build, the programs, the runtimes and the packages.
    after: ['unit tests', 'build', 'debian programs', 'runtimes', 'examples', 'peers', 'relying parties', 'bundlers'],
  },
]

if (process.env.CI === 'true') await runChecks([...everywhere, ...onlyInCI])
else
  await runChecks(
    everywhere,
    'what starts processes: other tests, the release, proofs (run everything with: CI=true npm test)',
  )
