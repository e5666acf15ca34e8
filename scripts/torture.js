// `npm run torture -- --store redis --seconds 180`: kills servers under load while clients check every response. See
// test/torture/ledger.ts.
import { createJiti } from 'jiti'

const { tortureCommand } = await createJiti(import.meta.url, { fsCache: false }).import('../test/torture/command.ts')
process.exitCode = await tortureCommand(process.argv.slice(2))
