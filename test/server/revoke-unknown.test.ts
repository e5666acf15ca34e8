import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

const base = sharedDirectory('revoke-unknown')

/** Writes a configuration whose clients and users come from functions. */
function moduleConfiguration(find: string): string {
  const path = join(base, `${find.length}.mjs`)
  writeFileSync(
    path,
    `export default {
      issuer: 'http://127.0.0.1:8484',
      storage: { driver: 'filesystem', directory: './data', fsync: false },
      clients: { find: ${find} },
      users: { authenticate: () => undefined, isActive: (sub) => sub === '1' },
    }`,
  )
  return path
}

const known = moduleConfiguration(`(id) => (id === 'web' ? { clientId: 'web' } : undefined)`)

test.each([
  ['--subject', '2', 1, /^Nothing was found to revoke: users\.isActive\(\) does not know the sub 2, or .+\n.+\n$/u],
  ['--client', 'wbe', 1, /^Nothing was found to revoke: clients\.find\(\) does not know wbe; check the spelling\.\n/u],
  ['--subject', '1', 0, /^Revoked everything issued so far to the subject 1, and ended 0 sessions\. .+\n$/u],
  ['--client', 'web', 0, /^Revoked everything issued so far to the client web\. .+\n$/u],
])('revoke %s %s asks the functions of a module configuration', async (option, name, code, text) => {
  const { out, ...ended } = await printed('revoke', option, name, '--config', known)
  expect(ended).toEqual({ code, err: '' })
  expect(out).toMatch(text)
})

test('revoke reports a failed look-up, and revokes', async () => {
  const path = moduleConfiguration(`() => { throw new Error('the database is down') }`)
  const { code, out } = await printed('revoke', '--client', 'web', '--config', path)
  expect([code, out]).toEqual([1, expect.stringMatching(/could not be looked up \(the database is down\)\.\n/u)])
})
