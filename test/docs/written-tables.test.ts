import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describedMembers } from '../../scripts/configuration-schema.ts'
import { withTables } from '../../scripts/written-tables.ts'
import { sources } from '../architecture/source-files.ts'
import { root } from './code-blocks.ts'

const written = readdirSync(`${root}/docs/guides`)
  .map((name) => `${root}/docs/guides/${name}`)
  .filter((path) => readFileSync(path, 'utf8').includes('<!-- written: '))

test.each(written)('%s has the tables of the declarations; run this test with --update to write them', async (path) => {
  await expect(withTables(readFileSync(path, 'utf8'))).toMatchFileSnapshot(path)
})

test('each member that a source adds to clients or scopes is in the tables', () => {
  const { clientTexts, scopeTexts } = describedMembers()
  const known = new Set([clientTexts, scopeTexts].flatMap(Object.keys))
  const declared = sources
    .filter(({ path }) => /^(?:plugins|packages\/core)\//u.test(path))
    .flatMap(({ text }) => [...text.matchAll(/^ +(\w+): member\(/gmu)].map(([, name = '']) => name))
  expect(declared.length).toBeGreaterThan(25)
  expect(
    declared.filter((name) => !known.has(name)),
    'add the plugin of these members to describedMembers() in scripts/configuration-schema.ts',
  ).toEqual([])
})

test('the table of members has those of each kind, also of plugins', () => {
  const table = withTables('<!-- written: members -->\n<!-- end of members -->\n')
  for (const member of ['clients[].clientId', 'clients[].clientColor', 'scopes[].audience', 'users[].active'])
    expect(table).toContain(`| \`${member}\` | `)
  expect(() => withTables('<!-- written: nothing -->\n<!-- end of nothing -->\n')).toThrow(/nothing/u)
})
