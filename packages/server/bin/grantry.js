#!/usr/bin/env node
import { existsSync } from 'node:fs'

// In a fresh clone there is nothing built yet: one line instead of a stack.
if (!existsSync(new URL('../dist/cli.js', import.meta.url))) {
  process.stderr.write('grantry: it is not built yet; run npm run build in the repository, or npm start -- <command>\n')
  process.exit(1)
}

const { main } = await import('../dist/cli.js')
process.exitCode = await main(process.argv.slice(2))
