import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withTables } from '../../scripts/written-tables.ts'
import { root } from './code-blocks.ts'

const written = readdirSync(`${root}/docs/guides`)
  .map((name) => `${root}/docs/guides/${name}`)
  .filter((path) => readFileSync(path, 'utf8').includes('<!-- written: '))

test.each(written)('%s has the tables of the declarations; run this test with --update to write them', async (path) => {
  await expect(withTables(readFileSync(path, 'utf8'))).toMatchFileSnapshot(path)
})

test('the table of members has those of each kind, also of plugins', () => {
  const table = withTables('<!-- written: members -->\n<!-- end of members -->\n')
  for (const member of ['clients[].clientId', 'clients[].clientColor', 'scopes[].audience', 'users[].active'])
    expect(table).toContain(`| \`${member}\` | `)
  expect(() => withTables('<!-- written: nothing -->\n<!-- end of nothing -->\n')).toThrow(/nothing/u)
})
