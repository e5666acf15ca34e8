// `npm start`: builds what is missing or older than its source, then runs the server's own command line.
import { buildIfStale } from './build-if-stale.js'
import { stopWithParent } from './stop-with-parent.js'

buildIfStale()
stopWithParent()

// npm runs scripts at the root; paths in the arguments are meant from where the caller stands.
if (/^start(?::|$)/u.test(process.env.npm_lifecycle_event ?? '') && process.env.INIT_CWD !== undefined)
  process.chdir(process.env.INIT_CWD)

const { main } = await import('../packages/server/dist/cli.js')
const given = process.argv.slice(2)
const [first = ''] = given
const isComplete = /^(?:[^-]|-h$|--help$|-V$|--version$)/u.test(first)
process.exitCode = await main(isComplete ? given : ['serve', ...given])
