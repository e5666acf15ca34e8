import { writeFileSync } from 'node:fs'
import { addressCases } from './cases/address.ts'
import { cases } from './cases.ts'
import { contractDocument } from './document.ts'
import { runtimes } from './runtimes.ts'

// `node scripts/run-program.js test/contract/write-document.ts`
const file = new URL('../../docs/contract-suite.md', import.meta.url)
writeFileSync(file, contractDocument(runtimes, cases, addressCases))
