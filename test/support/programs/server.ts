// The real server: its own command line, from the sources.
import { main } from '../../../packages/server/src/cli.ts'
import { endWithParent } from './end-with-parent.ts'

endWithParent()
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
