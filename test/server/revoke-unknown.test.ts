import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

const base = sharedDirectory('revoke-unknown')

/** Writes a configuration whose clients and users come from functions. */
function moduleConfiguration(find: string, ofUsers = ''): string {
  const path = join(base, `${find.length}-${ofUsers.length}.mjs`)
  writeFileSync(
    path,
    `export default {
      issuer: 'http://127.0.0.1:8484',
      storage: { driver: 'filesystem', directory: './data', fsync: false },
      clients: { find: ${find} },
      users: { authenticate: () => undefined, isActive: (sub) => sub === '1', ${ofUsers} },
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
  expect([code, out]).toEqual([
    1,
    'web could not be looked up (the database is down).\nIf anything was ever issued to web, it is refused from now on.\n',
  ])
})

test('revoke by a name that cannot be looked up asks to run it again: only the sub of that text is refused', async () => {
  const path = moduleConfiguration('() => undefined', `find: () => { throw new Error('the directory is down') }`)
  const { code, out } = await printed('revoke', '--subject', 'alice', '--config', path)
  expect([code, out]).toEqual([
    1,
    'alice could not be looked up (the directory is down).\nIf anything was ever issued to alice, it is refused from now on. For the name of a user, run the command again.\n',
  ])
})
