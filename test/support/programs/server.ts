// The real server: its own command line, from the sources.
import { main } from '../../../packages/server/src/cli.ts'
import { hashCheaply } from '../hash-cheaply.ts'
import { endWithParent } from './end-with-parent.ts'

endWithParent()
if (process.env.GRANTRY_TEST_PASSWORDS === 'cheap') hashCheaply()
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
