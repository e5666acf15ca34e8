import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

// An argument can be a text of a stranger, such as the name in a request to sign a user out.

const path = join(sharedDirectory('printed-arguments'), 'grantry.config.mjs')
writeFileSync(
  path,
  `export default {
    issuer: 'http://127.0.0.1:8484',
    administration: true,
    clients: [],
    storage: { driver: 'filesystem', directory: './data', fsync: false },
    users: { authenticate: () => undefined, isActive: () => undefined },
  }`,
)

const hostile = 'a\u001B[2J\u202Eb\u2028c\u0007\r\nRevoked everything'

test.each([
  ['revoke', '--subject', hostile],
  ['revoke', '--client', hostile],
  ['revoke', '--subject', hostile, '--client', hostile],
  ['revoke', '--family', hostile],
  ['users', 'sessions', 'list', hostile],
  ['users', 'sessions', 'end', hostile, hostile],
  ['users', 'consents', 'revoke', hostile, hostile],
  ['users', 'authorizations', 'end', hostile, hostile],
  ['users', 'second-factors', 'reset', hostile],
  ['users', 'show', hostile],
  ['users', 'search', hostile],
  ['users', 'disable', hostile],
  ['users', 'remove', hostile],
  ['users', 'invitations', 'withdraw', hostile],
  ['clients', 'show', hostile],
  ['clients', 'add', hostile],
  ['clients', 'remove', hostile],
  ['clients', 'rotate-secret', hostile],
  ['scopes', 'show', hostile],
  ['scopes', 'add', hostile],
  ['tenants', 'show', hostile],
  ['registrations', 'show', hostile],
  ['keys', 'retire', hostile],
  ['token', 'inspect', hostile],
  ['clients', hostile],
  [hostile],
  ['import', 'keycloak', hostile],
])('%s %s prints its arguments without what controls a terminal', async (...words) => {
  const takesFile = words.length > 2 && words[0] !== 'import'
  const { out, err } = await printed(...words, ...(takesFile ? ['--config', path] : []))
  expect(out + err).not.toMatch(/^$|is required|unknown option|too many/u)
  expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(out + err).not.toMatch(/^Revoked everything$/mu)
})
