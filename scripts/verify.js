// `npm test`: all checks of the project.
import { runChecks } from './run-checks.js'

const node = (script, ...parameters) => ['node', `scripts/${script}.js`, ...parameters]
const npm = (script) => ['npm', 'run', '--silent', script]
const vitest = (...projects) => ['vitest', 'run', ...projects.map((project) => `--project=${project}`)]

await runChecks([
  // Installed programs decide which tests run. The other tests use the build, the runtimes and the packages.
  { name: 'build', command: npm('build'), after: [] },
  { name: 'debian programs', command: node('debian-programs'), after: [] },
  { name: 'runtimes', command: node('runtimes'), after: [] },
  { name: 'examples', command: node('installed-packages', 'examples'), after: [] },
  { name: 'peers', command: node('installed-packages', 'bench/peers'), after: [] },
  { name: 'relying parties', command: node('installed-packages', 'test/relying-parties'), after: [] },
  { name: 'unit tests', command: vitest('unit'), after: ['debian programs'] },
  {
    name: 'other tests',
    command: vitest('process', 'proofs'),
    after: ['unit tests', 'build', 'runtimes', 'examples', 'peers', 'relying parties'],
  },
  { name: 'types', command: npm('typecheck'), after: [], inBackground: true },
  { name: 'lint', command: npm('lint'), after: [], inBackground: true },
  // A dry run.
  { name: 'release', command: npm('release'), after: ['build'], inBackground: true },
])
