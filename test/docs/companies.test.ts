import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { companiesDocument } from '../../bench/companies/document.ts'
import type { CompanyResults } from '../../bench/companies/figures.ts'

const results: CompanyResults = JSON.parse(
  readFileSync(new URL('../../bench/companies/results.json', import.meta.url), 'utf8'),
)

test('bench/COMPANIES.md shows the results of the last run; run this test with --update to write it', async () => {
  await expect(companiesDocument(results)).toMatchFileSnapshot('../../bench/COMPANIES.md')
})
