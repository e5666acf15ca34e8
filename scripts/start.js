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
const options = process.argv.slice(2)
// The option of the whole command line: the command comes after its value.
const [first = ''] =
  options[0] === '--tenant' ? options.slice(2) : options[0]?.startsWith('--tenant=') ? options.slice(1) : options
const isComplete = /^(?:[^-]|-h$|--help$|-V$|--version$)/u.test(first)
process.exitCode = await main(isComplete ? options : ['serve', ...options])
