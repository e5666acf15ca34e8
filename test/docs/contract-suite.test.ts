import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addressCases } from '../contract/cases/address.ts'
import { cases } from '../contract/cases.ts'
import { contractDocument } from '../contract/document.ts'
import { runtimes } from '../contract/runtimes.ts'
import { root } from './code-blocks.ts'

test('docs/contract-suite.md matches the contract suite, its runtimes and their versions', () => {
  const written = readFileSync(`${root}/docs/contract-suite.md`, 'utf8')
  expect(written).toBe(contractDocument(runtimes, cases, addressCases))
})

test('the lock file has the versions of the runtimes', () => {
  const lock = JSON.parse(readFileSync(`${root}/runtimes/package-lock.json`, 'utf8'))
  const { dependencies } = JSON.parse(readFileSync(`${root}/runtimes/package.json`, 'utf8'))
  for (const [name, wanted] of Object.entries<string>(dependencies)) {
    expect(lock.packages[`node_modules/${name}`].version).toBe(wanted.split('@').at(-1))
    expect(wanted).toMatch(/(?:^|@)\d+\.\d+\.\d+$/u)
  }
})
