#!/usr/bin/env node
import { existsSync } from 'node:fs'

// A fresh clone is not built yet. Print one line instead of a stack trace.
if (!existsSync(new URL('../dist/cli.js', import.meta.url))) {
  process.stderr.write('grantry: not built yet; run npm run build in the repository, or npm start -- <command>\n')
  process.exit(1)
}

const { main } = await import('../dist/cli.js')
process.exitCode = await main(process.argv.slice(2))
