// `npm start`: builds if needed, then runs the command line of the server.
import { buildIfStale } from './build-if-stale.js'
import { stopWithParent } from './stop-with-parent.js'

// Before the build: the parent may exit while it runs.
stopWithParent()
buildIfStale()

// npm runs scripts in the root folder, but paths in the arguments are relative to the folder of the caller.
if (/^start(?::|$)/u.test(process.env.npm_lifecycle_event ?? '') && process.env.INIT_CWD !== undefined)
  process.chdir(process.env.INIT_CWD)

const { main } = await import('../packages/server/dist/cli.js')
const given = process.argv.slice(2)
// The option of the whole command line: the command comes after its value.
const [first = ''] =
  given[0] === '--tenant' ? given.slice(2) : given[0]?.startsWith('--tenant=') ? given.slice(1) : given
const isComplete = /^(?:[^-]|-h$|--help$|-V$|--version$)/u.test(first)
process.exitCode = await main(isComplete ? given : ['serve', ...given])
